package sqlstore

import (
	"context"
	"fmt"

	"atrium/platform"
)

// bindingText and bindingRule are left out together with the identity, the group and the
// role of a binding, or by themselves.
const (
	bindingText = platform.BindingObjects | platform.BindingTexts
	bindingRule = platform.BindingObjects | platform.BindingRules
)

var roleBindings = newTable(&table[*platform.RoleBinding, *platform.RoleBindingFilter]{
	name:     "role_binding",
	uid:      func(b *platform.RoleBinding) platform.UID { return b.UID },
	enclosed: parentUID,
	compact:  true,
	relations: map[platform.Relation]relation{
		platform.OfIdentity: {column: "identity", isNear: true},
		platform.OfRole:     {column: "role"}, // a built-in role belongs to all organisations
	},
	byParent: func(_ string, f *platform.RoleBindingFilter) bool { return f.Identity != "" },
	joins:    []join{{" JOIN identity i ON i.uid = ", "identity"}, {" JOIN grp g ON g.uid = ", "parent"}, {" JOIN role r ON r.uid = ", "role"}},
	// The columns that are read instead are in no index of an order: see projection.
	costly: map[string]costlyColumn{
		"i.uid": {platform.BindingObjects, "t.identity"}, "g.uid": {platform.BindingObjects, "t.parent"}, "r.uid": {platform.BindingObjects, "t.role"},
		"i.name": {field: platform.BindingObjects}, "g.name": {field: platform.BindingObjects}, "r.name": {field: platform.BindingObjects},
		"i.description": {field: bindingText}, "g.description": {field: bindingText}, "r.description": {field: bindingText},
		"i.email": {field: bindingRule}, "i.match_rule": {field: bindingRule}, "i.static_rule": {field: bindingRule}, "i.external_id": {field: bindingRule},
	},
	lookups: map[string]lookup{
		"identity_name": nameOf("i.name", "identity", "identity"), "group_name": nameOf("g.name", "grp", "parent"), "role_name": nameOf("r.name", "role", "role"),
	},
	columns: []column[*platform.RoleBinding]{
		{"t.uid", "", func(b *platform.RoleBinding) any { return keyOf(&b.UID) }},
		{"t.create_time", "", func(b *platform.RoleBinding) any { return timeOf(&b.CreateTime) }},
		{"t.expire_time", "expireTime", func(b *platform.RoleBinding) any { return timeOrNullOf(&b.ExpireTime) }},
		{"t.review_time", "reviewTime", func(b *platform.RoleBinding) any { return timeOrNullOf(&b.ReviewTime) }},
		{"t.reviewer", "reviewer", func(b *platform.RoleBinding) any { return &b.Reviewer }},
		{"t.review_note", "reviewNote", func(b *platform.RoleBinding) any { return &b.ReviewNote }},
		{"i.uid", "", func(b *platform.RoleBinding) any { return keyOf(&b.Identity.UID) }},
		{"i.name", "", func(b *platform.RoleBinding) any { return &b.Identity.Name }},
		{"i.description", "", func(b *platform.RoleBinding) any { return &b.Identity.Description }},
		{"i.email", "", func(b *platform.RoleBinding) any { return &b.Identity.Email }},
		{"i.match_rule", "", func(b *platform.RoleBinding) any { return ruleColumn{&b.Identity} }},
		{"i.static_rule", "", func(b *platform.RoleBinding) any { return ruleColumn{&b.Identity} }},
		{"i.external_id", "", func(b *platform.RoleBinding) any { return ruleColumn{&b.Identity} }},
		{"g.uid", "", func(b *platform.RoleBinding) any { return keyOf(&b.Group.UID) }},
		{"g.name", "", func(b *platform.RoleBinding) any { return &b.Group.Name }},
		{"g.description", "", func(b *platform.RoleBinding) any { return &b.Group.Description }},
		{"r.uid", "", func(b *platform.RoleBinding) any { return keyOf(&b.Role.UID) }},
		{"r.name", "", func(b *platform.RoleBinding) any { return &b.Role.Name }},
		{"r.description", "", func(b *platform.RoleBinding) any { return &b.Role.Description }},
	},
	writeOnly: []column[*platform.RoleBinding]{
		{"t.identity", "identityUid", func(b *platform.RoleBinding) any { return keyOf(&b.IdentityUID) }},
		{"t.role", "roleUid", func(b *platform.RoleBinding) any { return keyOf(&b.RoleUID) }},
	},
	where: func(f *platform.RoleBindingFilter, s *statement) {
		if f.Identity != "" {
			s.add(" AND t.identity = ?", f.Identity)
		}
		if f.Group != "" {
			s.add(" AND t.parent = ?", f.Group)
		}
		if f.Role != "" {
			s.add(" AND t.role = ?", f.Role)
		}
		if f.Capability != "" {
			// PostgreSQL expects that few roles match. As a join, it would compare each binding with
			// each role. Bindings have roles of their organisation, and built-in ones.
			pattern := likePattern(`"` + f.Capability.WireName() + `"`)
			if s.root == "" {
				s.addSlow(" AND "+confirm("t.role IN (SELECT h.uid FROM role h WHERE h.capabilities LIKE ? ESCAPE '\\')"), pattern)
			} else {
				s.addSlow(" AND "+confirm("t.role IN (SELECT h.uid FROM role h WHERE (h.root = ? OR h.root = ?) AND h.capabilities LIKE ? ESCAPE '\\')"), s.root, platform.UID(""), pattern)
			}
		}
		if f.Capability != "" || f.Expiring != nil {
			addUnexpired(s.add(" AND "), "t")
		}
		if len(f.IdentityKinds) > 0 {
			s.addSlow(" AND " + confirm("EXISTS (SELECT 1 FROM identity h WHERE h.uid = t.identity AND "+isOfKind(f.IdentityKinds)+")"))
		}
		if !f.IdentityLastSeenBefore.IsZero() {
			s.addSlow(" AND "+confirm("EXISTS (SELECT 1 FROM identity h WHERE h.uid = t.identity AND h.last_seen_time < ?)"), f.IdentityLastSeenBefore)
		}
		if !f.UnreviewedSince.IsZero() {
			s.add(" AND t.create_time < ? AND (t.review_time IS NULL OR t.review_time < ?)", f.UnreviewedSince, f.UnreviewedSince)
		}
		if f.Expiring != nil {
			s.add(" AND t.expire_time IS NOT NULL")
			if before := f.Expiring.Before; !before.IsZero() {
				s.add(" AND t.expire_time < ?", before)
			}
		}
		addSince(s, "create_time", f.CreatedSince)
		if !f.CreatedBefore.IsZero() {
			s.add(" AND t.create_time < ?", f.CreatedBefore)
		}
		if f.Lasting {
			s.add(" AND t.expire_time IS NULL")
		}
	},
})

