// Package lru has caches that drop what was used least recently.
package lru

import (
	"iter"
	"sync"
)

// A Cache holds at most size values by their keys. It is not safe for concurrent use: most who hold one have a lock around more
// than one call.
type Cache[K comparable, V any] struct {
	size    int
	entries map[K]*entry[K, V]
	head    entry[K, V] // of a ring: next is the entry used last, previous the oldest
	dropped func(K, V)
}

type entry[K comparable, V any] struct {
	key            K
	value          V
	next, previous *entry[K, V]
}

// New returns an empty cache. It calls dropped, which may be nil, for each value that leaves it, but not for one that Add replaces.
func New[K comparable, V any](size int, dropped func(K, V)) *Cache[K, V] {
	if size < 1 {
		panic("lru: the size must be positive")
	}
	c := &Cache[K, V]{size: size, entries: map[K]*entry[K, V]{}, dropped: dropped}
	c.head.next, c.head.previous = &c.head, &c.head
	return c
}

// Len returns the number of values.
func (c *Cache[K, V]) Len() int { return len(c.entries) }

// Get returns the value of a key, which is now the one used last.
func (c *Cache[K, V]) Get(key K) (value V, found bool) {
	e, found := c.entries[key]
	if !found {
		return value, false
	}
	c.use(e)
	return e.value, true
}

// Peek returns the value of a key, which stays as old as it is.
func (c *Cache[K, V]) Peek(key K) (value V, found bool) {
	e, found := c.entries[key]
	if !found {
		return value, false
	}
	return e.value, true
}

// Add sets the value of a key, which is now the one used last. A cache that was full drops the oldest.
func (c *Cache[K, V]) Add(key K, value V) {
	if e, found := c.entries[key]; found {
		e.value = value
		c.use(e)
		return
	}
	e := &entry[K, V]{key: key, value: value}
	c.entries[key] = e
	c.link(e)
	if len(c.entries) > c.size {
		c.RemoveOldest()
	}
}

// Remove drops the value of a key, if there is one.
func (c *Cache[K, V]) Remove(key K) {
	if e, found := c.entries[key]; found {
		c.drop(e)
	}
}

// RemoveOldest drops the value that was used least recently, if there is one.
func (c *Cache[K, V]) RemoveOldest() {
	if oldest := c.head.previous; oldest != &c.head {
		c.drop(oldest)
	}
}

// Clear drops all values, the oldest first.
func (c *Cache[K, V]) Clear() {
	for len(c.entries) > 0 {
		c.RemoveOldest()
	}
}

// Values returns the values, the oldest first. Nothing may be added or removed meanwhile.
func (c *Cache[K, V]) Values() iter.Seq[V] {
	return func(yield func(V) bool) {
		for e := c.head.previous; e != &c.head && yield(e.value); e = e.previous {
		}
	}
}

func (c *Cache[K, V]) use(e *entry[K, V]) {
	if c.head.next != e {
		e.unlink()
		c.link(e)
	}
}

// link puts an entry first.
func (c *Cache[K, V]) link(e *entry[K, V]) {
	e.next, e.previous = c.head.next, &c.head
	e.next.previous, e.previous.next = e, e
}

func (e *entry[K, V]) unlink() { e.next.previous, e.previous.next = e.previous, e.next }

func (c *Cache[K, V]) drop(e *entry[K, V]) {
	e.unlink()
	delete(c.entries, e.key)
	if c.dropped != nil {
		c.dropped(e.key, e.value)
	}
}

// A Shared cache is safe for concurrent use.
type Shared[K comparable, V any] struct {
	lock  sync.Mutex
	cache *Cache[K, V]
}

// NewShared returns an empty cache of at most size values.
func NewShared[K comparable, V any](size int) *Shared[K, V] {
	return &Shared[K, V]{cache: New[K, V](size, nil)}
}

// Get returns the value of a key, which is now the one used last.
func (s *Shared[K, V]) Get(key K) (value V, found bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	return s.cache.Get(key)
}

// Add sets the value of a key, which is now the one used last. A cache that was full drops the oldest.
func (s *Shared[K, V]) Add(key K, value V) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.cache.Add(key, value)
}
