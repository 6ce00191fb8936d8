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
	maxPause        = 5 * time.Second
)

// retryInterceptor retries calls that fail with UNAVAILABLE. It retries a call that
// may change something only if the server itself answered UNAVAILABLE. After a lost
// connection it is unknown whether the call was executed.
func (o Options) retryInterceptor() connect.Interceptor {
	attempts, sleep := o.Attempts, o.sleep
	if attempts == 0 {
		attempts = defaultAttempts
	}
	if sleep == nil {
		sleep = sleepContext
	}
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			for attempt := 1; ; attempt++ {
				answer, err := next(ctx, r)
				canRetry := connect.CodeOf(err) == connect.CodeUnavailable &&
					(connect.IsWireError(err) || r.Spec().IdempotencyLevel == connect.IdempotencyNoSideEffects)
				if err == nil || !canRetry || attempt == attempts || sleep(ctx, backoff(attempt, err)) != nil {
					return answer, err
				}
			}
		}
	})
}

// backoff returns the time to wait after an attempt. It doubles with each attempt,
// with random jitter so that clients do not retry all together, and is at least as
// long as the server asks for.
func backoff(attempt int, err error) time.Duration {
	wait := min(firstPause<<min(attempt-1, 10), maxPause)
	return max(wait/2+rand.N(wait), retryDelay(err))
}

// retryDelay returns the time that the server asks clients to wait, or 0.
func retryDelay(err error) time.Duration {
	for _, d := range errorDetails(err) {
		if message, err := d.Value(); err == nil {
			if retry, ok := message.(*errdetails.RetryInfo); ok {
				return retry.GetRetryDelay().AsDuration()
			}
		}
	}
	return 0
}

func errorDetails(err error) []*connect.ErrorDetail {
	var e *connect.Error
	if errors.As(err, &e) {
		return e.Details()
	}
	return nil
}

// sleepContext sleeps until d has passed or ctx ends.
func sleepContext(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
