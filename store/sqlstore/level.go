package sqlstore

import (
	"context"
	"fmt"
	"runtime/debug"
	"slices"
	"strings"
	"sync"
	"time"
)

// A level is calls that read beside each other for one answer. Once each of them
// waits for statements or has ended, these are sent in one round trip.
type level struct {
	lock    sync.Mutex
	running int // calls that have not ended
	waiting []*demand
	late    *time.Timer // sends what waits for a call that comes to nothing; nil: none does
}

// A demand is the statements that one call waits for.
type demand struct {
	ctx        context.Context //nolint:containedctx // of the call
	conn       Conn
	statements []*Statement
	err        error
	done       chan struct{}
}

type levelKey struct{}

// maxLevelWait is how long a call waits for those beside it. One of them may wait
// for something else than statements.
const maxLevelWait = 5 * time.Millisecond

// Gather says that n calls are about to read for one answer. Each reads with the
// context that join makes of its own, and says by end that it is over.
func (s *Store) Gather(n int) (join func(context.Context) context.Context, end func()) {
	if !s.dialect.Pipelines {
		return func(ctx context.Context) context.Context { return ctx }, func() {}
	}
	l := &level{running: n}
	return func(ctx context.Context) context.Context { return context.WithValue(ctx, levelKey{}, l) }, l.end
}

// AwaitOther says that a call waits for something that another reads: until that is
// there, nobody beside it waits for it.
func (*Store) AwaitOther(ctx context.Context, wait func()) {
	l, _ := ctx.Value(levelKey{}).(*level)
	if l == nil {
		wait()
		return
	}
	_ = l.leave(func() error { wait(); return nil })
}

// end says that a call has ended.
func (l *level) end() {
	l.lock.Lock()
	l.running--
	ready := l.take(false)
	l.lock.Unlock()
	send(ready)
}

// take gives what waits, if nobody is left to wait for or it is late.
func (l *level) take(isLate bool) []*demand {
	if len(l.waiting) == 0 || len(l.waiting) < l.running && !isLate {
		return nil
	}
	if l.late != nil {
		l.late.Stop()
		l.late = nil
	}
	ready := l.waiting
	l.waiting = nil
	return ready
}

// run has statements run with those of the calls beside it.
func (l *level) run(d *demand) error {
	l.lock.Lock()
	l.waiting = append(l.waiting, d)
	ready := l.take(false)
	if ready == nil && l.late == nil {
		l.late = time.AfterFunc(maxLevelWait, l.sendLate)
	}
	l.lock.Unlock()
	send(ready)
	<-d.done
	return d.err
}

func (l *level) sendLate() {
	l.lock.Lock()
	ready := l.take(true)
	l.lock.Unlock()
	send(ready)
}

// leave runs what a call does without those beside it, who need not wait for it.
func (l *level) leave(work func() error) error {
	l.end()
	defer l.enter()
	return work()
}

func (l *level) enter() {
	l.lock.Lock()
	l.running++
	l.lock.Unlock()
}

// send runs the statements of all demands in one round trip. Those that did not
// run because one before them failed run by themselves: the error of one call is
// no other's.
func send(all []*demand) {
	if len(all) == 0 {
		return
	}
	var statements []*Statement
	for _, d := range all {
		statements = append(statements, d.statements...)
	}
	err, isTold := runSafely(all[0].ctx, all[0].conn, statements), false
	for _, d := range all {
		switch {
		case d.isDone():
		case !isTold:
			d.err, isTold = err, true
		default:
			d.err = runSafely(d.ctx, d.conn, d.statements)
		}
		close(d.done)
	}
}

// runSafely makes an error of a panic, which would end the process: the goroutine
// need not be that of the call.
func runSafely(ctx context.Context, conn Conn, statements []*Statement) (err error) {
	defer func() {
		if cause := recover(); cause != nil {
			err = fmt.Errorf("panic: %v\n%s", cause, debug.Stack())
		}
	}()
	return conn.Run(ctx, statements...)
}

func (d *demand) isDone() bool {
	return !slices.ContainsFunc(d.statements, func(s *Statement) bool { return !s.Done })
}

// A gathering connection runs the statements of calls beside each other together.
type gathering struct{ Conn }

// Run runs statements. Those that look at many rows take long, and keep nobody
// waiting.
func (g gathering) Run(ctx context.Context, statements ...*Statement) error {
	l, _ := ctx.Value(levelKey{}).(*level)
	switch {
	case l == nil:
		return g.Conn.Run(ctx, statements...)
	case slices.ContainsFunc(statements, looksAtMany):
		return l.leave(func() error { return g.Conn.Run(ctx, statements...) })
	default:
		return l.run(&demand{ctx: ctx, conn: g.Conn, statements: statements, done: make(chan struct{})})
	}
}

// looksAtMany tells a statement that counts rows, or looks for words in them.
func looksAtMany(s *Statement) bool {
	return strings.Contains(s.SQL, "COUNT(") || strings.Contains(s.SQL, " LIKE ")
}
