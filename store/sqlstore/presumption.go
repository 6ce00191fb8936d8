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
	proof := presumption.TakeProof()
	if proof == nil {
		if err := presumption.Err(); err != nil {
			return err
		}
		return c.Conn.Run(ctx, statements...)
	}
	var found signIns
	built, _ := proof.Statement(func(b platform.Bearer) any { return signInStatement(c.dialect, b) }).(*Statement)
	first := &Statement{SQL: built.SQL, Args: built.Args, Row: found.add}
	err := c.Conn.Run(ctx, append([]*Statement{first}, statements...)...)
	if !first.Done {
		presumption.Fail(ctx, err)
		return err
	}
	if refuted := presumption.Resolve(&found); refuted != nil {
		return refuted
	}
	return err
}
