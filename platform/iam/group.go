package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform/fieldmask"
)

// A Group is a node of the tree that contains all resources. A root group is an
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
	Labels         Labels         `json:"labels,omitempty"`
}

// OrgKind is the kind of an organisation.
type OrgKind string

// The kinds of organisations.
const (
	OrgKindStarter  OrgKind = "ORG_KIND_STARTER"
	OrgKindCustomer OrgKind = "ORG_KIND_CUSTOMER"
	OrgKindDev      OrgKind = "ORG_KIND_DEV"
	OrgKindInfra    OrgKind = "ORG_KIND_INFRA"

	OrgKindAWSMarketplace OrgKind = "ORG_KIND_AWS_MARKETPLACE"
)

var orgKinds = []OrgKind{OrgKindStarter, OrgKindCustomer, OrgKindDev, OrgKindInfra, OrgKindAWSMarketplace}

// UnmarshalJSON reads the name or the number of a kind.
func (k *OrgKind) UnmarshalJSON(b []byte) error { return fieldmask.UnmarshalEnum(b, k, orgKinds) }

// Values lists the kinds.
func (OrgKind) Values() []string { return fieldmask.Texts(orgKinds) }

// OrgStatus is the state of an organisation.
type OrgStatus string

// The states of an organisation.
const (
	OrgStatusInitializing OrgStatus = "ORG_STATUS_INITIALIZING"
	OrgStatusReady        OrgStatus = "ORG_STATUS_READY"
	OrgStatusSuspended    OrgStatus = "ORG_STATUS_SUSPENDED"
)

var orgStatuses = []OrgStatus{OrgStatusInitializing, OrgStatusReady, OrgStatusSuspended}

// UnmarshalJSON reads the name or the number of a state.
func (s *OrgStatus) UnmarshalJSON(b []byte) error { return fieldmask.UnmarshalEnum(b, s, orgStatuses) }

// Values lists the states.
func (OrgStatus) Values() []string { return fieldmask.Texts(orgStatuses) }

// GroupFilter restricts a list of groups.
type GroupFilter struct {
	ChangeFilter
	LabelFilter

	Name  string `json:",omitempty"` // exact name
	Query string `json:",omitempty"` // see SearchWords

	Repos *RepoCondition `json:",omitempty"` // the group holds such a repo
}

func (f *GroupFilter) check(v *violations) {
	f.LabelFilter.check(v)
	v.checkFilter("name", f.Name)
	v.checkQuery(f.Query)
	f.Repos.check(v)
}

var groupKind = Kind[*Group]{
	Name: "Group", Plural: "groups", Area: areaIAM, Number: 1, Event: "iam.group", Parent: groupRef, LevelsInside: 2,
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapGroupsList, Create: CapGroupsCreate, Update: CapGroupsUpdate, Delete: CapGroupsDelete,
	Blocked: "RESOURCE_NOT_EMPTY",
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "resourceLimits", Mode: fieldmask.OutputOnly},
		{Name: "verified", Mode: fieldmask.OutputOnly}, {Name: "createTime", Mode: fieldmask.OutputOnly},
		{Name: "updateTime", Mode: fieldmask.Volatile}, {Name: "kind", Mode: fieldmask.OutputOnly},
		{Name: "status", Mode: fieldmask.OutputOnly}, {Name: "labels", Mode: fieldmask.Updatable},
	},
	Required: []string{"name"},
	Unique:   []string{"name"},
	Orders: []OrderField[*Group]{
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
			v.checkName(g.Name, namePattern, maxNameBytes)
		}
		if changed("description") {
			v.checkLine("description", g.Description)
		}
		if changed("labels") {
			g.Labels.check(v)
		}
	},
}

// GroupQueries read and write groups in other ways than a Table does.
type GroupQueries interface {
	// GroupsOfPath reads the group that a path names. It does not check access.
	GroupsOfPath(ctx context.Context, on Conn, path Path) ([]*Group, error)
}

// Groups are the operations on groups.
type Groups struct {
	Resources[*Group, *GroupFilter]
	rows *Collection[*Group, *GroupFilter]
	area *iamArea
}

func groupKeyFilter(g *Group) *GroupFilter { return &GroupFilter{Name: g.Name} }

