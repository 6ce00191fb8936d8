package client

import (
	"context"
	"errors"
	"math/rand/v2"
	"time"

	"connectrpc.com/connect"
	"google.golang.org/genproto/googleapis/rpc/errdetails"
)

const (
	defaultAttempts = 4
	firstPause      = 100 * time.Millisecond
	longestPause    = 5 * time.Second
)

// retrying tries a call that ends UNAVAILABLE again. One that may change
// something is tried again only where the server itself said so: after a
// connection that broke, nobody knows how far it came.
func (o Options) retrying() connect.Interceptor {
	attempts, sleep := o.Attempts, o.sleep
	if attempts == 0 {
		attempts = defaultAttempts
	}
	if sleep == nil {
		sleep = pause
	}
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			for attempt := 1; ; attempt++ {
				answer, err := next(ctx, r)
				again := connect.CodeOf(err) == connect.CodeUnavailable &&
					(connect.IsWireError(err) || r.Spec().IdempotencyLevel == connect.IdempotencyNoSideEffects)
				if err == nil || !again || attempt == attempts || sleep(ctx, backoff(attempt, err)) != nil {
					return answer, err
				}
			}
		}
	})
}

// backoff is how long to wait after so many attempts: twice as long each time,
// give or take a half, so that clients do not come back all at once; and no
// shorter than the server asks for.
func backoff(attempt int, err error) time.Duration {
	wait := min(firstPause<<min(attempt-1, 10), longestPause)
	return max(wait/2+rand.N(wait), asked(err))
}

// asked is how long the server asks clients to wait.
func asked(err error) time.Duration {
	for _, d := range detailsOf(err) {
		if message, err := d.Value(); err == nil {
			if retry, ok := message.(*errdetails.RetryInfo); ok {
				return retry.GetRetryDelay().AsDuration()
			}
		}
	}
	return 0
}

func detailsOf(err error) []*connect.ErrorDetail {
	var e *connect.Error
	if errors.As(err, &e) {
		return e.Details()
	}
	return nil
}

// pause sleeps unless ctx ends first.
func pause(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
