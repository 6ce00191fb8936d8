package platform

import (
	"context"
	"sync/atomic"
)

// A Trace counts what one request asked of the store.
type Trace struct {
	Statements atomic.Int64
	RoundTrips atomic.Int64
}

type traceKey struct{}

// WithTrace makes the store count into t.
func WithTrace(ctx context.Context, t *Trace) context.Context {
	return context.WithValue(ctx, traceKey{}, t)
}

// TraceOf gives the trace of the request, nil where nobody counts.
func TraceOf(ctx context.Context) *Trace {
	t, _ := ctx.Value(traceKey{}).(*Trace)
	return t
}

// Note counts statements sent in one round trip. It is safe on nil.
func (t *Trace) Note(statements int) {
	if t != nil {
		t.Statements.Add(int64(statements))
		t.RoundTrips.Add(1)
	}
}
