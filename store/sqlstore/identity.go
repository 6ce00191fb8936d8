package sqlstore

import (
	"context"
	"encoding/json"
	"slices"
	"strings"
	"unicode"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

var identities = table.New(&table.Definition[*iam.Identity, *iam.IdentityFilter]{
	Name:          "identity",
	UID:           func(i *iam.Identity) core.UID { return i.UID },
	LiesIn:        parentUID,
	HasScopeKeys:  true,
	FoundByParent: func(order string, f *iam.IdentityFilter) bool { return order == "name" || f.Name != "" },
	Columns: []table.Column[*iam.Identity]{
		{SQL: "t.uid", To: func(i *iam.Identity) any { return table.UIDOf(&i.UID) }},
		{SQL: "t.name", Field: "name", To: func(i *iam.Identity) any { return &i.Name }},
		{SQL: "t.description", Field: "description", To: func(i *iam.Identity) any { return &i.Description }},
		{SQL: "t.email", To: func(i *iam.Identity) any { return &i.Email }},
		{SQL: "t.email_unverified", To: func(i *iam.Identity) any { return &i.EmailUnverified }},
		{SQL: "t.company", Field: "company", To: func(i *iam.Identity) any { return &i.Company }},
		{SQL: "t.claim_match", Field: "claimMatch", To: func(i *iam.Identity) any { return table.JSONOf(&storedRule{&i.ClaimMatch}) }},
		{SQL: "t.static_keys", Field: "staticKeys", To: func(i *iam.Identity) any { return table.JSONOf(&i.StaticKeys) }},
		{SQL: "t.last_seen_time", To: func(i *iam.Identity) any { return table.TimeOf(&i.LastSeenTime) }},
		{SQL: "t.create_time", To: func(i *iam.Identity) any { return table.TimeOf(&i.CreateTime) }},
		{SQL: "t.update_time", To: func(i *iam.Identity) any { return table.TimeOf(&i.UpdateTime) }},
	},
	CostlyColumns: map[string]table.CostlyColumn{"t.claim_match": {Field: core.IdentityRules}, "t.static_keys": {Field: core.IdentityRules}},
	WriteOnly: []table.Column[*iam.Identity]{
		{SQL: "t.match_rule", Field: "claimMatch", To: func(i *iam.Identity) any { rule := ruleOf(i); return &rule }},
		{SQL: "t.static_rule", Field: "staticKeys", To: func(i *iam.Identity) any { rule := staticRuleOf(i); return &rule }},
		{SQL: "t.external_id", To: func(i *iam.Identity) any { rule := externalRuleOf(i); return &rule }},
		{SQL: "t.provider", To: func(i *iam.Identity) any { return table.UIDReference(i.Provider) }},
		table.SearchColumn((*iam.Identity).SearchText),
	},
	SearchText: "t.search", SearchQuery: func(f *iam.IdentityFilter) string { return f.Query },
	SearchTextOf: (*iam.Identity).SearchText, SearchFields: []string{"name", "description"},
	Where: func(f *iam.IdentityFilter, s *table.Statement) {
		s.AddName(f.Name)
		switch f.RelationshipType {
		case iam.RelationshipTypeClaimMatch:
			s.Add(" AND t.claim_match <> ''")
		case iam.RelationshipTypeStatic:
			s.Add(" AND t.static_keys <> ''")
		}
		if !f.LastSeenBefore.IsZero() {
			s.Add(" AND t.last_seen_time < ?", f.LastSeenBefore)
		}
		if f.NeverSeen != nil {
			s.Add(" AND t.last_seen_time "+map[bool]string{true: "=", false: "<>"}[*f.NeverSeen]+" ?", core.Time{})
		}
		if f.WithoutBindings != nil {
			s.AddSlow(" AND CASE WHEN EXISTS (SELECT 1 FROM role_binding b WHERE b.identity = t.uid AND ")
			addUnexpired(s, "b").Add(") THEN 1 END IS " + map[bool]string{true: "NULL", false: "NOT NULL"}[*f.WithoutBindings])
		}
		s.AddWords("t.search", f.Query)
		s.AddChanged(&f.ChangeFilter)
	},
})

// kindConditions are the conditions that something acts as an identity h in a way.
var kindConditions = map[iam.IdentityType]string{
	iam.IdentityTypeUser:       "h.provider IS NOT NULL",
	iam.IdentityTypeClaimMatch: "h.match_rule <> ''",
	iam.IdentityTypeStaticKeys: "h.static_rule <> ''",
	iam.IdentityTypeNobody:     "h.provider IS NULL AND h.match_rule = '' AND h.static_rule = ''",
}

// isOfKind returns the condition that an identity h is of one of the kinds.
func isOfKind(kinds []iam.IdentityType) string {
	kinds = slices.Compact(slices.Sorted(slices.Values(kinds))) // So their number has a limit.
	conditions := make([]string, len(kinds))
	for i, kind := range kinds {
		conditions[i] = kindConditions[kind]
	}
	return "(" + strings.Join(conditions, " OR ") + ")"
}

// A rule is stored as one text, so that query planners know how many identities
// have it. A part that comes from a pattern begins with iam.PatternMark.
// Issuers and subjects of rules contain no control characters.
const (
	ruleBreak = "\x02" // separates the issuer and the subject of a rule
	ruleEnd   = "\x03" // sorts directly after ruleBreak, so it ends the range of an issuer's rules
)

// rule returns the key of identities that name an issuer and a subject.
func rule(issuer, subject string) string { return issuer + ruleBreak + subject }

// ruleOf returns the key of an identity's rule, or "" if the rule matches no token.
func ruleOf(i *iam.Identity) string { return ruleText(i.ClaimMatch.Key()) }

func ruleText(key iam.RuleKey) string {
	if key == (iam.RuleKey{}) {
		return ""
	}
	return rule(key.Issuer, key.Subject)
}

// staticRuleOf returns the key of an identity with static keys.
func staticRuleOf(i *iam.Identity) string {
	if i.StaticKeys == nil {
		return ""
	}
	return rule(i.StaticKeys.Issuer, i.StaticKeys.Subject)
}

// externalRuleOf returns the key of an identity that a provider has provisioned.
func externalRuleOf(i *iam.Identity) string {
	if i.ExternalID.Issuer == "" {
		return ""
	}
	return rule(i.ExternalID.Issuer, i.ExternalID.ID)
}

// ruleParts splits a rule into issuer and subject. A pattern is returned as "".
func ruleParts(rule string) (issuer, subject string) {
	issuer, subject, _ = strings.Cut(rule, ruleBreak)
	exact := func(part string) string {
		if strings.HasPrefix(part, iam.PatternMark) {
			return ""
		}
		return part
	}
	return exact(issuer), exact(subject)
}

// maxStatic limits the identities with static keys that are read for one token,
// because anybody can name any issuer. The first one of each organization precedes the
// second ones, so a few organizations cannot hide the keys of others.
const maxStatic = int64(100)

// StaticIdentities finds identities by the issuer and subject of their static keys.
func (queries) StaticIdentities(ctx context.Context, on core.Conn, issuer, subject string) ([]*iam.Identity, error) {
	s := tablesOf(on)
	if strings.ContainsFunc(issuer+subject, unicode.IsControl) {
		return nil, nil
	}
	var found []*iam.Identity
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT "+identities.ProjectAll().Selected+" FROM (SELECT uid, create_time, row_number() OVER (PARTITION BY root ORDER BY create_time, uid) AS share"+
		" FROM (SELECT uid, root, create_time FROM identity WHERE static_rule = ? AND static_rule <> '' ORDER BY create_time, uid LIMIT ?) known"+
		" ORDER BY share, create_time, uid LIMIT ?) s JOIN identity t ON t.uid = s.uid ORDER BY s.share, s.create_time, s.uid", rule(issuer, subject), int64(iam.MaxExactRules), maxStatic)
	err := s.Conn.Run(ctx, q.Build(identities.ProjectAll().Collect(&found)))
	return found, err
}

// Grants reads the roles that are bound to identities.
func (queries) Grants(ctx context.Context, on core.Conn, uids []core.UID) ([]core.Grant, error) {
	s := tablesOf(on)
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT b.identity, b.parent, b.role, r.capabilities, b.expire_time FROM role_binding b JOIN role r ON r.uid = b.role WHERE b.identity ? AND ", table.UIDKeys(uids))
	addUnexpired(q, "b")
	var grants []core.Grant
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var g core.Grant
		err := scan(table.UIDOf(&g.Identity), table.UIDOf(&g.Group), table.UIDOf(&g.Role), capabilityColumn{&g.Capabilities}, table.TimeOf(&g.ExpireTime))
		grants = append(grants, g)
		return err
	}))
	return grants, err
}

