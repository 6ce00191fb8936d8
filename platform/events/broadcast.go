package events

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"atrium/platform/core"
)

// New events are read when Changed signals them, and in any case once per
// feedInterval, because notifications from other replicas can be lost.
const (
	feedInterval   = time.Second
	broadcastBatch = 500

	// A listener queues at most queuedEvents events, and stops when their bodies
	// exceed queuedBytes. It reads later events from the store.
	queuedEvents = 100
	queuedBytes  = 1 << 20

	// Feeds are woken in batches with a pause between them, so that requests can
	// proceed: Go polls the network only when no other goroutine can run.
	wakeBatch = 128
	wakePause = time.Millisecond

	// maxCatchUps limits how many feeds read from the store at the same time.
	maxCatchUps = 2
)

// A broadcast reads each new event once for all live feeds of this process, while
// at least one feed listens. It dispatches events in memory to the listeners of
// their organization.
type broadcast struct {
	store        Store
	tables       Queries
	logger       *slog.Logger
	observer     Observer
	clock        func() time.Time
	callers      feedCallers
	anchor       eventAnchor
	reads        atomic.Int64  // number of reads of events: see feedCallers.join
	catchUpSlots chan struct{} // holds one element for each feed that reads from the store

	lock      sync.Mutex
	at        core.EventPosition // position of the last event that was dispatched
	listeners map[core.UID]map[*listener]struct{}
	listening int                // number of listeners
	stop      context.CancelFunc // stops the reader; nil while there are no listeners
	ended     chan struct{}      // closed when the reader has ended
}

func newBroadcast(area *Area) *broadcast {
	b := &broadcast{
		store: area.Store, tables: area.tables, logger: area.Logger, observer: area.options.Observer, clock: area.Clock,
		catchUpSlots: make(chan struct{}, maxCatchUps), listeners: map[core.UID]map[*listener]struct{}{},
	}
	b.anchor = eventAnchor{store: area.Store, tables: area.tables, retention: area.options.AuditRetention, clock: area.Clock}
	b.callers = feedCallers{store: area.Store, tables: area.iam.Tables, identify: area.iam.Identify, trouble: core.Chore{Logger: area.Logger, Warning: "reading grants failed; live feeds wait for a retry"}, reads: &b.reads, open: map[string]*feedCaller{}}
	return b
}

// A listener is the queue of new events of a feed.
type listener struct {
	caller *feedCaller
	roots  []core.UID // the organizations that it listens to
	wants  func(*core.Event) bool
	wake   chan struct{} // holds one element when the queue has events

	lock   sync.Mutex
	queue  []*core.Event
	bytes  int
	read   int64 // number of the read that returned the last event of the queue
	behind bool  // whether the queue was full, so later events were not queued
	due    bool  // whether the listener must be woken
	lost   bool  // whether events that it may have delivered are lost
}

// allRoots is the key of listeners to all organizations.
const allRoots core.UID = ""

