package admission

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"atrium/platform/core"
)

// A limiter lets a limited number of requests work at the same time. The others wait in a
// fair queue (see share), whose length and time are bounded.
type limiter struct {
	slots   int  // number of requests that work at the same time; 0 means no limit
	refuses bool // whether requests are refused that are too many, or wait for too long

	lock       sync.Mutex
	root       share
	shares     map[Key]*share
	working    map[*request]struct{}
	crowded    time.Time    // when a request last began to wait in an empty queue
	overloaded time.Time    // when a request last waited in vain, or had no room after a burst
	ticks      atomic.Int64 // number of calls of sweep
	timer      *time.Timer  // calls sweep while requests wait
	waits      int64
	waited     time.Duration
}

const (
	// reserve is the part of the slots that one organization leaves to others.
	reserve = 4
	// maxWait limits the time that a request waits. Within this time many people can open a page
	// with many requests, each of which takes long.
	maxWait = 10 * time.Second
	// queuePerSlot is how many requests may wait for each slot. In a burst maxQueue requests may
	// wait: as long as the queue was empty at most maxWait ago, and nobody has waited in vain for
	// calmTime. An overload would otherwise be one burst after the other, in which all wait in vain.
	queuePerSlot = 5
	calmTime     = time.Second
	maxQueue     = 1024
	// sweepInterval is the interval of sweep. A request that waits for the network for longer
	// gives up its slot if another request waits for one.
	sweepInterval = 10 * time.Millisecond
)

func newLimiter(slots int, refuses bool) *limiter {
	return &limiter{slots: slots, refuses: refuses, shares: map[Key]*share{}, working: map[*request]struct{}{}}
}

// maxSlots returns how many slots an organization may have. Those without a known token get
// few, because anybody can invent tokens and let the server check them.
func (l *limiter) maxSlots(organization string) int {
	if organization == "" {
		return max(1, l.slots/reserve)
	}
	return l.slots - l.slots/reserve
}

// hasSlot reports whether the organization of a caller may use another slot.
func (l *limiter) hasSlot(caller *share) bool {
	return len(l.working) < l.slots && caller.parent.working < l.maxSlots(caller.key.Organization)
}

// acquire waits for a slot. It returns the name of the limit and an error if there is none
// for the request, or if ctx ends.
func (l *limiter) acquire(ctx context.Context, r *request, key Key) (limit string, err error) {
	if l.slots == 0 {
		return "", nil
	}
	now := time.Now()
	l.lock.Lock()
	s := l.share(key)
	r.key, r.share, r.mayRefuse = key, s, l.refuses
	switch {
	case l.hasSlot(s):
		l.start(r, now)
	case !l.refuses || l.makeRoom(s, now):
		l.enqueue(r, now)
	default:
		limit, err = limitQueue, crowdedError()
		if s.parent.waiting == 0 { // others take all the room
			err = busyError()
		}
		l.drop(s)
	}
	ready := r.ready
	l.lock.Unlock()
	if ready == nil {
		return limit, err
	}
	return l.await(ctx, r, ready)
}

// move lets a request that works go on as one of another caller, as soon as that may have its slot.
func (l *limiter) move(ctx context.Context, r *request, key Key) (limit string, err error) {
	now := time.Now()
	l.lock.Lock()
	if r.state != isWorking || r.key == key {
		l.lock.Unlock()
		return "", nil
	}
	l.finish(r, now)
	l.drop(r.share)
	r.key, r.share, r.mayRefuse = key, l.share(key), true
	if l.hasSlot(r.share) {
		l.start(r, now)
	} else {
		l.enqueue(r, now)
	}
	l.dispatch(now)
	ready := r.ready
	l.lock.Unlock()
	if ready == nil {
		return "", nil
	}
	return l.await(ctx, r, ready)
}

// await waits until a request in the queue gets a slot.
func (l *limiter) await(ctx context.Context, r *request, ready chan error) (limit string, err error) {
	select {
	case err = <-ready:
		switch {
		case err == nil:
			return "", nil
		case core.AsError(err).Code == core.CodeUnavailable:
			return limitWait, err
		}
		return limitQueue, err
	case <-ctx.Done():
		l.leave(r)
		return "", ctx.Err()
	}
}

// crowdedError is for a request of an organization that has the most waiting requests. Clients
// come again at different times, so that not all of them come at once.
func crowdedError() error {
	return exhaustedError("the server is busy, and too many requests of this organization are waiting; try again later", pickDelay())
}

// busyError is for a request that others leave no room, or that has waited too long.
func busyError() error {
	e := *core.AsError(core.Unavailable("the server is busy; try again later", nil))
	e.RetryAfter = pickDelay()
	return &e
}

func pickDelay() time.Duration { return time.Duration(1+rand.IntN(3)) * time.Second }

// start gives a slot to a request.
func (l *limiter) start(r *request, now time.Time) {
	r.state, r.since, r.ready = isWorking, now, nil
	l.working[r] = struct{}{}
	r.share.addWorking(1)
}

