package iam

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Group is a node of the tree that contains all resources. A root group is an
// organization.
type Group struct {
	UID            core.UID       `json:"uid"`
	Name           string         `json:"name"` // unique among siblings
	Description    string         `json:"description,omitempty"`
	ResourceLimits map[string]int `json:"resourceLimits,omitempty"`
	Verified       bool           `json:"verified"`
	CreateTime     core.Time      `json:"createTime,omitzero"`
	UpdateTime     core.Time      `json:"updateTime,omitzero"`
	Kind           OrgKind        `json:"kind,omitempty"`
	Status         OrgStatus      `json:"status,omitempty"`
	Labels         core.Labels    `json:"labels,omitempty"`
}

// OrgKind is the kind of an organization.
type OrgKind string

// The kinds of organizations.
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

// OrgStatus is the state of an organization.
type OrgStatus string

// The states of an organization.
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
	core.ChangeFilter
	core.LabelFilter

	Name  string `json:",omitempty"` // exact name
	Query string `json:",omitempty"` // see SearchWords

	Repos *core.RepoCondition `json:",omitempty"` // the group holds such a repo
}

// Check adds the violations of the conditions.
func (f *GroupFilter) Check(v *core.Violations) {
	f.LabelFilter.Check(v)
	v.CheckFilter("name", f.Name)
	v.CheckQuery(f.Query)
	f.Repos.Check(v)
}

// GroupKind has the facts about groups.
var GroupKind = core.Kind[*Group]{
	Name: "Group", Plural: "groups", Area: core.AreaIAM, Number: 1, Event: "iam.group", Parent: core.GroupRef, LevelsInside: 2,
	Verbs: []string{"created", "updated", "deleted"},
	List:  core.CapGroupsList, Create: core.CapGroupsCreate, Update: core.CapGroupsUpdate, Delete: core.CapGroupsDelete,
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
	Orders: []core.OrderField[*Group]{
		{Name: "name", Value: func(g *Group) any { return g.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(g *Group) any { return g.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(g *Group) any { return g.UpdateTime }},
		{Name: "uid", Value: func(g *Group) any { return string(g.UID) }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(g *Group) core.UID { return g.UID },
	Group:        func(g *Group) core.UID { return g.UID },
	Stamp: func(g *Group, uid core.UID, now core.Time) {
		g.UID, g.CreateTime, g.UpdateTime, g.Status = uid, now, now, OrgStatusReady
	},
	Check: func(g *Group, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckName(g.Name, core.NamePattern, core.MaxNameBytes)
		}
		if changed("description") {
			v.CheckLine("description", g.Description)
		}
		if changed("labels") {
			g.Labels.Check(v)
		}
	},
}

// GroupQueries read and write groups in other ways than a Table does.
type GroupQueries interface {
	// GroupsOfPath reads the group that a path names. It does not check access.
	GroupsOfPath(ctx context.Context, on core.Conn, path core.Path) ([]*Group, error)
}

// Groups are the operations on groups.
type Groups struct {
	core.Resources[*Group, *GroupFilter]
	rows *core.Collection[*Group, *GroupFilter]
	area *Area
}

func groupKeyFilter(g *Group) *GroupFilter { return &GroupFilter{Name: g.Name} }

// Capabilities returns what a caller needs besides the right to list groups.
func (f *GroupFilter) Capabilities() []core.Capability { return f.Repos.Capabilities() }

// Create makes a group below parent, or a new organization if parent is "".
func (s Groups) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*Group]) (*Group, error) {
	if parent == "" {
		return s.signUp(ctx, in)
	}
	return s.rows.Create(ctx, parent, in)
}

// Update changes a group.
func (s Groups) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*Group]) (*Group, error) {
	return s.rows.Update(ctx, uid, in)
}