// addUnexpired adds the condition that a role binding, whose table has the alias, gives its role
// at this moment. Each statement that finds out what somebody may do has it.
func addUnexpired(s *statement, alias string) *statement {
	return s.add("(" + alias + ".expire_time IS NULL OR " + alias + ".expire_time > ").addNow().add(")")
}

// Bindable reads identities and roles: one statement each.
func (queries) Bindable(ctx context.Context, in platform.Tx, holders, given []platform.UID) (found []*platform.Identity, granted []*platform.Role, err error) {
	tx := transactionOf(in)
	err = tx.conn.Run(ctx, identities.selectAll(tx.dialect, holders, &found), roles.selectAll(tx.dialect, given, &granted))
	return found, granted, err
}

// EndReviews removes the reviews of the role bindings of an identity or of a role.
func (queries) EndReviews(in platform.Tx, of platform.UID) {
	tx := transactionOf(in)
	q := newStatement(tx.dialect).add("UPDATE role_binding SET review_time = NULL, reviewer = '', review_note = '' WHERE (identity = ? OR role = ?) AND review_time IS NOT NULL", of, of)
	tx.conn.Queue(q.build(nil))
}

// ExpiredBindings finds role bindings that have expired, those that expired first before others.
func (queries) ExpiredBindings(ctx context.Context, on platform.Conn, limit int) ([]platform.UID, error) {
	s := tablesOf(on)
	var expired []platform.UID
	q := newStatement(s.dialect)
	q.add("SELECT b.uid FROM role_binding b WHERE b.expire_time <= (SELECT "+s.dialect.Now+") ORDER BY b.expire_time LIMIT ?", int64(limit))
	err := s.conn.Run(ctx, q.build(collectUIDs(&expired)))
	return expired, err
}

// A ruleColumn reads the issuer and subject of a bound identity from its rule.
type ruleColumn struct{ to *platform.BoundIdentity }

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

// FacetRoleBindings counts role bindings by role and group.
func (queries) FacetRoleBindings(ctx context.Context, on platform.Conn, filter *platform.RoleBindingFilter, scopes []platform.Scope) ([]*platform.RoleBindingFacets, error) {
	s := tablesOf(on)
	facets := emptyEach[platform.RoleBindingFacets](len(scopes))
	uids := counting[platform.UID]{}
	var role, group platform.UID
	run := roleBindings.reader(s).countBy(filter, scopes, "", []string{"t.role", "t.parent"}, []any{keyOf(&role), keyOf(&group)}, func(i int, n int64) {
		uids.add(&facets[i].Role, role, n)
		uids.add(&facets[i].Group, group, n)
	})
	return facets, s.runAll(ctx, run)
}
