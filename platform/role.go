package platform

import (
	"context"
	"slices"
)

// A Role is a named set of capabilities. A custom one lives in a group and can
// be bound there and below; the built-in ones belong to no organisation.
type Role struct {
	UID          UID          `json:"uid"`
	Name         string       `json:"name"` // unique in its group
	Description  string       `json:"description,omitempty"`
	Capabilities []Capability `json:"capabilities,omitempty"`
	CreateTime   Time         `json:"createTime,omitzero"` // none for a built-in role
	UpdateTime   Time         `json:"updateTime,omitzero"`
}

// RoleFilter restricts a list of roles.
type RoleFilter struct {
	Name  string `json:",omitempty"` // exactly
	Query string `json:",omitempty"` // see SearchWords
}

func (f RoleFilter) check(v *violations) {
	v.filter("name", f.Name)
	v.query(f.Query)
}

// OwnerRole is the built-in role that holds every capability.
const OwnerRole UID = "7872e984573b3a80d1d5dcf9ac7fd799d10a760c"

// The other built-in roles that the service itself binds.
const (
	ViewerRole UID = "fd3e96b609167d999bf93771df5bc582d05ea961"
	EditorRole UID = "e39bd869953ef09043c4560eed5eba4b2e482cdf"
)

// builtIn are the roles that exist everywhere (reference/capabilities.md).
var builtIn = []Role{
	{UID: ViewerRole, Name: "viewer", Description: "Reads every resource.", Capabilities: readingCapabilities()},
	{UID: EditorRole, Name: "editor", Description: "Reads every resource; writes repos and event subscriptions.", Capabilities: []Capability{
		CapGroupsList, CapGroupInvitesList, CapRolesList, CapRoleBindingsList,
		CapAccountAssociationsList, CapIdentityList, CapIdentityProvidersList, CapSubscriptionsCreate,
		CapSubscriptionsList, CapSubscriptionsDelete, CapRepoCreate, CapRepoUpdate,
		CapRepoList, CapRepoDelete, CapTagList, CapManifestMetadataList,
		CapLibrariesArtifactsList, CapAdvisoriesList, CapTermsList,
	}},
	{UID: OwnerRole, Name: "owner", Description: "Does everything.", Capabilities: Capabilities()},
	{UID: "f8b2a6e5a07b5469bd4e5251a00caba4417a5359", Name: "console_viewer", Description: "Reads what the console shows.", Capabilities: []Capability{
		CapGroupsList, CapGroupInvitesList, CapRolesList, CapRoleBindingsList,
		CapAccountAssociationsList, CapIdentityList, CapIdentityProvidersList, CapSubscriptionsList,
		CapRepoList, CapTagList, CapManifestMetadataList, CapLibrariesArtifactsList,
		CapAdvisoriesList,
	}},
	{UID: "8796e4182e21cccdbd8ea824f1d05487610c7285", Name: "registry.pull", Description: "Reads repos, tags and images.", Capabilities: []Capability{
		CapGroupsList, CapRepoList, CapTagList, CapManifestMetadataList,
	}},
	{UID: "4d7e4966448f57e21277e0f49b85233752e6adb7", Name: "registry.push", Description: "Reads and writes repos and tags.", Capabilities: []Capability{
		CapGroupsCreate, CapGroupsList, CapRepoCreate, CapRepoUpdate,
		CapRepoList, CapRepoDelete, CapTagCreate, CapTagUpdate,
		CapTagList, CapTagDelete, CapManifestMetadataList,
	}},
	{UID: "6bf4ec17225ae31b1243a81342d2d05aae4f2b91", Name: "registry.pull_token_creator", Description: "Makes identities that can pull.", Capabilities: []Capability{
		CapGroupsList, CapRolesList, CapRoleBindingsCreate, CapIdentityCreate,
		CapRepoList, CapTagList, CapManifestMetadataList,
	}},
	{UID: "274c2757bf1f9625c4b24477eb196090661a86f9", Name: "advisories.viewer", Description: "Reads advisories.", Capabilities: []Capability{
		CapAdvisoriesList,
	}},
}

// IsBuiltInRole tells the UIDs of built-in roles.
func IsBuiltInRole(uid UID) bool {
	return slices.ContainsFunc(builtIn, func(r Role) bool { return r.UID == uid })
}

// BuiltInRoles gives the roles that every organisation has.
func BuiltInRoles() []*Role { return builtInRoles() }

func builtInRoles() []*Role {
	roles := make([]*Role, len(builtIn))
	for i := range builtIn {
		r := builtIn[i]
		roles[i] = &r
	}
	return roles
}

