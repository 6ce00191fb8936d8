package platform

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// How new events are read: at once when Changed tells, and in any case so
// often, since a process need not hear of what other replicas store.
const (
	feedInterval   = time.Second
	broadcastBatch = 500

	// A listener holds at most so many events, and stops at the one with which
	// their bodies exceed so many bytes. What follows it reads from the store.
	queuedEvents = 100
	queuedBytes  = 1 << 20

	// So many feeds are woken at once. Between them is a pause, in which requests
	// go on: Go looks for answers of the network only when nothing else can run.
	wave      = 32
	wavePause = time.Millisecond

	// ownReads is how many feeds read from the store for themselves at once.
	ownReads = 2
)

// A broadcast reads each new event once for all live feeds of this process. It
// reads while at least one feed listens. Events are given in memory, to the
// listeners of their organisation.
type broadcast struct {
	store    Store
	logger   *slog.Logger
	observer Observer
	clock    func() time.Time
	holders  holders
	reads    atomic.Int64  // counts reads of events; holders.fresh says what for
	places   chan struct{} // one for each feed that reads for itself

	lock      sync.Mutex
	at        EventPosition // every event up to here has been given
	listeners map[UID]map[*listener]struct{}
	listening int                // how many listeners there are
	stop      context.CancelFunc // ends the reader; nil while nobody listens
	ended     chan struct{}      // is closed when the reader has ended
}

func newBroadcast(store Store, o Options) *broadcast {
	logger := o.Logger
	b := &broadcast{store: store, logger: logger, observer: o.Observer, clock: o.Clock, places: make(chan struct{}, ownReads), listeners: map[UID]map[*listener]struct{}{}}
	b.holders = holders{store: store, logger: logger, reads: &b.reads, open: map[string]*holder{}}
	return b
}

// A listener is the part of a feed that new events are put into.
type listener struct {
	caller *holder
	roots  []UID // of the organisations that it hears of
	wants  func(*Event) bool
	wake   chan struct{} // holds one when take has something to give

	lock   sync.Mutex
	queue  []*Event
	bytes  int
	read   int64 // the number of the read that the last of queue came with
	behind bool  // the queue was full: the events after it are missing
	due    bool  // is to be woken
}

// everyRoot is the key of listeners to all organisations.
const everyRoot UID = ""

// join adds a listener of a caller to organisations, or to all where roots is
// empty. It is given every event after the position that join returns.
func (b *broadcast) join(ctx context.Context, caller *holder, roots []UID, wants func(*Event) bool) (*listener, EventPosition, error) {
	if len(roots) == 0 {
		roots = []UID{everyRoot}
	}
	l := &listener{caller: caller, roots: roots, wants: wants, wake: make(chan struct{}, 1)}
	b.lock.Lock()
	defer b.lock.Unlock()
	for b.stop == nil {
		b.lock.Unlock()
		newest, _, err := b.store.EventPosition(ctx, "")
		b.lock.Lock()
		if err != nil {
			return nil, newest, err
		}
		if b.stop == nil {
			b.start(newest)
		}
	}
	for _, root := range roots {
		if b.listeners[root] == nil {
			b.listeners[root] = map[*listener]struct{}{}
		}
		b.listeners[root][l] = struct{}{}
	}
	b.listening++
	return l, b.at, nil
}

// rejoin lets a listener that was behind be given events again: every one after
// the position that rejoin returns.
func (b *broadcast) rejoin(l *listener) EventPosition {
	b.lock.Lock()
	defer b.lock.Unlock()
	l.lock.Lock()
	defer l.lock.Unlock()
	l.behind = false
	return b.at
}

// leave removes a listener. The last one waits until the reader has ended.
func (b *broadcast) leave(l *listener) {
	b.lock.Lock()
	defer b.lock.Unlock()
	for _, root := range l.roots {
		if delete(b.listeners[root], l); len(b.listeners[root]) == 0 {
			delete(b.listeners, root)
		}
	}
	if b.listening--; b.listening > 0 {
		return
	}
	b.stop()
	ended := b.ended
	b.stop, b.ended = nil, nil
	b.lock.Unlock()
	<-ended
	b.lock.Lock()
}

// start begins to read the events after a position.
func (b *broadcast) start(at EventPosition) {
	ctx, cancel := context.WithCancel(InBackground(context.Background()))
	ended := make(chan struct{})
	b.at, b.stop, b.ended = at, cancel, ended
	go func() {
		defer close(ended)
		b.run(ctx, at)
	}()
}

