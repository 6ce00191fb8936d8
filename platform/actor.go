package platform

import (
	"context"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Claims holds the claims of a verified token.
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
	// (Platform.StaticKeys). If there are any, the token acts as these only.
	// If there are none, it never acts as an identity with keys of its own.
	StaticIdentities []UID
	// ServiceAudience says that the token was issued for this service. Without
	// it, only identities with an audience rule can match.
	ServiceAudience bool
}

// An Actor is the caller of a request: the identities that the token matches,
// and their grants at the time of authentication.
type Actor struct {
	Issuer, Subject, Email string
	EmailVerified          bool
	Identities             []UID
	Expires                time.Time // expiry of the token; feeds and streams must end then

	personal            []UID    // the identities that only the bearer of the token can be
	audience            string   // an audience of the token, if the token was not issued for this service
	issuerOrganisations []string // organisations that the token's issuer names in OrganisationClaim
	hasStaticKeys       bool     // whether keys of the identities signed the token, so that its issuer says nothing
	staticKeys          string   // these keys
	grants              []grant
	mappedGroups        []mappedGroup // external groups that give further grants
	operator            string        // name of an operator's command, which needs no capabilities

	key         string        // the result of Key; "" if the actor was not authenticated
	presumption *Presumption  // nil if the grants were read in this request
	proof       *Proof        // proof of later requests with the same token
	checks      *accessChecks // records the checks of the caller's access; nil if nobody needs them
}

// A grant is the effect of a role binding, limited to the subtree of the group
// that contains the identity.
type grant struct {
	scope UID
	set   capabilitySet
	end   Time // when the role binding expires; zero means never
}

// A mappedGroup is an external group of an identity provider that the token lists.
type mappedGroup struct {
	provider UID
	group    string
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

type actorKey struct{}

// WithActor returns a context with the caller of the request.
func WithActor(ctx context.Context, a *Actor) context.Context {
	TraceOf(ctx).NoteCaller(a)
	return context.WithValue(ctx, actorKey{}, a)
}

// ActorOf returns the caller of the request, or nil if it is anonymous.
func ActorOf(ctx context.Context) *Actor {
	a := unrecordedActorOf(ctx)
	if a != nil && a.checks != nil {
		a.checks.addAny()
	}
	return a
}

// unrecordedActorOf is like ActorOf, for those who record what they check, or check nothing.
func unrecordedActorOf(ctx context.Context) *Actor {
	a, _ := ctx.Value(actorKey{}).(*Actor)
	return a
}

// NewOperator returns the actor of a command that the operator of the service
// runs, such as an import. It needs no capabilities.
func NewOperator(name string) *Actor { return &Actor{Subject: name, operator: name} }

// ownRule returns the rule of a new identity that belongs to the bearer of the token. It
// fails if the token was signed with keys of an identity. Such a token acts as this
// identity only, so no new identity may get the rights of its issuer and subject: it would
// belong to somebody else. It also fails if no identity may have the rule. A subject with
// control characters could look like a pattern in the key of the rule.
func (a *Actor) ownRule() (*ClaimMatch, error) {
	if a.hasStaticKeys {
		return nil, failedPrecondition("STATIC_KEYS", a.Key(), "the token is signed with keys of an identity and acts as that identity only; use a token of its issuer")
	}
	own := &ClaimMatch{Issuer: a.Issuer, Subject: a.Subject, Audience: a.audience}
	var v violations
	if own.check(&v); len(v) > 0 {
		return nil, failedPrecondition("TOKEN_UNSUITABLE", v[0].Field, "no identity can have a rule for this token, because its "+strings.TrimPrefix(v[0].Field, "claimMatch.")+" "+v[0].Description+"; use a token of another user")
	}
	return own, nil
}

// RequireAuthenticated fails if the request has no valid token, with the same
// error as the operations. Adapters call it before they read a body.
func RequireAuthenticated(ctx context.Context) error {
	_, err := requireCaller(ctx)
	return err
}

// requireCaller returns the authenticated caller, or UNAUTHENTICATED.
func requireCaller(ctx context.Context) (*Actor, error) {
	return requireActor(ActorOf(ctx))
}

func requireActor(a *Actor) (*Actor, error) {
	if a != nil {
		return a, nil
	}
	return nil, Unauthenticated("a bearer token is needed")
}

// Authenticate finds the identities that a verified token matches, and their
// grants, with one read. Nothing is cached: a revoked binding has no effect from
// the next request on. The first token of a user of an identity provider creates
// an identity for that user. A token that matches no identity returns an actor
// that may only do what needs no identity.
func (p *Platform) Authenticate(ctx context.Context, c Claims) (*Actor, error) {
	if isUnstorable(c.Issuer) || isUnstorable(c.Subject) {
		return p.recognise(c, nil, nil).actor, nil // no stored rule can contain such texts
	}
	bearer := p.bearer(c)
	candidates, options, err := p.tables.Candidates(ctx, p.store, bearer)
	if err != nil {
		return nil, err
	}
	found := p.recognise(c, candidates, options)
	found.actor.proof = &Proof{claims: c, bearer: bearer}
	p.noteAllSeen(found.seen)
	for _, e := range found.firstSignIns {
		if err := p.provision(ctx, found.actor, c, e); err != nil {
			return nil, err
		}
	}
	found.actor.key = found.actor.Key()
	return found.actor, nil
}

// identify finds the identities that a token of an earlier request matches now. It records
// nothing.
func (p *Platform) identify(ctx context.Context, c Claims) (*Actor, error) {
	return p.identifyIn(ctx, p.store, c)
}

// identifyIn is identify for a transaction.
func (p *Platform) identifyIn(ctx context.Context, r Conn, c Claims) (*Actor, error) {
	candidates, options, err := p.tables.Candidates(ctx, r, p.bearer(c))
	if err != nil {
		return nil, err
	}
	return p.recognise(c, candidates, options).actor, nil
}

// A recognition is the result of matching a token with the rows read for it.
type recognition struct {
	actor        *Actor
	seen         []*Identity
	firstSignIns []*SignInOption // providers that accept the bearer for the first time
}

// recognise matches a token with candidates and identity providers. It reads
// nothing from the store.
func (p *Platform) recognise(c Claims, candidates []Candidate, options []SignInOption) recognition {
	a := &Actor{Issuer: c.Issuer, Subject: c.Subject, Email: c.Email, Expires: c.Expires, hasStaticKeys: len(c.StaticIdentities) > 0}
	if !c.ServiceAudience && len(c.Audience) > 0 {
		a.audience = c.Audience[0]
	}
	if !a.hasStaticKeys { // whoever has the keys of an identity can write such a token
		a.EmailVerified = c.EmailVerified
		a.issuerOrganisations = claimTexts(c.Values[OrganisationClaim])
	}
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
		a.addIdentity(candidate)
		if a.hasStaticKeys {
			a.addKeys(identity.StaticKeys)
		}
		found.seen = append(found.seen, identity)
	}
	for i := range options {
		found.addSignIn(c, &options[i])
	}
	return found
}

