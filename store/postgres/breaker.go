package postgres

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/jackc/pgx/v5/pgconn"

	"atrium/platform/core"
	"atrium/store/pgpool"
)

// A server that swallows packets keeps a statement waiting for the whole response timeout, and a
// request sends several statements one after the other. So that no request waits twice, nothing
// is sent once a response is overdue and no other one has arrived in the meantime. It is sent
// again when the server answers a new connection.

// A breaker is the circuit breaker between the requests and the server. It is open while the
// server is silent.
type breaker struct {
	probe func(context.Context) bool // reports whether the server answers a new connection
	reset func()                     // closes the connections, which are as silent as the one that is overdue

	isOpen    atomic.Bool
	responses atomic.Int64 // number of responses so far

	closing context.Context //nolint:containedctx // ends when the engine is closed
	close   context.CancelFunc
	probing sync.WaitGroup
}

// probePause is the pause between two probes of a silent server.
const probePause = 100 * time.Millisecond

// errOverdue is the cause of the error of a response that did not arrive in time.
var errOverdue = errors.New("the response is overdue")

func newBreaker(probe func(context.Context) bool, reset func()) *breaker {
	b := &breaker{probe: probe, reset: reset}
	b.closing, b.close = context.WithCancel(context.Background())
	return b
}

// A wait is the wait for one response.
type wait struct {
	breaker *breaker
	caller  context.Context //nolint:containedctx // the context of the caller
	within  context.Context //nolint:containedctx // ends when the response is overdue
	cancel  context.CancelFunc
	before  int64 // responses of the server before the wait
}

// check fails while the server is silent.
func (b *breaker) check() error {
	if b.isOpen.Load() {
		return core.Unavailable("the database does not answer", errOverdue)
	}
	return nil
}

// await returns a wait that ends after a time limit; 0 means no limit.
func (b *breaker) await(ctx context.Context, limit time.Duration) wait {
	w := wait{breaker: b, caller: ctx, before: b.responses.Load()}
	w.within, w.cancel = limitTime(ctx, limit)
	return w
}

// limitTime returns a context that ends after a time limit; 0 means no limit.
func limitTime(ctx context.Context, limit time.Duration) (context.Context, context.CancelFunc) {
	if limit == 0 {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, limit)
}

// end returns the error of work that has waited: the server is unavailable if its response is
// overdue.
func (w wait) end(err error) error {
	if w.within.Err() == nil {
		w.breaker.responses.Add(1)
		return err
	}
	if err == nil || w.caller.Err() != nil {
		return err
	}
	if said := (*pgconn.PgError)(nil); errors.As(err, &said) {
		w.breaker.responses.Add(1)
		return err
	}
	if w.breaker.responses.Load() == w.before {
		w.breaker.open()
	}
	return core.Unavailable("the database does not answer", fmt.Errorf("%w: %w", errOverdue, err))
}

// open opens the breaker until the server answers a new connection.
func (b *breaker) open() {
	if !b.isOpen.CompareAndSwap(false, true) {
		return
	}
	b.reset()
	b.probing.Go(func() {
		defer b.isOpen.Store(false)
		for !b.probe(b.closing) && pgpool.Sleep(b.closing, probePause) {
		}
	})
}

// end ends the probes of a breaker.
func (b *breaker) end() {
	b.close()
	b.probing.Wait()
}
