package platform

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"
)

// A Bearer is what the store looks for when it finds what a token may act as.
type Bearer struct {
	Issuer, Subject string
	// ExternalIDs are what identity providers may tell the bearer by.
	ExternalIDs []string
	// Groups is every text in a claim that could list external groups.
	Groups []string
	// Issuers and Subjects are the parts of the keys that rules with patterns
	// are found by, of organisations that have proven the issuer.
	Issuers, Subjects []string
	// Tenants are the subjects' parts of the keys that the rules of every
	// organisation are found by, together with Issuer. There are some where the
	// issuer is shared.
	Tenants []string
	// Static, where not empty, are the identities whose own keys signed the
	// token: no others are looked for.
	Static []UID
}

// A Candidate is an identity that may match a token, and what it holds.
type Candidate struct {
	Identity *Identity
	Grants   []Grant
	Proven   bool // its organisation has proven the issuers of its rule
}

// How many candidates one token reads: of each organisation, and in all. Those
// that name issuer and subject exactly come first, of these the first of each
// organisation, then its second, and the oldest before the others. They are
// chosen from as many as MaxCandidates organisations can have, so that a few
// organisations that name somebody else's subject often hide no other.
const (
	MaxCandidates       = 400
	MaxCandidatesOfRoot = 40
	MaxExactRules       = MaxCandidates * rulesOfKey
)

// An Entrance is an identity provider of a token's issuer, with the identities
// it may have let the bearer in as, and what it maps external groups to.
type Entrance struct {
	Provider *IdentityProvider
	Proof    ProofMethod // never empty
	People   []Person
	Mapped   []MappedGrant
}

// A Person is an identity that a provider made, and whom for.
type Person struct {
	Candidate
	ExternalID string
}

// A MappedGrant is the role of a mapping. Its Identity is the provider, which
// lies in the group that the grant is cut to.
type MappedGrant struct {
	Grant
	ExternalGroupID string
}

// bearer is what the store is asked for of a token.
func (p *Platform) bearer(c Claims) Bearer {
	b := Bearer{
		Issuer: c.Issuer, Subject: c.Subject, Static: c.StaticIdentities, ExternalIDs: []string{c.Subject},
		Issuers: issuerKeys(c.Issuer), Subjects: subjectKeys(c.Subject),
	}
	if tenant := p.tenant(c.Issuer, c.Subject); tenant != "" {
		b.Tenants = patternKeys(c.Subject, utf8.RuneCountInString(tenant))
	}
	if oid, _ := c.Values["oid"].(string); oid != "" && oid != c.Subject {
		b.ExternalIDs = append(b.ExternalIDs, oid)
	}
	for _, value := range c.Values {
		if list, ok := value.([]any); ok {
			b.Groups = append(b.Groups, textsIn(list)...)
		}
	}
	slices.Sort(b.Groups)
	b.Groups = slices.Compact(b.Groups)
	return b
}

func textsIn(list []any) []string {
	var texts []string
	for _, v := range list {
		if s, ok := v.(string); ok && s != "" && !unstorable(s) {
			texts = append(texts, s)
		}
	}
	return texts
}

// enter lets the bearer of a token in through an identity provider, and adds
// what it may do there.
func (found *recognition) enter(c Claims, e *Entrance) {
	external := e.Provider.externalID(c)
	var v violations
	if v.label("sub", external); len(v) > 0 || !e.Provider.accepts(c) {
		return
	}
	at := slices.IndexFunc(e.People, func(one Person) bool { return one.ExternalID == external })
	switch {
	case at >= 0:
		found.actor.join(e.People[at].Identity.UID, e.People[at].Grants)
		found.seen = append(found.seen, e.People[at].Identity)
		found.actor.addMapped(c, e)
	case e.Proof.Complete():
		found.newcomers = append(found.newcomers, e)
	}
}

// addMapped adds what the external groups that the token lists are mapped to.
func (a *Actor) addMapped(c Claims, e *Entrance) {
	groups, _ := c.Values[e.Provider.OIDC.GroupsClaim].([]any)
	listed := textsIn(groups)
	for _, m := range e.Mapped {
		if slices.Contains(listed, m.ExternalGroupID) {
			a.mapped = append(a.mapped, mapped{e.Provider.UID, m.ExternalGroupID})
			a.grants = append(a.grants, effective([]Grant{m.Grant})...)
		}
	}
}

// welcome gives an identity to the bearer of a token, whom a provider lets in
// for the first time.
func (p *Platform) welcome(ctx context.Context, a *Actor, c Claims, e *Entrance) error {
	person, grants, err := p.introduce(ctx, c, e.Provider)
	if err != nil {
		return err
	}
	a.join(person.UID, grants)
	a.addMapped(c, e)
	return nil
}

// accepts reports whether a token is one that the provider stands for: made
// for its client, or for this service without naming another client as the
// party that it was handed to. Issuers that serve many tenants hand the same
// audience to the clients of all of them.
func (p *IdentityProvider) accepts(c Claims) bool {
	if p.OIDC == nil || p.OIDC.Issuer != c.Issuer {
		return false
	}
	if slices.Contains(c.Audience, p.OIDC.ClientID) {
		return true
	}
	for _, name := range []string{"azp", "client_id", "cid", "appid"} {
		if party, given := c.Values[name]; given && party != p.OIDC.ClientID {
			return false
		}
	}
	return c.ServiceAudience
}