// addKeys adds the keys of an identity that signed the token, which expire with it.
func (a *Actor) addKeys(k *StaticKeys) {
	a.staticKeys += k.IssuerKeys
	if end := k.ExpirationTime; !end.IsZero() && (a.Expires.IsZero() || end.Before(a.Expires)) {
		a.Expires = end.Time
	}
}

// mayAdmit reports whether the rule of a candidate is in effect: its issuer is
// proven, or the rule needs no proof.
func (p *Platform) mayAdmit(c Candidate) bool {
	rule := c.Identity.ClaimMatch
	return c.Proven || !rule.Key().hasPattern() || p.namesTenant(rule)
}

// addIdentity adds an identity and its grants to the actor. An identity is personal unless
// others can match its rule too.
func (a *Actor) addIdentity(c Candidate) {
	identity := c.Identity
	if slices.Contains(a.Identities, identity.UID) {
		return // both its rule and a provider match
	}
	a.Identities = append(a.Identities, identity.UID)
	if !identity.ClaimMatch.Key().hasPattern() {
		a.personal = append(a.personal, identity.UID)
	}
	a.grants = append(a.grants, limitToHome(c.Grants)...)
}

// KnowsIssuer reports whether an identity or an identity provider names exactly
// this issuer. Only then may the keys of the issuer be fetched.
func (p *Platform) KnowsIssuer(ctx context.Context, issuer string) (bool, error) {
	return p.tables.KnowsIssuer(ctx, p.store, issuer)
}

// withCurrentGrants returns the actor with grants that are read again, inside a
// transaction.
func (a *Actor) withCurrentGrants(ctx context.Context, t IAMTables, r Conn) (*Actor, error) {
	if a.operator != "" {
		return a, nil
	}
	held, err := readGrants(ctx, t, r, []*Actor{a})
	if err != nil {
		return nil, err
	}
	fresh := *a
	fresh.grants = held[0]
	return &fresh, nil
}

// limitToHome limits each grant to the group that contains its identity: an
// identity of a subgroup never acts above or beside that group.
func limitToHome(bound []Grant) []grant {
	grants := make([]grant, 0, len(bound))
	for _, g := range bound {
		home := g.Identity.Parent()
		switch {
		case g.Group.Within(home):
			grants = append(grants, grant{g.Group, setOf(g.Capabilities), g.ExpireTime})
		case home.Within(g.Group):
			grants = append(grants, grant{home, setOf(g.Capabilities), g.ExpireTime})
		}
	}
	return grants
}

// Can reports whether the actor holds capability on uid or on a group above it.
func (a *Actor) Can(capability Capability, uid UID) bool {
	return a.operator != "" || a.capabilitySetOn(uid).has(capability)
}

// CapabilitiesOn lists the capabilities of the actor on uid, whether or not the
// resource exists.
func (a *Actor) CapabilitiesOn(uid UID) ([]Capability, error) {
	if err := invalidUID("on", uid); err != nil {
		return nil, err
	}
	return a.capabilitySetOn(uid).list(), nil
}

// capabilitySetOn returns every capability that the actor holds on uid.
func (a *Actor) capabilitySetOn(uid UID) capabilitySet {
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

// capabilitySetUntil returns every capability that the actor will still hold on uid at a time; zero means
// for ever.
func (a *Actor) capabilitySetUntil(uid UID, end Time) capabilitySet {
	lasting := *a
	lasting.grants = slices.DeleteFunc(slices.Clone(a.grants), func(g grant) bool {
		return !g.end.IsZero() && (end.IsZero() || g.end.Before(end.Time))
	})
	return lasting.capabilitySetOn(uid)
}

// holdsAnywhere reports whether the actor holds a capability on any resource.
func (a *Actor) holdsAnywhere(capability Capability) bool {
	return slices.ContainsFunc(a.grants, func(g grant) bool { return g.set.has(capability) })
}

// scopes lists the topmost UIDs on which the actor holds capability, sorted. None
// of them lies within another.
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