// capabilities returns what a caller needs besides the right to list groups.
func (f *GroupFilter) capabilities() []Capability { return f.Repos.capabilities() }

// Create makes a group below parent, or a new organisation if parent is "".
func (s Groups) Create(ctx context.Context, parent UID, in fieldmask.Input[*Group]) (*Group, error) {
	if parent == "" {
		return s.signUp(ctx, in)
	}
	return s.rows.create(ctx, parent, in)
}

// Update changes a group.
func (s Groups) Update(ctx context.Context, uid UID, in fieldmask.Input[*Group]) (*Group, error) {
	return s.rows.update(ctx, uid, in)
}

// Delete deletes an empty group. An organisation that contains only its last
// owner is deleted together with that owner.
func (s Groups) Delete(ctx context.Context, uid UID) error {
	return s.rows.removeChecked(ctx, uid, func(tx Tx, _ UID) error {
		tx.Lock(uid.Root())
		if err := s.removeGroupData(ctx, tx, uid); err != nil || !uid.IsRoot() {
			return err
		}
		return s.removeLastOwner(ctx, tx, uid)
	})
}

// removeGroupData removes rows that belong to a group without being resources in
// it: accepted terms, and mappings of providers of
// higher groups whose scope is this group.
func (s Groups) removeGroupData(ctx context.Context, tx Tx, uid UID) error {
	accepted, err := s.area.tables.TermsAcceptances.List(ctx, tx, Query[*TermsFilter]{Scope: newScope(Branch{Relation: Children, UID: uid}), Order: Order{Field: "uid"}, Limit: noLimit, Parts: PartItems})
	if err != nil {
		return err
	}
	for _, t := range accepted.Items {
		if _, err := s.area.tables.TermsAcceptances.Delete(ctx, tx, t.UID); err != nil {
			return err
		}
	}
	pointing, err := s.area.tables.ExternalGroupRoleMappings.List(ctx, tx, Query[*ExternalGroupRoleMappingFilter]{
		Scope: newScope(Branch{Relation: Within, UID: uid.Root()}), Filter: &ExternalGroupRoleMappingFilter{Scope: uid},
		Order: Order{Field: "uid"}, Limit: noLimit, Parts: PartItems,
	})
	if err != nil {
		return err
	}
	var mappings []UID
	for _, m := range pointing.Items {
		if !m.IdentityProviderUID.Below(uid) { // mappings of the group's own providers block the deletion
			mappings = append(mappings, m.UID)
		}
	}
	_, err = s.area.ExternalGroupRoleMappings.removeAll(ctx, tx, mappings, "deleted")
	return err
}

// removeLastOwner deletes the role binding and the identity of an owner whose binding is
// the only one in an organisation.
func (s Groups) removeLastOwner(ctx context.Context, tx Tx, root UID) error {
	bindings, err := s.area.tables.RoleBindings.List(ctx, tx, Query[*RoleBindingFilter]{Scope: newScope(Branch{Relation: Within, UID: root}), Order: Order{Field: "uid"}, Limit: 2, Parts: PartItems})
	if err != nil || len(bindings.Items) != 1 || bindings.Items[0].Role.UID != OwnerRole {
		return err
	}
	owner := bindings.Items[0]
	if _, err := s.area.tables.RoleBindings.Delete(ctx, tx, owner.UID); err != nil {
		return err
	}
	identity, err := s.area.tables.Identities.Delete(ctx, tx, owner.Identity.UID)
	if err != nil {
		return err
	}
	tx.Record(
		s.area.event(ctx, roleBindingKind.Event, "deleted", owner.UID, root, owner),
		s.area.event(ctx, identityKind.Event, "deleted", identity.UID, root, identity),
	)
	return nil
}

