package iam

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"unicode/utf8"

	"atrium/platform/core"
)

// grantsPerStatement limits the identities of one statement.
const grantsPerStatement = 1000

// ReadGrants reads the current grants of actors, in their order, with one
// statement for all identities and one for each identity provider.
func ReadGrants(ctx context.Context, t Tables, r core.Conn, actors []*core.Actor) ([][]core.HeldGrant, error) {
	var identities []core.UID
	groups := map[core.UID][]string{}
	for _, a := range actors {
		identities = append(identities, a.Identities...)
		for _, m := range a.MappedGroups {
			groups[m.Provider] = append(groups[m.Provider], m.Group)
		}
	}
	slices.Sort(identities)
	bound := map[core.UID][]core.Grant{}
	for batch := range slices.Chunk(slices.Compact(identities), grantsPerStatement) {
		found, err := t.Grants(ctx, r, batch)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			bound[g.Identity] = append(bound[g.Identity], g)
		}
	}
	given := map[core.MappedGroup][]core.Grant{}
	for provider, listed := range groups {
		slices.Sort(listed)
		found, err := t.MappedGrants(ctx, r, provider, slices.Compact(listed)...)
		if err != nil {
			return nil, err
		}
		for _, g := range found {
			from := core.MappedGroup{Provider: provider, Group: g.ExternalGroup}
			given[from] = append(given[from], g)
		}
	}
	held := make([][]core.HeldGrant, len(actors))
	for i, a := range actors {
		for _, identity := range a.Identities {
			held[i] = append(held[i], core.LimitToHome(bound[identity])...)
		}
		for _, m := range a.MappedGroups {
			held[i] = append(held[i], core.LimitToHome(given[m])...)
		}
	}
	return held, nil
}

// SignInQueries read who a caller is, and what the caller may do.
type SignInQueries interface {
	// Candidates finds, with one indexed statement, up to MaxCandidates identities
	// whose rule may match the token of a bearer: rules with the exact keys, and
	// rules with patterns of organizations that have proven the issuer. The same
	// statement finds the identity providers of the issuer that have a proof. The
	// caller of Candidates does the exact matching.
	Candidates(ctx context.Context, on core.Conn, b Bearer) ([]Candidate, []SignInOption, error)

	// Grants reads the roles bound to identities.
	Grants(ctx context.Context, on core.Conn, identities []core.UID) ([]core.Grant, error)

	// AuthorityVersions reads the versions of organizations and issuers. The version of an
	// organization changes with everything in it that decides who a caller is and what they
	// hold. The version of an issuer changes with each identity, provider and proof that names
	// it.
	AuthorityVersions(ctx context.Context, on core.Conn, roots []core.UID, issuers []string) (AuthorityVersions, error)

	// StaticIdentities finds identities with static keys that name exactly this
	// issuer and subject. There is a limit; the first one of each organization
	// precedes the second ones.
	StaticIdentities(ctx context.Context, on core.Conn, issuer, subject string) ([]*Identity, error)

	// LookupIdentities finds the identities of organizations with exactly this issuer and
	// subject, the oldest first.
	LookupIdentities(ctx context.Context, on core.Conn, issuer, subject string, organizations []core.UID) ([]core.UID, error)

	// KnowsIssuer reports whether an identity or an identity provider names
	// exactly this issuer.
	KnowsIssuer(ctx context.Context, on core.Conn, issuer string) (bool, error)
}

// AuthorityVersions are versions of what decides who callers are.
type AuthorityVersions struct {
	Roots   map[core.UID]string // by organization
	Issuers map[string]string   // by the issuer of a rule; "" has identities whose rules name none
}

// A Bearer holds the values by which the store finds the identities of a token.
type Bearer struct {
	Issuer, Subject string
	// ExternalIDs are the ids by which identity providers may know the bearer.
	ExternalIDs []string
	// Groups are all texts of claims that could list external groups.
	Groups []string
	// Issuers and Subjects are the parts of the keys of rules with patterns, in
	// organizations that have proven the issuer.
	Issuers, Subjects []string
	// Tenants are the subject parts of the keys, together with Issuer, of rules
	// in all organizations. It is empty unless the issuer is shared.
	Tenants []string
	// Static are the identities whose own keys signed the token. If there are
	// any, the store looks for no others.
	Static []core.UID
}

// A Candidate is an identity that may match a token, and its grants.
type Candidate struct {
	Identity *Identity
	Grants   []core.Grant
	Proven   bool // the organization has proven the issuers of the rule
}

// Limits of the candidates that are read for one token: in total, and per
// organization. Rules with an exact issuer and subject come first. Of these, the
// first rule of each organization precedes the second ones, and older rules
// precede newer ones. They are selected from as many rules as MaxCandidates
// organizations can have. Thus a few organizations with many rules for someone
// else's subject cannot hide the rules of others.
const (
	MaxCandidates       = 400
	MaxCandidatesOfRoot = 40
	MaxExactRules       = MaxCandidates * rulesOfKey
)

