package server

import (
	"context"
	"hash/maphash"
	"math/rand/v2"
	"os"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"atrium/platform"
	"atrium/telemetry"
)

// A gate decides which requests are worked on, before anything of them is read. As many as
// there are slots work at the same time, or fewer if the processors cannot keep up, so that
// the server does what it can do at full speed, however many requests arrive. The others wait
// for a moment, and those for whom there is no room are refused at once. While requests
// wait, the server looks for new ones before it gives a slot to the next (see rounds), so that
// those who are refused, or whose turn it is, learn it soon.
//
// A free slot goes to the organisation that has used slots for the shortest time, and
// within it to such a caller (see share). The organisation and the caller are presumed from
// an earlier request with the same token: they decide only who waits, never what anyone
// may do. Requests without a known token are one organisation, because tokens can be
// invented at will, and their addresses are its callers.
type gate struct {
	*quotas
	slots         int         // number of requests that work at the same time; 0 means no limit
	roundsAreLong func() bool // reports whether requests that arrive are seen too late
	awaitRound    func()      // lets endRound be called when the current round ends

	lock         sync.Mutex
	limit        int       // number of slots that may be used now
	fitted       time.Time // when the limit was fitted
	lastOverload time.Time // when the gate was overloaded
	root         share
	shares       map[shareKey]*share
	freeShares   []*share      // kept for further use
	working      []*ticket     // requests that have a slot
	averageWork  time.Duration // time for which a request uses a slot, on average
	tick         atomic.Int64  // counts the calls of sweep
	timer        *time.Timer   // calls sweep while requests wait
	restingSlots int           // slots that are free when the current round ends
	waits        int64
	waited       time.Duration

	tickets sync.Pool

	seed  maphash.Seed // hides the hashes of tokens, so that nobody can search for equal ones
	known *simplelru.LRU[tokenHash, *acquaintance]
}

// A tokenHash identifies a token, which is a secret and is not kept.
type tokenHash uint64

// hash returns the hash of a token.
func (g *gate) hash(token string) tokenHash { return tokenHash(maphash.String(g.seed, token)) }

// An acquaintance is the caller of an earlier request with a token.
type acquaintance struct {
	key     shareKey
	expires time.Time
}

// maxKnown limits the tokens whose callers are known.
const maxKnown = 1 << 14

const (
	// reserve is the part of the slots that one organisation leaves to others.
	reserve = 4
	// queuePerSlot is how many requests may wait for each slot. More of them may wait for as long
	// as a surge lasts.
	queuePerSlot = 5
	surge        = 100 * time.Millisecond
	// maxQueue limits the requests that wait, and so their memory.
	maxQueue = 1024
	// maxQueueTime limits the time that a request waits.
	maxQueueTime = time.Second
	// sweepInterval is the interval of sweep. A request that waits for the network for
	// longer gives up its slot if another request waits for one.
	sweepInterval = 10 * time.Millisecond
)

func newGate(q *quotas, slots int) *gate {
	known, err := simplelru.NewLRU[tokenHash, *acquaintance](maxKnown, nil)
	if err != nil {
		panic(err) // fails only if the size is not positive
	}
	g := &gate{quotas: q, slots: slots, limit: slots, shares: map[shareKey]*share{}, known: known, seed: maphash.MakeSeed()}
	r := &rounds{end: g.endRound, open: os.Pipe}
	g.awaitRound, g.roundsAreLong = r.await, r.areLong
	g.tickets.New = func() any { return &ticket{gate: g, ready: make(chan error, 1)} }
	return g
}

// FitConcurrency is the value of Config.MaxConcurrent that stands for what the machine and
// the connections to the database suggest.
const FitConcurrency = -1

// slotsOf returns how many requests should be worked on at the same time, so that one
// organisation can use all connections to the database.
func slotsOf(connections int) int {
	slots := connections + connections/(reserve-1)
	return max(slots, 2*runtime.GOMAXPROCS(0))
}

// maxSlots returns how many slots an organisation may have. Those without a known token get
// few, because whoever invents tokens lets the server compute.
func (g *gate) maxSlots(organisation string) int {
	if organisation == "" {
		return max(1, g.limit/reserve)
	}
	return g.limit - g.limit/reserve
}

// presume returns the caller of the last request with a token, or none.
func (g *gate) presume(token tokenHash, now time.Time) shareKey {
	g.lock.Lock()
	defer g.lock.Unlock()
	last, found := g.known.Get(token)
	if !found || now.After(last.expires) {
		return shareKey{}
	}
	return last.key
}

// remember keeps the caller of a request for the next request with its token.
func (g *gate) remember(token tokenHash, key shareKey, expires time.Time) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.known.Add(token, &acquaintance{key, expires})
}

// forget forgets the caller of a token that is no longer valid.
func (g *gate) forget(token tokenHash) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.known.Remove(token)
}

