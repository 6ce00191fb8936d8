package platform

import (
	"context"
	"encoding/json"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"unicode"
)

// An Identity is who acts. A token acts as every identity whose rule it
// matches. What an identity may do ends at the group it lives under.
type Identity struct {
	UID             UID         `json:"uid"`
	Name            string      `json:"name"`
	Description     string      `json:"description,omitempty"`
	Email           string      `json:"email,omitempty"`
	EmailUnverified string      `json:"emailUnverified,omitempty"`
	Company         string      `json:"company,omitempty"`
	LastSeenTime    Time        `json:"lastSeenTime,omitzero"`
	CreateTime      Time        `json:"createTime,omitzero"`
	UpdateTime      Time        `json:"updateTime,omitzero"`
	ClaimMatch      *ClaimMatch `json:"claimMatch,omitempty"`
	StaticKeys      *StaticKeys `json:"staticKeys,omitempty"`
}

// A ClaimMatch is the rule of an identity: what a token's claims must be.
// Patterns are RE2 and match the whole value. Of each pair one is set; without
// an audience rule the token must be made for this service.
type ClaimMatch struct {
	Issuer          string            `json:"issuer,omitempty"`
	IssuerPattern   string            `json:"issuerPattern,omitempty"`
	Subject         string            `json:"subject,omitempty"`
	SubjectPattern  string            `json:"subjectPattern,omitempty"`
	Audience        string            `json:"audience,omitempty"`
	AudiencePattern string            `json:"audiencePattern,omitempty"`
	Claims          map[string]string `json:"claims,omitempty"`
	ClaimPatterns   map[string]string `json:"claimPatterns,omitempty"`
}

// UnmarshalJSON reads a rule; a member it does not know is an error.
func (m *ClaimMatch) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b,
		member{"issuer", &m.Issuer}, member{"issuerPattern", &m.IssuerPattern}, member{"subject", &m.Subject},
		member{"subjectPattern", &m.SubjectPattern}, member{"audience", &m.Audience}, member{"audiencePattern", &m.AudiencePattern},
		member{"claims", &m.Claims}, member{"claimPatterns", &m.ClaimPatterns})
}

// StaticKeys is a rule that brings the issuer's keys with it.
type StaticKeys struct {
	Issuer         string   `json:"issuer"`
	Subject        string   `json:"subject"`
	IssuerKeys     string   `json:"issuerKeys"` // JWKS
	ExpirationTime Time     `json:"expirationTime,omitzero"`
	Audiences      []string `json:"audiences,omitempty"`
}

// UnmarshalJSON reads a rule; a member it does not know is an error.
func (k *StaticKeys) UnmarshalJSON(b []byte) error {
	return unmarshalMembers(b,
		member{"issuer", &k.Issuer}, member{"subject", &k.Subject}, member{"issuerKeys", &k.IssuerKeys},
		member{"expirationTime", &k.ExpirationTime}, member{"audiences", &k.Audiences})
}

// RelationshipType says by which rule an identity is found.
type RelationshipType string

// The types of rules.
const (
	RelationshipTypeClaimMatch RelationshipType = "RELATIONSHIP_TYPE_CLAIM_MATCH"
	RelationshipTypeStatic     RelationshipType = "RELATIONSHIP_TYPE_STATIC"
)

// IdentityFilter restricts a list of identities.
type IdentityFilter struct {
	Name             string           `json:",omitempty"` // exactly
	RelationshipType RelationshipType `json:",omitempty"`
	LastSeenBefore   Time             `json:",omitzero"` // never seen counts as before
}

func (f IdentityFilter) check(v *violations) {
	v.filter("name", f.Name)
	oneOf(v, "relationship_type", f.RelationshipType, []RelationshipType{RelationshipTypeClaimMatch, RelationshipTypeStatic})
}

