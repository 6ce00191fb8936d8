package iam

import (
	"context"
	"crypto/sha256"
	"slices"
	"sync"
	"sync/atomic"

	"atrium/platform/core"
)

// The grants of a caller are confirmed in each request, but without a round trip of
// their own. A request presumes that the caller has the same identities and grants
// as in an earlier request with the same token. The first statements of the
// request include one that reads them, or only the versions of what decides them
// (store/sqlstore/authority.go). If the grants have changed, the
// presumption is refuted: the request returns nothing and writes nothing, and runs
// again for the caller as it is now. No response is sent before the presumption is
// proven.

// A Presumption assumes that a caller has the identities and grants of an earlier
// request. It is safe for concurrent use. A nil Presumption assumes nothing.
type Presumption struct {
	area   *Area
	claims Claims
	actor  *core.Actor
	proof  *Proof

	lock  sync.Mutex
	state presumptionState
	err   error // reason why the request cannot be answered
}

type presumptionState int

const (
	isPresumed presumptionState = iota
	isPending                   // running statements will decide the presumption
	isProven
	isRefuted
	isFailed // the store failed to prove or refute the presumption
)

// Presume returns a context with the caller of an earlier request with the same
// claims. Prove must be called before the request is answered.
func (area *Area) Presume(ctx context.Context, c Claims, last *core.Actor) context.Context {
	actor := *last
	actor.Expires = c.Expires
	proof, _ := last.Proof.(*Proof)
	actor.Prover = &Presumption{area: area, claims: c, actor: &actor, proof: proof}
	return core.WithActor(ctx, &actor)
}

// A Proof keeps what the requests with one token need to prove their presumptions,
// so that nothing is built or decoded again that has not changed. It is safe for
// concurrent use.
type Proof struct {
	Claims Claims
	bearer Bearer
	kept   atomic.Pointer[any]
	last   atomic.Pointer[provenRows]
}

// ClaimsOf returns the claims of the token of a caller, and BearerOf its values for the store.
func ClaimsOf(a *core.Actor) Claims { return proofOf(a).Claims }

// BearerOf returns the values by which the store finds the identities of a caller's token.
func BearerOf(a *core.Actor) Bearer { return proofOf(a).bearer }

// proofOf returns what Authenticate has kept of a caller; it is empty for a caller without a token.
func proofOf(a *core.Actor) *Proof {
	if proof, ok := a.Proof.(*Proof); ok {
		return proof
	}
	return &Proof{}
}

// provenRows are the rows that proved a presumption.
type provenRows struct {
	digest [sha256.Size]byte
	seen   []*Identity
}

// Bearer returns the values by which the store finds the identities of the token.
func (p *Proof) Bearer() Bearer { return p.bearer }

// Keep stores what the store needs for the next request with the token.
func (p *Proof) Keep(kept any) { p.kept.Store(&kept) }

// Kept returns what the store has kept, or nil.
func (p *Proof) Kept() any {
	if kept := p.kept.Load(); kept != nil {
		return *kept
	}
	return nil
}

// BearerRows are the rows that a store has read for a bearer.
type BearerRows interface {
	Digest() [sha256.Size]byte // returns the digest of all rows in their order
	Decode() ([]Candidate, []SignInOption, error)
}

// PresumptionOf returns the presumption about the caller of a request, or nil.
func PresumptionOf(ctx context.Context) *Presumption {
	if a := core.ActorOf(ctx); a != nil {
		presumed, _ := a.Prover.(*Presumption)
		return presumed
	}
	return nil
}

var errRefuted = core.Unavailable("the grants of the caller have just changed; try again", nil)

// TakeProof returns the proof whose statement the next statements must include. It
// returns nil if another call has taken it or there is no presumption.
func (x *Presumption) TakeProof() *Proof {
	if x == nil || !x.transition(isPresumed, isPending) {
		return nil
	}
	return x.proof
}

