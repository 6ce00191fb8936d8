package sqlstore

import (
	"context"

	"atrium/platform"
)

// shared is an engine that does not give all of its connections to background
// work.
type shared struct {
	Engine
	places chan struct{} // holds one for each statement or transaction in the background
}

// shareOf lets background work have half of the connections of an engine. The
// other half belongs to requests, which may use all of them.
func shareOf(e Engine) shared {
	return shared{e, make(chan struct{}, max(1, e.Connections()/2))}
}

// Run reads outside of any transaction.
func (s shared) Run(ctx context.Context, statements ...*Statement) error {
	return s.inPlace(ctx, func() error { return s.Engine.Run(ctx, statements...) })
}

// Write runs unit in a transaction.
func (s shared) Write(ctx context.Context, unit func(TxConn) error) error {
	return s.inPlace(ctx, func() error { return s.Engine.Write(ctx, unit) })
}

// inPlace waits for a place where ctx is of background work.
func (s shared) inPlace(ctx context.Context, work func() error) error {
	if !platform.IsBackground(ctx) {
		return work()
	}
	select {
	case s.places <- struct{}{}:
		defer func() { <-s.places }()
		return work()
	case <-ctx.Done():
		return ctx.Err()
	}
}
