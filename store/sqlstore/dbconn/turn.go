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

// ForRequests returns how many connections background work leaves to requests. If they use no more at the same time, hardly
// any statement waits for a connection.
func (d *Database) ForRequests() int { return max(1, d.Connections()-cap(d.slots)) }

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

// inTurn lets reads wait until they may use a connection, except those that share round trips, which use few. It is a value, so
// that the ways of both kinds of reads are equal while there are no standbys, and a level sends their statements together.
type inTurn struct {
	next  Conn
	slots backgroundSlots
	quick *quickReader // nil if none share round trips
}

func newInTurn(d *Database, next Conn) Conn { return inTurn{next, d.slots, d.quick} }

// Run runs statements.
func (t inTurn) Run(ctx context.Context, statements ...*Statement) error {
	if t.quick != nil && t.quick.accepts(ctx, statements) {
		return t.next.Run(ctx, statements...)
	}
	end, err := t.slots.await(ctx)
	if err != nil {
		return err
	}
	defer end()
	return t.next.Run(ctx, statements...)
}