// Resolve compares what was read by the statement of TakeProof with the presumption.
// Rows that have proven it before prove it again. It fails if the presumption is
// refuted.
func (x *Presumption) Resolve(rows BearerRows) error {
	digest := rows.Digest()
	last := x.proof.last.Load()
	if last == nil || last.digest != digest {
		candidates, options, err := rows.Decode()
		if err != nil {
			return x.finish(isFailed, err)
		}
		found := x.area.recognize(x.claims, candidates, options)
		if len(found.firstSignIns) > 0 || !equalActors(found.actor, x.actor) {
			return x.finish(isRefuted, errRefuted)
		}
		last = &provenRows{digest, found.seen}
		x.proof.last.Store(last)
	}
	x.transition(isPending, isProven)
	x.area.noteAllSeen(last.seen)
	return nil
}

// Confirm records that nothing has changed since Resolve proved a presumption with the
// same Proof.
func (x *Presumption) Confirm() { x.transition(isPending, isProven) }

// Fail records that the statement of TakeProof has failed. If ctx has
// ended, another call may take the proof. Otherwise the store has failed,
// and so does the request.
func (x *Presumption) Fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		x.Release()
		return
	}
	_ = x.finish(isFailed, err)
}

// Release lets another call take the proof, because this one could neither confirm nor refute.
func (x *Presumption) Release() { x.transition(isPending, isPresumed) }

// Err returns an error once the presumption is refuted or cannot be proven.
func (x *Presumption) Err() error {
	if x == nil {
		return nil
	}
	x.lock.Lock()
	defer x.lock.Unlock()
	return x.err
}

// IsRefuted reports whether the presumption was wrong.
func (x *Presumption) IsRefuted() bool { return x.hasState(isRefuted) }

func (x *Presumption) hasState(s presumptionState) bool {
	x.lock.Lock()
	defer x.lock.Unlock()
	return x.state == s
}

// transition changes the state from before to after. It returns false if the state
// is a different one.
func (x *Presumption) transition(before, after presumptionState) bool {
	x.lock.Lock()
	defer x.lock.Unlock()
	if x.state != before {
		return false
	}
	x.state = after
	return true
}

// Prove proves the presumption about the caller. It reads the grants if no
// statement of the request has done so.
func (x *Presumption) Prove(ctx context.Context) error {
	if x.hasState(isProven) {
		return nil
	}
	if err := x.Err(); err != nil {
		return err
	}
	fresh, err := x.area.Authenticate(core.WithoutActor(ctx), x.claims)
	switch {
	case err != nil:
		return x.finish(isFailed, err)
	case !equalActors(fresh, x.actor):
		return x.finish(isRefuted, errRefuted)
	}
	return x.finish(isProven, nil)
}

// finish sets the final state. A refuted presumption stays refuted.
func (x *Presumption) finish(s presumptionState, err error) error {
	x.lock.Lock()
	defer x.lock.Unlock()
	if x.state != isRefuted {
		x.state, x.err = s, err
	}
	return x.err
}

// equalActors reports whether both actors have the same identities, share the same ones of them
// with others, and have the same grants.
func equalActors(a *core.Actor, b *core.Actor) bool {
	return slices.Equal(a.Identities, b.Identities) && slices.Equal(a.Personal, b.Personal) &&
		slices.Equal(a.Grants, b.Grants) && slices.Equal(a.MappedGroups, b.MappedGroups)
}

// SizeOf estimates the memory of the actor in bytes.
func SizeOf(a *core.Actor) int {
	const actorBytes, grantBytes, proofBytes = 300, 40, 2 << 10
	n := actorBytes + proofBytes + len(a.Subject) + len(a.Email) + len(a.Key())
	for _, uid := range a.Identities {
		n += grantBytes + len(uid)
	}
	for _, g := range a.Grants {
		n += grantBytes + len(g.Scope)
	}
	for _, m := range a.MappedGroups {
		n += grantBytes + len(m.Provider) + len(m.Group)
	}
	return n
}
