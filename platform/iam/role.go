package iam

import (
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A Role is a named set of capabilities. A custom role belongs to a group and can
// be bound there and below. Built-in roles belong to no organization.
type Role struct {
	UID          core.UID          `json:"uid"`
	Name         string            `json:"name"` // unique in its group
	Description  string            `json:"description,omitempty"`
	Capabilities []core.Capability `json:"capabilities,omitempty"`
	CreateTime   core.Time         `json:"createTime,omitzero"` // zero for a built-in role
	UpdateTime   core.Time         `json:"updateTime,omitzero"`
}

// RoleFilter restricts a list of roles.
type RoleFilter struct {
	core.ChangeFilter

	Name  string `json:",omitempty"` // exact name
	Query string `json:",omitempty"` // see SearchWords

	Capabilities []core.Capability `json:",omitempty"` // the role has all of these
}

// Check adds the violations of the conditions.
func (f *RoleFilter) Check(v *core.Violations) {
	v.CheckFilter("name", f.Name)
	v.CheckQuery(f.Query)
}

// OwnerRole is the built-in role that holds every capability.
const OwnerRole core.UID = "7872e984573b3a80d1d5dcf9ac7fd799d10a760c"

// The other built-in roles that the service itself binds.
const (
	ViewerRole core.UID = "fd3e96b609167d999bf93771df5bc582d05ea961"
	EditorRole core.UID = "e39bd869953ef09043c4560eed5eba4b2e482cdf"
)

// PublisherRole is the built-in role of pipelines.
const PublisherRole core.UID = "b497a0aad7d4c7179b4fa30ccb0b930e674048dd"

// builtInRoleData defines the built-in roles. internal/cases compares it with
// testdata/capabilities.md.
var builtInRoleData = []Role{
	{UID: ViewerRole, Name: "viewer", Description: "Reads every resource.", Capabilities: core.ReadingCapabilities()},
	{UID: EditorRole, Name: "editor", Description: "Reads every resource; writes repos, event subscriptions and sources, and imports.", Capabilities: []core.Capability{
		core.CapGroupsList, core.CapGroupInvitesList, core.CapRolesList, core.CapRoleBindingsList,
		core.CapAccountAssociationsList, core.CapIdentityList, core.CapIdentityProvidersList, core.CapSubscriptionsCreate,
		core.CapSubscriptionsList, core.CapSubscriptionsDelete, core.CapRepoCreate, core.CapRepoUpdate,
		core.CapRepoList, core.CapRepoDelete, core.CapTagList, core.CapManifestMetadataList,
		core.CapLibrariesArtifactsList, core.CapAdvisoriesList, core.CapTermsList, core.CapFindingsList, core.CapFindingsUpdate,
		core.CapSBOMsImport, core.CapVEXImport, core.CapAdvisoriesImport, core.CapRegistryImport,
		core.CapSourcesCreate, core.CapSourcesUpdate, core.CapSourcesList, core.CapSourcesDelete,
	}},
	{UID: OwnerRole, Name: "owner", Description: "Does everything.", Capabilities: core.Capabilities()},
	{UID: "f8b2a6e5a07b5469bd4e5251a00caba4417a5359", Name: "console_viewer", Description: "Reads what the console shows.", Capabilities: []core.Capability{
		core.CapGroupsList, core.CapGroupInvitesList, core.CapRolesList, core.CapRoleBindingsList,
		core.CapAccountAssociationsList, core.CapIdentityList, core.CapIdentityProvidersList, core.CapSubscriptionsList,
		core.CapRepoList, core.CapTagList, core.CapManifestMetadataList, core.CapLibrariesArtifactsList,
		core.CapAdvisoriesList, core.CapFindingsList, core.CapSourcesList,
	}},
	{UID: "8796e4182e21cccdbd8ea824f1d05487610c7285", Name: "registry.pull", Description: "Reads repos, tags and images.", Capabilities: []core.Capability{
		core.CapGroupsList, core.CapRepoList, core.CapTagList, core.CapManifestMetadataList, core.CapFindingsList,
	}},
	{UID: "4d7e4966448f57e21277e0f49b85233752e6adb7", Name: "registry.push", Description: "Reads and writes repos and tags.", Capabilities: []core.Capability{
		core.CapGroupsCreate, core.CapGroupsList, core.CapRepoCreate, core.CapRepoUpdate,
		core.CapRepoList, core.CapRepoDelete, core.CapTagCreate, core.CapTagUpdate,
		core.CapTagList, core.CapTagDelete, core.CapManifestMetadataList, core.CapFindingsList,
	}},
	{UID: "6bf4ec17225ae31b1243a81342d2d05aae4f2b91", Name: "registry.pull_token_creator", Description: "Creates identities that can pull.", Capabilities: []core.Capability{
		core.CapGroupsList, core.CapRolesList, core.CapRoleBindingsCreate, core.CapIdentityCreate,
		core.CapRepoList, core.CapTagList, core.CapManifestMetadataList, core.CapFindingsList, // what it gives with registry.pull
	}},
	{UID: PublisherRole, Name: "publisher", Description: "Uploads what pipelines build: creates repos and tags, imports SBOMs and VEX, and reads findings.", Capabilities: []core.Capability{
		core.CapGroupsList, core.CapRepoCreate, core.CapRepoList, core.CapTagCreate,
		core.CapTagList, core.CapManifestMetadataList, core.CapFindingsList, core.CapSBOMsImport, core.CapVEXImport,
	}},
	{UID: "274c2757bf1f9625c4b24477eb196090661a86f9", Name: "advisories.viewer", Description: "Reads advisories.", Capabilities: []core.Capability{
		core.CapAdvisoriesList,
	}},
}

// IsBuiltInRole reports whether uid is the UID of a built-in role.
func IsBuiltInRole(uid core.UID) bool {
	return slices.ContainsFunc(builtInRoleData, func(r Role) bool { return r.UID == uid })
}

// Outline returns what REST and gRPC show of a role: of a built-in one only the UID, the name
// and the description, as the specification requires. Other roles are shown completely, so
// that their creators can read them back.
func (r *Role) Outline() *Role {
	if r == nil || !IsBuiltInRole(r.UID) {
		return r
	}
	return &Role{UID: r.UID, Name: r.Name, Description: r.Description}
}

// BuiltInRoles returns the roles that every organization can use.
func BuiltInRoles() []*Role {
	roles := make([]*Role, len(builtInRoleData))
	for i := range builtInRoleData {
		r := builtInRoleData[i]
		roles[i] = &r
	}
	return roles
}

// RoleKind has the facts about roles.
var RoleKind = core.Kind[*Role]{
	Name: "Role", Plural: "roles", Area: core.AreaIAM, Number: 3, Event: "iam.roles", Parent: core.GroupRef,
	Verbs: []string{"created", "updated", "deleted"},
	List:  core.CapRolesList, Create: core.CapRolesCreate, Update: core.CapRolesUpdate, Delete: core.CapRolesDelete,
	Blocked: "RESOURCE_IN_USE",
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "capabilities", Mode: fieldmask.Updatable},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.Volatile},
	},
	Required: []string{"name"},
	Unique:   []string{"name"},
	Orders: []core.OrderField[*Role]{
		{Name: "name", Value: func(r *Role) any { return r.Name }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(r *Role) any { return r.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(r *Role) any { return r.UpdateTime }},
		{Name: "uid", Value: func(r *Role) any { return string(r.UID) }},
	},
	DefaultOrder: core.Order{Field: "name"},
	UID:          func(r *Role) core.UID { return r.UID },
	Group:        core.ParentOf(func(r *Role) core.UID { return r.UID }),
	Stamp:        func(r *Role, uid core.UID, now core.Time) { r.UID, r.CreateTime, r.UpdateTime = uid, now, now },
	Check: func(r *Role, changed func(string) bool, v *core.Violations) {
		if changed("name") {
			v.CheckName(r.Name, core.NamePattern, core.MaxNameBytes)
		}
		if changed("description") {
			v.CheckLine("description", r.Description)
		}
		if changed("capabilities") {
			if slices.ContainsFunc(r.Capabilities, func(c core.Capability) bool { return !c.IsKnown() }) {
				v.Add("capabilities", "must be capabilities such as %s", core.Capabilities()[0].WireName())
			}
			r.Capabilities = core.CapabilitySetOf(r.Capabilities).List() // sorts and deduplicates
		}
	},
	IsBuiltIn: IsBuiltInRole,
}