// enqueue lets a request wait.
func (l *limiter) enqueue(r *request, now time.Time) {
	if l.root.waiting+l.root.resuming == 0 {
		l.crowded = now
		if l.timer == nil {
			l.timer = time.AfterFunc(sweepInterval, l.sweep)
		} else {
			l.timer.Reset(sweepInterval)
		}
	}
	r.state, r.since, r.ready = isWaiting, now, make(chan error, 1)
	r.share.enqueue(r)
	l.waits++
}

// dequeue removes a request from the queue.
func (l *limiter) dequeue(r *request, now time.Time) {
	r.share.dequeue(r)
	l.waited += now.Sub(r.since)
}

// maxWaiting returns how many requests may wait now.
func (l *limiter) maxWaiting(now time.Time) int {
	if l.isBurst(now) {
		return maxQueue
	}
	return min(queuePerSlot*l.slots, maxQueue)
}

// isBurst reports whether those that wait, if any, may be served soon.
func (l *limiter) isBurst(now time.Time) bool {
	return now.Sub(l.overloaded) > calmTime && (l.root.waiting == 0 || now.Sub(l.crowded) <= maxWait)
}

// makeRoom reports whether a request of a caller may wait. If too many wait, the newest
// request of those who have the most makes room, unless these are the caller itself.
func (l *limiter) makeRoom(caller *share, now time.Time) bool {
	if l.root.waiting < l.maxWaiting(now) {
		return true
	}
	if !l.isBurst(now) {
		l.overloaded = now
	}
	own, organization := caller.parent, l.root.longest()
	if organization.waiting <= own.waiting+1 {
		organization = own
	}
	longest := organization.longest()
	newest := longest.newest()
	if newest == nil || organization == own && longest.waiting <= caller.waiting+1 {
		return false
	}
	l.refuse(newest, crowdedError(), now)
	return true
}

// refuse ends the wait of a request with an error.
func (l *limiter) refuse(r *request, err error, now time.Time) {
	l.dequeue(r, now)
	r.state = isDone
	l.drop(r.share)
	r.ready <- err
}

// dispatch gives free slots to the requests that are next.
func (l *limiter) dispatch(now time.Time) {
	for len(l.working) < l.slots {
		s := l.root.next(l.maxSlots)
		if s == nil {
			return
		}
		r := s.queue[0]
		l.dequeue(r, now)
		ready := r.ready
		l.start(r, now)
		ready <- nil
	}
}

// finish takes the slot of a request.
func (l *limiter) finish(r *request, now time.Time) {
	delete(l.working, r)
	r.share.addWorking(-1)
	r.share.charge(now.Sub(r.since))
}

// leave ends the work or the wait of a request. It may be called several times.
func (l *limiter) leave(r *request) {
	if l.slots == 0 {
		return
	}
	now := time.Now()
	l.lock.Lock()
	defer l.lock.Unlock()
	switch r.state {
	case isWorking:
		l.finish(r, now)
	case isWaiting:
		l.dequeue(r, now)
	default:
		r.state = isDone
		return
	}
	r.state = isDone
	l.drop(r.share)
	l.dispatch(now)
}

// sweep runs at intervals while requests wait. It refuses those that have waited too long,
// shortens a queue that is too long, and takes the slots of requests that wait for the
// network.
func (l *limiter) sweep() {
	now := time.Now()
	l.lock.Lock()
	defer l.lock.Unlock()
	for r := range l.root.waitingRequests() {
		if r.mayRefuse && now.Sub(r.since) >= maxWait {
			l.overloaded = now
			l.refuse(r, busyError(), now)
		}
	}
	for l.refuses && l.root.waiting > l.maxWaiting(now) {
		l.overloaded = now
		l.refuse(l.root.longest().longest().newest(), busyError(), now)
	}
	tick := l.ticks.Add(1)
	for r := range l.working {
		if r.lend(tick) {
			l.finish(r, now)
			r.state = isAway
			l.drop(r.share)
		}
	}
	l.dispatch(now)
	if l.root.waiting+l.root.resuming > 0 {
		l.timer.Reset(sweepInterval)
	}
}

// resume waits until a request whose slot was lent has one again. It is refused after maxWait only
// if mayRefuse is set, that is if nothing of its work is done.
func (l *limiter) resume(ctx context.Context, r *request, mayRefuse bool) (limit string, err error) {
	now := time.Now()
	l.lock.Lock()
	if r.state != isAway {
		l.lock.Unlock()
		return "", nil
	}
	r.share, r.isResuming, r.mayRefuse = l.share(r.key), true, mayRefuse
	if l.hasSlot(r.share) {
		l.start(r, now)
	} else {
		l.enqueue(r, now)
	}
	ready := r.ready
	l.lock.Unlock()
	if ready == nil {
		return "", nil
	}
	return l.await(ctx, r, ready)
}

// A State describes the limiter for the metrics.
type State struct {
	Working, Waiting, Slots int
	Waits                   int64         // number of requests that have waited
	Waited                  time.Duration // how long they have waited, in total
}

// State returns the state of the limiter.
func (l *limiter) State() State {
	l.lock.Lock()
	defer l.lock.Unlock()
	return State{len(l.working), l.root.waiting + l.root.resuming, l.slots, l.waits, l.waited}
}
