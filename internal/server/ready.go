package server

import (
	"context"
	"sync/atomic"
	"time"
)

const (
	// readyTimeout is shorter than the usual timeouts of health checks.
	readyTimeout = 2 * time.Second
	// sharedFor is how long the result of a shared read is kept. It is shorter than the
	// usual intervals of health checks.
	sharedFor = time.Second
)

// shareCheck returns a check that anyone may ask for, as often as they like: see shareRead.
// Once draining is closed, check is called at once; it must not use the database then.
func shareCheck(check func(context.Context) error, draining <-chan struct{}) func(context.Context) error {
	shared := shareRead(func(ctx context.Context) (struct{}, error) { return struct{}{}, check(ctx) })
	return func(ctx context.Context) error {
		select {
		case <-draining:
			return check(ctx)
		default:
		}
		_, err := shared(ctx)
		return err
	}
}

// A readiness knows for the metrics what /readyz answers.
type readiness struct {
	check    atomic.Pointer[func(context.Context) error] // nil while the server starts
	draining <-chan struct{}                             // closed when the shutdown begins; nil means never
}

// use begins to answer with a check, when the server has started.
func (r *readiness) use(check func(context.Context) error) {
	if r != nil {
		r.check.Store(&check)
	}
}

// observe reports whether the server is ready. That is not known of a server that shuts down,
// because nobody expects it to be ready.
func (r *readiness) observe() (ready, known bool) {
	select {
	case <-r.draining:
		return false, false
	default:
	}
	check := r.check.Load()
	if check == nil {
		return false, true
	}
	ctx, cancel := context.WithTimeout(context.Background(), readyTimeout)
	defer cancel()
	return (*check)(ctx) == nil, true
}

// shareRead returns a function that anyone may call as often as they like: requests share one
// run of read, and its result, which nobody may change, is kept for sharedFor.
func shareRead[T any](read func(context.Context) (T, error)) func(context.Context) (T, error) {
	turn := make(chan struct{}, 1) // holds the request that reads or changes what follows
	var result T
	var failure error
	var until time.Time
	return func(ctx context.Context) (T, error) {
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			var none T
			return none, ctx.Err()
		}
		if time.Now().Before(until) {
			return result, failure
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout) // others wait for the result, even if the client disconnects
		defer cancel()
		result, failure = read(ctx)
		until = time.Now().Add(sharedFor)
		return result, failure
	}
}