// The errors of requests that find no room in the queue, and of those that have waited too
// long. Refused requests should come again at different times, so that not all of them come
// at once.
var crowdedErrors, busyErrors = func() (crowded, busy [3]error) {
	for i := range crowded {
		delay := time.Duration(1+i) * time.Second
		crowded[i] = exhaustedError("the server is busy, and too many requests of this organisation are waiting; try again later", delay)
		late := *platform.AsError(platform.Unavailable("the server is busy; try again later", nil))
		late.RetryAfter = delay
		busy[i] = &late
	}
	return crowded, busy
}()

// pickError returns one of several errors.
func pickError(errors [3]error) error { return errors[rand.IntN(len(errors))] }

// acquire waits for a slot. It returns the name of the limit and an error if there is none
// for the request, or if ctx ends.
func (g *gate) acquire(ctx context.Context, t *ticket, key shareKey) (limit string, err error) {
	if g.slots == 0 {
		return "", nil
	}
	now := time.Now()
	g.lock.Lock()
	g.relax(now)
	s := g.share(key)
	t.share, t.key = s, key
	if g.hasSlot() && s.parent.working < g.maxSlots(t.key.organisation) {
		g.start(t, now)
		g.lock.Unlock()
		return "", nil
	}
	if !g.makeRoom(s, now) {
		refusal := crowdedErrors
		if s.parent.waiting == 0 { // the others take all the room
			refusal = busyErrors
		}
		g.drop(s)
		g.lock.Unlock()
		return limitQueue, pickError(refusal)
	}
	g.wait(t, now)
	g.lock.Unlock()
	return g.await(ctx, t)
}

// await waits until a ticket in the queue gets a slot.
func (g *gate) await(ctx context.Context, t *ticket) (limit string, err error) {
	select {
	case err = <-t.ready:
		switch {
		case err == nil:
			return "", nil
		case platform.AsError(err).Code == platform.CodeUnavailable:
			return limitWait, err
		}
		return limitQueue, err
	case <-ctx.Done():
		g.leave(t)
		return "", ctx.Err()
	}
}

// share returns the share of a caller, and creates it if there is none.
func (g *gate) share(key shareKey) *share {
	if s := g.shares[key]; s != nil {
		return s
	}
	parent := &g.root
	if key.caller != "" {
		parent = g.share(shareKey{organisation: key.organisation})
	}
	var s *share
	if last := len(g.freeShares) - 1; last >= 0 {
		s, g.freeShares = g.freeShares[last], g.freeShares[:last]
	} else {
		s = &share{}
	}
	s.key, s.parent, s.used = key, parent, parent.average
	parent.children = append(parent.children, s)
	g.shares[key] = s
	return s
}

// maxFreeShares limits the shares that are kept for further use.
const maxFreeShares = 64

// drop removes a share that has no requests, and its organisation if that has none.
func (g *gate) drop(s *share) {
	for s.parent != nil && s.waiting == 0 && s.working == 0 && len(s.children) == 0 {
		parent := s.parent
		i, last := slices.Index(parent.children, s), len(parent.children)-1
		parent.children[i] = parent.children[last]
		parent.children = slices.Delete(parent.children, last, last+1)
		delete(g.shares, s.key)
		if *s = (share{children: s.children, queue: s.queue}); len(g.freeShares) < maxFreeShares {
			g.freeShares = append(g.freeShares, s)
		}
		s = parent
	}
}

// start gives a slot to a request.
func (g *gate) start(t *ticket, now time.Time) {
	t.state, t.since, t.charged, t.index = isWorking, now, g.averageWork, len(g.working)
	g.working = append(g.working, t)
	t.share.start(t.charged)
}

// wait puts a request at the end of the queue of its caller.
func (g *gate) wait(t *ticket, now time.Time) {
	t.state, t.since = isWaiting, now
	t.share.queue = append(t.share.queue, t)
	t.share.addWaiting(1, now)
	if g.waits++; g.root.waiting == 1 {
		if g.timer == nil {
			g.timer = time.AfterFunc(sweepInterval, g.sweep)
		} else {
			g.timer.Reset(sweepInterval)
		}
	}
}

// makeRoom reports whether a request of a caller may wait. If too many wait, the newest
// request of those who have the most makes room, unless these are the caller itself.
func (g *gate) makeRoom(caller *share, now time.Time) bool {
	if g.root.countRefusable() < maxQueue && !g.isOverloaded(now) {
		return true
	}
	own, organisation := caller.parent, g.root.longest()
	if organisation.countRefusable() <= own.countRefusable()+1 {
		organisation = own
	}
	longest := organisation.longest()
	newest := longest.newest()
	if newest == nil || organisation == own && longest.countRefusable() <= caller.countRefusable()+1 {
		return false
	}
	g.refuse(newest, pickError(crowdedErrors), now)
	return true
}

// isOverloaded reports whether more requests wait than queuePerSlot allows, and some have waited
// all the time for longer than a surge lasts. It keeps the time of the overload. Until there has
// been none for calmTime, no other surge may wait: to refuse it at its end would delay everybody
// else.
func (g *gate) isOverloaded(now time.Time) bool {
	if g.root.countRefusable() < queuePerSlot*g.limit || now.Sub(g.root.crowded) <= surge && now.Sub(g.lastOverload) > calmTime {
		return false
	}
	g.lastOverload = now
	return true
}

