package dbconn

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"sync"
	"time"
)

// A level is a set of concurrent calls that read for one response. When each of
// them waits for statements or has ended, the statements are sent in one round trip.
type level struct {
	lock    sync.Mutex
	running int // number of calls that have not ended
	waiting []*pendingCall
	hasSlow bool        // whether one of the waiting calls has slow statements
	timer   *time.Timer // sends the waiting statements if a call takes too long; nil means that no call waits
}

// gathering lets a call of a level wait for the other calls of the level.
type gathering struct{ next Conn }

func newGathering(_ *Database, next Conn) Conn { return &gathering{next} }

// Run runs statements.
func (g *gathering) Run(ctx context.Context, statements ...*Statement) error {
	if l := levelOf(ctx); l != nil {
		return l.run(newPendingCall(ctx, g.next, statements))
	}
	return g.next.Run(ctx, statements...)
}

// A pendingCall holds the statements that one call waits for.
type pendingCall struct {
	ctx        context.Context //nolint:containedctx // the context of the call
	to         Conn
	statements []*Statement
	err        error
	done       chan struct{}
}

func newPendingCall(ctx context.Context, to Conn, statements []*Statement) *pendingCall {
	return &pendingCall{ctx: ctx, to: to, statements: statements, done: make(chan struct{})}
}

type levelKey struct{}

// levelOf returns the level that a call belongs to, or nil.
func levelOf(ctx context.Context) *level {
	l, _ := ctx.Value(levelKey{}).(*level)
	return l
}

// maxLevelWait limits how long a call waits for the other calls of its level. They
// may be waiting for something other than statements.
const maxLevelWait = 5 * time.Millisecond

// Gather announces that n concurrent calls will read for one response. Each call
// uses a context from join, and calls end when it has finished.
func (d *Database) Gather(n int) (join func(context.Context) context.Context, end func()) {
	if !d.Dialect().Pipelines {
		return func(ctx context.Context) context.Context { return ctx }, func() {}
	}
	l := &level{running: n}
	return func(ctx context.Context) context.Context { return context.WithValue(ctx, levelKey{}, l) }, l.end
}

// AwaitOther calls wait while a call waits for the read of another call. In the
// meantime, the level does not wait for this call.
func AwaitOther(ctx context.Context, wait func()) {
	if l := levelOf(ctx); l != nil {
		l.end()
		defer l.rejoin()
	}
	wait()
}

// end records that a call has ended.
func (l *level) end() {
	l.lock.Lock()
	l.running--
	ready := l.takeWaiting(false)
	l.lock.Unlock()
	sendAll(ready)
}

// takeWaiting returns the waiting calls if all calls wait or have ended, or if
// isLate is set.
func (l *level) takeWaiting(isLate bool) []*pendingCall {
	if len(l.waiting) == 0 || len(l.waiting) < l.running && !isLate {
		return nil
	}
	if l.timer != nil {
		l.timer.Stop()
		l.timer = nil
	}
	ready := l.waiting
	l.waiting, l.hasSlow = nil, false
	return ready
}

// run runs the statements of a call together with those of the other calls. One slow
// call may be among them, as the last one: the response waits for it in any case. A
// second one would wait for the first, so the level does not wait for it.
func (l *level) run(d *pendingCall) error {
	l.lock.Lock()
	switch isSlow := slices.ContainsFunc(d.statements, func(s *Statement) bool { return s.Slow }); {
	case !isSlow:
		l.waiting = slices.Insert(l.waiting, 0, d)
	case !l.hasSlow:
		l.waiting, l.hasSlow = append(l.waiting, d), true
	default:
		l.lock.Unlock()
		l.end()
		defer l.rejoin()
		return d.to.Run(d.ctx, d.statements...)
	}
	ready := l.takeWaiting(false)
	if ready == nil && l.timer == nil {
		l.timer = time.AfterFunc(maxLevelWait, l.sendLate)
	}
	l.lock.Unlock()
	sendAll(ready)
	<-d.done
	return d.err
}

func (l *level) sendLate() {
	l.lock.Lock()
	ready := l.takeWaiting(true)
	l.lock.Unlock()
	sendAll(ready)
}

// rejoin reverses end: the level waits for the call again.
func (l *level) rejoin() {
	l.lock.Lock()
	l.running++
	l.lock.Unlock()
}

// sendAll runs the statements of all calls, those with the same way to the database in one
// round trip.
func sendAll(all []*pendingCall) {
	for len(all) > 0 {
		to := all[0].to
		if !slices.ContainsFunc(all, func(d *pendingCall) bool { return d.to != to }) {
			sendTogether(all)
			return
		}
		var same, others []*pendingCall
		for _, d := range all {
			if d.to == to {
				same = append(same, d)
			} else {
				others = append(others, d)
			}
		}
		sendTogether(same)
		all = others
	}
}

// sendTogether runs the statements of calls with the same way in one round trip.
// The error is that of the call whose statement failed. Statements that did not run because
// of it are run separately, so that the error of one call does not affect the others.
func sendTogether(all []*pendingCall) {
	var statements []*Statement
	for _, d := range all {
		statements = append(statements, d.statements...)
	}
	err := all[0].send(statements)
	failed := slices.IndexFunc(all, (*pendingCall).hasFailed)
	if failed < 0 { // the statements ran in their order, or the error is not that of a call
		failed = slices.IndexFunc(all, func(d *pendingCall) bool { return len(listUndone(d.statements)) > 0 })
	}
	for i, d := range all {
		if i == failed {
			d.err = err
		} else if undone := listUndone(d.statements); len(undone) > 0 {
			d.err = d.send(undone)
		}
		close(d.done)
	}
}

// send sends statements as the call, and converts a panic into an error. The goroutine
// can belong to another call, and an unrecovered panic would end the process.
func (d *pendingCall) send(statements []*Statement) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return d.to.Run(d.ctx, statements...)
}

func (d *pendingCall) hasFailed() bool {
	return slices.ContainsFunc(d.statements, func(s *Statement) bool { return s.Failed })
}