// A SignInOption is an identity provider of a token's issuer, with the identities
// that it may have provisioned for the bearer, and its mappings of external groups.
type SignInOption struct {
	Provider    *IdentityProvider
	Proof       ProofMethod // never empty
	Provisioned []ProvisionedIdentity
	Mapped      []MappedGrant
}

// A ProvisionedIdentity is an identity created by a provider, with its external id.
type ProvisionedIdentity struct {
	Candidate
	ExternalID string
}

// A MappedGrant is the grant of a mapping. Its Identity is the provider. The grant
// is limited to the provider's group.
type MappedGrant struct {
	core.Grant
	ExternalGroupID string
}

// bearer returns the values by which the store finds the identities of a token.
func (area *Area) bearer(c Claims) Bearer {
	b := Bearer{
		Issuer: c.Issuer, Subject: c.Subject, Static: c.StaticIdentities, ExternalIDs: []string{c.Subject},
		Issuers: issuerKeys(c.Issuer), Subjects: subjectKeys(c.Subject),
	}
	if tenant := area.tenant(c.Issuer, c.Subject); tenant != "" {
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
		if s, ok := v.(string); ok && s != "" && !core.IsUnstorable(s) {
			texts = append(texts, s)
		}
	}
	return texts
}

// addSignIn adds the identity and the grants that the bearer has through an
// identity provider. If the provider accepts the bearer for the first time, it
// adds the provider to firstSignIns.
func (found *recognition) addSignIn(c Claims, e *SignInOption) {
	external := e.Provider.externalID(c)
	var v core.Violations
	if v.CheckRequiredLine("sub", external); len(v) > 0 || !e.Provider.accepts(c) {
		return
	}
	at := slices.IndexFunc(e.Provisioned, func(one ProvisionedIdentity) bool { return one.ExternalID == external })
	switch {
	case at >= 0:
		addIdentity(found.actor, e.Provisioned[at].Candidate)
		found.seen = append(found.seen, e.Provisioned[at].Identity)
		addMapped(found.actor, c, e)
	case e.Proof.AdmitsNewUsers():
		found.firstSignIns = append(found.firstSignIns, e)
	}
}

// addMapped adds the grants of the external groups that the token lists.
func addMapped(a *core.Actor, c Claims, e *SignInOption) {
	groups, _ := c.Values[e.Provider.OIDC.GroupsClaim].([]any)
	listed := textsIn(groups)
	for _, m := range e.Mapped {
		if slices.Contains(listed, m.ExternalGroupID) {
			a.MappedGroups = append(a.MappedGroups, core.MappedGroup{Provider: e.Provider.UID, Group: m.ExternalGroupID})
			a.Grants = append(a.Grants, core.LimitToHome([]core.Grant{m.Grant})...)
		}
	}
}

// provision creates an identity for the bearer of a token whom a provider accepts
// for the first time.
func (area *Area) provision(ctx context.Context, a *core.Actor, c Claims, e *SignInOption) error {
	person, err := area.createProvisioned(ctx, c, e.Provider)
	if err != nil {
		return err
	}
	addIdentity(a, person)
	addMapped(a, c, e)
	return nil
}

// accepts reports whether the provider accepts a token: it was issued for the
// provider's client, or for this service without naming another client as the
// authorized party. The latter matters because issuers with many tenants use the
// same audience for the clients of all tenants.
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

// externalID returns the id by which the provider knows the bearer of a token, or
// "" if the token does not contain it.
func (p *IdentityProvider) externalID(c Claims) string {
	if p.OIDC != nil && p.OIDC.CorrelationRule == CorrelationRuleOID {
		oid, _ := c.Values["oid"].(string)
		return oid
	}
	return c.Subject
}

// createProvisioned creates the identity of a new user of a provider, with the
// default role.
func (area *Area) createProvisioned(ctx context.Context, c Claims, provider *IdentityProvider) (Candidate, error) {
	group, external := provider.UID.Parent(), provider.externalID(c)
	person := &Identity{Name: identityName(c.Name, c.Email, c.Subject), Provider: provider.UID, ExternalID: ExternalID{c.Issuer, external}, LastSeenTime: area.Now()}
	person.setEmail(c.Email, c.EmailVerified)
	// The new identity is the actor of these events.
	self := &core.Actor{Issuer: c.Issuer, Subject: c.Subject, Email: c.Email, EmailVerified: c.EmailVerified}
	ctx = core.WithActor(ctx, self)
	err := area.Store.Write(ctx, func(tx core.Tx) error {
		current, err := area.readAdmitting(ctx, tx, provider.UID, c)
		if err != nil {
			return err
		}
		if err := area.Identities.insertRecorded(ctx, tx, group, person); err != nil {
			return err
		}
		self.Identities = []core.UID{person.UID}
		bindings := []*RoleBinding{newBinding(group, person.UID, current.DefaultRole, area.Now())}
		if err := area.Tables.RoleBindings.InsertShown(ctx, tx, bindings...); err != nil {
			return err
		}
		area.RoleBindings.recordBound(ctx, tx, bindings, "created")
		return nil
	})
	if errors.Is(err, core.ErrDuplicate) || errors.Is(err, core.ErrNoParent) || errors.Is(err, errNotAdmitted) {
		return area.readProvisioned(ctx, c, provider, external) // a concurrent request has created it, or changed the provider
	}
	if errors.Is(err, core.ErrUncertain) {
		err = core.Unavailable("the database does not answer", err) // the request may come again, and then finds the identity
	}
	if err != nil {
		return Candidate{}, err
	}
	grants, err := area.Tables.Grants(ctx, area.Store, []core.UID{person.UID})
	return Candidate{Identity: person, Grants: grants}, err
}

