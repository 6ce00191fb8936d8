package dbconn

import (
	"context"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"atrium/platform/core"
)

// To find a row by its key costs less than the way to the database: the system calls, and
// waking up two processes. So concurrent requests share round trips for their quick
// statements. No request waits for others to come. If few enough round trips are under way,
// it begins one. Otherwise it waits until one of them ends, but at most maxTurnWait, and then
// shares a round trip with those that wait too, up to maxSharers.
//
// These few round trips need no turn, as they use few connections. Those in addition to them, of
// which there may be one for each request while the database is slow, need the turn of their request.
//
// A round trip has only statements of requests that have been received before it begins, so
// it proves who their callers are as well as a round trip of each request would.

// A quickReader sends the quick statements of all requests, and hands the others to next.
type quickReader struct {
	next      Conn // waits for the turn of the request
	alone     Conn // waits for nothing
	engine    Engine
	observers observers
	slots     backgroundSlots

	lock    sync.Mutex
	free    int // number of round trips that may begin
	waiting []*quickCall
}

const (
	// maxQuickStatements limits the statements of a call that shares round trips.
	maxQuickStatements = 8
	// maxSharers limits the calls of a round trip.
	maxSharers = 32
	// maxQuickTime limits a round trip that is shared, as no request can cancel it.
	maxQuickTime = 10 * time.Second
	// maxTurnWait limits how long a call waits before it joins or begins a round trip. Those
	// under way may take long, because the database is far away, or a connection is lost.
	maxTurnWait = 5 * time.Millisecond
)

// countSharedTrips returns how many round trips may be under way that need no turn: one for two processors, as too few requests
// would share one otherwise, but at most an eighth of the connections.
func countSharedTrips(e Engine) int {
	if e.Dialect().LimitSharedWait == "" {
		return 0
	}
	return max(1, min(runtime.GOMAXPROCS(0)/2, e.Connections()/8))
}

// newSharing returns a quickReader.
func newSharing(d *Database, next Conn) Conn {
	return &quickReader{
		next: next, alone: newObserved(d, d.Engine), engine: d.Engine, observers: d.observers, slots: d.slots,
		free: countSharedTrips(d.Engine),
	}
}

// Run runs statements.
func (q *quickReader) Run(ctx context.Context, statements ...*Statement) error {
	if q.accepts(ctx, statements) {
		return q.run(ctx, statements)
	}
	return q.next.Run(ctx, statements...)
}

// accepts reports whether statements can share a round trip with those of other requests.
func (q *quickReader) accepts(ctx context.Context, statements []*Statement) bool {
	return q.engine.Dialect().LimitSharedWait != "" && !core.IsBackground(ctx) && len(statements) <= maxQuickStatements &&
		!slices.ContainsFunc(statements, func(s *Statement) bool { return !s.Quick })
}

// run runs the statements of a call.
func (q *quickReader) run(ctx context.Context, statements []*Statement) error {
	c := &quickCall{ctx: ctx, statements: statements, start: time.Now()}
	if q.begin(c) {
		runtime.Gosched() // lets requests join that have been received, and that no processor has served yet
		q.lead(c)
	} else if err := q.await(c); err != nil {
		return err
	}
	switch {
	case c.isUndone:
		return q.next.Run(ctx, listUndone(statements)...)
	case c.isShared:
		core.TraceOf(ctx).NoteStatements(len(statements))
		q.observers.report(ctx, statements, c.start, c.err)
	}
	return c.err
}

// begin reports whether a call may begin a round trip. Otherwise, the call waits.
func (q *quickReader) begin(c *quickCall) bool {
	q.lock.Lock()
	defer q.lock.Unlock()
	if q.free > 0 {
		q.free--
		return true
	}
	c.turn = make(chan bool, 1)
	q.waiting = append(q.waiting, c)
	return false
}

// await waits until the statements of a call have run. It fails if the call ends before they
// are sent. Afterwards they stay in their round trip, which writes to what the call owns.
func (q *quickReader) await(c *quickCall) error {
	late := time.NewTimer(maxTurnWait)
	defer late.Stop()
	select {
	case begins := <-c.turn:
		if begins {
			q.lead(c)
		}
		return nil
	case <-late.C:
		if q.leave(c) {
			end, err := q.slots.await(c.ctx)
			if err != nil {
				return err
			}
			defer end()
			c.start = time.Now() // of its round trip, for the observers
			q.sendWaiting(c)
			return nil
		}
	case <-c.ctx.Done():
		if q.leave(c) {
			return c.ctx.Err()
		}
	}
	if <-c.turn {
		q.lead(c)
	}
	return nil
}

// leave removes a call that waits. It returns false if the call waits no longer.
func (q *quickReader) leave(c *quickCall) bool {
	q.lock.Lock()
	defer q.lock.Unlock()
	i := slices.Index(q.waiting, c)
	if i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
	return i >= 0
}

// lead begins a round trip with a call. The next call begins another one afterwards.
func (q *quickReader) lead(c *quickCall) {
	defer q.end()
	q.sendWaiting(c)
}

// sendWaiting sends the statements of a call, together with those of the calls that wait.
func (q *quickReader) sendWaiting(c *quickCall) {
	calls := q.take(c)
	if calls == nil {
		c.err = q.alone.Run(c.ctx, c.statements...)
		return
	}
	var err error
	defer func() { // also if the goroutine ends in a function that receives a row
		conclude(calls, err)
		for _, each := range calls[1:] {
			each.turn <- false
		}
	}()
	err = q.send(calls)
}

// take returns a call and the waiting calls that share its round trip, or nil if none waits.
func (q *quickReader) take(c *quickCall) []*quickCall {
	q.lock.Lock()
	defer q.lock.Unlock()
	n := min(len(q.waiting), maxSharers-1)
	if n == 0 {
		return nil
	}
	calls := append(append(make([]*quickCall, 0, n+1), c), q.waiting[:n]...)
	q.waiting = slices.Delete(q.waiting, 0, n)
	return calls
}

// end ends a round trip. The first call that waits begins the next one.
func (q *quickReader) end() {
	q.lock.Lock()
	defer q.lock.Unlock()
	if len(q.waiting) == 0 {
		q.free++
		return
	}
	q.waiting[0].turn <- true
	q.waiting = slices.Delete(q.waiting, 0, 1)
}

// send sends the statements of calls in one round trip, which none of them can cancel. It
// converts a panic into an error, because the goroutine belongs to only one of the calls.
func (q *quickReader) send(calls []*quickCall) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	trip := newSharedTrip(q.engine.Dialect(), calls)
	defer trip.tellCopies()
	ctx, cancel := context.WithTimeout(context.Background(), maxQuickTime)
	defer cancel()
	err = q.engine.Run(ctx, trip.statements...)
	if err != nil && ctx.Err() != nil {
		return core.Unavailable("the database does not answer", err)
	}
	return err
}
