package platform

import (
	"context"
	"slices"

	"atrium/platform/fieldmask"
)

// A Role is a named set of capabilities. A custom role belongs to a group and can
// be bound there and below. Built-in roles belong to no organisation.
type Role struct {
	UID          UID          `json:"uid"`
	Name         string       `json:"name"` // unique in its group
	Description  string       `json:"description,omitempty"`
	Capabilities []Capability `json:"capabilities,omitempty"`
	CreateTime   Time         `json:"createTime,omitzero"` // zero for a built-in role
	UpdateTime   Time         `json:"updateTime,omitzero"`
}

// RoleFilter restricts a list of roles.
type RoleFilter struct {
	ChangeFilter

	Name  string `json:",omitempty"` // exact name
	Query string `json:",omitempty"` // see SearchWords

	Capabilities []Capability `json:",omitempty"` // the role has all of these
}

func (f *RoleFilter) check(v *violations) {
	v.checkFilter("name", f.Name)
	v.checkQuery(f.Query)
}

// OwnerRole is the built-in role that holds every capability.
const OwnerRole UID = "7872e984573b3a80d1d5dcf9ac7fd799d10a760c"

// The other built-in roles that the service itself binds.
const (
	ViewerRole UID = "fd3e96b609167d999bf93771df5bc582d05ea961"
	EditorRole UID = "e39bd869953ef09043c4560eed5eba4b2e482cdf"
)

// builtInRoleData defines the built-in roles. internal/cases compares it with
// testdata/capabilities.md.
var builtInRoleData = []Role{
	{UID: ViewerRole, Name: "viewer", Description: "Reads every resource.", Capabilities: readingCapabilities()},
	{UID: EditorRole, Name: "editor", Description: "Reads every resource; writes repos and event subscriptions.", Capabilities: []Capability{
		CapGroupsList, CapGroupInvitesList, CapRolesList, CapRoleBindingsList,
		CapAccountAssociationsList, CapIdentityList, CapIdentityProvidersList, CapSubscriptionsCreate,
		CapSubscriptionsList, CapSubscriptionsDelete, CapRepoCreate, CapRepoUpdate,
		CapRepoList, CapRepoDelete, CapTagList, CapManifestMetadataList,
		CapLibrariesArtifactsList, CapAdvisoriesList, CapTermsList, CapFindingsList, CapFindingsUpdate,
	}},
	{UID: OwnerRole, Name: "owner", Description: "Does everything.", Capabilities: Capabilities()},
	{UID: "f8b2a6e5a07b5469bd4e5251a00caba4417a5359", Name: "console_viewer", Description: "Reads what the console shows.", Capabilities: []Capability{
		CapGroupsList, CapGroupInvitesList, CapRolesList, CapRoleBindingsList,
		CapAccountAssociationsList, CapIdentityList, CapIdentityProvidersList, CapSubscriptionsList,
		CapRepoList, CapTagList, CapManifestMetadataList, CapLibrariesArtifactsList,
		CapAdvisoriesList, CapFindingsList,
	}},
	{UID: "8796e4182e21cccdbd8ea824f1d05487610c7285", Name: "registry.pull", Description: "Reads repos, tags and images.", Capabilities: []Capability{
		CapGroupsList, CapRepoList, CapTagList, CapManifestMetadataList, CapFindingsList,
	}},
	{UID: "4d7e4966448f57e21277e0f49b85233752e6adb7", Name: "registry.push", Description: "Reads and writes repos and tags.", Capabilities: []Capability{
		CapGroupsCreate, CapGroupsList, CapRepoCreate, CapRepoUpdate,
		CapRepoList, CapRepoDelete, CapTagCreate, CapTagUpdate,
		CapTagList, CapTagDelete, CapManifestMetadataList, CapFindingsList,
	}},
	{UID: "6bf4ec17225ae31b1243a81342d2d05aae4f2b91", Name: "registry.pull_token_creator", Description: "Makes identities that can pull.", Capabilities: []Capability{
		CapGroupsList, CapRolesList, CapRoleBindingsCreate, CapIdentityCreate,
		CapRepoList, CapTagList, CapManifestMetadataList, CapFindingsList, // what it gives with registry.pull
	}},
	{UID: "274c2757bf1f9625c4b24477eb196090661a86f9", Name: "advisories.viewer", Description: "Reads advisories.", Capabilities: []Capability{
		CapAdvisoriesList,
	}},
}