var errNotAdmitted = errors.New("the identity provider does not admit the user of this token")

// readAdmitting reads a provider, which may have changed since the token was matched with it,
// and locks its organization. It returns errNotAdmitted unless the provider admits new users
// with this token.
func (area *Area) readAdmitting(ctx context.Context, tx core.Tx, provider core.UID, c Claims) (*IdentityProvider, error) {
	current, err := area.IdentityProviders.rows.GetLocked(ctx, tx, provider)
	switch {
	case errors.Is(err, &core.Error{Code: core.CodeNotFound}):
		return nil, errNotAdmitted
	case err != nil:
		return nil, err
	case !current.IssuerVerified || !current.accepts(c):
		return nil, errNotAdmitted
	}
	return current, nil
}

// readProvisioned reads an identity that a concurrent request has just created.
func (area *Area) readProvisioned(ctx context.Context, c Claims, provider *IdentityProvider, external string) (Candidate, error) {
	_, options, err := area.Tables.Candidates(ctx, area.Store, area.bearer(c))
	for _, e := range options {
		for _, one := range e.Provisioned {
			if e.Provider.UID == provider.UID && one.ExternalID == external {
				return one.Candidate, nil
			}
		}
	}
	if err == nil {
		err = core.Unauthenticated("the identity provider of this token was changed at the same time; try again")
	}
	return Candidate{}, err
}

// insertRecorded stores a new identity and records its event. It fails unless the
// organization may have the rule of the identity.
func (s Identities) insertRecorded(ctx context.Context, tx core.Tx, group core.UID, i *Identity) error {
	s.rows.Kind.Stamp(i, group.NewChild(), s.area.Now())
	if err := s.area.admitRule(ctx, tx, i); err != nil {
		return err
	}
	if err := s.rows.Table.Insert(ctx, tx, i); err != nil {
		return err
	}
	tx.Record(s.area.Event(ctx, s.rows.Kind.Event, "created", i.UID, group, i))
	return nil
}

func (i *Identity) setEmail(email string, verified bool) {
	if core.IsUnstorable(email) || len(email) > core.MaxLineBytes {
		return
	}
	if verified {
		i.Email = email
	} else {
		i.EmailUnverified = email
	}
}

// identityName makes a name from the first text that contains a letter or digit
// that is valid in names.
func identityName(texts ...string) string {
	for _, text := range texts {
		name := strings.Map(func(r rune) rune {
			if r < utf8.RuneSelf && core.NamePattern.MatchString(string(r)) {
				return r
			}
			return '-'
		}, strings.ToLower(text))
		if name = strings.Trim(name[:min(len(name), core.MaxNameBytes)], " -._"); name != "" {
			return name
		}
	}
	return "somebody"
}

// An IdentityKeys holds the keys that verify the tokens of an identity.
type IdentityKeys struct {
	Identity core.UID
	JWKS     json.RawMessage
}

// StaticKeys lists the keys of identities with this issuer and subject that have not
// expired. A token that such a key verifies acts only as the identity of that key:
// see Claims.StaticIdentities.
func (area *Area) StaticKeys(ctx context.Context, issuer, subject string) ([]IdentityKeys, error) {
	if core.IsUnstorable(issuer) || core.IsUnstorable(subject) {
		return nil, nil
	}
	identities, err := area.Tables.StaticIdentities(ctx, area.Store, issuer, subject)
	var keys []IdentityKeys
	for _, i := range identities {
		if !i.StaticKeys.isExpired(area.Now()) {
			keys = append(keys, IdentityKeys{i.UID, json.RawMessage(i.StaticKeys.IssuerKeys)})
		}
	}
	return keys, err
}

func (k *StaticKeys) isExpired(now core.Time) bool {
	return !k.ExpirationTime.IsZero() && !now.Before(k.ExpirationTime.Time)
}

// acceptsStatic reports whether the rule accepts a token that its keys verified.
func (k *StaticKeys) acceptsStatic(c Claims, now core.Time) bool {
	if k == nil || k.Issuer != c.Issuer || k.Subject != c.Subject || k.isExpired(now) {
		return false
	}
	if len(k.Audiences) == 0 {
		return c.ServiceAudience
	}
	return slices.ContainsFunc(c.Audience, func(aud string) bool { return slices.Contains(k.Audiences, aud) })
}
