package platform

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"atrium/platform/fieldmask"
)

// A RoleBinding gives an identity a role on a group and everything below. It is
// always read together with its identity, group and role. Only IdentityUID and
// RoleUID are written.
type RoleBinding struct {
	UID         UID           `json:"uid"`
	Identity    BoundIdentity `json:"identity"`
	Group       BoundGroup    `json:"group"`
	Role        BoundRole     `json:"role"`
	CreateTime  Time          `json:"createTime,omitzero"`
	ExpireTime  Time          `json:"expireTime,omitzero"` // from then on the binding gives nothing; zero means never
	ReviewTime  Time          `json:"reviewTime,omitzero"` // when somebody last confirmed it as it is; zero if nobody has
	Reviewer    string        `json:"reviewer,omitempty"`  // who did: the UID of an identity, or the subject of a token
	ReviewNote  string        `json:"reviewNote,omitempty"`
	IdentityUID UID           `json:"identityUid,omitempty"` // input only
	RoleUID     UID           `json:"roleUid,omitempty"`     // input only
}

// A BoundIdentity holds the fields of an identity that a binding shows.
type BoundIdentity struct {
	UID         UID    `json:"uid"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Subject     string `json:"subject,omitempty"`
	Issuer      string `json:"issuer,omitempty"`
	Email       string `json:"email,omitempty"`
}

// A BoundGroup holds the fields of a group that a binding shows.
type BoundGroup struct {
	UID         UID    `json:"uid"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// A BoundRole holds the fields of a role that a binding shows.
type BoundRole struct {
	UID         UID    `json:"uid"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// RoleBindingFilter restricts a list of role bindings.
type RoleBindingFilter struct {
	Identity   UID        `json:",omitempty"`
	Group      UID        `json:",omitempty"` // the role is bound on this group, not below
	Role       UID        `json:",omitempty"`
	Capability Capability `json:",omitempty"` // the binding gives this capability
	Lasting    bool       `json:",omitempty"` // the binding never expires

	IdentityKinds []IdentityType  `json:",omitempty"` // the identity is of one of these kinds
	Expiring      *ExpiringFilter `json:",omitempty"`
	CreatedSince  Time            `json:",omitzero"` // the binding was made at this time or later
	CreatedBefore Time            `json:",omitzero"` // the binding was made before this time; only the service asks this

	IdentityLastSeenBefore Time `json:",omitzero"` // includes bindings of identities that were never seen
	UnreviewedSince        Time `json:",omitzero"` // the binding was made before this time, and nobody has confirmed it since
}

// An ExpiringFilter restricts a list to role bindings that will expire.
type ExpiringFilter struct {
	Before Time `json:",omitzero"` // zero means at any time
}

func (f *RoleBindingFilter) check(v *violations) {
	for _, x := range []struct {
		field string
		uid   UID
	}{{"identity", f.Identity}, {"group", f.Group}, {"role", f.Role}} {
		if x.uid != "" {
			v.checkUID(x.field, x.uid)
		}
	}
	for i, kind := range f.IdentityKinds {
		checkOneOf(v, fmt.Sprintf("identityTypes[%d]", i), kind, identityTypes)
	}
	v.checkTimes("createdSince", f.CreatedSince, "createdBefore", f.CreatedBefore)
	v.checkTimes("createdSince", f.CreatedSince, "unreviewedSince", f.UnreviewedSince)
}

// checkNames returns NOT_FOUND for a group, an identity or a role that is not there.
func (s RoleBindings) checkNames(ctx context.Context, f *RoleBindingFilter, listed []UID) error {
	if err := s.area.Groups.rows.findNamed(ctx, "group", contains(listed, f.Group), f.Group); err != nil {
		return err
	}
	if err := s.area.Identities.rows.findNamed(ctx, "identity", touches(listed, f.Identity), f.Identity); err != nil {
		return err
	}
	return s.area.Roles.rows.findNamed(ctx, "role", touches(listed, f.Role), f.Role)
}

var roleBindingKind = Kind[*RoleBinding]{
	Name: "RoleBinding", Plural: "roleBindings", Area: areaIAM, Number: 4, Event: "iam.rolebindings", Parent: groupRef,
	Verbs: []string{"created", "created.batch", "updated", "deleted", verbExpired, verbConfirmed},
	List:  CapRoleBindingsList, Create: CapRoleBindingsCreate, Update: CapRoleBindingsUpdate, Delete: CapRoleBindingsDelete,
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
	Orders: []OrderField[*RoleBinding]{
		{"create_time", createTimeSpellings, func(b *RoleBinding) any { return b.CreateTime }},
		{"uid", nil, func(b *RoleBinding) any { return string(b.UID) }},
		{"identity_name", []string{"identityName", "identity.name", "name"}, func(b *RoleBinding) any { return b.Identity.Name }},
		{"group_name", []string{"groupName", "group.name"}, func(b *RoleBinding) any { return b.Group.Name }},
		{"role_name", roleNameSpellings, func(b *RoleBinding) any { return b.Role.Name }},
	},
	DefaultOrder: Order{Field: "create_time", Desc: true},
	UID:          func(b *RoleBinding) UID { return b.UID },
	Group:        parentOf(func(b *RoleBinding) UID { return b.UID }),
	Stamp:        func(b *RoleBinding, uid UID, now Time) { b.UID, b.CreateTime = uid, now },
	Check: func(b *RoleBinding, changed func(string) bool, v *violations) {
		if changed("identityUid") {
			v.checkRequiredUID("identityUid", b.IdentityUID)
		}
		if changed("roleUid") {
			v.checkRequiredUID("roleUid", b.RoleUID)
		}
	},
}

// roleNameSpellings are other names that order_by accepts for the name of a role.
var roleNameSpellings = []string{"roleName", "role.name"}

// RoleBindingQueries read and write role bindings in other ways than a Table does.
type RoleBindingQueries interface {
	// FacetRoleBindings counts the role bindings of each scope by facet, with one statement. The values of a facet
	// are not sorted.
	FacetRoleBindings(ctx context.Context, on Conn, filter *RoleBindingFilter, scopes []Scope) ([]*RoleBindingFacets, error)

	// ExpiredBindings finds up to limit role bindings that have expired, those that expired
	// first before others.
	ExpiredBindings(ctx context.Context, on Conn, limit int) ([]UID, error)

	// Bindable reads those of some identities and roles that exist.
	Bindable(ctx context.Context, tx Tx, identities, roles []UID) ([]*Identity, []*Role, error)

	// EndReviews forgets that the role bindings of an identity, or of a role, were reviewed.
	EndReviews(tx Tx, of UID)
}

// RoleBindings are the operations on role bindings.
type RoleBindings struct {
	Resources[*RoleBinding, *RoleBindingFilter]
	rows *Collection[*RoleBinding, *RoleBindingFilter]
	area *iamArea
}

func bindingKeyFilter(b *RoleBinding) *RoleBindingFilter {
	return &RoleBindingFilter{Identity: b.IdentityUID, Role: b.RoleUID}
}

func newBinding(group, identity, role UID, now Time) *RoleBinding {
	b := &RoleBinding{IdentityUID: identity, RoleUID: role}
	roleBindingKind.Stamp(b, group.newChild(), now)
	return b
}

// Create binds a role to an identity on a group. The caller must hold everything
// that the role grants there, for as long as the binding lasts.
func (s RoleBindings) Create(ctx context.Context, parent UID, in fieldmask.Input[*RoleBinding]) (*RoleBinding, error) {
	bindings, err := s.createAll(ctx, parent, []fieldmask.Input[*RoleBinding]{in}, "created", "")
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "created", parent, err)
	}
	return bindings[0], nil
}

// checkReach checks that the identity and the role of a binding can be used on
// group: they apply only within the group that contains them.
func (b *RoleBinding) checkReach(group UID, prefix string, v *violations) {
	identityReference.checkReach(v, prefix+"identityUid", b.IdentityUID, group)
	roleReference.checkReach(v, prefix+"roleUid", b.RoleUID, group)
}

// checkMayBind fails unless the identities and the roles of bindings exist and the caller holds what the
// roles grant on group. It returns the keys of the identities. After an error, it returns the index of the binding
// that caused it, or noRow.
func (s RoleBindings) checkMayBind(ctx context.Context, tx Tx, group UID, bindings ...*RoleBinding) (_ map[UID]RuleKey, failing int, _ error) {
	// The lock must precede the reads, so that their results stay valid until commit.
	tx.Lock(group.Root())
	holders, given := map[UID]*Identity{}, map[UID]*Role{}
	for _, b := range bindings {
		holders[b.IdentityUID], given[b.RoleUID] = nil, nil
	}
	var identities []*Identity
	var roles []*Role
	var caller *Actor
	err := tx.RunTogether(ctx,
		func(ctx context.Context) (err error) {
			identities, roles, err = s.area.tables.Bindable(ctx, tx, slices.Sorted(maps.Keys(holders)), slices.Sorted(maps.Keys(given)))
			return err
		},
		func(ctx context.Context) (err error) { caller, err = s.area.readCaller(ctx, tx); return err },
	)
	if err != nil {
		return nil, noRow, err
	}
	for _, i := range identities {
		holders[i.UID] = i
	}
	for _, r := range roles {
		given[r.UID] = r
	}
	keys, grants := map[UID]RuleKey{}, make([]Grant, len(bindings))
	for i, b := range bindings {
		identity, role := holders[b.IdentityUID], given[b.RoleUID]
		switch {
		case identity == nil:
			return nil, i, identityKind.notFound(b.IdentityUID)
		case role == nil:
			return nil, i, roleKind.notFound(b.RoleUID)
		}
		keys[b.IdentityUID] = identity.ruleKey()
		grants[i] = Grant{Group: group, Capabilities: role.Capabilities, ExpireTime: b.ExpireTime}
	}
	failing, err = caller.checkMayGrantAll(grants)
	return keys, failing, err
}

// Update changes the identity, the role or the end of a binding. The caller must hold everything
// that the binding then grants, for as long as it lasts.
func (s RoleBindings) Update(ctx context.Context, uid UID, in fieldmask.Input[*RoleBinding]) (*RoleBinding, error) {
	change, err := s.rows.authorizeUpdate(ctx, uid, in)
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "updated", uid, err)
	}
	if len(change.Fields) == 0 {
		current, err := s.rows.getCurrent(ctx, uid)
		s.hideNotes(ctx, current)
		return current, err
	}
	var row *RoleBinding
	var wanted RoleBinding
	err = s.writeInPlaceOfExpired(ctx, uid.Parent(), func() []*RoleBinding { return []*RoleBinding{&wanted} }, func(tx Tx) error {
		current, err := s.rows.getLocked(ctx, tx, uid)
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
		var v violations
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
			return v.err()
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
				return s.rows.table.Update(ctx, tx, next, slices.Concat(change.Fields, reviewFields)...)
			},
			func(ctx context.Context) error { _, err := s.area.checkBindings(ctx, tx, keys); return err }, // after the update
		)
		if err != nil {
			return err
		}
		row = next
		s.rows.recordUpdate(ctx, tx, row, append(describeChanges(change, current.writtenFields(), row.writtenFields(), s.rows.kind.Fields), describeReplaced(current, row)...))
		return nil
	})
	if errors.Is(err, ErrDuplicate) {
		err = s.rows.alreadyExists(ctx, uid.Parent(), &wanted)
	}
	if err != nil {
		return nil, s.rows.recordIfDenied(ctx, "updated", uid, err)
	}
	return row, nil
}

// describeReplaced returns the changes of what a binding shows of its identity and its role, so that its
// event tells their names even when they are gone.
func describeReplaced(before, after *RoleBinding) (changes []EventChange) {
	if before.Identity.UID != after.Identity.UID {
		changes = append(changes, newValueChange("identity", before.Identity, after.Identity))
	}
	if before.Role.UID != after.Role.UID {
		changes = append(changes, newValueChange("role", before.Role, after.Role))
	}
	return changes
}

// writtenFields returns a binding with only the fields that can be written. It has no review: what
// somebody confirmed is not what the binding is after a change.
func (b *RoleBinding) writtenFields() *RoleBinding {
	return &RoleBinding{UID: b.UID, IdentityUID: b.Identity.UID, RoleUID: b.Role.UID, ExpireTime: b.ExpireTime}
}

// Delete deletes a role binding. It takes effect with the next request.
func (s RoleBindings) Delete(ctx context.Context, uid UID) error {
	return s.rows.removeChecked(ctx, uid, func(tx Tx, uid UID) error {
		current, err := s.rows.getLocked(ctx, tx, uid)
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
func (s RoleBindings) noteUnbinding(ctx context.Context, tx Tx, b *RoleBinding, note string) error {
	if note != "" {
		return s.noteReview(ctx, tx, b, note)
	}
	if b.ReviewTime.IsZero() {
		return nil
	}
	b.forgetReview()
	return s.rows.table.Update(ctx, tx, b, reviewFields...)
}

// isOfLastingOwner reports whether the binding makes an owner of an organisation who stays one.
func (b *RoleBinding) isOfLastingOwner() bool {
	return b.Group.UID.IsRoot() && b.Role.UID == OwnerRole && b.ExpireTime.IsZero()
}

// checkNotLastOwner fails if b is the binding of the last owner of an
// organisation. Owners whose bindings expire do not count.
func (s RoleBindings) checkNotLastOwner(ctx context.Context, tx Tx, b *RoleBinding) error {
	root := b.Group.UID
	if !b.isOfLastingOwner() {
		return nil
	}
	owners, err := s.area.tables.RoleBindings.List(ctx, tx, Query[*RoleBindingFilter]{
		Scope: newScope(Branch{Relation: OfRole, UID: OwnerRole, Inside: root}), Filter: &RoleBindingFilter{Group: root, Lasting: true},
		Order: s.rows.kind.DefaultOrder, Limit: 2, Parts: PartItems,
	})
	switch {
	case err != nil:
		return err
	case len(owners.Items) > 1:
		return s.area.checkOwnerStays(ctx, tx, root, b.UID)
	}
	return lastOwnerError(root)
}

// checkOwnerStays fails if an organisation loses the last owner who could sign in, because it
// loses a role binding, or the rule of an identity.
func (p *iamArea) checkOwnerStays(ctx context.Context, tx Tx, root, lost UID) error {
	if stays, err := p.tables.HasOwner(ctx, tx, root, lost); err != nil || stays {
		return err
	}
	if had, err := p.tables.HasOwner(ctx, tx, root, ""); err != nil || !had {
		return err
	}
	return lastOwnerError(root)
}

func lastOwnerError(root UID) error {
	return failedPrecondition("LAST_OWNER", string(root), "an organisation needs at least one owner who can sign in and whose binding never expires; bind the owner role to another identity with a rule first")
}