// KnowsIssuer reports whether an identity or identity provider names an issuer.
func (queries) KnowsIssuer(ctx context.Context, on core.Conn, issuer string) (bool, error) {
	s := tablesOf(on)
	if strings.ContainsFunc(issuer, unicode.IsControl) {
		return false, nil
	}
	known := false
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT 1 WHERE EXISTS (SELECT 1 FROM identity WHERE match_rule >= ? AND match_rule < ?)", issuer+ruleBreak, issuer+ruleEnd)
	q.Add(" OR EXISTS (SELECT 1 FROM identity_provider WHERE issuer = ?)", issuer)
	err := s.Conn.Run(ctx, q.Build(func(func(...any) error) error { known = true; return nil }))
	return known, err
}

// LookupIdentities finds the identities of exactly this issuer and subject.
func (queries) LookupIdentities(ctx context.Context, on core.Conn, issuer, subject string, organizations []core.UID) (found []core.UID, err error) {
	s := tablesOf(on)
	if strings.ContainsFunc(issuer+subject, unicode.IsControl) {
		return nil, nil
	}
	q := table.NewStatement(s.Dialect)
	exactly, roots := rule(issuer, subject), table.UIDKeys(organizations)
	q.Add("SELECT uid, create_time FROM identity WHERE match_rule = ? AND root ?", exactly, roots)
	q.AddUnion().Add("SELECT uid, create_time FROM identity WHERE static_rule = ? AND static_rule <> '' AND root ?", exactly, roots)
	q.AddUnion().Add("SELECT uid, create_time FROM identity WHERE external_id = ? AND provider IS NOT NULL AND root ? ORDER BY 2, 1", exactly, roots)
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var uid core.UID
		err := scan(table.UIDOf(&uid), table.TimeOf(new(core.Time)))
		found = append(found, uid)
		return err
	}))
	return found, err
}