// signUp makes an organisation for a caller from another organisation, if the
// service allows it. An identity acts only in its own organisation. Therefore the
// caller gets an identity in the new one, whose rule matches the current token,
// and becomes its owner.
func (s Groups) signUp(ctx context.Context, in fieldmask.Input[*Group]) (*Group, error) {
	actor, err := requireCaller(ctx)
	if err != nil {
		return nil, err
	}
	isRoot := func(u UID) bool { return u.Parent().IsRoot() }
	if !s.area.options.AllowSignup || !slices.ContainsFunc(actor.Identities, isRoot) {
		return nil, actor.permissionError(CapGroupsCreate, "")
	}
	owner, err := actor.ownRule()
	if err != nil {
		return nil, err
	}
	var v violations
	group := s.rows.decode(in, &v)
	if err := v.sortByField(s.rows.kind.fieldNames()).err(); err != nil {
		return nil, err
	}
	made, err := s.createOrganisation(ctx, group, owner)
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

// Bootstrap makes an organisation whose owner is the holder of a token with this
// issuer and subject. It checks no rights: it is for commands of the operator. If there is an
// organisation with this name, the error has its UID.
func (s Groups) Bootstrap(ctx context.Context, name, issuer, subject string) (*Organisation, error) {
	group := &Group{Name: name}
	owner := &ClaimMatch{Issuer: issuer, Subject: subject}
	var v violations
	s.rows.kind.Check(group, alwaysTrue, &v)
	owner.check(&v)
	if err := v.err(); err != nil {
		return nil, err
	}
	made, err := s.createOrganisation(ctx, group, owner)
	if errors.Is(err, &Error{Code: CodeAlreadyExists}) {
		return nil, s.nameOrganisation(ctx, name)
	}
	return made, err
}

// nameOrganisation returns the error for an organisation that exists already, for the operator.
func (s Groups) nameOrganisation(ctx context.Context, name string) error {
	groups, err := s.area.tables.Groups.List(ctx, s.area.store, Query[*GroupFilter]{
		Scope: newScope(Branch{Relation: Everything}), Filter: &GroupFilter{Name: name}, Order: Order{Field: "uid"}, Limit: noLimit, Parts: PartItems,
	})
	if err != nil {
		return err
	}
	existing := newAlreadyExists(groupRef, "", "name")
	for _, group := range groups.Items {
		if group.UID.IsRoot() {
			existing.Resource.Name = string(group.UID)
			existing.Message = fmt.Sprintf("Already exists: the organisation %s has the UID %s", name, group.UID)
		}
	}
	return existing
}

// IsEmpty reports whether there are no groups, as in a new database. Only the
// operator may call it.
func (s Groups) IsEmpty(ctx context.Context) (bool, error) {
	if err := requireOperator(ctx); err != nil {
		return false, err
	}
	groups, err := s.area.tables.Groups.List(ctx, s.area.store, Query[*GroupFilter]{
		Scope: newScope(Branch{Relation: Everything}), Order: Order{Field: "uid"}, Limit: 1, Parts: PartItems,
	})
	return err == nil && len(groups.Items) == 0, err
}

// createOrganisation stores a root group with its owner and records the events.
func (s Groups) createOrganisation(ctx context.Context, group *Group, owner *ClaimMatch) (*Organisation, error) {
	root, now := newRootUID(), s.area.now()
	s.rows.kind.Stamp(group, root, now)
	identity := &Identity{Name: "owner", ClaimMatch: owner}
	identityKind.Stamp(identity, root.newChild(), now)
	unread := newBinding(root, identity.UID, OwnerRole, now) // stays unchanged, because the transaction can be retried
	binding := new(RoleBinding)
	err := s.area.store.Write(ctx, func(tx Tx) error {
		*binding = *unread
		if err := s.area.tables.Groups.Insert(ctx, tx, group); err != nil {
			return err
		}
		if err := s.area.tables.Identities.Insert(ctx, tx, identity); err != nil {
			return err
		}
		if err := s.area.tables.RoleBindings.InsertShown(ctx, tx, binding); err != nil {
			return err
		}
		tx.Record(
			newEvent(ctx, now, s.rows.kind.Event, "created", root, root, group),
			newEvent(ctx, now, identityKind.Event, "created", identity.UID, root, identity),
		)
		s.area.RoleBindings.recordBound(ctx, tx, []*RoleBinding{binding}, "created")
		return nil
	})
	if errors.Is(err, ErrDuplicate) {
		return nil, newAlreadyExists(groupRef, "", "name") // do not reveal which organisation has the name
	}
	if err != nil {
		return nil, err
	}
	return &Organisation{group, identity, binding}, nil
}
