package sqlstore

import (
	"context"
	"fmt"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/sqlstore/table"
)

// bindingText and bindingRule are left out together with the identity, the group and the
// role of a binding, or by themselves.
const (
	bindingText = core.BindingObjects | core.BindingTexts
	bindingRule = core.BindingObjects | core.BindingRules
)

var roleBindings = table.New(&table.Definition[*iam.RoleBinding, *iam.RoleBindingFilter]{
	Name:         "role_binding",
	UID:          func(b *iam.RoleBinding) core.UID { return b.UID },
	LiesIn:       parentUID,
	HasScopeKeys: true,
	Relations: map[core.Relation]table.Relation{
		core.OfIdentity: {Column: "identity", IsNear: true},
		core.OfRole:     {Column: "role"}, // a built-in role belongs to all organizations
	},
	FoundByParent: func(_ string, f *iam.RoleBindingFilter) bool { return f.Identity != "" },
	Joins:         []table.Join{{SQL: " JOIN identity i ON i.uid = ", Column: "identity"}, {SQL: " JOIN grp g ON g.uid = ", Column: "parent"}, {SQL: " JOIN role r ON r.uid = ", Column: "role"}},
	// The columns that are read instead are in no index of an order: see projection.
	CostlyColumns: map[string]table.CostlyColumn{
		"i.uid": {Field: core.BindingObjects, Instead: "t.identity"}, "g.uid": {Field: core.BindingObjects, Instead: "t.parent"}, "r.uid": {Field: core.BindingObjects, Instead: "t.role"},
		"i.name": {Field: core.BindingObjects}, "g.name": {Field: core.BindingObjects}, "r.name": {Field: core.BindingObjects},
		"i.description": {Field: bindingText}, "g.description": {Field: bindingText}, "r.description": {Field: bindingText},
		"i.email": {Field: bindingRule}, "i.match_rule": {Field: bindingRule}, "i.static_rule": {Field: bindingRule}, "i.external_id": {Field: bindingRule},
	},
	JoinedOrders: map[string]table.JoinedOrder{
		"identity_name": table.OrderByName("i.name", "identity", "identity"), "group_name": table.OrderByName("g.name", "grp", "parent"), "role_name": table.OrderByName("r.name", "role", "role"),
	},
	Columns: []table.Column[*iam.RoleBinding]{
		{SQL: "t.uid", To: func(b *iam.RoleBinding) any { return table.UIDOf(&b.UID) }},
		{SQL: "t.create_time", To: func(b *iam.RoleBinding) any { return table.TimeOf(&b.CreateTime) }},
		{SQL: "t.expire_time", Field: "expireTime", To: func(b *iam.RoleBinding) any { return table.TimeOrNullOf(&b.ExpireTime) }},
		{SQL: "t.review_time", Field: "reviewTime", To: func(b *iam.RoleBinding) any { return table.TimeOrNullOf(&b.ReviewTime) }},
		{SQL: "t.reviewer", Field: "reviewer", To: func(b *iam.RoleBinding) any { return &b.Reviewer }},
		{SQL: "t.review_note", Field: "reviewNote", To: func(b *iam.RoleBinding) any { return &b.ReviewNote }},
		{SQL: "i.uid", To: func(b *iam.RoleBinding) any { return table.UIDOf(&b.Identity.UID) }},
		{SQL: "i.name", To: func(b *iam.RoleBinding) any { return &b.Identity.Name }},
		{SQL: "i.description", To: func(b *iam.RoleBinding) any { return &b.Identity.Description }},
		{SQL: "i.email", To: func(b *iam.RoleBinding) any { return &b.Identity.Email }},
		{SQL: "i.match_rule", To: func(b *iam.RoleBinding) any { return ruleColumn{&b.Identity} }},
		{SQL: "i.static_rule", To: func(b *iam.RoleBinding) any { return ruleColumn{&b.Identity} }},
		{SQL: "i.external_id", To: func(b *iam.RoleBinding) any { return ruleColumn{&b.Identity} }},
		{SQL: "g.uid", To: func(b *iam.RoleBinding) any { return table.UIDOf(&b.Group.UID) }},
		{SQL: "g.name", To: func(b *iam.RoleBinding) any { return &b.Group.Name }},
		{SQL: "g.description", To: func(b *iam.RoleBinding) any { return &b.Group.Description }},
		{SQL: "r.uid", To: func(b *iam.RoleBinding) any { return table.UIDOf(&b.Role.UID) }},
		{SQL: "r.name", To: func(b *iam.RoleBinding) any { return &b.Role.Name }},
		{SQL: "r.description", To: func(b *iam.RoleBinding) any { return &b.Role.Description }},
	},
	WriteOnly: []table.Column[*iam.RoleBinding]{
		{SQL: "t.identity", Field: "identityUid", To: func(b *iam.RoleBinding) any { return table.UIDOf(&b.IdentityUID) }},
		{SQL: "t.role", Field: "roleUid", To: func(b *iam.RoleBinding) any { return table.UIDOf(&b.RoleUID) }},
	},
	Where: func(f *iam.RoleBindingFilter, s *table.Statement) {
		if f.Identity != "" {
			s.Add(" AND t.identity = ?", f.Identity)
		}
		if f.Group != "" {
			s.Add(" AND t.parent = ?", f.Group)
		}
		if f.Role != "" {
			s.Add(" AND t.role = ?", f.Role)
		}
		if f.Capability != "" {
			// PostgreSQL expects that few roles match. As a join, it would compare each binding with
			// each role. Bindings have roles of their organization, and built-in ones.
			pattern := table.LikePattern(`"` + f.Capability.WireName() + `"`)
			if s.Organization == "" {
				s.AddSlow(" AND "+table.Confirm("t.role IN (SELECT h.uid FROM role h WHERE h.capabilities LIKE ? ESCAPE '\\')"), pattern)
			} else {
				s.AddSlow(" AND "+table.Confirm("t.role IN (SELECT h.uid FROM role h WHERE (h.root = ? OR h.root = ?) AND h.capabilities LIKE ? ESCAPE '\\')"), s.Organization, core.UID(""), pattern)
			}
		}
		if f.Capability != "" || f.Expiring != nil {
			addUnexpired(s.Add(" AND "), "t")
		}
		if len(f.IdentityKinds) > 0 {
			s.AddSlow(" AND " + table.Confirm("EXISTS (SELECT 1 FROM identity h WHERE h.uid = t.identity AND "+isOfKind(f.IdentityKinds)+")"))
		}
		if !f.IdentityLastSeenBefore.IsZero() {
			s.AddSlow(" AND "+table.Confirm("EXISTS (SELECT 1 FROM identity h WHERE h.uid = t.identity AND h.last_seen_time < ?)"), f.IdentityLastSeenBefore)
		}
		if !f.UnreviewedSince.IsZero() {
			s.Add(" AND t.create_time < ? AND (t.review_time IS NULL OR t.review_time < ?)", f.UnreviewedSince, f.UnreviewedSince)
		}
		if f.Expiring != nil {
			s.Add(" AND t.expire_time IS NOT NULL")
			if before := f.Expiring.Before; !before.IsZero() {
				s.Add(" AND t.expire_time < ?", before)
			}
		}
		table.AddSince(s, "create_time", f.CreatedSince)
		if !f.CreatedBefore.IsZero() {
			s.Add(" AND t.create_time < ?", f.CreatedBefore)
		}
		if f.Lasting {
			s.Add(" AND t.expire_time IS NULL")
		}
	},
})

