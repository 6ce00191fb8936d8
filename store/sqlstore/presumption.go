package sqlstore

import (
	"context"

	"atrium/platform"
)

// A provingConn adds, to the first statements of a request with a presumption, the
// statement that proves it.
type provingConn struct {
	Conn
	dialect *Dialect
}

// Run runs statements. It fails once the presumption is refuted or cannot be proven.
func (c provingConn) Run(ctx context.Context, statements ...*Statement) error {
	presumption := platform.PresumptionOf(ctx)
	bearer, isAsked := presumption.TakeBearer()
	if !isAsked {
		if err := presumption.Err(); err != nil {
			return err
		}
		return c.Conn.Run(ctx, statements...)
	}
	var found signIns
	proof := found.statement(c.dialect, bearer)
	err := c.Conn.Run(ctx, append([]*Statement{proof}, statements...)...)
	if !proof.Done {
		presumption.Fail(ctx, err)
		return err
	}
	if refuted := presumption.Resolve(found.candidates, found.entrances); refuted != nil {
		return refuted
	}
	return err
}