// Delete deletes an empty group. An organization that contains only its last
// owner is deleted together with that owner.
func (s Groups) Delete(ctx context.Context, uid core.UID) error {
	return s.rows.RemoveChecked(ctx, uid, func(tx core.Tx, _ core.UID) error {
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
func (s Groups) removeGroupData(ctx context.Context, tx core.Tx, uid core.UID) error {
	accepted, err := s.area.Tables.TermsAcceptances.List(ctx, tx, core.Query[*TermsFilter]{Scope: core.NewScope(core.Branch{Relation: core.Children, UID: uid}), Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems})
	if err != nil {
		return err
	}
	for _, t := range accepted.Items {
		if _, err := s.area.Tables.TermsAcceptances.Delete(ctx, tx, t.UID); err != nil {
			return err
		}
	}
	pointing, err := s.area.Tables.ExternalGroupRoleMappings.List(ctx, tx, core.Query[*ExternalGroupRoleMappingFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Within, UID: uid.Root()}), Filter: &ExternalGroupRoleMappingFilter{Scope: uid},
		Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems,
	})
	if err != nil {
		return err
	}
	var mappings []core.UID
	for _, m := range pointing.Items {
		if !m.IdentityProviderUID.Below(uid) { // mappings of the group's own providers block the deletion
			mappings = append(mappings, m.UID)
		}
	}
	_, err = s.area.ExternalGroupRoleMappings.removeAll(ctx, tx, mappings, "deleted")
	return err
}

// removeLastOwner deletes the role binding and the identity of an owner whose binding is
// the only one in an organization.
func (s Groups) removeLastOwner(ctx context.Context, tx core.Tx, root core.UID) error {
	bindings, err := s.area.Tables.RoleBindings.List(ctx, tx, core.Query[*RoleBindingFilter]{Scope: core.NewScope(core.Branch{Relation: core.Within, UID: root}), Order: core.Order{Field: "uid"}, Limit: 2, Parts: core.PartItems})
	if err != nil || len(bindings.Items) != 1 || bindings.Items[0].Role.UID != OwnerRole {
		return err
	}
	owner := bindings.Items[0]
	if _, err := s.area.Tables.RoleBindings.Delete(ctx, tx, owner.UID); err != nil {
		return err
	}
	identity, err := s.area.Tables.Identities.Delete(ctx, tx, owner.Identity.UID)
	if err != nil {
		return err
	}
	tx.Record(
		s.area.Event(ctx, RoleBindingKind.Event, "deleted", owner.UID, root, owner),
		s.area.Event(ctx, IdentityKind.Event, "deleted", identity.UID, root, identity),
	)
	return nil
}

// signUp makes an organization for a caller from another organization, if the
// service allows it. An identity acts only in its own organization. Therefore the
// caller gets an identity in the new one, whose rule matches the current token,
// and becomes its owner.
func (s Groups) signUp(ctx context.Context, in fieldmask.Input[*Group]) (*Group, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	isRoot := func(u core.UID) bool { return u.Parent().IsRoot() }
	if !s.area.options.AllowSignup || !slices.ContainsFunc(actor.Identities, isRoot) {
		return nil, actor.PermissionError(core.CapGroupsCreate, "")
	}
	owner, err := ownRuleOf(actor)
	if err != nil {
		return nil, err
	}
	var v core.Violations
	group := s.rows.Decode(ctx, in, &v)
	if err := v.SortByField(s.rows.Kind.FieldNames()).Err(); err != nil {
		return nil, err
	}
	made, err := s.createOrganization(ctx, group, owner)
	if err != nil {
		return nil, err
	}
	return made.Group, nil
}

// An Organization is a root group with its first owner.
type Organization struct {
	Group    *Group
	Identity *Identity
	Binding  *RoleBinding
}

// Bootstrap makes an organization whose owner is the holder of a token with this
// issuer and subject. It checks no rights: it is for commands of the operator. If there is an
// organization with this name, the error has its UID.
func (s Groups) Bootstrap(ctx context.Context, name, issuer, subject string) (*Organization, error) {
	group := &Group{Name: name}
	owner := &ClaimMatch{Issuer: issuer, Subject: subject}
	var v core.Violations
	s.rows.Kind.Check(group, core.EveryField, &v)
	owner.Check(&v)
	if err := v.Err(); err != nil {
		return nil, err
	}
	made, err := s.createOrganization(ctx, group, owner)
	if errors.Is(err, &core.Error{Code: core.CodeAlreadyExists}) {
		return nil, s.nameOrganization(ctx, name)
	}
	return made, err
}

// nameOrganization returns the error for an organization that exists already, for the operator.
func (s Groups) nameOrganization(ctx context.Context, name string) error {
	groups, err := s.area.Tables.Groups.List(ctx, s.area.Store, core.Query[*GroupFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Everything}), Filter: &GroupFilter{Name: name}, Order: core.Order{Field: "uid"}, Limit: core.NoLimit, Parts: core.PartItems,
	})
	if err != nil {
		return err
	}
	existing := core.NewAlreadyExists(core.GroupRef, "", "name")
	for _, group := range groups.Items {
		if group.UID.IsRoot() {
			existing.Resource.Name = string(group.UID)
			existing.Message = fmt.Sprintf("Already exists: the organization %s has the UID %s", name, group.UID)
		}
	}
	return existing
}

