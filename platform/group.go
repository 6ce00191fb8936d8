package platform

import (
	"context"
	"errors"
	"slices"
)

// A Group is a node of the tree that all resources hang in. A root group is an
// organisation.
type Group struct {
	UID            UID            `json:"uid"`
	Name           string         `json:"name"` // unique among siblings
	Description    string         `json:"description,omitempty"`
	ResourceLimits map[string]int `json:"resourceLimits,omitempty"`
	Verified       bool           `json:"verified"`
	CreateTime     Time           `json:"createTime,omitzero"`
	UpdateTime     Time           `json:"updateTime,omitzero"`
	Kind           OrgKind        `json:"kind,omitempty"`
	Status         OrgStatus      `json:"status,omitempty"`
}

// OrgKind says what an organisation is.
type OrgKind string

// The kinds of organisations.
const (
	OrgKindStarter  OrgKind = "ORG_KIND_STARTER"
	OrgKindCustomer OrgKind = "ORG_KIND_CUSTOMER"
	OrgKindDev      OrgKind = "ORG_KIND_DEV"
	OrgKindInfra    OrgKind = "ORG_KIND_INFRA"
)

var orgKinds = []OrgKind{OrgKindStarter, OrgKindCustomer, OrgKindDev, OrgKindInfra}

// UnmarshalJSON reads the name or the number of a kind.
func (k *OrgKind) UnmarshalJSON(b []byte) error { return unmarshalEnum(b, k, orgKinds) }

// Values lists the kinds.
func (OrgKind) Values() []string { return textsOf(orgKinds) }

// OrgStatus says how far an organisation is.
type OrgStatus string

// The states of an organisation.
const (
	OrgStatusInitializing OrgStatus = "ORG_STATUS_INITIALIZING"
	OrgStatusReady        OrgStatus = "ORG_STATUS_READY"
	OrgStatusSuspended    OrgStatus = "ORG_STATUS_SUSPENDED"
)

var orgStatuses = []OrgStatus{OrgStatusInitializing, OrgStatusReady, OrgStatusSuspended}

// UnmarshalJSON reads the name or the number of a state.
func (s *OrgStatus) UnmarshalJSON(b []byte) error { return unmarshalEnum(b, s, orgStatuses) }

// Values lists the states.
func (OrgStatus) Values() []string { return textsOf(orgStatuses) }

// GroupFilter restricts a list of groups.
type GroupFilter struct {
	Name  string `json:",omitempty"` // exactly
	Query string `json:",omitempty"` // see SearchWords
}

func (f GroupFilter) check(v *violations) {
	v.filter("name", f.Name)
	v.query(f.Query)
}

