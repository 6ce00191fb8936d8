package sqlstore

import (
	"context"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/dbconn"
)

// A presumptionProof proves the presumption about the caller of a request.
type presumptionProof struct {
	dialect     *dbconn.Dialect
	presumption *iam.Presumption
	proof       *iam.Proof
	known       *knownAuthority
	comparing   bool // whether the statement reads nothing but versions
	statement   dbconn.Statement
	found       signIns
}

// A prover proves who the callers of requests are.
type prover struct{ dialect *dbconn.Dialect }

// TakeProof returns the proof that the next statements of ctx must include, or nil if there is
// none. It fails once the presumption is refuted or cannot be proven.
func (p prover) TakeProof(ctx context.Context) (dbconn.Proof, error) {
	presumption := iam.PresumptionOf(ctx)
	proof := presumption.TakeProof()
	if proof == nil {
		return nil, presumption.Err()
	}
	known, _ := proof.Kept().(*knownAuthority)
	if known == nil {
		known = newKnownAuthority(p.dialect, proof.Bearer(), nil, core.Time{})
		proof.Keep(known)
	}
	taken := &presumptionProof{dialect: p.dialect, presumption: presumption, proof: proof, known: known}
	if taken.comparing = known.isBound(time.Now()); taken.comparing {
		taken.statement = *known.compare
		taken.statement.Original = known.compare
		taken.statement.Row = taken.found.addVersion
	} else {
		taken.statement = taken.readAll()
	}
	return taken, nil
}

// readAll returns the statement that reads everything about the bearer.
func (p *presumptionProof) readAll() dbconn.Statement {
	all := *p.known.read
	all.Row = p.found.add
	return all
}

// Statement returns the statement that proves the presumption.
func (p *presumptionProof) Statement() *dbconn.Statement { return &p.statement }

// Resolve compares what was read with the presumption. err is the error of the round trip, and
// next runs another statement. The result is err, or the reason why the request cannot be
// answered.
func (p *presumptionProof) Resolve(ctx context.Context, next dbconn.Conn, err error) error {
	switch {
	case !p.statement.Done:
		p.presumption.Fail(ctx, err)
		return err
	case p.comparing && string(p.found.versions) == p.known.versions:
		p.presumption.Confirm()
		return err
	case p.comparing: // a right has changed, perhaps that of another caller
		p.found, p.statement = signIns{}, p.readAll()
		failed := next.Run(ctx, &p.statement)
		switch {
		case failed != nil && err != nil: // a transaction that has failed reads nothing more
			p.presumption.Release()
			return err
		case failed != nil:
			p.presumption.Fail(ctx, failed)
			return failed
		}
	}
	if refuted := p.presumption.Resolve(&p.found); refuted != nil {
		return refuted
	}
	p.proof.Keep(p.known.bind(p.dialect, p.proof.Bearer(), &p.found, time.Now()))
	return err
}