// MarkSeen sets the last seen time of identities.
func (s *Store) MarkSeen(ctx context.Context, uids []core.UID, at core.Time) error {
	return s.engine.Write(ctx, func(tx *dbconn.Tx) error {
		return tx.Run(ctx, table.NewStatement(s.Dialect).Add("UPDATE identity SET last_seen_time = ? WHERE uid ?", at, table.UIDKeys(uids)).Build(nil))
	})
}

// A storedRule is the rule of an identity as it is stored.
type storedRule struct{ to **iam.ClaimMatch }

// MarshalJSON writes the rule.
func (r *storedRule) MarshalJSON() ([]byte, error) { return json.Marshal(*r.to) }

// UnmarshalJSON reads the rule.
func (r *storedRule) UnmarshalJSON(text []byte) error {
	*r.to = &iam.ClaimMatch{}
	return json.Unmarshal(text, (*iam.StoredClaimMatch)(*r.to))
}

// kindOfIdentity is SQL of the kind of an identity t.
var kindOfIdentity = func() string {
	sql := "CASE"
	for _, kind := range []iam.IdentityType{iam.IdentityTypeUser, iam.IdentityTypeClaimMatch, iam.IdentityTypeStaticKeys} {
		sql += " WHEN " + strings.ReplaceAll(kindConditions[kind], "h.", "t.") + " THEN '" + string(kind) + "'"
	}
	return sql + " ELSE '" + string(iam.IdentityTypeNobody) + "' END"
}()

// FacetIdentities counts identities by kind and group.
func (queries) FacetIdentities(ctx context.Context, on core.Conn, filter *iam.IdentityFilter, scopes []core.Scope) ([]*iam.IdentityFacets, error) {
	s := tablesOf(on)
	facets := table.EmptyEach[iam.IdentityFacets](len(scopes))
	kinds, groups := table.Counting[iam.IdentityType]{}, table.Counting[core.UID]{}
	var kind string
	var group core.UID
	run := identities.Reader(s).CountBy(filter, scopes, "", []string{kindOfIdentity, "t.parent"}, []any{&kind, table.UIDOf(&group)}, func(i int, n int64) {
		kinds.Add(&facets[i].Kinds, iam.IdentityType(kind), n)
		groups.Add(&facets[i].Groups, group, n)
	})
	return facets, s.RunAll(ctx, run)
}
