package platform

import (
	"context"
	"slices"
	"strconv"
	"time"
)

// Claims is what a verified token says of its bearer.
type Claims struct {
	Issuer        string
	Subject       string
	Audience      []string
	Email         string
	EmailVerified bool
	Name          string
	Expires       time.Time
	Values        map[string]any // every claim, as encoding/json decodes it

	// StaticIdentities are the identities whose own keys verified the token
	// (Platform.StaticKeys). With them it acts as these only; without, never
	// as an identity that has keys of its own.
	StaticIdentities []UID

	// ServiceAudience says that the token was made for this service. Without
	// it only identities with an audience rule of their own may match.
	ServiceAudience bool
}

// An Actor is who makes a request: the identities that its token matches, and
// what they were granted at the moment it was authenticated.
type Actor struct {
	Issuer, Subject, Email string
	EmailVerified          bool
	Identities             []UID
	Expires                time.Time // of its token: what stays open longer must end then

	audience string   // one that its token names, where it was not made for this service
	vouched  []string // organisations that the token's issuer names: OrganisationClaim
	grants   []grant
	mapped   []mapped // where grants come from beside the identities
	operator string   // an operator's command, from which no capability is asked

	presumption *Presumption // that this is who calls; nil: it was read
}

// A grant is the effect of a role binding, cut to the subtree of the group
// that its identity lives under.
type grant struct {
	scope UID
	set   capabilitySet
}

// mapped is an external group of an identity provider, which the token lists.
type mapped struct {
	provider UID
	group    string
}

// Key tells callers apart where something is counted for each of them: by the
// identities that their tokens match, or by issuer and subject where there is
// none.
func (a *Actor) Key() string {
	if len(a.Identities) == 0 {
		return strconv.Quote(a.Issuer) + strconv.Quote(a.Subject)
	}
	key := ""
	for _, uid := range slices.Sorted(slices.Values(a.Identities)) {
		key += string(uid) + " "
	}
	return key
}

type actorKey struct{}

