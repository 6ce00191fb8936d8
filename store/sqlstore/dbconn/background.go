package dbconn

import (
	"context"

	"atrium/platform"
)

// backgroundSlots holds one element for each statement or transaction in the background. Such
// work may use half of the connections of an engine, and requests may use all of them.
type backgroundSlots chan struct{}

func newBackgroundSlots(e Engine) backgroundSlots {
	return make(backgroundSlots, max(1, e.Connections()/2))
}

// acquire takes a slot for background work, and waits until one is free. Requests
// need none. The caller calls release in any case.
func (s backgroundSlots) acquire(ctx context.Context) (release func(), err error) {
	if !platform.IsBackground(ctx) {
		return func() {}, nil
	}
	select {
	case s <- struct{}{}:
		return func() { <-s }, nil
	case <-ctx.Done():
		return func() {}, ctx.Err()
	}
}

// reserved lets work in the background wait for a slot.
type reserved struct {
	next  Conn
	slots backgroundSlots
}

func newReserved(d *Database, next Conn) Conn { return &reserved{next, d.slots} }

// Run runs statements.
func (r *reserved) Run(ctx context.Context, statements ...*Statement) error {
	release, err := r.slots.acquire(ctx)
	defer release()
	if err != nil {
		return err
	}
	return r.next.Run(ctx, statements...)
}
