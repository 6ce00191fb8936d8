package core

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// An Actor is the caller of a request: the identities that the token matches,
// and their grants at the time of authentication.
type Actor struct {
	Issuer, Subject, Email string
	EmailVerified          bool
	Identities             []UID
	Expires                time.Time // expiry of the token; feeds and streams must end then

	Personal            []UID    // the identities that only the bearer of the token can be
	Audience            string   // an audience of the token, if the token was not issued for this service
	IssuerOrganizations []string // organizations that the token's issuer names in OrganizationClaim
	HasStaticKeys       bool     // whether keys of the identities signed the token, so that its issuer says nothing
	StaticKeys          string   // these keys
	Grants              []HeldGrant
	MappedGroups        []MappedGroup // external groups that give further grants
	Operator            string        // name of an operator's command, which needs no capabilities

	key    string        // the result of Key; "" if the actor was not authenticated
	Prover Prover        // proves the grants; nil if they were read in this request
	Proof  any           // what proves them in later requests with the same token
	checks *accessChecks // records which objects the caller may read; nil if nobody needs them
}

// A HeldGrant is the effect of a role binding, limited to the subtree of the group
// that contains the identity.
type HeldGrant struct {
	Scope UID
	set   CapabilitySet
	end   Time // when the role binding expires; zero means never
}

// A MappedGroup is an external group of an identity provider that the token lists.
type MappedGroup struct {
	Provider UID
	Group    string
}

// Key identifies a caller for counters and limits: by its identities, or by
// issuer and subject if it has none.
func (a *Actor) Key() string {
	if a.key != "" {
		return a.key
	}
	switch len(a.Identities) {
	case 0:
		return strconv.Quote(a.Issuer) + strconv.Quote(a.Subject)
	case 1:
		return string(a.Identities[0])
	}
	key := ""
	for _, uid := range slices.Sorted(slices.Values(a.Identities)) {
		key += string(uid) + " "
	}
	return key
}

// KeepKey computes Key once.
func (a *Actor) KeepKey() { a.key = a.Key() }

type actorKey struct{}

// WithActor returns a context with the caller of the request.
func WithActor(ctx context.Context, a *Actor) context.Context {
	TraceOf(ctx).NoteCaller(a)
	return context.WithValue(ctx, actorKey{}, a)
}

// WithoutActor returns a context without a caller, for what nobody has asked for.
func WithoutActor(ctx context.Context) context.Context {
	return context.WithValue(ctx, actorKey{}, (*Actor)(nil))
}

// ActorOf returns the caller of the request, or nil if it is anonymous.
func ActorOf(ctx context.Context) *Actor {
	a, _ := ctx.Value(actorKey{}).(*Actor)
	return a
}

// A Prover proves that a caller is as a request presumes.
type Prover interface {
	// Prove fails if the caller is not. Then the request must not be answered.
	Prove(ctx context.Context) error
}

// Prove proves what the request presumes about the caller, if it presumes anything. If it fails, the request must not
// be answered.
func Prove(ctx context.Context) error {
	if a := ActorOf(ctx); a != nil && a.Prover != nil {
		return a.Prover.Prove(ctx)
	}
	return nil
}

// NewOperator returns the actor of a command that the operator of the service
// runs, such as an import. It needs no capabilities.
func NewOperator(name string) *Actor { return &Actor{Subject: name, Operator: name} }

// RequireAuthenticated fails if the request has no valid token, with the same
// error as the operations. Adapters call it before they read a body.
func RequireAuthenticated(ctx context.Context) error {
	_, err := RequireCaller(ctx)
	return err
}

// RequireCaller returns the authenticated caller, or UNAUTHENTICATED.
func RequireCaller(ctx context.Context) (*Actor, error) {
	return requireActor(ActorOf(ctx))
}

func requireActor(a *Actor) (*Actor, error) {
	if a != nil {
		return a, nil
	}
	return nil, Unauthenticated("a bearer token is needed")
}

// LimitToHome limits each grant to the group that contains its identity: an
// identity of a subgroup never acts above or beside that group.
func LimitToHome(bound []Grant) []HeldGrant {
	grants := make([]HeldGrant, 0, len(bound))
	for _, g := range bound {
		home := g.Identity.Parent()
		switch {
		case g.Group.Within(home):
			grants = append(grants, HeldGrant{g.Group, CapabilitySetOf(g.Capabilities), g.ExpireTime})
		case home.Within(g.Group):
			grants = append(grants, HeldGrant{home, CapabilitySetOf(g.Capabilities), g.ExpireTime})
		}
	}
	return grants
}

// Can reports whether the actor holds capability on uid or on a group above it.
func (a *Actor) Can(capability Capability, uid UID) bool {
	return a.Operator != "" || a.CapabilitySetOn(uid).has(capability)
}

// CapabilitiesOn lists the capabilities of the actor on uid, whether or not the
// resource exists.
func (a *Actor) CapabilitiesOn(uid UID) ([]Capability, error) {
	if err := InvalidUID("within", uid); err != nil {
		return nil, err
	}
	return a.CapabilitySetOn(uid).List(), nil
}

// CapabilitySetOn returns every capability that the actor holds on uid.
func (a *Actor) CapabilitySetOn(uid UID) CapabilitySet {
	if a.Operator != "" {
		return ^CapabilitySet(0)
	}
	var set CapabilitySet
	for _, g := range a.Grants {
		if uid.Within(g.Scope) {
			set |= g.set
		}
	}
	return set
}

// capabilitySetUntil returns every capability that the actor will still hold on uid at a time; zero means
// for ever.
func (a *Actor) capabilitySetUntil(uid UID, end Time) CapabilitySet {
	lasting := *a
	lasting.Grants = slices.DeleteFunc(slices.Clone(a.Grants), func(g HeldGrant) bool {
		return !g.end.IsZero() && (end.IsZero() || g.end.Before(end.Time))
	})
	return lasting.CapabilitySetOn(uid)
}

// holdsAnywhere reports whether the actor holds a capability on any resource.
func (a *Actor) holdsAnywhere(capability Capability) bool {
	return slices.ContainsFunc(a.Grants, func(g HeldGrant) bool { return g.set.has(capability) })
}

// Scopes lists the topmost UIDs on which the actor holds capability, sorted. None
// of them lies within another.
func (a *Actor) Scopes(capability Capability) []UID {
	var held []UID
	for _, g := range a.Grants {
		if g.set.has(capability) {
			held = append(held, g.Scope)
		}
	}
	slices.Sort(held)
	top := held[:0]
	for _, u := range held {
		if len(top) == 0 || !u.Within(top[len(top)-1]) {
			top = append(top, u)
		}
	}
	return top
}