// run reads events until ctx ends. While the store fails, feeds wait: nothing
// is lost, since reading goes on where it was.
func (b *broadcast) run(ctx context.Context, at EventPosition) {
	for failing := false; ctx.Err() == nil; {
		changed := b.store.Changed()
		events, err := b.store.EventsAfter(ctx, nil, at, broadcastBatch)
		switch {
		case ctx.Err() != nil:
			return
		case err != nil:
			changed = nil // trying at once would only add to the trouble
			if !failing {
				b.logger.Warn("live feeds wait: new events cannot be read; trying again", "error", err)
			}
		case failing:
			b.logger.Info("live feeds go on")
		}
		failing = err != nil
		if len(events) > 0 {
			at = events[len(events)-1].Position
			b.give(ctx, events).wake(ctx)
			b.observe(events)
		}
		if len(events) == broadcastBatch {
			continue // more are waiting
		}
		select {
		case <-ctx.Done():
		case <-changed:
		case <-time.After(feedInterval):
		}
	}
}

// An arrival is which listeners new events are for.
type arrival struct {
	operators, others []*listener
	asked             *grantRead // is what others wait for
}

// observe tells how old events were that feeds have now been given.
func (b *broadcast) observe(events []*Event) {
	now := b.clock()
	for _, e := range events {
		b.observer.EventRead(now.Sub(e.Time.Time))
	}
}

// give puts events into the queues of their listeners. For all of their callers
// together it asks for grants, before the first of them awakes.
func (b *broadcast) give(ctx context.Context, events []*Event) (to arrival) {
	read := b.reads.Add(1)
	b.lock.Lock()
	defer b.lock.Unlock()
	if ctx.Err() != nil {
		return to // the listeners of this reader have left; others read for themselves
	}
	b.holders.lock.Lock()
	defer b.holders.lock.Unlock()
	for _, e := range events {
		for l := range b.listeners[e.Subject.Root()] {
			added, first := l.put(e, read)
			if added {
				to.asked = b.holders.ask(l.caller, read)
			}
			if first {
				to.others = append(to.others, l)
			}
		}
		for l := range b.listeners[everyRoot] { // operators, who need no grants
			if _, first := l.put(e, read); first {
				to.operators = append(to.operators, l)
			}
		}
	}
	b.at = events[len(events)-1].Position
	return to
}

// wake wakes listeners in waves. Those who need grants awake when these have
// been read, so that they run once and not twice.
func (to arrival) wake(ctx context.Context) {
	wakeAll(ctx, to.operators)
	if to.asked != nil {
		select {
		case <-to.asked.done:
		case <-ctx.Done():
		}
	}
	wakeAll(ctx, to.others)
}

func wakeAll(ctx context.Context, listeners []*listener) {
	for some := range slices.Chunk(listeners, wave) {
		for _, l := range some {
			l.awake()
		}
		if len(some) < wave {
			return
		}
		select {
		case <-time.After(wavePause):
		case <-ctx.Done(): // nobody listens any more
			return
		}
	}
}

// put adds an event that the listener wants. It reports whether it did, and
// whether the listener is to be woken and was not before.
func (l *listener) put(e *Event, read int64) (added, first bool) {
	if !l.wants(e) {
		return false, false
	}
	l.lock.Lock()
	defer l.lock.Unlock()
	switch {
	case l.behind:
		return false, false
	case len(l.queue) == queuedEvents, l.bytes > queuedBytes:
		l.behind = true
	default:
		l.queue = append(l.queue, e)
		l.bytes += e.size()
		l.read, added = read, true
	}
	first, l.due = !l.due, true
	return added, first
}

// awake wakes the feed of a listener.
func (l *listener) awake() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.due = false
	select {
	case l.wake <- struct{}{}:
	default: // it is awake
	}
}

// take empties the queue. It tells the number of the read that the events came
// with, and whether the events after them are missing.
func (l *listener) take() (events []*Event, read int64, behind bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	events, l.queue, l.bytes = l.queue, nil, 0
	return events, l.read, l.behind
}

// readAfter reads what a feed has missed, together with the number of the
// read.
func (b *broadcast) readAfter(ctx context.Context, roots []UID, at EventPosition) (events []*Event, read int64, err error) {
	select {
	case b.places <- struct{}{}:
		defer func() { <-b.places }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	events, err = b.store.EventsAfter(InBackground(ctx), roots, at, feedBatch)
	return events, b.reads.Add(1), err
}