// WithActor puts the caller into the context of its request.
func WithActor(ctx context.Context, a *Actor) context.Context {
	TraceOf(ctx).NoteCaller(a)
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf gives the caller of the request, nil where it is anonymous.
func ActorOf(ctx context.Context) *Actor {
	a, _ := ctx.Value(actorKey{}).(*Actor)
	return a
}

// Operator is the actor of a command that whoever runs the service gives it,
// such as an import: no capability is asked of it.
func Operator(name string) *Actor { return &Actor{Subject: name, operator: name} }

// Authenticated refuses a request without a valid token, as every operation
// that needs one does. An adapter asks it before it reads a body.
func Authenticated(ctx context.Context) error {
	_, err := caller(ctx)
	return err
}

// caller demands an authenticated one.
func caller(ctx context.Context) (*Actor, error) {
	if a := ActorOf(ctx); a != nil {
		return a, nil
	}
	return nil, Unauthenticated("a bearer token is needed")
}

// Authenticate finds the identities that a verified token matches, and what
// they hold, with one read. Nothing is cached: a binding revoked is gone from
// the next request on. A token of an identity provider gets an identity the
// first time. One that matches none gives an actor who may do only what needs
// no identity.
func (p *Platform) Authenticate(ctx context.Context, c Claims) (*Actor, error) {
	if unstorable(c.Issuer) || unstorable(c.Subject) {
		return p.recognise(c, nil, nil).actor, nil // no rule names them
	}
	candidates, entrances, err := p.store.Candidates(ctx, p.bearer(c))
	if err != nil {
		return nil, err
	}
	found := p.recognise(c, candidates, entrances)
	p.noteAllSeen(found.seen)
	for _, e := range found.newcomers {
		if err := p.welcome(ctx, found.actor, c, e); err != nil {
			return nil, err
		}
	}
	return found.actor, nil
}

// A recognition is what the rows that were read for a token say of its bearer.
type recognition struct {
	actor     *Actor
	seen      []*Identity
	newcomers []*Entrance // providers that let the bearer in for the first time
}

// recognise decides who the bearer of a token is. It reads nothing.
func (p *Platform) recognise(c Claims, candidates []Candidate, entrances []Entrance) recognition {
	a := &Actor{Issuer: c.Issuer, Subject: c.Subject, Email: c.Email, EmailVerified: c.EmailVerified, Expires: c.Expires}
	if !c.ServiceAudience && len(c.Audience) > 0 {
		a.audience = c.Audience[0]
	}
	a.vouched = claimTexts(c.Values[OrganisationClaim])
	found := recognition{actor: a}
	matchers := map[UID]*matcher{}
	for _, candidate := range candidates {
		identity := candidate.Identity
		m := matchers[identity.UID.Root()]
		if m == nil {
			m = &matcher{patterns: p.patterns}
			matchers[identity.UID.Root()] = m
		}
		if !p.mayAdmit(candidate) || !m.matches(identity, c, p.now()) {
			continue
		}
		a.join(identity.UID, candidate.Grants)
		found.seen = append(found.seen, identity)
	}
	for i := range entrances {
		found.enter(c, &entrances[i])
	}
	return found
}

// mayAdmit reports whether the rule of a candidate may let anybody in.
func (p *Platform) mayAdmit(c Candidate) bool {
	rule := c.Identity.ClaimMatch
	return c.Proven || !rule.Key().HasPattern() || p.namesTenant(rule)
}

// join adds an identity to those that a acts as.
func (a *Actor) join(identity UID, bound []Grant) {
	if slices.Contains(a.Identities, identity) {
		return // by its rule and by a provider
	}
	a.Identities = append(a.Identities, identity)
	a.grants = append(a.grants, effective(bound)...)
}

// KnowsIssuer reports whether some identity or identity provider names this
// issuer exactly, so that its keys may be fetched.
func (p *Platform) KnowsIssuer(ctx context.Context, issuer string) (bool, error) {
	return p.store.KnowsIssuer(ctx, issuer)
}

// refreshed reads what the actor holds anew, inside a transaction.
func (a *Actor) refreshed(ctx context.Context, r Reader) (*Actor, error) {
	if a.operator != "" {
		return a, nil
	}
	held, err := readGrants(ctx, r, []*Actor{a})
	if err != nil {
		return nil, err
	}
	fresh := *a
	fresh.grants = held[0]
	return &fresh, nil
}

// effective cuts each grant to the group its identity lives under: an
// identity of a subgroup never reaches what lies above or beside it.
func effective(bound []Grant) []grant {
	grants := make([]grant, 0, len(bound))
	for _, g := range bound {
		home := g.Identity.Parent()
		switch {
		case g.Group.Within(home):
			grants = append(grants, grant{g.Group, setOf(g.Capabilities)})
		case home.Within(g.Group):
			grants = append(grants, grant{home, setOf(g.Capabilities)})
		}
	}
	return grants
}

// Can reports whether a holds capability on uid, there or on a group above.
func (a *Actor) Can(capability Capability, uid UID) bool {
	return a.operator != "" || a.on(uid).has(capability)
}

// CapabilitiesOn lists what a holds on uid, whether it exists or not.
func (a *Actor) CapabilitiesOn(uid UID) ([]Capability, error) {
	if err := invalidUID("on", uid); err != nil {
		return nil, err
	}
	return a.on(uid).list(), nil
}

// on is every capability that a holds on uid.
func (a *Actor) on(uid UID) capabilitySet {
	if a.operator != "" {
		return ^capabilitySet(0)
	}
	var set capabilitySet
	for _, g := range a.grants {
		if uid.Within(g.scope) {
			set |= g.set
		}
	}
	return set
}

// scopes lists where a holds capability: the topmost UIDs, sorted, none
// within another.
func (a *Actor) scopes(capability Capability) []UID {
	var held []UID
	for _, g := range a.grants {
		if g.set.has(capability) {
			held = append(held, g.scope)
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
