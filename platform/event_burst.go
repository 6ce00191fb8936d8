package platform

import (
	"sync"
	"time"
)

// A Burst holds the events that a live feed delivers together. Objects that they
// refer to can be read together too, with the grants of the caller at that time.
type Burst struct {
	Actor  *Actor
	Events []*Event

	round *feedRound
	once  sync.Once
	kept  any
}

// Memoize returns the value that begin returns, and calls begin only once for all
// events of a burst.
func (b *Burst) Memoize(begin func() any) any {
	b.once.Do(func() { b.kept = begin() })
	return b.kept
}

// Share returns the value that begin has returned for an event and a key, to all feeds of a caller that
// deliver the event at about the same time, with the same grants. Begin must not wait.
func (e *Event) Share(key any, begin func() any) any {
	if e.Burst == nil {
		return begin()
	}
	type ofEvent struct {
		id  string
		key any
	}
	return e.Burst.round.share(ofEvent{e.ID, key}, begin)
}

// A feedRound is what the live feeds of one caller have in common while they deliver at about the same
// time: the caller with the grants of that time, and values that are the same for all.
type feedRound struct {
	actor *Actor

	lock   sync.Mutex
	shared map[any]any
}

const (
	// roundTime is how long feeds may join a round. A client that is slow gets objects as they are
	// when its events are delivered.
	roundTime = time.Second
	// maxShared limits the values of a round. Feeds that deliver together are never far apart.
	maxShared = 64
)

func newFeedRound(a *Actor) *feedRound { return &feedRound{actor: a, shared: map[any]any{}} }

// share returns the value that begin has returned for a key.
func (r *feedRound) share(key any, begin func() any) any {
	r.lock.Lock()
	defer r.lock.Unlock()
	value, isShared := r.shared[key]
	if !isShared {
		if len(r.shared) == maxShared {
			clear(r.shared)
		}
		value = begin()
		r.shared[key] = value
	}
	return value
}