var identityKind = Kind[Identity]{
	Name: "Identity", Plural: "identities", Area: "iam", Number: 2, Event: "iam.identity", Parent: "Group",
	List: CapIdentityList, Create: CapIdentityCreate, Update: CapIdentityUpdate, Delete: CapIdentityDelete,
	Blocked: "RESOURCE_IN_USE",
	Fields: []Field{
		{"uid", OutputOnly}, {"name", Updatable}, {"description", Updatable}, {"email", OutputOnly}, {"emailUnverified", OutputOnly},
		{"company", Updatable}, {"lastSeenTime", OutputOnly}, {"createTime", OutputOnly}, {"updateTime", OutputOnly},
		{"claimMatch", Updatable}, {"staticKeys", Updatable},
	},
	Orders: []OrderField[Identity]{
		{"name", nil, func(i *Identity) any { return i.Name }},
		{"create_time", createTimeSpellings, func(i *Identity) any { return i.CreateTime }},
		{"update_time", updateTimeSpellings, func(i *Identity) any { return i.UpdateTime }},
		{"uid", nil, func(i *Identity) any { return string(i.UID) }},
		{"last_seen_time", []string{"lastSeenTime", "last_seen"}, func(i *Identity) any { return i.LastSeenTime }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(i *Identity) UID { return i.UID },
	Group:        parentOf(func(i *Identity) UID { return i.UID }),
	Stamp:        func(i *Identity, uid UID, now Time) { i.UID, i.CreateTime, i.UpdateTime = uid, now, now },
	Check: func(i *Identity, changed func(string) bool, v *violations) {
		if changed("name") {
			v.name(i.Name, namePattern)
		}
		if changed("description") {
			v.line("description", i.Description)
		}
		if changed("company") {
			v.line("company", i.Company)
		}
		if changed("claimMatch") && i.ClaimMatch != nil {
			i.ClaimMatch.check(v)
		}
		if changed("staticKeys") && i.StaticKeys != nil {
			i.StaticKeys.check(v)
		}
		if i.ClaimMatch != nil && i.StaticKeys != nil {
			v.add("staticKeys", "cannot be given together with claimMatch")
		}
	},
}

func (m *ClaimMatch) check(v *violations) {
	v.oneOfPair("claimMatch.issuer", m.Issuer, m.IssuerPattern, true)
	if m.Issuer != "" && m.IssuerPattern == "" {
		v.issuer("claimMatch.issuer", m.Issuer)
	}
	v.oneOfPair("claimMatch.subject", m.Subject, m.SubjectPattern, true)
	v.oneOfPair("claimMatch.audience", m.Audience, m.AudiencePattern, false)
	if len(m.Claims)+len(m.ClaimPatterns) > maxClaims {
		v.add("claimMatch.claims", "must be at most %d, patterns included", maxClaims)
	}
	for _, name := range sortedKeys(m.ClaimPatterns) {
		v.pattern("claimMatch.claimPatterns."+shown(name), m.ClaimPatterns[name])
	}
}

// Limits of what one rule may ask, since it runs on requests of strangers.
const (
	maxClaims       = 20
	maxPatternBytes = 512
	maxKeysBytes    = 64 << 10
)

func (v *violations) oneOfPair(field, exact, pattern string, required bool) {
	switch {
	case exact != "" && pattern != "":
		v.add(field, "cannot be given together with %sPattern", field[len("claimMatch."):])
	case exact == "" && pattern == "" && required:
		v.add(field, "is required, or its pattern")
	case len(exact) > 2048:
		v.add(field, "must be at most 2048 bytes")
	case strings.ContainsFunc(exact, unicode.IsControl):
		v.add(field, "must not hold control characters")
	}
	if pattern != "" {
		v.pattern(field+"Pattern", pattern)
	}
}

func (v *violations) pattern(field, pattern string) {
	if len(pattern) > maxPatternBytes {
		v.add(field, "must be at most %d bytes", maxPatternBytes)
	} else if _, err := regexp.Compile(pattern); err != nil {
		v.add(field, "must be an RE2 pattern")
	}
}

func (v *violations) issuer(field, s string) {
	u, err := url.Parse(s)
	if err != nil || u.Scheme != "https" && u.Scheme != "http" || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" {
		v.add(field, "must be an https URL without query and fragment")
	}
}

func (k *StaticKeys) check(v *violations) {
	if k.Issuer == "" {
		v.add("staticKeys.issuer", "is required")
	} else {
		v.issuer("staticKeys.issuer", k.Issuer)
	}
	if k.Subject == "" {
		v.add("staticKeys.subject", "is required")
	}
	var set struct {
		Keys []json.RawMessage `json:"keys"`
	}
	switch {
	case k.IssuerKeys == "":
		v.add("staticKeys.issuerKeys", "is required")
	case len(k.IssuerKeys) > maxKeysBytes || json.Unmarshal([]byte(k.IssuerKeys), &set) != nil || len(set.Keys) == 0:
		v.add("staticKeys.issuerKeys", "must be a JWKS with at least one key")
	}
	v.lines("staticKeys.audiences", k.Audiences, 20)
}

// Identities are the operations on identities.
type Identities struct {
	resources[Identity, IdentityFilter]
}

// noTwin is for kinds without a unique key: no insert of theirs collides.
func noTwin[T, F any](*T) (f F) { return f }

// Create makes an identity below a group.
func (s Identities) Create(ctx context.Context, parent UID, in Input[Identity]) (*Identity, error) {
	return s.create(ctx, parent, in, noTwin)
}

// Update changes an identity. Who changes its rule decides who acts with what
// is bound to it, and so must hold all of that.
func (s Identities) Update(ctx context.Context, uid UID, in Input[Identity]) (*Identity, error) {
	change, fields, err := s.change(ctx, uid, in)
	if err != nil {
		return nil, s.kind.in(err)
	}
	fields = change.oneRule(fields)
	return s.write(ctx, uid, change, fields, noTwin, func(tx Tx, _ *Identity, fields []string) error {
		if slices.Contains(fields, "claimMatch") || slices.Contains(fields, "staticKeys") {
			return s.holdsAllBound(ctx, tx, uid)
		}
		return nil
	})
}

// oneRule adds the rule that a change replaces by one of the other type.
func (i *Identity) oneRule(fields []string) []string {
	if i.StaticKeys != nil && !slices.Contains(fields, "claimMatch") {
		return append(fields, "claimMatch")
	}
	if i.ClaimMatch != nil && !slices.Contains(fields, "staticKeys") {
		return append(fields, "staticKeys")
	}
	return fields
}

func (s Identities) holdsAllBound(ctx context.Context, tx Tx, uid UID) error {
	actor, err := caller(ctx)
	if err != nil {
		return err
	}
	if err := tx.Lock(ctx, uid.Root()); err != nil {
		return err
	}
	if actor, err = actor.refreshed(ctx, tx); err != nil {
		return err
	}
	bound, err := tx.Grants(ctx, []UID{uid})
	if err != nil {
		return err
	}
	for _, g := range bound {
		if err := actor.dominates(setOf(g.Capabilities), g.Group); err != nil {
			return err
		}
	}
	return nil
}

// Delete removes an identity that no role is bound to.
func (s Identities) Delete(ctx context.Context, uid UID) error {
	return s.removeIf(ctx, uid, func(tx Tx) error { return tx.Lock(ctx, uid.Root()) }) // nobody binds it meanwhile
}

// Lookup finds the identity that tokens of exactly this issuer and subject
// act as; the oldest of several. Any valid token may ask.
func (s Identities) Lookup(ctx context.Context, issuer, subject string) (UID, error) {
	if _, err := caller(ctx); err != nil {
		return "", err
	}
	var v violations
	if issuer == "" {
		v.add("issuer", "is required")
	}
	v.filter("issuer", issuer)
	if subject == "" {
		v.add("subject", "is required")
	}
	v.filter("subject", subject)
	if err := v.err(); err != nil {
		return "", err
	}
	uid, err := s.p.store.LookupIdentity(ctx, issuer, subject)
	if err == nil && uid == "" {
		e := missing("Identity", "")
		e.Message = "Not found: no identity matches this issuer and subject"
		e.Resource.Name, e.Resource.Description = shown(subject), "no identity matches this issuer and subject"
		return "", e
	}
	return uid, err
}

// EffectiveCapabilities is what an identity holds on a UID, inherited grants
// included. The caller must be allowed to list bindings where the identity
// lives.
func (s Identities) EffectiveCapabilities(ctx context.Context, identity, on UID) ([]Capability, error) {
	if err := invalidUID("on", on); err != nil {
		return nil, err
	}
	if _, err := need(ctx, identity, CapIdentityList, CapRoleBindingsList); err != nil {
		return nil, err
	}
	grants, err := s.p.store.Grants(ctx, []UID{identity})
	if err != nil {
		return nil, err
	}
	held := Actor{grants: effective(grants)}
	return held.on(on).list(), nil
}

// Own lists the identities that the caller acts as; none of its capabilities
// is asked for that.
func (s Identities) Own(ctx context.Context) ([]*Identity, error) {
	actor, err := caller(ctx)
	if err != nil || len(actor.Identities) == 0 {
		return nil, err
	}
	return s.table(s.p.store).Get(ctx, Keys{actor.Identities})
}
