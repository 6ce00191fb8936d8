package iam

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A RoleBinding gives an identity a role on a group and everything below. It is
// always read together with its identity, group and role. Only IdentityUID and
// RoleUID are written.
type RoleBinding struct {
	UID         core.UID      `json:"uid"`
	Identity    BoundIdentity `json:"identity"`
	Group       BoundGroup    `json:"group"`
	Role        BoundRole     `json:"role"`
	CreateTime  core.Time     `json:"createTime,omitzero"`
	ExpireTime  core.Time     `json:"expireTime,omitzero"` // from then on the binding gives nothing; zero means never
	ReviewTime  core.Time     `json:"reviewTime,omitzero"` // when somebody last confirmed it as it is; zero if nobody has
	Reviewer    string        `json:"reviewer,omitempty"`  // who did: the UID of an identity, or the subject of a token
	ReviewNote  string        `json:"reviewNote,omitempty"`
	IdentityUID core.UID      `json:"identityUid,omitempty"` // input only
	RoleUID     core.UID      `json:"roleUid,omitempty"`     // input only
}

// A BoundIdentity holds the fields of an identity that a binding shows.
type BoundIdentity struct {
	UID         core.UID `json:"uid"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
	Subject     string   `json:"subject,omitempty"`
	Issuer      string   `json:"issuer,omitempty"`
	Email       string   `json:"email,omitempty"`
}

// A BoundGroup holds the fields of a group that a binding shows.
type BoundGroup struct {
	UID         core.UID `json:"uid"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
}

// A BoundRole holds the fields of a role that a binding shows.
type BoundRole struct {
	UID         core.UID `json:"uid"`
	Name        string   `json:"name"`
	Description string   `json:"description,omitempty"`
}

// RoleBindingFilter restricts a list of role bindings.
type RoleBindingFilter struct {
	Identity   core.UID        `json:",omitempty"`
	Group      core.UID        `json:",omitempty"` // the role is bound on this group, not below
	Role       core.UID        `json:",omitempty"`
	Capability core.Capability `json:",omitempty"` // the binding gives this capability
	Lasting    bool            `json:",omitempty"` // the binding never expires

	IdentityKinds []IdentityType  `json:",omitempty"` // the identity is of one of these kinds
	Expiring      *ExpiringFilter `json:",omitempty"`
	CreatedSince  core.Time       `json:",omitzero"` // the binding was made at this time or later
	CreatedBefore core.Time       `json:",omitzero"` // the binding was made before this time; only the service asks this

	IdentityLastSeenBefore core.Time `json:",omitzero"` // includes bindings of identities that were never seen
	UnreviewedSince        core.Time `json:",omitzero"` // the binding was made before this time, and nobody has confirmed it since
}

// An ExpiringFilter restricts a list to role bindings that will expire.
type ExpiringFilter struct {
	Before core.Time `json:",omitzero"` // zero means at any time
}

// Check adds the violations of the conditions.
func (f *RoleBindingFilter) Check(v *core.Violations) {
	for _, x := range []struct {
		field string
		uid   core.UID
	}{{"identity", f.Identity}, {"group", f.Group}, {"role", f.Role}} {
		if x.uid != "" {
			v.CheckUID(x.field, x.uid)
		}
	}
	for i, kind := range f.IdentityKinds {
		core.CheckOneOf(v, fmt.Sprintf("identityTypes[%d]", i), kind, identityTypes)
	}
	v.CheckTimes("createdSince", f.CreatedSince, "createdBefore", f.CreatedBefore)
	v.CheckTimes("createdSince", f.CreatedSince, "unreviewedSince", f.UnreviewedSince)
}

// checkNames returns NOT_FOUND for a group, an identity or a role that is not there.
func (s RoleBindings) checkNames(ctx context.Context, f *RoleBindingFilter, listed []core.UID) error {
	if err := s.area.Groups.rows.FindNamed(ctx, "group", core.AnyContains(listed, f.Group), f.Group); err != nil {
		return err
	}
	if err := s.area.Identities.rows.FindNamed(ctx, "identity", core.AnyTouches(listed, f.Identity), f.Identity); err != nil {
		return err
	}
	return s.area.Roles.rows.FindNamed(ctx, "role", core.AnyTouches(listed, f.Role), f.Role)
}

