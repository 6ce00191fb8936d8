package server

import (
	"context"
	"time"
)

const (
	// readyTimeout is shorter than the usual timeouts of health checks.
	readyTimeout = 2 * time.Second
	// readyKept is how long the result of a check is kept. It is shorter than the usual
	// intervals of health checks.
	readyKept = time.Second
)

// shareCheck returns a check that anyone may ask for, as often as they like: requests share
// one run of check, and its result is kept for readyKept. Once draining is closed, check is
// called at once; it must not use the database then.
func shareCheck(check func(context.Context) error, draining <-chan struct{}) func(context.Context) error {
	turn := make(chan struct{}, 1) // holds the request that reads or changes what follows
	var result error
	var until time.Time
	return func(ctx context.Context) error {
		select {
		case <-draining:
			return check(ctx)
		default:
		}
		select {
		case turn <- struct{}{}:
			defer func() { <-turn }()
		case <-ctx.Done():
			return ctx.Err()
		}
		if time.Now().Before(until) {
			return result
		}
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), readyTimeout) // others wait for the result, even if the client disconnects
		defer cancel()
		result = check(ctx)
		until = time.Now().Add(readyKept)
		return result
	}
}
