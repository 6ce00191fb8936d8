package sqlstore

import (
	"context"

	"atrium/platform"
)

// A proving connection sends, with the first statements of a request whose
// caller is presumed, the one that proves who the caller is.
type proving struct {
	Conn
	dialect *Dialect
}

// Run runs statements. Once the presumption is refuted or cannot be proven, it runs
// none.
func (c proving) Run(ctx context.Context, statements ...*Statement) error {
	presumption := platform.PresumptionOf(ctx)
	bearer, isAsked := presumption.Ask()
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
	if refuted := presumption.Hear(found.candidates, found.entrances); refuted != nil {
		return refuted
	}
	return err
}
