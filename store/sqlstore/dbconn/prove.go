package dbconn

import "context"

// A Prover proves who the caller of a request is, with the first statements of the request.
type Prover interface {
	// TakeProof returns the proof that the next statements of ctx must include, or nil if they
	// need none. It fails if the request cannot be answered.
	TakeProof(ctx context.Context) (Proof, error)
}

// A Proof is one statement, and what follows from its rows.
type Proof interface {
	Statement() *Statement

	// Resolve is called when the statement and the others have run. err is the error of the
	// round trip, and next runs another statement. The result is err, or the reason why the
	// request cannot be answered.
	Resolve(ctx context.Context, next Conn, err error) error
}

// proving sends the proof of who the caller is with the first statements of a request.
type proving struct {
	next   Conn
	prover Prover
}

func newProving(d *Database, next Conn) Conn {
	if d.prover == nil {
		return next
	}
	return &proving{next, d.prover}
}

// Run runs statements.
func (p *proving) Run(ctx context.Context, statements ...*Statement) error {
	proof, err := p.prover.TakeProof(ctx)
	if err != nil {
		return err
	}
	request := readingOf(ctx) // if it is new, the primary must still tell its position
	switch {
	case proof == nil && len(statements) == 0 && (request == nil || !request.isNew()):
		return nil
	case proof == nil:
		return p.next.Run(ctx, statements...)
	}
	all := append(append(make([]*Statement, 0, 1+len(statements)), proof.Statement()), statements...)
	return proof.Resolve(ctx, p.next, p.next.Run(ctx, all...))
}