var groupKind = Kind[Group]{
	Name: "Group", Plural: "groups", Area: "iam", Number: 1, Event: "iam.group", Parent: "Group",
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapGroupsList, Create: CapGroupsCreate, Update: CapGroupsUpdate, Delete: CapGroupsDelete,
	Blocked: "RESOURCE_NOT_EMPTY",
	Fields: []Field{
		{"uid", OutputOnly}, {"name", Updatable}, {"description", Updatable}, {"resourceLimits", OutputOnly}, {"verified", OutputOnly},
		{"createTime", OutputOnly}, {"updateTime", Volatile}, {"kind", OutputOnly}, {"status", OutputOnly},
	},
	Required: []string{"name"},
	Orders: []OrderField[Group]{
		{"name", nil, func(g *Group) any { return g.Name }},
		{"create_time", createTimeSpellings, func(g *Group) any { return g.CreateTime }},
		{"update_time", updateTimeSpellings, func(g *Group) any { return g.UpdateTime }},
		{"uid", nil, func(g *Group) any { return string(g.UID) }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(g *Group) UID { return g.UID },
	Group:        func(g *Group) UID { return g.UID },
	Stamp: func(g *Group, uid UID, now Time) {
		g.UID, g.CreateTime, g.UpdateTime, g.Status = uid, now, now, OrgStatusReady
	},
	Check: func(g *Group, changed func(string) bool, v *violations) {
		if changed("name") {
			v.name(g.Name, namePattern)
		}
		if changed("description") {
			v.line("description", g.Description)
		}
	},
}

// The spellings of times that order_by accepts.
var (
	createTimeSpellings = []string{"created_at", "createTime"}
	updateTimeSpellings = []string{"updated_at", "updateTime"}
)

// Groups are the operations on groups.
type Groups struct{ resources[Group, GroupFilter] }

func groupNamed(g *Group) GroupFilter { return GroupFilter{Name: g.Name} }

// Create makes a group below parent, or a new organisation where parent is "".
func (s Groups) Create(ctx context.Context, parent UID, in Input[Group]) (*Group, error) {
	if parent == "" {
		return s.signUp(ctx, in)
	}
	return s.create(ctx, parent, in, groupNamed)
}

// Update changes a group.
func (s Groups) Update(ctx context.Context, uid UID, in Input[Group]) (*Group, error) {
	return s.update(ctx, uid, in, groupNamed)
}

// Delete removes a group that holds nothing. An organisation that holds
// nothing but its last owner goes together with that owner.
func (s Groups) Delete(ctx context.Context, uid UID) error {
	return s.removeIf(ctx, uid, func(tx Tx, _ UID) error {
		if err := tx.Lock(ctx, uid.Root()); err != nil {
			return err
		}
		if err := s.removeNotes(ctx, tx, uid); err != nil || !uid.IsRoot() {
			return err
		}
		return s.removeLastOwner(ctx, tx, uid)
	})
}

// removeNotes removes what speaks of a group without being a resource in it:
// accepted terms, and mappings of providers further up that count here only.
func (s Groups) removeNotes(ctx context.Context, tx Tx, uid UID) error {
	accepted, err := TableOf[TermsAcceptance, TermsFilter](tx).List(ctx, Query[TermsFilter]{Scope: scopeOf(Branch{Relation: Children, UID: uid}), Order: Order{Field: "uid"}, Limit: everything, Parts: PartItems})
	if err != nil {
		return err
	}
	for _, t := range accepted.Items {
		if _, err := RowsOf[TermsAcceptance](tx).Delete(ctx, t.UID); err != nil {
			return err
		}
	}
	pointing, err := TableOf[ExternalGroupRoleMapping, ExternalGroupRoleMappingFilter](tx).List(ctx, Query[ExternalGroupRoleMappingFilter]{
		Scope: scopeOf(Branch{Relation: Within, UID: uid.Root()}), Filter: ExternalGroupRoleMappingFilter{Scope: uid},
		Order: Order{Field: "uid"}, Limit: everything, Parts: PartItems,
	})
	if err != nil {
		return err
	}
	var mappings []UID
	for _, m := range pointing.Items {
		if !m.IdentityProviderUID.Below(uid) { // its own provider blocks the delete
			mappings = append(mappings, m.UID)
		}
	}
	_, err = s.p.ExternalGroupRoleMappings.removeAll(ctx, tx, mappings, "deleted")
	return err
}

func (s Groups) removeLastOwner(ctx context.Context, tx Tx, root UID) error {
	bindings, err := TableOf[RoleBinding, RoleBindingFilter](tx).List(ctx, Query[RoleBindingFilter]{Scope: scopeOf(Branch{Relation: Within, UID: root}), Order: Order{Field: "uid"}, Limit: 2, Parts: PartItems})
	if err != nil || len(bindings.Items) != 1 || bindings.Items[0].Role.UID != OwnerRole {
		return err
	}
	owner := bindings.Items[0]
	if _, err := RowsOf[RoleBinding](tx).Delete(ctx, owner.UID); err != nil {
		return err
	}
	identity, err := RowsOf[Identity](tx).Delete(ctx, owner.Identity.UID)
	if err != nil {
		return err
	}
	tx.Record(
		s.p.event(ctx, roleBindingKind.Event, "deleted", owner.UID, root, owner),
		s.p.event(ctx, identityKind.Event, "deleted", identity.UID, root, identity),
	)
	return nil
}

// signUp makes an organisation for a caller of another one, where the service
// allows it. An identity acts only in the organisation it lives in, so the
// caller gets an identity in the new one, with the rule that its token of now
// matches, and becomes its owner.
func (s Groups) signUp(ctx context.Context, in Input[Group]) (*Group, error) {
	actor, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	isRoot := func(u UID) bool { return u.Parent().IsRoot() }
	if !s.p.options.AllowSignup || !slices.ContainsFunc(actor.Identities, isRoot) {
		return nil, actor.lacks(CapGroupsCreate, "")
	}
	var v violations
	group := s.decode(in, &v)
	if err := v.inOrder(s.kind.fieldNames()).err(); err != nil {
		return nil, err
	}
	made, err := s.found(ctx, group, &ClaimMatch{Issuer: actor.Issuer, Subject: actor.Subject, Audience: actor.audience})
	if err != nil {
		return nil, err
	}
	return made.Group, nil
}

// An Organisation is a root group with its first owner.
type Organisation struct {
	Group    *Group
	Identity *Identity
	Binding  *RoleBinding
}

// Bootstrap makes an organisation whose owner is whoever holds a token of
// issuer and subject. It is the operator's command.
func (s Groups) Bootstrap(ctx context.Context, name, issuer, subject string) (*Organisation, error) {
	group := &Group{Name: name}
	owner := &ClaimMatch{Issuer: issuer, Subject: subject}
	var v violations
	s.kind.Check(group, func(string) bool { return true }, &v)
	owner.check(&v)
	if err := v.err(); err != nil {
		return nil, err
	}
	return s.found(ctx, group, owner)
}

// None reports whether there is no group, as in a database that nobody has
// used yet. It is the operator's question.
func (s Groups) None(ctx context.Context) (bool, error) {
	if err := operating(ctx); err != nil {
		return false, err
	}
	groups, err := TableOf[Group, GroupFilter](s.p.store).List(ctx, Query[GroupFilter]{
		Scope: scopeOf(Branch{Relation: Everything}), Order: Order{Field: "uid"}, Limit: 1, Parts: PartItems,
	})
	return err == nil && len(groups.Items) == 0, err
}

func (s Groups) found(ctx context.Context, group *Group, owner *ClaimMatch) (*Organisation, error) {
	root, now := newRootUID(), s.p.now()
	s.kind.Stamp(group, root, now)
	identity := &Identity{Name: "owner", ClaimMatch: owner}
	identityKind.Stamp(identity, root.newChild(), now)
	binding := newBinding(root, identity.UID, OwnerRole, now)
	err := s.p.store.Write(ctx, func(tx Tx) error {
		if err := RowsOf[Group](tx).Insert(ctx, group); err != nil {
			return err
		}
		if err := RowsOf[Identity](tx).Insert(ctx, identity); err != nil {
			return err
		}
		if err := RowsOf[RoleBinding](tx).Insert(ctx, binding); err != nil {
			return err
		}
		tx.Record(
			s.p.event(ctx, s.kind.Event, "created", root, root, group),
			s.p.event(ctx, identityKind.Event, "created", identity.UID, root, identity),
			s.p.event(ctx, roleBindingKind.Event, "created", binding.UID, root, binding),
		)
		return nil
	})
	if errors.Is(err, ErrDuplicate) {
		return nil, exists("Group", "") // whose it is is not the caller's to know
	}
	if err != nil {
		return nil, err
	}
	return &Organisation{group, identity, binding}, nil
}
