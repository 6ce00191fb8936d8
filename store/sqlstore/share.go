package sqlstore

import (
	"context"

	"atrium/platform"
)

// A sharedEngine reserves a part of its connections for requests.
type sharedEngine struct {
	Engine
	slots chan struct{} // holds one for each statement or transaction in the background
}

// newSharedEngine limits background work to half of the connections of an engine.
// Requests may use all of them.
func newSharedEngine(e Engine) sharedEngine {
	return sharedEngine{e, make(chan struct{}, max(1, e.Connections()/2))}
}

// Run reads outside of any transaction.
func (s sharedEngine) Run(ctx context.Context, statements ...*Statement) error {
	return s.withSlot(ctx, func() error { return s.Engine.Run(ctx, statements...) })
}

// Write runs unit in a transaction.
func (s sharedEngine) Write(ctx context.Context, unit func(TxConn) error) error {
	return s.withSlot(ctx, func() error { return s.Engine.Write(ctx, unit) })
}

// withSlot calls work. For background work, it waits for a free slot first.
func (s sharedEngine) withSlot(ctx context.Context, work func() error) error {
	if !platform.IsBackground(ctx) {
		return work()
	}
	select {
	case s.slots <- struct{}{}:
		defer func() { <-s.slots }()
		return work()
	case <-ctx.Done():
		return ctx.Err()
	}
}
