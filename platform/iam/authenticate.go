package platform

import (
	"context"
	"slices"
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

// Authenticate finds the identities that a verified token matches, and their
// grants, with one read. Nothing is cached: a revoked binding has no effect from
// the next request on. The first token of a user of an identity provider creates
// an identity for that user. A token that matches no identity returns an actor
// that may only do what needs no identity.
func (p *iamArea) Authenticate(ctx context.Context, c Claims) (*Actor, error) {
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
	found.actor.keepKey()
	return found.actor, nil
}

// identify finds the identities that a token of an earlier request matches now. It records
// nothing.
func (p *iamArea) identify(ctx context.Context, c Claims) (*Actor, error) {
	return p.identifyIn(ctx, p.store, c)
}

// identifyIn is identify for a transaction.
func (p *iamArea) identifyIn(ctx context.Context, r Conn, c Claims) (*Actor, error) {
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
func (p *iamArea) recognise(c Claims, candidates []Candidate, options []SignInOption) recognition {
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
func (p *iamArea) mayAdmit(c Candidate) bool {
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
func (p *iamArea) KnowsIssuer(ctx context.Context, issuer string) (bool, error) {
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

// noteAllSeen records that identities acted, at most once a minute for each. It does not
// delay the request: if the queue is full, a later request records it.
func (p *iamArea) noteAllSeen(identities []*Identity) {
	for _, i := range identities {
		p.noteSeen(i)
	}
}

func (p *iamArea) noteSeen(i *Identity) {
	if p.now().Sub(i.LastSeenTime.Time) < time.Minute {
		return
	}
	select {
	case p.seen <- i.UID:
	default:
	}
}