// refuse ends the wait of a request with an error.
func (g *gate) refuse(t *ticket, err error, now time.Time) {
	g.unqueue(t, now)
	t.state = isDone
	g.drop(t.share)
	t.ready <- err
}

// unqueue removes a request from its queue.
func (g *gate) unqueue(t *ticket, now time.Time) {
	i := slices.Index(t.share.queue, t)
	t.share.queue = slices.Delete(t.share.queue, i, i+1)
	t.share.addWaiting(-1, now)
	if t.state == isReturning {
		t.share.addReturning(-1)
	}
	g.waited += now.Sub(t.since)
}

// hasSlot reports whether a slot is free.
func (g *gate) hasSlot() bool { return len(g.working)+g.restingSlots < g.limit }

// dispatch gives free slots to the requests that are next.
func (g *gate) dispatch(now time.Time) {
	for g.root.waiting > 0 && g.hasSlot() {
		s := g.root.next(g.maxSlots)
		if s == nil {
			return
		}
		t := s.queue[0]
		g.unqueue(t, now)
		g.start(t, now)
		t.ready <- nil
	}
}

// yield takes the slot of a request.
func (g *gate) yield(t *ticket, now time.Time) {
	last := len(g.working) - 1
	g.working[t.index] = g.working[last]
	g.working[t.index].index = t.index
	g.working[last] = nil
	g.working = g.working[:last]
	took := now.Sub(t.since)
	t.share.finish(took - t.charged)
	g.averageWork += (took - g.averageWork) / 64
}

// leave ends the work or the wait of a request. It may be called several times.
func (g *gate) leave(t *ticket) {
	if g.slots == 0 {
		return
	}
	g.lock.Lock()
	mustAwait := g.remove(t, time.Now())
	g.lock.Unlock()
	if mustAwait {
		g.awaitRound()
	}
}

// remove ends the work or the wait of a request, and reports whether a round must be awaited.
func (g *gate) remove(t *ticket, now time.Time) (mustAwait bool) {
	switch t.state {
	case isWorking:
		g.yield(t, now)
		if g.root.waiting > 0 {
			mustAwait = g.rest()
		}
	case isWaiting, isReturning:
		g.unqueue(t, now)
	case isAway:
		t.state = isDone
		return false
	default:
		return false
	}
	t.state = isDone
	g.drop(t.share)
	g.dispatch(now)
	return mustAwait
}

// sweep runs at intervals while requests wait. It refuses those that have waited too long,
// and takes the slots of requests that wait for the network.
func (g *gate) sweep() {
	now := time.Now()
	g.lock.Lock()
	defer g.lock.Unlock()
	tick := g.tick.Add(1)
	for _, organisation := range slices.Backward(g.root.children) { // backward, because refuse removes shares
		for _, caller := range slices.Backward(organisation.children) {
			for _, t := range slices.Backward(caller.queue) {
				if t.state != isWaiting {
					continue
				}
				if now.Sub(t.since) >= maxQueueTime {
					g.refuse(t, pickError(busyErrors), now)
				}
			}
		}
	}
	g.fit(now)
	g.shrinkQueue(now)
	for i := len(g.working) - 1; i >= 0; i-- {
		if t := g.working[i]; t.isBlocked(tick) {
			g.lend(t, now)
		}
	}
	g.dispatch(now)
	if g.root.waiting > 0 {
		g.timer.Reset(sweepInterval)
	}
}

// shrinkQueue refuses the newest requests of those who have the most, as long as too many wait.
func (g *gate) shrinkQueue(now time.Time) {
	for g.isOverloaded(now) {
		t := g.root.longest().longest().newest()
		if t == nil {
			return
		}
		g.refuse(t, pickError(busyErrors), now)
	}
}

// lend lets other requests use the slot of a request that waits for the network.
func (g *gate) lend(t *ticket, now time.Time) {
	g.yield(t, now)
	t.state = isAway
	g.drop(t.share)
}

// resume waits until a request whose slot was lent has one again. It is never refused,
// because a part of its work is done.
func (g *gate) resume(ctx context.Context, t *ticket) error {
	now := time.Now()
	g.lock.Lock()
	if t.state != isAway {
		g.lock.Unlock()
		return nil
	}
	s := g.share(t.key)
	t.share = s
	if g.hasSlot() && s.parent.working < g.maxSlots(t.key.organisation) {
		g.start(t, now)
		g.lock.Unlock()
		return nil
	}
	g.wait(t, now)
	copy(s.queue[1:], s.queue) // it is the first, because it has waited before
	s.queue[0], t.state = t, isReturning
	s.addReturning(1)
	g.lock.Unlock()
	_, err := g.await(ctx, t)
	return err
}

// state describes the gate for the metrics.
func (g *gate) state() telemetry.Gate {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.relax(time.Now())
	return telemetry.Gate{Working: len(g.working), Waiting: g.root.waiting, Slots: g.limit, Waits: g.waits, Waited: g.waited}
}
