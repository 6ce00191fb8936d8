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

// retryInterceptor retries calls after the errors that canRetry accepts.
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
				if err == nil || !canRetry(err, r.Spec()) || attempt == attempts || sleep(ctx, backoff(attempt, err)) != nil {
					return answer, err
				}
			}
		}
	})
}

// canRetry reports whether a call may be made again after an error. A call that may change
// something is repeated only if the server itself answered that it has changed nothing. After
// a lost connection to the server, it is unknown whether the call was executed. The server
// answers ABORTED if it does not know it either, because it has lost its database.
func canRetry(err error, call connect.Spec) bool {
	switch connect.CodeOf(err) {
	case connect.CodeUnavailable:
		return connect.IsWireError(err) || call.IdempotencyLevel == connect.IdempotencyNoSideEffects
	case connect.CodeResourceExhausted: // with a delay, the server has refused the call before it began
		return connect.IsWireError(err) && retryInfo(err) != nil
	default:
		return false
	}
}

// backoff returns the time to wait after an attempt. It doubles with each attempt,
// with random jitter so that clients do not retry all together, and is at least as
// long as the server asks for.
func backoff(attempt int, err error) time.Duration {
	wait := min(firstPause<<min(attempt-1, 10), maxPause)
	return max(wait/2+rand.N(wait), retryDelay(err))
}

// retryDelay returns the time that the server asks clients to wait, or 0.
func retryDelay(err error) time.Duration { return retryInfo(err).GetRetryDelay().AsDuration() }

// retryInfo returns the RetryInfo of an error, or nil.
func retryInfo(err error) *errdetails.RetryInfo {
	for _, d := range errorDetails(err) {
		if message, err := d.Value(); err == nil {
			if retry, ok := message.(*errdetails.RetryInfo); ok {
				return retry
			}
		}
	}
	return nil
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
