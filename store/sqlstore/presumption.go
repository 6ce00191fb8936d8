package sqlstore

import (
	"context"

	"atrium/platform"
)

// A presumptionProof adds, to the first statements of a request with a presumption,
// the statement that proves it. A nil presumptionProof adds nothing.
type presumptionProof struct {
	presumption *platform.Presumption
	statement   Statement
	found       signIns
}

// takeProof returns the proof that the next statements of ctx must include, or nil if
// there is none. It fails once the presumption is refuted or cannot be proven.
func takeProof(ctx context.Context, dialect *Dialect) (*presumptionProof, error) {
	presumption := platform.PresumptionOf(ctx)
	proof := presumption.TakeProof()
	if proof == nil {
		return nil, presumption.Err()
	}
	built, _ := proof.Statement(func(b platform.Bearer) any { return signInStatement(dialect, b) }).(*Statement)
	p := &presumptionProof{presumption: presumption}
	p.statement = Statement{SQL: built.SQL, Args: built.Args, Row: p.found.add}
	return p, nil
}

// addTo returns statements with the one that proves the presumption.
func (p *presumptionProof) addTo(statements []*Statement) []*Statement {
	if p == nil {
		return statements
	}
	return append([]*Statement{&p.statement}, statements...)
}

// resolve compares what was read with the presumption. err is the error of the round
// trip. The result is err, or the reason why the request cannot be answered.
func (p *presumptionProof) resolve(ctx context.Context, err error) error {
	switch {
	case p == nil:
		return err
	case !p.statement.Done:
		p.presumption.Fail(ctx, err)
		return err
	}
	if refuted := p.presumption.Resolve(&p.found); refuted != nil {
		return refuted
	}
	return err
}