// Roles are the operations on roles.
type Roles struct {
	core.Resources[*Role, *RoleFilter]
	rows *core.Collection[*Role, *RoleFilter]
	area *Area
}

func roleKeyFilter(r *Role) *RoleFilter { return &RoleFilter{Name: r.Name} }

// Create makes a role in a group. The caller must hold its capabilities there.
func (s Roles) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*Role]) (*Role, error) {
	role, err := s.rows.AuthorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, err)
	}
	return s.rows.Insert(ctx, parent, role, func(tx core.Tx) error {
		tx.Lock(parent.Root())
		caller, err := s.area.readCaller(ctx, tx)
		if err != nil {
			return err
		}
		return caller.CheckMayGrant(core.CapabilitySetOf(role.Capabilities), parent, core.Time{})
	})
}

// Update changes a role. The caller must hold what the changed role grants. If it has other
// capabilities then, what was reviewed before does not count any longer.
func (s Roles) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*Role]) (*Role, error) {
	if err := s.checkNotBuiltIn(ctx, uid); err != nil {
		return nil, err
	}
	return s.rows.UpdateChecked(ctx, uid, in, func(tx core.Tx, change *fieldmask.Change[*Role]) error {
		tx.Lock(uid.Root())
		var current *Role
		var caller *core.Actor
		err := tx.RunTogether(ctx,
			func(ctx context.Context) (err error) { current, err = s.rows.GetRow(ctx, tx, uid); return err },
			func(ctx context.Context) (err error) { caller, err = s.area.readCaller(ctx, tx); return err },
		)
		if err != nil {
			return err
		}
		capabilities := current.Capabilities
		if change.Writes("capabilities") {
			capabilities = change.Row.Capabilities
		}
		if err := caller.CheckMayGrant(core.CapabilitySetOf(capabilities), uid.Parent(), core.Time{}); err != nil {
			return err
		}
		if change.Differs(current, "capabilities") {
			s.area.Tables.EndReviews(tx, uid)
		}
		return nil
	})
}

