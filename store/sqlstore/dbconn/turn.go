package dbconn

import (
	"context"

	"atrium/platform/core"
)

// backgroundSlots holds one element for each statement or transaction in the background. Such
// work has a quarter of the connections of an engine, and requests have the others.
type backgroundSlots chan struct{}

func newBackgroundSlots(e Engine) backgroundSlots {
	return make(backgroundSlots, max(1, e.Connections()/4))
}

// ForRequests returns how many connections work in the background and reads that share round trips leave to requests. If
// they use no more at the same time, no statement waits for a connection.
func (d *Database) ForRequests() int {
	return max(1, d.Connections()-cap(d.slots)-countSharedTrips(d.Engine))
}

// TakeTurn waits until a slot is free.
func (s backgroundSlots) TakeTurn(ctx context.Context) (core.Turn, error) {
	select {
	case s <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// End frees a slot.
func (s backgroundSlots) End() { <-s }

// await waits until a read or a transaction of ctx may use a connection: work in the background for a slot, and a request
// for its turn. end is called afterwards.
func (s backgroundSlots) await(ctx context.Context) (end func(), err error) {
	turns := core.TurnsOf(ctx)
	if core.IsBackground(ctx) {
		turns = s
	}
	if turns == nil {
		return func() {}, nil
	}
	turn, err := turns.TakeTurn(ctx)
	if err == nil && turn == nil { // the request has ended, but for a subscription
		turn, err = s.TakeTurn(ctx)
	}
	if err != nil {
		return nil, err
	}
	return turn.End, nil
}

// inTurn lets reads wait until they may use a connection. What shares round trips passes it only if it needs a connection of its own.
type inTurn struct {
	next  Conn
	slots backgroundSlots
}

func newInTurn(d *Database, next Conn) Conn { return &inTurn{next, d.slots} }

// Run runs statements.
func (t *inTurn) Run(ctx context.Context, statements ...*Statement) error {
	end, err := t.slots.await(ctx)
	if err != nil {
		return err
	}
	defer end()
	return t.next.Run(ctx, statements...)
}