// externalID is what the provider tells the bearer of a token by; "" where the
// token does not say it.
func (p *IdentityProvider) externalID(c Claims) string {
	if p.OIDC != nil && p.OIDC.CorrelationRule == CorrelationRuleOID {
		oid, _ := c.Values["oid"].(string)
		return oid
	}
	return c.Subject
}

// introduce makes the identity of somebody whom a provider lets in for the first
// time, with the default role.
func (p *Platform) introduce(ctx context.Context, c Claims, provider *IdentityProvider) (*Identity, []Grant, error) {
	group, external := provider.UID.Parent(), provider.externalID(c)
	person := &Identity{Name: identityName(c.Name, c.Email, c.Subject), Provider: provider.UID, ExternalID: ExternalID{c.Issuer, external}}
	person.setEmail(c.Email, c.EmailVerified)
	// The newcomer is who does this.
	self := &Actor{Issuer: c.Issuer, Subject: c.Subject, Email: c.Email, EmailVerified: c.EmailVerified}
	ctx = WithActor(ctx, self)
	err := p.store.Write(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, group.Root()); err != nil {
			return err
		}
		if err := p.Identities.introduce(ctx, tx, group, person); err != nil {
			return err
		}
		self.Identities = []UID{person.UID}
		bindings := []*RoleBinding{newBinding(group, person.UID, provider.DefaultRole, p.now())}
		if err := RowsOf[RoleBinding](tx).Insert(ctx, bindings...); err != nil {
			return err
		}
		return p.RoleBindings.recordBound(ctx, tx, bindings, "created")
	})
	if errors.Is(err, ErrDuplicate) || errors.Is(err, ErrNoParent) {
		return p.welcomed(ctx, c, provider, external) // by another request at the same time, or no more
	}
	if err != nil {
		return nil, nil, err
	}
	grants, err := p.store.Grants(ctx, []UID{person.UID})
	return person, grants, err
}

// welcomed reads the identity of somebody who came in just now.
func (p *Platform) welcomed(ctx context.Context, c Claims, provider *IdentityProvider, external string) (*Identity, []Grant, error) {
	_, entrances, err := p.store.Candidates(ctx, p.bearer(c))
	for _, e := range entrances {
		for _, one := range e.People {
			if e.Provider.UID == provider.UID && one.ExternalID == external {
				return one.Identity, one.Grants, nil
			}
		}
	}
	if err == nil {
		err = Unauthenticated("the identity provider of this token has just changed")
	}
	return nil, nil, err
}

// introduce stores an identity that makes itself, and records it.
func (s Identities) introduce(ctx context.Context, tx Tx, group UID, i *Identity) error {
	s.kind.Stamp(i, group.newChild(), s.p.now())
	if err := s.rows(tx).Insert(ctx, i); err != nil {
		return err
	}
	tx.Record(s.p.event(ctx, s.kind.Event, "created", i.UID, group, i))
	return nil
}

func (i *Identity) setEmail(email string, verified bool) {
	if unstorable(email) || len(email) > maxNameBytes {
		return
	}
	if verified {
		i.Email = email
	} else {
		i.EmailUnverified = email
	}
}

// identityName makes a name out of the first text that has a letter or digit
// which names can hold.
func identityName(texts ...string) string {
	for _, text := range texts {
		name := strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf && namePattern.MatchString(string(r)) {
				return r
			}
			return '-'
		}, strings.ToLower(text))
		if name = strings.Trim(name[:min(len(name), maxNameBytes)], " -._"); name != "" {
			return name
		}
	}
	return "somebody"
}

// An IdentityKeys is the keys that an identity brings for its own tokens.
type IdentityKeys struct {
	Identity UID
	JWKS     json.RawMessage
}

// StaticKeys lists the keys of identities with this issuer and subject that
// hold now. A token that one of them verifies is its identity's, and nobody
// else's: see Claims.StaticIdentities.
func (p *Platform) StaticKeys(ctx context.Context, issuer, subject string) ([]IdentityKeys, error) {
	if unstorable(issuer) || unstorable(subject) {
		return nil, nil
	}
	identities, err := p.store.StaticIdentities(ctx, issuer, subject)
	var keys []IdentityKeys
	for _, i := range identities {
		if !i.StaticKeys.expired(p.now()) {
			keys = append(keys, IdentityKeys{i.UID, json.RawMessage(i.StaticKeys.IssuerKeys)})
		}
	}
	return keys, err
}

func (k *StaticKeys) expired(now Time) bool {
	return !k.ExpirationTime.IsZero() && !now.Before(k.ExpirationTime.Time)
}

// acceptsStatic decides whether an identity's own rule accepts a token that
// its keys verified.
func (k *StaticKeys) acceptsStatic(c Claims, now Time) bool {
	if k == nil || k.Issuer != c.Issuer || k.Subject != c.Subject || k.expired(now) {
		return false
	}
	if len(k.Audiences) == 0 {
		return c.ServiceAudience
	}
	return slices.ContainsFunc(c.Audience, func(aud string) bool { return slices.Contains(k.Audiences, aud) })
}