var roleKind = Kind[Role]{
	Name: "Role", Plural: "roles", Area: "iam", Number: 3, Event: "iam.roles", Parent: "Group",
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapRolesList, Create: CapRolesCreate, Update: CapRolesUpdate, Delete: CapRolesDelete,
	Blocked: "RESOURCE_IN_USE",
	Fields: []Field{
		{"uid", OutputOnly}, {"name", Updatable}, {"description", Updatable}, {"capabilities", Updatable},
		{"createTime", OutputOnly}, {"updateTime", Volatile},
	},
	Required: []string{"name"},
	Orders: []OrderField[Role]{
		{"name", nil, func(r *Role) any { return r.Name }},
		{"create_time", createTimeSpellings, func(r *Role) any { return r.CreateTime }},
		{"update_time", updateTimeSpellings, func(r *Role) any { return r.UpdateTime }},
		{"uid", nil, func(r *Role) any { return string(r.UID) }},
	},
	DefaultOrder: Order{Field: "name"},
	UID:          func(r *Role) UID { return r.UID },
	Group:        parentOf(func(r *Role) UID { return r.UID }),
	Stamp:        func(r *Role, uid UID, now Time) { r.UID, r.CreateTime, r.UpdateTime = uid, now, now },
	Check: func(r *Role, changed func(string) bool, v *violations) {
		if changed("name") {
			v.name(r.Name, namePattern)
		}
		if changed("description") {
			v.line("description", r.Description)
		}
		if changed("capabilities") {
			if slices.ContainsFunc(r.Capabilities, func(c Capability) bool { return !c.known() }) {
				v.add("capabilities", "must be capabilities such as %s", capabilities[0].wire)
			}
			r.Capabilities = setOf(r.Capabilities).list() // sorted, each once
		}
	},
	IsBuiltIn: IsBuiltInRole,
}

// Roles are the operations on roles.
type Roles struct{ resources[Role, RoleFilter] }

func roleNamed(r *Role) RoleFilter { return RoleFilter{Name: r.Name} }

// Create makes a role in a group, of capabilities that the caller holds there.
func (s Roles) Create(ctx context.Context, parent UID, in Input[Role]) (*Role, error) {
	role, err := s.accept(ctx, parent, in)
	if err != nil {
		return nil, s.refused(ctx, "created", parent, err)
	}
	return s.insert(ctx, parent, role, roleNamed, func(tx Tx) error {
		return handsOut(ctx, tx, setOf(role.Capabilities), parent)
	})
}

// Update changes a role. The caller must hold what the role then grants.
func (s Roles) Update(ctx context.Context, uid UID, in Input[Role]) (*Role, error) {
	if err := s.notBuiltIn(ctx, uid); err != nil {
		return nil, err
	}
	return s.updateIf(ctx, uid, in, roleNamed, func(tx Tx, change *change[Role]) error {
		if err := tx.Lock(ctx, uid.Root()); err != nil {
			return err
		}
		capabilities := change.row.Capabilities
		if !change.writes("capabilities") {
			now, err := TableOf[Role, RoleFilter](tx).Get(ctx, Keys{uids: []UID{uid}})
			if err != nil || len(now) == 0 {
				return err
			}
			capabilities = now[0].Capabilities
		}
		return handsOut(ctx, tx, setOf(capabilities), uid.Parent())
	})
}

// Delete removes a role that nothing uses.
func (s Roles) Delete(ctx context.Context, uid UID) error {
	if err := s.notBuiltIn(ctx, uid); err != nil {
		return err
	}
	return s.removeIf(ctx, uid, func(tx Tx, _ UID) error { return tx.Lock(ctx, uid.Root()) }) // nobody binds it meanwhile
}

// notBuiltIn refuses to change a role that no organisation owns.
func (s Roles) notBuiltIn(ctx context.Context, uid UID) error {
	actor, err := caller(ctx)
	if err != nil || !uid.Valid() || !uid.IsRoot() {
		return err
	}
	if !s.kind.readableBy(actor, uid) {
		return s.kind.in(actor.lacks(s.kind.List, uid))
	}
	if !IsBuiltInRole(uid) {
		return s.kind.notFound(uid)
	}
	return blocked("BUILT_IN_ROLE", string(uid), "built-in roles cannot be changed")
}

// handsOut demands, inside the transaction that hands capabilities out on uid,
// that the caller holds them there at this moment. The lock keeps a revocation
// from slipping in between.
func handsOut(ctx context.Context, tx Tx, set capabilitySet, uid UID) error {
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
	return actor.dominates(set, uid)
}

// handsOutRole is handsOut for all that a role grants; field names the role in
// the request. A role reaches no further than the group that it lives under.
func handsOutRole(ctx context.Context, tx Tx, field string, role, uid UID) error {
	var v violations
	if toRole.checkReach(&v, field, role, uid); len(v) > 0 {
		return v.err()
	}
	// The lock comes before the read: what it finds must hold until commit.
	if err := tx.Lock(ctx, uid.Root()); err != nil {
		return err
	}
	found, err := resolve(ctx, toRole.kind, role, TableOf[Role, RoleFilter](tx).Get)
	if err != nil {
		return err
	}
	return handsOut(ctx, tx, setOf(found.Capabilities), uid)
}
