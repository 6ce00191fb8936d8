package sqlstore

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"runtime/debug"
	"slices"
	"sync"
	"time"

	"atrium/platform"
)

// To find a row by its key costs less than the way to the database: the system calls, and
// waking up two processes. So concurrent requests share round trips for their quick
// statements. No request waits for others to come: if few enough round trips are under way,
// it begins one. Otherwise it waits until one ends, and then all that wait share the next.
//
// A round trip has only statements of requests that have been received before it begins, so
// it proves who their callers are as well as a round trip of each request would.

// A quickReader sends the quick statements of all requests.
type quickReader struct {
	database *database

	lock    sync.Mutex
	free    int // number of round trips that may begin
	waiting []*quickCall
}

// A quickCall is a call whose statements share a round trip.
type quickCall struct {
	ctx        context.Context //nolint:containedctx // the context of the call
	statements []*Statement
	turn       chan bool // receives true when the call must begin a round trip, and false when its statements have run
	err        error
	isUndone   bool // whether the failure of another call has prevented its statements
}

const (
	// maxQuickStatements limits the statements of a call that shares round trips.
	maxQuickStatements = 8
	// maxSharers limits the calls of a round trip.
	maxSharers = 32
	// maxQuickTime limits a round trip that is shared, as no request can cancel it.
	maxQuickTime = 10 * time.Second
	// maxTurnWait limits how long a call waits for the end of other round trips. They may wait
	// for a lock, or for a connection that is lost.
	maxTurnWait = 20 * time.Millisecond
)

// newQuickReader returns a quickReader with one round trip for two processors. With more of
// them, too few requests would share one.
func newQuickReader(d *database) *quickReader {
	return &quickReader{database: d, free: max(1, runtime.GOMAXPROCS(0)/2)}
}

// accepts reports whether statements can share a round trip with those of other requests.
func (q *quickReader) accepts(ctx context.Context, statements []*Statement) bool {
	isSlow := func(s *Statement) bool { return !s.Quick }
	return q.database.Dialect().Pipelines && !platform.IsBackground(ctx) &&
		len(statements) <= maxQuickStatements && !slices.ContainsFunc(statements, isSlow)
}

// run runs the statements of a call.
func (q *quickReader) run(ctx context.Context, statements []*Statement) error {
	c := &quickCall{ctx: ctx, statements: statements}
	if q.begin(c) {
		runtime.Gosched() // lets requests join that have been received, and that no processor has served yet
		q.lead(c, true)
	} else if err := q.await(c); err != nil {
		return err
	}
	if c.isUndone {
		return q.database.runAlone(ctx, listUndone(statements))
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

// await waits until the statements of a call have run. It fails if the call ends before.
func (q *quickReader) await(c *quickCall) error {
	late := time.NewTimer(maxTurnWait)
	defer late.Stop()
	select {
	case begins := <-c.turn:
		if begins {
			q.lead(c, true)
		}
		return nil
	case <-late.C:
		if q.leave(c) {
			q.lead(c, false)
			return nil
		}
	case <-c.ctx.Done():
		if q.leave(c) {
			return c.ctx.Err()
		}
	}
	if <-c.turn { // otherwise a round trip was under way, which writes to the rows of the call
		q.lead(c, true)
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

// lead sends the statements of a call, together with those of the calls that wait. If it was
// the turn of the call, the next call has its turn afterwards.
func (q *quickReader) lead(c *quickCall, hasTurn bool) {
	if hasTurn {
		defer q.end()
	}
	calls := q.take(c)
	if calls == nil {
		c.err = q.database.runAlone(c.ctx, c.statements)
		return
	}
	start := time.Now()
	err := q.send(calls)
	for _, each := range calls {
		each.finish(err)
		platform.TraceOf(each.ctx).NoteStatements(len(each.statements))
		q.database.report(each.ctx, each.statements, start, each.err)
		if each != c {
			each.turn <- false
		}
	}
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
	var trip sharedTrip
	for _, c := range calls {
		for _, s := range c.statements {
			trip.add(s)
		}
	}
	defer trip.finish()
	ctx, cancel := context.WithTimeout(context.Background(), maxQuickTime)
	defer cancel()
	return q.database.Engine.Run(ctx, trip.statements...)
}

// finish sets the result of a call whose round trip has ended with err. If the database did
// not answer in time, there is no time to run statements again.
func (c *quickCall) finish(err error) {
	isLate := errors.Is(err, &platform.Error{Code: platform.CodeUnavailable}) && errors.Is(err, context.DeadlineExceeded)
	switch hasFailed := func(s *Statement) bool { return s.Failed }; {
	case len(listUndone(c.statements)) == 0:
	case isLate, slices.ContainsFunc(c.statements, hasFailed):
		c.err = err
	default:
		c.isUndone = true
	}
}

// A sharedTrip has the statements of a round trip. Those with the same original run once.
type sharedTrip struct {
	statements []*Statement
	shared     []*sharedStatement
}

// A sharedStatement is a statement whose rows go to all copies of its original.
type sharedStatement struct {
	Statement
	copies []*Statement
}

// add adds a statement.
func (t *sharedTrip) add(s *Statement) {
	if s.Original == nil {
		t.statements = append(t.statements, s)
		return
	}
	i := slices.IndexFunc(t.shared, func(shared *sharedStatement) bool { return shared.Original == s.Original })
	if i >= 0 {
		t.shared[i].copies = append(t.shared[i].copies, s)
		return
	}
	shared := &sharedStatement{*s, []*Statement{s}}
	shared.Row = shared.pass
	t.shared = append(t.shared, shared)
	t.statements = append(t.statements, &shared.Statement)
}

// pass passes a row on to all copies.
func (s *sharedStatement) pass(scan func(dest ...any) error) error {
	for _, each := range s.copies {
		if err := each.Row(scan); err != nil {
			return err
		}
	}
	return nil
}

// finish tells the copies of a statement what came of it.
func (t *sharedTrip) finish() {
	for _, shared := range t.shared {
		for _, s := range shared.copies {
			s.Done, s.Failed = shared.Done, shared.Failed
		}
	}
}