// subscribe adds a listener of a caller to organizations, or to all if roots is
// empty. The listener gets every event after the position that is returned.
func (b *broadcast) subscribe(ctx context.Context, caller *feedCaller, roots []core.UID, wants func(*core.Event) bool) (*listener, core.EventPosition, error) {
	if len(roots) == 0 {
		roots = []core.UID{allRoots}
	}
	l := &listener{caller: caller, roots: roots, wants: wants, wake: make(chan struct{}, 1)}
	b.lock.Lock()
	defer b.lock.Unlock()
	for b.stop == nil {
		b.lock.Unlock()
		newest, err := b.findNewest(ctx)
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

// findNewest returns the position of the newest event, and anchors it.
func (b *broadcast) findNewest(ctx context.Context) (core.EventPosition, error) {
	newest, found, err := b.store.EventPosition(ctx, "")
	if err == nil && found {
		err = b.anchor.noteAt(ctx, newest)
	}
	return newest, err
}

// resume lets a listener that was behind receive events again: every event after
// the position that is returned.
func (b *broadcast) resume(l *listener) core.EventPosition {
	b.lock.Lock()
	defer b.lock.Unlock()
	l.lock.Lock()
	defer l.lock.Unlock()
	l.behind = false
	return b.at
}

// unsubscribe removes a listener. When it removes the last one, it waits until
// the reader has ended.
func (b *broadcast) unsubscribe(l *listener) {
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

// start starts the reader at a position.
func (b *broadcast) start(at core.EventPosition) {
	ctx, cancel := context.WithCancel(core.InBackground(context.Background()))
	ended := make(chan struct{})
	b.at, b.stop, b.ended = at, cancel, ended
	go func() {
		defer close(ended)
		b.run(ctx, at)
	}()
}

// run reads events until ctx ends. While the store fails, feeds wait. No event is
// lost, because reading continues at the same position.
func (b *broadcast) run(ctx context.Context, at core.EventPosition) {
	reading := core.Chore{Logger: b.logger, Warning: "reading new events failed; live feeds wait for a retry"}
	for ctx.Err() == nil {
		changed := b.store.Changed()
		events, err := b.tables.EventsAfter(ctx, b.store, nil, at, broadcastBatch)
		if err == nil {
			at, events, err = b.checkAnchor(ctx, at, events)
		}
		if ctx.Err() != nil {
			return
		}
		if reading.Note(ctx, err); err != nil {
			changed = nil // an immediate retry would add load to a failing store
		}
		if len(events) > 0 {
			at = events[len(events)-1].Position
			b.anchor.note(events[len(events)-1])
			b.dispatch(ctx, events).wake(ctx)
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

// checkAnchor checks the anchor after a read at a position. If events are lost, it ends all
// feeds, because they may have delivered them, and returns the position of the newest event
// that is left.
func (b *broadcast) checkAnchor(ctx context.Context, at core.EventPosition, read []*core.Event) (core.EventPosition, []*core.Event, error) {
	intact, err := b.anchor.holds(ctx)
	if intact || err != nil {
		return at, read, err
	}
	b.endFeeds(at) // before the anchor moves, which lets feeds continue that read from the store
	newest, err := b.findNewest(ctx)
	if err != nil {
		return at, nil, err
	}
	b.endFeeds(newest) // those that began in the meantime
	return newest, nil, nil
}

// endFeeds ends all feeds with errEventsLost. Later ones begin at a position.
func (b *broadcast) endFeeds(at core.EventPosition) {
	b.lock.Lock()
	defer b.lock.Unlock()
	b.at = at
	ended := 0
	for _, listeners := range b.listeners {
		for l := range listeners {
			if l.lose() {
				ended++
			}
		}
	}
	if ended > 0 {
		b.logger.Warn("the database was replaced by a copy that lacks the newest events; live feeds, which may have delivered them, are ended", "feeds", ended)
	}
}

// A wakeList holds the listeners that new events were queued for.
type wakeList struct {
	operators, others []*listener
	grants            *grantRead // the read of grants that others wait for
}

// observe reports the lag of dispatched events to the observer.
func (b *broadcast) observe(events []*core.Event) {
	now := b.clock()
	for _, e := range events {
		b.observer.EventRead(now.Sub(e.Time.Time))
	}
}

// dispatch adds events to the queues of their listeners. Before it wakes the
// first listener, it requests the grants of all their callers.
func (b *broadcast) dispatch(ctx context.Context, events []*core.Event) (to wakeList) {
	read := b.reads.Add(1)
	b.lock.Lock()
	defer b.lock.Unlock()
	if ctx.Err() != nil {
		return to // the listeners of this reader are gone
	}
	b.callers.lock.Lock()
	defer b.callers.lock.Unlock()
	for _, e := range events {
		for l := range b.listeners[e.Subject.Root()] {
			added, first := l.enqueue(e, read)
			if added {
				to.grants = b.callers.requestRead(l.caller, read)
			}
			if first {
				to.others = append(to.others, l)
			}
		}
		for l := range b.listeners[allRoots] { // listeners of operators, which need no grants
			if _, first := l.enqueue(e, read); first {
				to.operators = append(to.operators, l)
			}
		}
	}
	b.at = events[len(events)-1].Position
	return to
}

// wake wakes listeners in batches. Listeners that need grants are woken after the
// grants have been read, so that they run only once.
func (to wakeList) wake(ctx context.Context) {
	wakeAll(ctx, to.operators)
	if to.grants != nil {
		select {
		case <-to.grants.done:
		case <-ctx.Done():
		}
	}
	wakeAll(ctx, to.others)
}

func wakeAll(ctx context.Context, listeners []*listener) {
	for batch := range slices.Chunk(listeners, wakeBatch) {
		for _, l := range batch {
			l.signal()
		}
		if len(batch) < wakeBatch {
			return
		}
		select {
		case <-time.After(wakePause):
		case <-ctx.Done(): // nobody listens any more
			return
		}
	}
}

// enqueue adds an event if the listener wants it. It reports whether it did, and
// whether the caller must wake the listener.
func (l *listener) enqueue(e *core.Event, read int64) (added, first bool) {
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
		l.bytes += e.Size()
		l.read, added = read, true
	}
	first, l.due = !l.due, true
	return added, first
}

// signal wakes the feed of a listener.
func (l *listener) signal() {
	l.lock.Lock()
	defer l.lock.Unlock()
	l.due = false
	select {
	case l.wake <- struct{}{}:
	default: // it is awake
	}
}

// lose ends the feed of a listener with errEventsLost. It reports whether the feed had not
// been ended before.
func (l *listener) lose() bool {
	l.lock.Lock()
	first := !l.lost
	l.lost = true
	l.lock.Unlock()
	l.signal()
	return first
}

func (l *listener) isLost() bool {
	l.lock.Lock()
	defer l.lock.Unlock()
	return l.lost
}

// drain empties the queue. It returns the number of the read that returned the
// events, and whether later events were not queued.
func (l *listener) drain() (events []*core.Event, read int64, behind bool) {
	l.lock.Lock()
	defer l.lock.Unlock()
	events, l.queue, l.bytes = l.queue, nil, 0
	return events, l.read, l.behind
}

// readUpTo reads events that a feed has missed, up to a position of the broadcast. It
// returns the number of the read as well.
func (b *broadcast) readUpTo(ctx context.Context, roots []core.UID, after, upTo core.EventPosition) (events []*core.Event, read int64, err error) {
	select {
	case b.catchUpSlots <- struct{}{}:
		defer func() { <-b.catchUpSlots }()
	case <-ctx.Done():
		return nil, 0, ctx.Err()
	}
	ctx = core.InBackground(ctx)
	events, err = b.tables.EventsUpTo(ctx, b.store, roots, after, upTo, feedBatch)
	if err != nil {
		return nil, 0, err
	}
	intact, err := b.anchor.holds(ctx)
	switch {
	case err != nil:
		return nil, 0, err
	case !intact:
		return nil, 0, errEventsLost
	case len(events) > 0:
		b.anchor.note(events[len(events)-1])
	}
	return events, b.reads.Add(1), nil
}