// IsBuiltInRole reports whether uid is the UID of a built-in role.
func IsBuiltInRole(uid UID) bool {
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

// BuiltInRoles returns the roles that every organisation can use.
func BuiltInRoles() []*Role {
	roles := make([]*Role, len(builtInRoleData))
	for i := range builtInRoleData {
		r := builtInRoleData[i]
		roles[i] = &r
	}
	return roles
}

var roleKind = Kind[*Role]{
	Name: "Role", Plural: "roles", Area: areaIAM, Number: 3, Event: "iam.roles", Parent: groupRef,
	Verbs: []string{"created", "updated", "deleted"},
	List:  CapRolesList, Create: CapRolesCreate, Update: CapRolesUpdate, Delete: CapRolesDelete,
	Blocked: "RESOURCE_IN_USE",
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "name", Mode: fieldmask.Updatable},
		{Name: "description", Mode: fieldmask.Updatable}, {Name: "capabilities", Mode: fieldmask.Updatable},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "updateTime", Mode: fieldmask.Volatile},
	},
	Required: []string{"name"},
	Unique:   []string{"name"},
	Orders: []OrderField[*Role]{
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
			v.checkName(r.Name, namePattern, maxNameBytes)
		}
		if changed("description") {
			v.checkLine("description", r.Description)
		}
		if changed("capabilities") {
			if slices.ContainsFunc(r.Capabilities, func(c Capability) bool { return !c.isKnown() }) {
				v.add("capabilities", "must be capabilities such as %s", Capabilities()[0].WireName())
			}
			r.Capabilities = setOf(r.Capabilities).list() // sorts and deduplicates
		}
	},
	IsBuiltIn: IsBuiltInRole,
}

// Roles are the operations on roles.
type Roles struct {
	Resources[*Role, *RoleFilter]
	rows *Collection[*Role, *RoleFilter]
	area *iamArea
}

func roleKeyFilter(r *Role) *RoleFilter { return &RoleFilter{Name: r.Name} }

// Create makes a role in a group. The caller must hold its capabilities there.
func (s Roles) Create(ctx context.Context, parent UID, in fieldmask.Input[*Role]) (*Role, error) {
	role, err := s.rows.authorizeCreate(ctx, parent, in)
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", parent, err)
	}
	return s.rows.insert(ctx, parent, role, func(tx Tx) error {
		tx.Lock(parent.Root())
		caller, err := s.area.readCaller(ctx, tx)
		if err != nil {
			return err
		}
		return caller.checkMayGrant(setOf(role.Capabilities), parent, Time{})
	})
}

// Update changes a role. The caller must hold what the changed role grants. If it has other
// capabilities then, what was reviewed before does not count any longer.
func (s Roles) Update(ctx context.Context, uid UID, in fieldmask.Input[*Role]) (*Role, error) {
	if err := s.checkNotBuiltIn(ctx, uid); err != nil {
		return nil, err
	}
	return s.rows.updateChecked(ctx, uid, in, func(tx Tx, change *fieldmask.Change[*Role]) error {
		tx.Lock(uid.Root())
		var current *Role
		var caller *Actor
		err := tx.RunTogether(ctx,
			func(ctx context.Context) (err error) { current, err = s.rows.getRow(ctx, tx, uid); return err },
			func(ctx context.Context) (err error) { caller, err = s.area.readCaller(ctx, tx); return err },
		)
		if err != nil {
			return err
		}
		capabilities := current.Capabilities
		if change.Writes("capabilities") {
			capabilities = change.Row.Capabilities
		}
		if err := caller.checkMayGrant(setOf(capabilities), uid.Parent(), Time{}); err != nil {
			return err
		}
		if change.Differs(current, "capabilities") {
			s.area.tables.EndReviews(tx, uid)
		}
		return nil
	})
}

// Delete deletes a role that is not in use.
func (s Roles) Delete(ctx context.Context, uid UID) error {
	if err := s.checkNotBuiltIn(ctx, uid); err != nil {
		return err
	}
	return s.rows.removeChecked(ctx, uid, func(tx Tx, _ UID) error { tx.Lock(uid.Root()); return nil }) // prevents concurrent bindings
}

