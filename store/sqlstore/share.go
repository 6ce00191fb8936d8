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
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.Engine.Run(ctx, statements...)
}

// Write runs unit in a transaction.
func (s sharedEngine) Write(ctx context.Context, unit func(TxConn) error) error {
	release, err := s.acquire(ctx)
	if err != nil {
		return err
	}
	defer release()
	return s.Engine.Write(ctx, unit)
}

// acquire takes a slot for background work, and waits until one is free. Requests
// need none.
func (s sharedEngine) acquire(ctx context.Context) (release func(), err error) {
	if !platform.IsBackground(ctx) {
		return func() {}, nil
	}
	select {
	case s.slots <- struct{}{}:
		return func() { <-s.slots }, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
