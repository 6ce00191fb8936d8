package dbconn

import (
	"context"

	"atrium/platform"
)

// backgroundSlots holds one element for each statement or transaction in the background. Such
// work has a quarter of the connections of an engine, and requests have the others.
type backgroundSlots chan struct{}

func newBackgroundSlots(e Engine) backgroundSlots {
	return make(backgroundSlots, max(1, e.Connections()/4))
}

// ForRequests returns how many connections background work leaves to requests. If no more
// requests work at the same time, and each takes turns, no statement waits for a connection.
func (d *Database) ForRequests() int { return max(1, d.Connections()-cap(d.slots)) }

// TakeTurn waits until a slot is free.
func (s backgroundSlots) TakeTurn(ctx context.Context) (platform.Turn, error) {
	select {
	case s <- struct{}{}:
		return s, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// End frees a slot.
func (s backgroundSlots) End() { <-s }

// inTurn lets reads wait until they may use a connection: work in the background for a slot, and
// the reads of a request for one another. It is a value, so that the ways of both kinds of reads are
// equal while there are no standbys, and a level sends their statements together.
type inTurn struct {
	next  Conn
	slots backgroundSlots
}

func newInTurn(d *Database, next Conn) Conn { return inTurn{next, d.slots} }

// Run runs statements.
func (t inTurn) Run(ctx context.Context, statements ...*Statement) error {
	turns := platform.TurnsOf(ctx)
	if turns == nil && !platform.IsBackground(ctx) {
		return t.next.Run(ctx, statements...)
	}
	if turns == nil || platform.IsBackground(ctx) {
		turns = t.slots
	}
	turn, err := turns.TakeTurn(ctx)
	if err == nil && turn == nil { // the request has ended, but for a subscription
		turn, err = t.slots.TakeTurn(ctx)
	}
	if err != nil {
		return err
	}
	defer turn.End()
	return t.next.Run(ctx, statements...)
}