// RoleBindingKind has the facts about role bindings.
var RoleBindingKind = core.Kind[*RoleBinding]{
	Name: "RoleBinding", Plural: "roleBindings", Area: core.AreaIAM, Number: 4, Event: "iam.rolebindings", Parent: core.GroupRef,
	Verbs: []string{"created", "created.batch", "updated", "deleted", VerbExpired, VerbConfirmed},
	List:  core.CapRoleBindingsList, Create: core.CapRoleBindingsCreate, Update: core.CapRoleBindingsUpdate, Delete: core.CapRoleBindingsDelete,
	Fields: []fieldmask.Field{
		{Name: "uid", Mode: fieldmask.OutputOnly}, {Name: "identity", Mode: fieldmask.Volatile},
		{Name: "group", Mode: fieldmask.Volatile}, {Name: "role", Mode: fieldmask.Volatile},
		{Name: "createTime", Mode: fieldmask.OutputOnly}, {Name: "identityUid", Mode: fieldmask.Updatable},
		{Name: "roleUid", Mode: fieldmask.Updatable}, {Name: "expireTime", Mode: fieldmask.Updatable},
		{Name: "reviewTime", Mode: fieldmask.Volatile}, {Name: "reviewer", Mode: fieldmask.Volatile},
		{Name: "reviewNote", Mode: fieldmask.Volatile},
	},
	Required: []string{"identityUid", "roleUid"},
	Unique:   []string{"identityUid", "roleUid"},
	Orders: []core.OrderField[*RoleBinding]{
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(b *RoleBinding) any { return b.CreateTime }},
		{Name: "uid", Value: func(b *RoleBinding) any { return string(b.UID) }},
		{Name: "identity_name", Spellings: []string{"identityName", "identity.name", "name"}, Value: func(b *RoleBinding) any { return b.Identity.Name }},
		{Name: "group_name", Spellings: []string{"groupName", "group.name"}, Value: func(b *RoleBinding) any { return b.Group.Name }},
		{Name: "role_name", Spellings: roleNameSpellings, Value: func(b *RoleBinding) any { return b.Role.Name }},
	},
	DefaultOrder: core.Order{Field: "create_time", Desc: true},
	UID:          func(b *RoleBinding) core.UID { return b.UID },
	Group:        core.ParentOf(func(b *RoleBinding) core.UID { return b.UID }),
	Stamp:        func(b *RoleBinding, uid core.UID, now core.Time) { b.UID, b.CreateTime = uid, now },
	Check: func(b *RoleBinding, changed func(string) bool, v *core.Violations) {
		if changed("identityUid") {
			v.CheckRequiredUID("identityUid", b.IdentityUID)
		}
		if changed("roleUid") {
			v.CheckRequiredUID("roleUid", b.RoleUID)
		}
	},
}

// roleNameSpellings are other names that order_by accepts for the name of a role.
var roleNameSpellings = []string{"roleName", "role.name"}

// RoleBindingQueries read and write role bindings in other ways than a Table does.
type RoleBindingQueries interface {
	// FacetRoleBindings counts the role bindings of each scope by facet, with one statement. The values of a facet
	// are not sorted.
	FacetRoleBindings(ctx context.Context, on core.Conn, filter *RoleBindingFilter, scopes []core.Scope) ([]*RoleBindingFacets, error)

	// ExpiredBindings finds up to limit role bindings that have expired, those that expired
	// first before others.
	ExpiredBindings(ctx context.Context, on core.Conn, limit int) ([]core.UID, error)

	// Bindable reads those of some identities and roles that exist.
	Bindable(ctx context.Context, tx core.Tx, identities, roles []core.UID) ([]*Identity, []*Role, error)

	// EndReviews forgets that the role bindings of an identity, or of a role, were reviewed.
	EndReviews(tx core.Tx, of core.UID)
}

// RoleBindings are the operations on role bindings.
type RoleBindings struct {
	core.Resources[*RoleBinding, *RoleBindingFilter]
	rows *core.Collection[*RoleBinding, *RoleBindingFilter]
	area *Area
}

func bindingKeyFilter(b *RoleBinding) *RoleBindingFilter {
	return &RoleBindingFilter{Identity: b.IdentityUID, Role: b.RoleUID}
}

func newBinding(group, identity, role core.UID, now core.Time) *RoleBinding {
	b := &RoleBinding{IdentityUID: identity, RoleUID: role}
	RoleBindingKind.Stamp(b, group.NewChild(), now)
	return b
}

// Create binds a role to an identity on a group. The caller must hold everything
// that the role grants there, for as long as the binding lasts.
func (s RoleBindings) Create(ctx context.Context, parent core.UID, in fieldmask.Input[*RoleBinding]) (*RoleBinding, error) {
	bindings, err := s.createAll(ctx, parent, []fieldmask.Input[*RoleBinding]{in}, "created", "")
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "created", parent, err)
	}
	return bindings[0], nil
}

