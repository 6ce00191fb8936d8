package platform

import (
	"sync"
	"time"
)

// A Burst holds the events that the live feeds of one caller deliver at about the same time, with
// the same grants. What they read and answer for these events is the same, so they share it.
type Burst struct {
	Actor *Actor // the caller, with the grants of that time

	lock   sync.Mutex
	events []*Event
	byID   map[string]*Event
	kept   map[any]any
}

// burstLife is how long feeds may join a burst. A client that is slow gets objects as they are
// when its events are delivered.
const burstLife = time.Second

func newBurst(a *Actor) *Burst {
	return &Burst{Actor: a, byID: map[string]*Event{}, kept: map[any]any{}}
}

// add returns the event of the burst that is equal to e, which other callers get too.
func (b *Burst) add(e *Event) *Event {
	b.lock.Lock()
	defer b.lock.Unlock()
	own := b.byID[e.ID]
	if own == nil {
		own = new(*e)
		own.Burst = b
		b.byID[e.ID] = own
		b.events = append(b.events, own)
	}
	return own
}

// Events returns the events of the burst so far, so that objects that they refer to can be read
// together.
func (b *Burst) Events() []*Event {
	b.lock.Lock()
	defer b.lock.Unlock()
	return b.events[:len(b.events):len(b.events)]
}

// Memoize returns the value that begin has returned for a key. It calls begin, which must not
// wait, only once for each key.
func (b *Burst) Memoize(key any, begin func() any) any {
	b.lock.Lock()
	defer b.lock.Unlock()
	value, isKept := b.kept[key]
	if !isKept {
		value = begin()
		b.kept[key] = value
	}
	return value
}

// Memoize is that of the burst for values that belong to one event. Outside of live feeds, it keeps
// nothing.
func (e *Event) Memoize(key any, begin func() any) any {
	if e.Burst == nil {
		return begin()
	}
	type ofEvent struct {
		id  string
		key any
	}
	return e.Burst.Memoize(ofEvent{e.ID, key}, begin)
}
