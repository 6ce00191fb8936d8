package sqlstore

import (
	"context"
	"time"

	"atrium/platform"
)

// A presumptionProof adds, to the first statements of a request with a presumption,
// the statement that proves it. A nil presumptionProof adds nothing.
type presumptionProof struct {
	presumption *platform.Presumption
	proof       *platform.Proof
	known       *knownAuthority
	comparing   bool // whether the statement reads nothing but versions
	statement   Statement
	found       signIns
}

// proving adds the proof of the presumption about the caller to the first statements of a
// request.
type proving struct {
	next    Conn
	dialect *Dialect
}

func newProving(d *database, next Conn) Conn { return &proving{next, d.Dialect()} }

// Run runs statements.
func (p *proving) Run(ctx context.Context, statements ...*Statement) error {
	proof, err := takeProof(ctx, p.dialect)
	if err != nil {
		return err
	}
	return proof.resolve(ctx, p, p.next.Run(ctx, proof.addTo(statements)...))
}

// takeProof returns the proof that the next statements of ctx must include, or nil if
// there is none. It fails once the presumption is refuted or cannot be proven.
func takeProof(ctx context.Context, dialect *Dialect) (*presumptionProof, error) {
	presumption := platform.PresumptionOf(ctx)
	proof := presumption.TakeProof()
	if proof == nil {
		return nil, presumption.Err()
	}
	known, _ := proof.Kept().(*knownAuthority)
	if known == nil {
		known = newKnownAuthority(dialect, proof.Bearer(), nil)
		proof.Keep(known)
	}
	p := &presumptionProof{presumption: presumption, proof: proof, known: known}
	if p.comparing = known.isBound(time.Now()); p.comparing {
		p.statement = *known.compare
		p.statement.Original = known.compare
		p.statement.Row = p.found.addVersion
	} else {
		p.statement = p.readAll()
	}
	return p, nil
}

// readAll returns the statement that reads everything about the bearer.
func (p *presumptionProof) readAll() Statement {
	all := *p.known.read
	all.Row = p.found.add
	return all
}

// addTo returns statements with the one that proves the presumption.
func (p *presumptionProof) addTo(statements []*Statement) []*Statement {
	if p == nil {
		return statements
	}
	return append(append(make([]*Statement, 0, 1+len(statements)), &p.statement), statements...)
}

// resolve compares what was read with the presumption. err is the error of the round
// trip. The result is err, or the reason why the request cannot be answered.
func (p *presumptionProof) resolve(ctx context.Context, by *proving, err error) error {
	switch {
	case p == nil:
		return err
	case !p.statement.Done:
		p.presumption.Fail(ctx, err)
		return err
	case p.comparing && string(p.found.versions) == p.known.versions:
		p.presumption.Confirm()
		return err
	case p.comparing: // a right has changed, perhaps that of another caller
		p.found, p.statement = signIns{}, p.readAll()
		if failed := by.next.Run(ctx, &p.statement); failed != nil {
			p.presumption.Fail(ctx, failed)
			return failed
		}
	}
	if refuted := p.presumption.Resolve(&p.found); refuted != nil {
		return refuted
	}
	p.proof.Keep(p.known.bind(by.dialect, p.proof.Bearer(), &p.found, time.Now()))
	return err
}