// checkReach checks that the identity and the role of a binding can be used on
// group: they apply only within the group that contains them.
func (b *RoleBinding) checkReach(group core.UID, prefix string, v *core.Violations) {
	core.IdentityReference.CheckReach(v, prefix+"identityUid", b.IdentityUID, group)
	core.RoleReference.CheckReach(v, prefix+"roleUid", b.RoleUID, group)
}

// checkMayBind fails unless the identities and the roles of bindings exist and the caller holds what the
// roles grant on group. It returns the keys of the identities. After an error, it returns the index of the binding
// that caused it, or NoRow.
func (s RoleBindings) checkMayBind(ctx context.Context, tx core.Tx, group core.UID, bindings ...*RoleBinding) (_ map[core.UID]RuleKey, failing int, _ error) {
	// The lock must precede the reads, so that their results stay valid until commit.
	tx.Lock(group.Root())
	holders, given := map[core.UID]*Identity{}, map[core.UID]*Role{}
	for _, b := range bindings {
		holders[b.IdentityUID], given[b.RoleUID] = nil, nil
	}
	var identities []*Identity
	var roles []*Role
	var caller *core.Actor
	err := tx.RunTogether(ctx,
		func(ctx context.Context) (err error) {
			identities, roles, err = s.area.Tables.Bindable(ctx, tx, slices.Sorted(maps.Keys(holders)), slices.Sorted(maps.Keys(given)))
			return err
		},
		func(ctx context.Context) (err error) { caller, err = s.area.readCaller(ctx, tx); return err },
	)
	if err != nil {
		return nil, core.NoRow, err
	}
	for _, i := range identities {
		holders[i.UID] = i
	}
	for _, r := range roles {
		given[r.UID] = r
	}
	keys, grants := map[core.UID]RuleKey{}, make([]core.Grant, len(bindings))
	for i, b := range bindings {
		identity, role := holders[b.IdentityUID], given[b.RoleUID]
		switch {
		case identity == nil:
			return nil, i, IdentityKind.NotFound(b.IdentityUID)
		case role == nil:
			return nil, i, RoleKind.NotFound(b.RoleUID)
		}
		keys[b.IdentityUID] = identity.ruleKey()
		grants[i] = core.Grant{Group: group, Capabilities: role.Capabilities, ExpireTime: b.ExpireTime}
	}
	failing, err = checkMayGrantAll(caller, grants)
	return keys, failing, err
}

// Update changes the identity, the role or the end of a binding. The caller must hold everything
// that the binding then grants, for as long as it lasts.
func (s RoleBindings) Update(ctx context.Context, uid core.UID, in fieldmask.Input[*RoleBinding]) (*RoleBinding, error) {
	change, err := s.rows.AuthorizeUpdate(ctx, uid, in)
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "updated", uid, err)
	}
	if len(change.Fields) == 0 {
		current, err := s.rows.GetCurrent(ctx, uid)
		if err == nil {
			err = s.rows.RequireMatch(ctx, current)
		}
		s.hideNotes(ctx, current)
		return current, err
	}
	var row *RoleBinding
	var wanted RoleBinding
	err = s.writeInPlaceOfExpired(ctx, uid.Parent(), func() []*RoleBinding { return []*RoleBinding{&wanted} }, func(tx core.Tx) error {
		current, err := s.rows.GetLocked(ctx, tx, uid)
		if err == nil {
			err = s.rows.RequireMatch(ctx, current)
		}
		if err != nil {
			return err
		}
		next := current.writtenFields()
		if change.Writes("identityUid") {
			next.IdentityUID = change.Row.IdentityUID
		}
		if change.Writes("roleUid") {
			next.RoleUID = change.Row.RoleUID
		}
		var v core.Violations
		if change.Writes("expireTime") {
			next.ExpireTime = change.Row.ExpireTime
			if err := next.checkExpiry(ctx, tx, "", &v); err != nil {
				return err
			}
		}
		if next.RoleUID != current.Role.UID || !next.ExpireTime.IsZero() {
			if err := s.checkNotLastOwner(ctx, tx, current); err != nil {
				return err
			}
		}
		if next.checkReach(uid.Parent(), "", &v); len(v) > 0 {
			return v.Err()
		}
		keys, _, err := s.checkMayBind(ctx, tx, uid.Parent(), next)
		if err != nil {
			return err
		}
		wanted = *next
		if wanted.IdentityUID == current.Identity.UID {
			keys = nil // the identity has this binding already
		}
		err = tx.RunTogether(ctx,
			func(ctx context.Context) error {
				return s.rows.Table.Update(ctx, tx, next, slices.Concat(change.Fields, reviewFields)...)
			},
			func(ctx context.Context) error { _, err := s.area.checkBindings(ctx, tx, keys); return err }, // after the update
		)
		if err != nil {
			return err
		}
		row = next
		s.rows.NoteWritten(ctx, row)
		s.rows.RecordUpdate(ctx, tx, row, append(core.DescribeChanges(change, current.writtenFields(), row.writtenFields(), s.rows.Kind.Fields), describeReplaced(current, row)...))
		return nil
	})
	if errors.Is(err, core.ErrDuplicate) {
		err = s.rows.AlreadyExists(ctx, uid.Parent(), &wanted)
	}
	if err != nil {
		return nil, s.rows.RecordIfDenied(ctx, "updated", uid, err)
	}
	return row, nil
}

