package iam

import (
	"context"
	"slices"
	"strings"
	"time"

	"atrium/platform/core"
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
	StaticIdentities []core.UID
	// ServiceAudience says that the token was issued for this service. Without
	// it, only identities with an audience rule can match.
	ServiceAudience bool
}

// ownRuleOf returns the rule of a new identity that belongs to the bearer of the token. It
// fails if the token was signed with keys of an identity. Such a token acts as this
// identity only, so no new identity may get the rights of its issuer and subject: it would
// belong to somebody else. It also fails if no identity may have the rule. A subject with
// control characters could look like a pattern in the key of the rule.
func ownRuleOf(a *core.Actor) (*ClaimMatch, error) {
	if a.HasStaticKeys {
		return nil, core.FailedPrecondition("STATIC_KEYS", a.Key(), "the token is signed with keys of an identity and acts as that identity only; use a token of its issuer")
	}
	own := &ClaimMatch{Issuer: a.Issuer, Subject: a.Subject, Audience: a.Audience}
	var v core.Violations
	if own.Check(&v); len(v) > 0 {
		return nil, core.FailedPrecondition("TOKEN_UNSUITABLE", v[0].Field, "no identity can have a rule for this token, because its "+strings.TrimPrefix(v[0].Field, "claimMatch.")+" "+v[0].Description+"; use a token of another user")
	}
	return own, nil
}

// Authenticate finds the identities that a verified token matches, and their
// grants, with one read. Nothing is cached: a revoked binding has no effect from
// the next request on. The first token of a user of an identity provider creates
// an identity for that user. A token that matches no identity returns an actor
// that may only do what needs no identity.
func (area *Area) Authenticate(ctx context.Context, c Claims) (*core.Actor, error) {
	if core.IsUnstorable(c.Issuer) || core.IsUnstorable(c.Subject) {
		return area.recognize(c, nil, nil).actor, nil // no stored rule can contain such texts
	}
	bearer := area.bearer(c)
	candidates, options, err := area.Tables.Candidates(ctx, area.Store, bearer)
	if err != nil {
		return nil, err
	}
	found := area.recognize(c, candidates, options)
	found.actor.Proof = &Proof{Claims: c, bearer: bearer}
	area.noteAllSeen(found.seen)
	for _, e := range found.firstSignIns {
		if err := area.provision(ctx, found.actor, c, e); err != nil {
			return nil, err
		}
	}
	found.actor.KeepKey()
	return found.actor, nil
}

// Identify finds the identities that a token of an earlier request matches now. It records
// nothing.
func (area *Area) Identify(ctx context.Context, c Claims) (*core.Actor, error) {
	return area.identifyIn(ctx, area.Store, c)
}

// identifyIn is identify for a transaction.
func (area *Area) identifyIn(ctx context.Context, r core.Conn, c Claims) (*core.Actor, error) {
	candidates, options, err := area.Tables.Candidates(ctx, r, area.bearer(c))
	if err != nil {
		return nil, err
	}
	return area.recognize(c, candidates, options).actor, nil
}

// WithCurrentActor returns a context whose caller has the identities and grants of now, for work that goes on after its request.
func (area *Area) WithCurrentActor(ctx context.Context) (context.Context, error) {
	actor := core.ActorOf(ctx)
	if actor.Operator != "" {
		return ctx, nil
	}
	fresh, err := area.Identify(ctx, ClaimsOf(actor))
	if err != nil {
		return nil, err
	}
	fresh.KeepKey()
	return core.WithActor(ctx, fresh), nil
}

// A recognition is the result of matching a token with the rows read for it.
type recognition struct {
	actor        *core.Actor
	seen         []*Identity
	firstSignIns []*SignInOption // providers that accept the bearer for the first time
}

// recognize matches a token with candidates and identity providers. It reads
// nothing from the store.
func (area *Area) recognize(c Claims, candidates []Candidate, options []SignInOption) recognition {
	a := &core.Actor{Issuer: c.Issuer, Subject: c.Subject, Email: c.Email, Expires: c.Expires, HasStaticKeys: len(c.StaticIdentities) > 0}
	if !c.ServiceAudience && len(c.Audience) > 0 {
		a.Audience = c.Audience[0]
	}
	if !a.HasStaticKeys { // whoever has the keys of an identity can write such a token
		a.EmailVerified = c.EmailVerified
		a.IssuerOrganizations = claimTexts(c.Values[OrganizationClaim])
	}
	found := recognition{actor: a}
	matchers := map[core.UID]*matcher{}
	for _, candidate := range candidates {
		identity := candidate.Identity
		m := matchers[identity.UID.Root()]
		if m == nil {
			m = &matcher{patterns: area.patterns}
			matchers[identity.UID.Root()] = m
		}
		if !area.mayAdmit(candidate) || !m.matches(identity, c, area.Now()) {
			continue
		}
		addIdentity(a, candidate)
		if a.HasStaticKeys {
			addKeys(a, identity.StaticKeys)
		}
		found.seen = append(found.seen, identity)
	}
	for i := range options {
		found.addSignIn(c, &options[i])
	}
	return found
}

// addKeys adds the keys of an identity that signed the token, which expire with it.
func addKeys(a *core.Actor, k *StaticKeys) {
	a.StaticKeys += k.IssuerKeys
	if end := k.ExpirationTime; !end.IsZero() && (a.Expires.IsZero() || end.Before(a.Expires)) {
		a.Expires = end.Time
	}
}

// mayAdmit reports whether the rule of a candidate is in effect: its issuer is
// proven, or the rule needs no proof.
func (area *Area) mayAdmit(c Candidate) bool {
	rule := c.Identity.ClaimMatch
	return c.Proven || !rule.Key().hasPattern() || area.namesTenant(rule)
}

// addIdentity adds an identity and its grants to the actor. An identity is personal unless
// others can match its rule too.
func addIdentity(a *core.Actor, c Candidate) {
	identity := c.Identity
	if slices.Contains(a.Identities, identity.UID) {
		return // both its rule and a provider match
	}
	a.Identities = append(a.Identities, identity.UID)
	if !identity.ClaimMatch.Key().hasPattern() {
		a.Personal = append(a.Personal, identity.UID)
	}
	a.Grants = append(a.Grants, core.LimitToHome(c.Grants)...)
}

// KnowsIssuer reports whether an identity or an identity provider names exactly
// this issuer. Only then may the keys of the issuer be fetched.
func (area *Area) KnowsIssuer(ctx context.Context, issuer string) (bool, error) {
	return area.Tables.KnowsIssuer(ctx, area.Store, issuer)
}

// withCurrentGrants returns the actor with grants that are read again, inside a
// transaction.
func withCurrentGrants(ctx context.Context, a *core.Actor, t Tables, r core.Conn) (*core.Actor, error) {
	if a.Operator != "" {
		return a, nil
	}
	held, err := ReadGrants(ctx, t, r, []*core.Actor{a})
	if err != nil {
		return nil, err
	}
	fresh := *a
	fresh.Grants = held[0]
	return &fresh, nil
}

// noteAllSeen records that identities acted, at most once a minute for each. It does not
// delay the request: if the queue is full, a later request records it.
func (area *Area) noteAllSeen(identities []*Identity) {
	for _, i := range identities {
		area.noteSeen(i)
	}
}

func (area *Area) noteSeen(i *Identity) {
	if area.Now().Sub(i.LastSeenTime.Time) < time.Minute {
		return
	}
	select {
	case area.Seen <- i.UID:
	default:
	}
}
