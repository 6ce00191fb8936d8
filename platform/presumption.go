package platform

import (
	"context"
	"slices"
	"sync"
)

// What a caller may do is read during each request, and yet that takes no round
// trip of its own. Who has called with the same token before is presumed to be
// who they were then, and the first statements of the request take along the one
// that authentication reads. If it finds that the caller is now somebody else, or
// holds something else, the presumption is refuted: nothing that was read is
// answered, nothing is written, and the request runs once more for the caller
// whom it found. An answer is never given before the presumption is proven.

// A Presumption is that a caller is who they were at an earlier request. It is
// safe for concurrent use; a nil one presumes nothing.
type Presumption struct {
	p      *Platform
	claims Claims
	actor  *Actor

	lock  sync.Mutex
	state presumptionState
	err   error // what keeps the request from an answer
}

type presumptionState int

const (
	isPresumed presumptionState = iota
	isAsked                     // statements under way will tell
	isProven
	isRefuted
	isFailed // the store could not tell
)

// Presume puts into the context of a request the caller whom an earlier request
// with the same claims had. Whoever answers the request must Prove it first.
func (p *Platform) Presume(ctx context.Context, c Claims, last *Actor) context.Context {
	actor := *last
	actor.Expires = c.Expires
	actor.presumption = &Presumption{p: p, claims: c, actor: &actor}
	return WithActor(ctx, &actor)
}

// PresumptionOf gives what is presumed of the caller of a request, nil where
// nothing is.
func PresumptionOf(ctx context.Context) *Presumption {
	if a := ActorOf(ctx); a != nil {
		return a.presumption
	}
	return nil
}

var errRefuted = Unavailable("what the caller may do has just changed; try again", nil)

// Ask gives the bearer whose candidates the next statements must read along. It
// gives false where others have asked or nothing is presumed.
func (x *Presumption) Ask() (Bearer, bool) {
	if x == nil || !x.move(isPresumed, isAsked) {
		return Bearer{}, false
	}
	return x.p.bearer(x.claims), true
}

// Hear takes what was read for the bearer that Ask gave. Its error says that the
// presumption is refuted.
func (x *Presumption) Hear(candidates []Candidate, entrances []Entrance) error {
	found := x.p.recognise(x.claims, candidates, entrances)
	if len(found.newcomers) > 0 || !found.actor.equal(x.actor) {
		return x.settle(isRefuted, errRefuted)
	}
	x.move(isAsked, isProven)
	x.p.noteAllSeen(found.seen)
	return nil
}

// Fail says that the statements which would have told have failed. Unless ctx has
// ended, that was the store's fault: it is not asked again, and the request has no
// answer.
func (x *Presumption) Fail(ctx context.Context, err error) {
	if ctx.Err() != nil {
		x.move(isAsked, isPresumed)
		return
	}
	_ = x.settle(isFailed, err)
}

// Err is not nil once the presumption is refuted, or cannot be proven.
func (x *Presumption) Err() error {
	if x == nil {
		return nil
	}
	x.lock.Lock()
	defer x.lock.Unlock()
	return x.err
}

// IsRefuted reports whether the caller is not who they were.
func (x *Presumption) IsRefuted() bool { return x.hasState(isRefuted) }

func (x *Presumption) hasState(s presumptionState) bool {
	x.lock.Lock()
	defer x.lock.Unlock()
	return x.state == s
}

// move changes the state, if it is the one before.
func (x *Presumption) move(before, after presumptionState) bool {
	x.lock.Lock()
	defer x.lock.Unlock()
	if x.state != before {
		return false
	}
	x.state = after
	return true
}

// Prove proves what is presumed of the caller, with a read if no statement of the
// request has done it yet. The request must not be answered where it fails.
func Prove(ctx context.Context) error {
	x := PresumptionOf(ctx)
	if x == nil || x.hasState(isProven) {
		return nil
	}
	if err := x.Err(); err != nil {
		return err
	}
	fresh, err := x.p.Authenticate(context.WithValue(ctx, actorKey{}, (*Actor)(nil)), x.claims)
	switch {
	case err != nil:
		return x.settle(isFailed, err)
	case !fresh.equal(x.actor):
		return x.settle(isRefuted, errRefuted)
	}
	return x.settle(isProven, nil)
}

// settle gives the presumption its last state. One that is refuted stays so.
func (x *Presumption) settle(s presumptionState, err error) error {
	x.lock.Lock()
	defer x.lock.Unlock()
	if x.state != isRefuted {
		x.state, x.err = s, err
	}
	return x.err
}

// proveToChange proves the caller of an operation that does more than read.
func proveToChange(ctx context.Context, capabilities []Capability) error {
	if slices.ContainsFunc(capabilities, func(c Capability) bool { return !c.reads() }) {
		return Prove(ctx)
	}
	return nil
}

// equal reports whether both act as the same identities and hold the same.
func (a *Actor) equal(b *Actor) bool {
	return slices.Equal(a.Identities, b.Identities) && slices.Equal(a.grants, b.grants) && slices.Equal(a.mapped, b.mapped)
}

// MemorySize is about how many bytes the actor takes.
func (a *Actor) MemorySize() int {
	const actorBytes, grantBytes = 300, 40
	n := actorBytes + len(a.Subject) + len(a.Email)
	for _, uid := range a.Identities {
		n += grantBytes + len(uid)
	}
	for _, g := range a.grants {
		n += grantBytes + len(g.scope)
	}
	for _, m := range a.mapped {
		n += grantBytes + len(m.provider) + len(m.group)
	}
	return n
}