// describeReplaced returns the changes of what a binding shows of its identity and its role, so that its
// event tells their names even when they are gone.
func describeReplaced(before, after *RoleBinding) (changes []core.EventChange) {
	if before.Identity.UID != after.Identity.UID {
		changes = append(changes, core.NewValueChange("identity", before.Identity, after.Identity))
	}
	if before.Role.UID != after.Role.UID {
		changes = append(changes, core.NewValueChange("role", before.Role, after.Role))
	}
	return changes
}

// writtenFields returns a binding with only the fields that can be written. It has no review: what
// somebody confirmed is not what the binding is after a change.
func (b *RoleBinding) writtenFields() *RoleBinding {
	return &RoleBinding{UID: b.UID, IdentityUID: b.Identity.UID, RoleUID: b.Role.UID, ExpireTime: b.ExpireTime}
}

// Delete deletes a role binding. It takes effect with the next request.
func (s RoleBindings) Delete(ctx context.Context, uid core.UID) error {
	return s.rows.RemoveChecked(ctx, uid, func(tx core.Tx, uid core.UID) error {
		current, err := s.rows.GetLocked(ctx, tx, uid)
		if err != nil {
			return err
		}
		if err := s.checkNotLastOwner(ctx, tx, current); err != nil {
			return err
		}
		return s.noteUnbinding(ctx, tx, current, "")
	})
}

// noteUnbinding notes the review of a binding that is about to end if there is a note, and otherwise forgets an earlier one, so
// that the event of the deletion has no review but its own.
func (s RoleBindings) noteUnbinding(ctx context.Context, tx core.Tx, b *RoleBinding, note string) error {
	if note != "" {
		return s.noteReview(ctx, tx, b, note)
	}
	if b.ReviewTime.IsZero() {
		return nil
	}
	b.forgetReview()
	return s.rows.Table.Update(ctx, tx, b, reviewFields...)
}

// isOfLastingOwner reports whether the binding makes an owner of an organization who stays one.
func (b *RoleBinding) isOfLastingOwner() bool {
	return b.Group.UID.IsRoot() && b.Role.UID == OwnerRole && b.ExpireTime.IsZero()
}

// checkNotLastOwner fails if b is the binding of the last owner of an
// organization. Owners whose bindings expire do not count.
func (s RoleBindings) checkNotLastOwner(ctx context.Context, tx core.Tx, b *RoleBinding) error {
	root := b.Group.UID
	if !b.isOfLastingOwner() {
		return nil
	}
	owners, err := s.area.Tables.RoleBindings.List(ctx, tx, core.Query[*RoleBindingFilter]{
		Scope: core.NewScope(core.Branch{Relation: core.OfRole, UID: OwnerRole, Inside: root}), Filter: &RoleBindingFilter{Group: root, Lasting: true},
		Order: s.rows.Kind.DefaultOrder, Limit: 2, Parts: core.PartItems,
	})
	switch {
	case err != nil:
		return err
	case len(owners.Items) > 1:
		return s.area.checkOwnerStays(ctx, tx, root, b.UID)
	}
	return lastOwnerError(root)
}

// checkOwnerStays fails if an organization loses the last owner who could sign in, because it
// loses a role binding, or the rule of an identity.
func (area *Area) checkOwnerStays(ctx context.Context, tx core.Tx, root, lost core.UID) error {
	if stays, err := area.Tables.HasOwner(ctx, tx, root, lost); err != nil || stays {
		return err
	}
	if had, err := area.Tables.HasOwner(ctx, tx, root, ""); err != nil || !had {
		return err
	}
	return lastOwnerError(root)
}

func lastOwnerError(root core.UID) error {
	return core.FailedPrecondition("LAST_OWNER", string(root), "an organization needs at least one owner who can sign in and whose binding never expires; bind the owner role to another identity with a rule first")
}