// Delete deletes a role that is not in use.
func (s Roles) Delete(ctx context.Context, uid core.UID) error {
	if err := s.checkNotBuiltIn(ctx, uid); err != nil {
		return err
	}
	return s.rows.RemoveChecked(ctx, uid, func(tx core.Tx, _ core.UID) error { tx.Lock(uid.Root()); return nil }) // prevents concurrent bindings
}

// checkNotBuiltIn fails if uid is not the UID of a custom role.
func (s Roles) checkNotBuiltIn(ctx context.Context, uid core.UID) error {
	actor, err := core.RequireCaller(ctx)
	if err != nil || !uid.Valid() || !uid.IsRoot() {
		return err
	}
	if !s.rows.Kind.ReadableBy(actor, uid) {
		return s.rows.Kind.AddArea(s.rows.Kind.RefuseReadingOf(actor, uid))
	}
	if !IsBuiltInRole(uid) {
		return s.rows.Kind.NotFound(uid)
	}
	return core.FailedPrecondition("BUILT_IN_ROLE", string(uid), "built-in roles cannot be changed")
}

// readCaller reads the current grants of the caller. The organization must be locked before, which prevents a concurrent
// revocation, so that they stay valid until commit.
func (area *Area) readCaller(ctx context.Context, tx core.Tx) (*core.Actor, error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	return withCurrentGrants(ctx, actor, area.Tables, tx)
}

// readCallerAndBound locks the organization of identities, and reads the current grants of the caller and what is bound to the
// identities. Whoever decides who is an identity must hold what is bound to it.
func (area *Area) readCallerAndBound(ctx context.Context, tx core.Tx, identities ...core.UID) (caller *core.Actor, bound map[core.UID][]core.Grant, err error) {
	tx.Lock(identities[0].Root())
	bound = map[core.UID][]core.Grant{}
	err = tx.RunTogether(ctx,
		func(ctx context.Context) (err error) { caller, err = area.readCaller(ctx, tx); return err },
		func(ctx context.Context) error {
			grants, err := area.Tables.Grants(ctx, tx, identities)
			for _, g := range grants {
				bound[g.Identity] = append(bound[g.Identity], g)
			}
			return err
		},
	)
	return caller, bound, err
}

// checkMayGrantAll fails unless the actor holds everything that grants give. After an error, it returns the index of the
// grant that caused it, or NoRow.
func checkMayGrantAll(a *core.Actor, given []core.Grant) (failing int, _ error) {
	for i, g := range given {
		if err := a.CheckMayGrant(core.CapabilitySetOf(g.Capabilities), g.Group, g.ExpireTime); err != nil {
			return i, err
		}
	}
	return core.NoRow, nil
}

// requireMayGrant fails unless the caller may grant a role on uid for ever. field is the field of the
// request that names the role.
func (s Roles) requireMayGrant(ctx context.Context, tx core.Tx, field string, role, uid core.UID) error {
	admit, err := s.readGrantable(ctx, tx, field, []core.UID{role}, []core.UID{uid})
	if err != nil {
		return err
	}
	return admit(0)
}

// readGrantable reads roles, and what the caller holds. The function that it returns fails unless the caller may grant
// the i-th role on the i-th group for ever. A role can be bound only within its group.
func (s Roles) readGrantable(ctx context.Context, tx core.Tx, field string, roles, groups []core.UID) (admit func(i int) error, _ error) {
	refused, read := make([]core.Violations, len(roles)), make([]core.UID, 0, len(roles))
	for i, role := range roles {
		if core.RoleReference.CheckReach(&refused[i], field, role, groups[i]); len(refused[i]) == 0 {
			read = append(read, role)
		}
	}
	// The locks must precede the reads, so that their results stay valid until commit.
	for _, group := range slices.Sorted(slices.Values(groups)) {
		tx.Lock(group.Root())
	}
	var found map[core.UID]*Role
	var caller *core.Actor
	err := tx.RunTogether(ctx,
		func(ctx context.Context) (err error) { found, err = s.rows.FindRows(ctx, tx, read); return err },
		func(ctx context.Context) (err error) { caller, err = s.area.readCaller(ctx, tx); return err },
	)
	if err != nil {
		return nil, err
	}
	return func(i int) error {
		switch role := found[roles[i]]; {
		case len(refused[i]) > 0:
			return refused[i].Err()
		case role == nil:
			return s.rows.Kind.NotFound(roles[i])
		default:
			return caller.CheckMayGrant(core.CapabilitySetOf(role.Capabilities), groups[i], core.Time{})
		}
	}, nil
}