// checkNotBuiltIn fails if uid is not the UID of a custom role.
func (s Roles) checkNotBuiltIn(ctx context.Context, uid UID) error {
	actor, err := requireCaller(ctx)
	if err != nil || !uid.Valid() || !uid.IsRoot() {
		return err
	}
	if !s.rows.kind.readableBy(actor, uid) {
		return s.rows.kind.addArea(s.rows.kind.refuseReadingOf(actor, uid))
	}
	if !IsBuiltInRole(uid) {
		return s.rows.kind.notFound(uid)
	}
	return failedPrecondition("BUILT_IN_ROLE", string(uid), "built-in roles cannot be changed")
}

// readCaller reads the current grants of the caller. The organisation must be locked before, which prevents a concurrent
// revocation, so that they stay valid until commit.
func (p *iamArea) readCaller(ctx context.Context, tx Tx) (*Actor, error) {
	actor, err := requireCaller(ctx)
	if err != nil {
		return nil, err
	}
	return actor.withCurrentGrants(ctx, p.tables, tx)
}

// readCallerAndBound locks the organisation of identities, and reads the current grants of the caller and what is bound to the
// identities. Whoever decides who is an identity must hold what is bound to it.
func (p *iamArea) readCallerAndBound(ctx context.Context, tx Tx, identities ...UID) (caller *Actor, bound map[UID][]Grant, err error) {
	tx.Lock(identities[0].Root())
	bound = map[UID][]Grant{}
	err = tx.RunTogether(ctx,
		func(ctx context.Context) (err error) { caller, err = p.readCaller(ctx, tx); return err },
		func(ctx context.Context) error {
			grants, err := p.tables.Grants(ctx, tx, identities)
			for _, g := range grants {
				bound[g.Identity] = append(bound[g.Identity], g)
			}
			return err
		},
	)
	return caller, bound, err
}

// checkMayGrantAll fails unless the actor holds everything that grants give. After an error, it returns the index of the
// grant that caused it, or noRow.
func (a *Actor) checkMayGrantAll(given []Grant) (failing int, _ error) {
	for i, g := range given {
		if err := a.checkMayGrant(setOf(g.Capabilities), g.Group, g.ExpireTime); err != nil {
			return i, err
		}
	}
	return noRow, nil
}

// requireMayGrant fails unless the caller may grant a role on uid for ever. field is the field of the
// request that names the role.
func (s Roles) requireMayGrant(ctx context.Context, tx Tx, field string, role, uid UID) error {
	admit, err := s.readGrantable(ctx, tx, field, []UID{role}, []UID{uid})
	if err != nil {
		return err
	}
	return admit(0)
}

// readGrantable reads roles, and what the caller holds. The function that it returns fails unless the caller may grant
// the i-th role on the i-th group for ever. A role can be bound only within its group.
func (s Roles) readGrantable(ctx context.Context, tx Tx, field string, roles, groups []UID) (admit func(i int) error, _ error) {
	refused, read := make([]violations, len(roles)), make([]UID, 0, len(roles))
	for i, role := range roles {
		if roleReference.checkReach(&refused[i], field, role, groups[i]); len(refused[i]) == 0 {
			read = append(read, role)
		}
	}
	// The locks must precede the reads, so that their results stay valid until commit.
	for _, group := range slices.Sorted(slices.Values(groups)) {
		tx.Lock(group.Root())
	}
	var found map[UID]*Role
	var caller *Actor
	err := tx.RunTogether(ctx,
		func(ctx context.Context) (err error) { found, err = s.rows.findRows(ctx, tx, read); return err },
		func(ctx context.Context) (err error) { caller, err = s.area.readCaller(ctx, tx); return err },
	)
	if err != nil {
		return nil, err
	}
	return func(i int) error {
		switch role := found[roles[i]]; {
		case len(refused[i]) > 0:
			return refused[i].err()
		case role == nil:
			return s.rows.kind.notFound(roles[i])
		default:
			return caller.checkMayGrant(setOf(role.Capabilities), groups[i], Time{})
		}
	}, nil
}