// addUnexpired adds the condition that a role binding, whose table has the alias, gives its role
// at this moment. Each statement that finds out what somebody may do has it.
func addUnexpired(s *table.Statement, alias string) *table.Statement {
	return s.Add("(" + alias + ".expire_time IS NULL OR " + alias + ".expire_time > ").AddNow().Add(")")
}

// Bindable reads identities and roles: one statement each.
func (queries) Bindable(ctx context.Context, in core.Tx, holders, given []core.UID) (found []*iam.Identity, granted []*iam.Role, err error) {
	tx := transactionOf(in)
	err = tx.Conn.Run(ctx, identities.SelectAll(tx.Dialect, holders, &found), roles.SelectAll(tx.Dialect, given, &granted))
	return found, granted, err
}

// EndReviews removes the reviews of the role bindings of an identity or of a role.
func (queries) EndReviews(in core.Tx, of core.UID) {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("UPDATE role_binding SET review_time = NULL, reviewer = '', review_note = '' WHERE (identity = ? OR role = ?) AND review_time IS NOT NULL", of, of)
	tx.Conn.Queue(q.Build(nil))
}

// ExpiredBindings finds role bindings that have expired, those that expired first before others.
func (queries) ExpiredBindings(ctx context.Context, on core.Conn, limit int) ([]core.UID, error) {
	s := tablesOf(on)
	var expired []core.UID
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT b.uid FROM role_binding b WHERE b.expire_time <= (SELECT "+s.Dialect.Now+") ORDER BY b.expire_time LIMIT ?", int64(limit))
	err := s.Conn.Run(ctx, q.Build(collectUIDs(&expired)))
	return expired, err
}

// A ruleColumn reads the issuer and subject of a bound identity from its rule.
type ruleColumn struct{ to *iam.BoundIdentity }

func (c ruleColumn) Scan(src any) error {
	text, ok := src.(string)
	if !ok {
		return fmt.Errorf("cannot read a rule from %T", src)
	}
	c.SetText(text)
	return nil
}

// AppendText appends a rule.
func (c ruleColumn) AppendText(b, src []byte) ([]byte, error) { return append(b, src...), nil }

// SetText reads a rule.
func (c ruleColumn) SetText(text string) {
	if text != "" {
		c.to.Issuer, c.to.Subject = ruleParts(text)
	}
}

// FacetRoleBindings counts role bindings by role, group and identity.
func (queries) FacetRoleBindings(ctx context.Context, on core.Conn, filter *iam.RoleBindingFilter, scopes []core.Scope) ([]*iam.RoleBindingFacets, error) {
	s := tablesOf(on)
	facets := table.EmptyEach[iam.RoleBindingFacets](len(scopes))
	uids := table.Counting[core.UID]{}
	var role, group, identity core.UID
	run := roleBindings.Reader(s).CountBy(filter, scopes, "", []string{"t.role", "t.parent", "t.identity"}, []any{table.UIDOf(&role), table.UIDOf(&group), table.UIDOf(&identity)}, func(i int, n int64) {
		uids.Add(&facets[i].Roles, role, n)
		uids.Add(&facets[i].Groups, group, n)
		uids.Add(&facets[i].Identities, identity, n)
	})
	return facets, s.RunAll(ctx, run)
}