// IsEmpty reports whether there are no groups, as in a new database. Only the
// operator may call it.
func (s Groups) IsEmpty(ctx context.Context) (bool, error) {
	if err := core.RequireOperator(ctx); err != nil {
		return false, err
	}
	groups, err := s.area.Tables.Groups.List(ctx, s.area.Store, core.Query[*GroupFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.Everything}), Order: core.Order{Field: "uid"}, Limit: 1, Parts: core.PartItems,
	})
	return err == nil && len(groups.Items) == 0, err
}

// createOrganization stores a root group with its owner and records the events.
func (s Groups) createOrganization(ctx context.Context, group *Group, owner *ClaimMatch) (*Organization, error) {
	root, now := core.NewRootUID(), s.area.Now()
	s.rows.Kind.Stamp(group, root, now)
	identity := &Identity{Name: "owner", ClaimMatch: owner}
	IdentityKind.Stamp(identity, root.NewChild(), now)
	unread := newBinding(root, identity.UID, OwnerRole, now) // stays unchanged, because the transaction can be retried
	binding := new(RoleBinding)
	err := s.area.Store.Write(ctx, func(tx core.Tx) error {
		*binding = *unread
		return s.rows.MakeOnce(ctx, tx, "", &group, func() error { return s.storeOrganization(ctx, tx, group, identity, binding) })
	})
	if errors.Is(err, core.ErrDuplicate) {
		return nil, core.NewAlreadyExists(core.GroupRef, "", "name") // do not reveal which organization has the name
	}
	if err != nil {
		return nil, err
	}
	return &Organization{group, identity, binding}, nil
}

// storeOrganization stores a root group with its owner and records the events, in a transaction.
func (s Groups) storeOrganization(ctx context.Context, tx core.Tx, group *Group, identity *Identity, binding *RoleBinding) error {
	if err := s.area.Tables.Groups.Insert(ctx, tx, group); err != nil {
		return err
	}
	if err := s.area.Tables.Identities.Insert(ctx, tx, identity); err != nil {
		return err
	}
	if err := s.area.Tables.RoleBindings.InsertShown(ctx, tx, binding); err != nil {
		return err
	}
	tx.Record(
		core.NewEvent(ctx, group.CreateTime, s.rows.Kind.Event, "created", group.UID, group.UID, group),
		core.NewEvent(ctx, group.CreateTime, IdentityKind.Event, "created", identity.UID, group.UID, identity),
	)
	s.area.RoleBindings.recordBound(ctx, tx, []*RoleBinding{binding}, "created")
	return nil
}
