package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// A RoleBinding gives an identity a role on a group and everything below. It
// is always read with what it binds; only IdentityUID and RoleUID are written.
type RoleBinding struct {
	UID         UID           `json:"uid"`
	Identity    BoundIdentity `json:"identity"`
	Group       BoundGroup    `json:"group"`
	Role        BoundRole     `json:"role"`
	CreateTime  Time          `json:"createTime,omitzero"`
	IdentityUID UID           `json:"identityUid,omitempty"` // input only
	RoleUID     UID           `json:"roleUid,omitempty"`     // input only
}

// A BoundIdentity is what a binding shows of its identity.
type BoundIdentity struct {
	UID         UID    `json:"uid"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
	Subject     string `json:"subject,omitempty"`
	Issuer      string `json:"issuer,omitempty"`
	Email       string `json:"email,omitempty"`
}

// A BoundGroup is what a binding shows of its group.
type BoundGroup struct {
	UID         UID    `json:"uid"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// A BoundRole is what a binding shows of its role.
type BoundRole struct {
	UID         UID    `json:"uid"`
	Name        string `json:"name"`
	Description string `json:"description,omitempty"`
}

// RoleBindingFilter restricts a list of role bindings.
type RoleBindingFilter struct {
	Identity   UID        `json:",omitempty"`
	Group      UID        `json:",omitempty"` // bound on exactly this group
	Role       UID        `json:",omitempty"`
	Capability Capability `json:",omitempty"` // held by the role
}

func (f RoleBindingFilter) check(v *violations) {
	for _, x := range []struct {
		field string
		uid   UID
	}{{"identity", f.Identity}, {"group", f.Group}, {"role", f.Role}} {
		if x.uid != "" {
			v.uid(x.field, x.uid)
		}
	}
}

var roleBindingKind = Kind[RoleBinding]{
	Name: "RoleBinding", Plural: "roleBindings", Area: "iam", Number: 4, Event: "iam.rolebindings", Parent: "Group",
	Verbs: []string{"created", "created.batch", "updated", "deleted"},
	List:  CapRoleBindingsList, Create: CapRoleBindingsCreate, Update: CapRoleBindingsUpdate, Delete: CapRoleBindingsDelete,
	Fields: []Field{
		{"uid", OutputOnly}, {"identity", Volatile}, {"group", Volatile}, {"role", Volatile}, {"createTime", OutputOnly},
		{"identityUid", Updatable}, {"roleUid", Updatable},
	},
	Required: []string{"identityUid", "roleUid"},
	Orders: []OrderField[RoleBinding]{
		{"create_time", createTimeSpellings, func(b *RoleBinding) any { return b.CreateTime }},
		{"uid", nil, func(b *RoleBinding) any { return string(b.UID) }},
		{"identity_name", []string{"identityName", "identity.name"}, func(b *RoleBinding) any { return b.Identity.Name }},
		{"group_name", []string{"groupName", "group.name"}, func(b *RoleBinding) any { return b.Group.Name }},
		{"role_name", roleNameSpellings, func(b *RoleBinding) any { return b.Role.Name }},
	},
	DefaultOrder: Order{Field: "create_time", Desc: true},
	UID:          func(b *RoleBinding) UID { return b.UID },
	Group:        parentOf(func(b *RoleBinding) UID { return b.UID }),
	Stamp:        func(b *RoleBinding, uid UID, now Time) { b.UID, b.CreateTime = uid, now },
	Check: func(b *RoleBinding, changed func(string) bool, v *violations) {
		if changed("identityUid") {
			v.requiredUID("identityUid", b.IdentityUID)
		}
		if changed("roleUid") {
			v.requiredUID("roleUid", b.RoleUID)
		}
	},
}

// roleNameSpellings are what order_by accepts for the name of the role that a
// row shows.
var roleNameSpellings = []string{"roleName", "role.name"}

func (v *violations) requiredUID(field string, u UID) {
	if u == "" {
		v.add(field, "is required")
		return
	}
	v.uid(field, u)
}

// MaxBatch is how many bindings one batchCreate may hold.
const MaxBatch = 25

// RoleBindings are the operations on role bindings.
type RoleBindings struct {
	resources[RoleBinding, RoleBindingFilter]
}

func sameBinding(b *RoleBinding) RoleBindingFilter {
	return RoleBindingFilter{Identity: b.IdentityUID, Role: b.RoleUID}
}

func newBinding(group, identity, role UID, now Time) *RoleBinding {
	b := &RoleBinding{IdentityUID: identity, RoleUID: role}
	roleBindingKind.Stamp(b, group.newChild(), now)
	return b
}

// Create binds a role to an identity on a group. The caller must hold all that
// the role grants there.
func (s RoleBindings) Create(ctx context.Context, parent UID, in Input[RoleBinding]) (*RoleBinding, error) {
	bindings, err := s.bind(ctx, parent, []Input[RoleBinding]{in}, "created", func(int) string { return "" })
	if err != nil {
		return nil, s.refused(ctx, "created", parent, err)
	}
	return bindings[0], nil
}

// CreateBatch makes up to MaxBatch bindings on one group: all or none.
func (s RoleBindings) CreateBatch(ctx context.Context, parent UID, ins []Input[RoleBinding]) ([]*RoleBinding, error) {
	if len(ins) == 0 || len(ins) > MaxBatch {
		if _, err := caller(ctx); err != nil {
			return nil, err
		}
		return nil, s.kind.in(Invalid(Violation{"requests", fmt.Sprintf("must be 1 to %d", MaxBatch)}))
	}
	bindings, err := s.bind(ctx, parent, ins, "created.batch", func(i int) string { return fmt.Sprintf("requests[%d].roleBinding.", i) })
	if err != nil {
		return nil, s.refused(ctx, "created.batch", parent, err)
	}
	return bindings, nil
}

// bind makes bindings on a group; place is what the fields of the i-th are
// called by.
func (s RoleBindings) bind(ctx context.Context, parent UID, ins []Input[RoleBinding], verb string, place func(i int) string) ([]*RoleBinding, error) {
	bindings, err := s.acceptAll(ctx, parent, ins, place)
	if err != nil {
		return nil, err
	}
	var made []*RoleBinding
	err = s.p.store.Write(ctx, func(tx Tx) error {
		made = make([]*RoleBinding, len(bindings))
		for i, b := range bindings {
			one := *b // which is read back; b stays, should the unit be run again
			made[i] = &one
			if err := s.mayBind(ctx, tx, parent, b); err != nil {
				return err
			}
		}
		if err := s.rows(tx).Insert(ctx, made...); err != nil {
			return err
		}
		return s.recordBound(ctx, tx, made, verb)
	})
	switch {
	case errors.Is(err, ErrDuplicate):
		return nil, s.firstTaken(ctx, parent, bindings)
	case errors.Is(err, ErrNoParent):
		return nil, missing("Group", parent)
	}
	return made, err
}

// acceptAll accepts every binding, or reports what is wrong with all of them.
func (s RoleBindings) acceptAll(ctx context.Context, parent UID, ins []Input[RoleBinding], place func(i int) string) ([]*RoleBinding, error) {
	bindings := make([]*RoleBinding, len(ins))
	var all violations
	for i, in := range ins {
		b, err := s.accept(ctx, parent, in)
		var e *Error
		if err != nil && (!errors.As(err, &e) || e.Code != CodeInvalidArgument) {
			return nil, err
		}
		bindings[i] = b
		if e == nil {
			b.reach(parent, place(i), &all)
			continue
		}
		for _, x := range e.Violations {
			if x.Field != "parent" {
				x.Field = place(i) + x.Field
			} else if i > 0 {
				continue // the parent is the same for all
			}
			all = append(all, x)
		}
	}
	return bindings, all.err()
}

// recordBound reads back what was bound, and records that it was.
func (s RoleBindings) recordBound(ctx context.Context, tx Tx, bindings []*RoleBinding, verb string) error {
	if err := s.hydrate(ctx, tx, bindings); err != nil {
		return err
	}
	for _, b := range bindings {
		tx.Record(s.p.event(ctx, s.kind.Event, verb, b.UID, b.Group.UID, b))
	}
	return nil
}

// hydrate reads back what was bound, for the answer and the events.
func (s RoleBindings) hydrate(ctx context.Context, tx Tx, bindings []*RoleBinding) error {
	uids := make([]UID, len(bindings))
	for i, b := range bindings {
		uids[i] = b.UID
	}
	found, err := TableOf[RoleBinding, RoleBindingFilter](tx).Get(ctx, Keys{uids: uids})
	if err != nil {
		return err
	}
	for _, b := range found {
		*bindings[slices.Index(uids, b.UID)] = *b
	}
	return nil
}

// reach adds what keeps a binding from counting on group: identities and roles
// reach no further than the group that they live under.
func (b *RoleBinding) reach(group UID, prefix string, v *violations) {
	toIdentity.checkReach(v, prefix+"identityUid", b.IdentityUID, group)
	toRole.checkReach(v, prefix+"roleUid", b.RoleUID, group)
}

// mayBind demands of a binding on group that its identity and role exist, and
// that the caller holds what the role grants.
func (s RoleBindings) mayBind(ctx context.Context, tx Tx, group UID, b *RoleBinding) error {
	// The locks come before the reads: what they find must hold until commit.
	if err := tx.Lock(ctx, group.Root()); err != nil {
		return err
	}
	if _, err := resolve(ctx, toIdentity.kind, b.IdentityUID, TableOf[Identity, IdentityFilter](tx).Get); err != nil {
		return err
	}
	return handsOutRole(ctx, tx, "roleUid", b.RoleUID, group)
}

// firstTaken names the binding that is there already.
func (s RoleBindings) firstTaken(ctx context.Context, parent UID, bindings []*RoleBinding) error {
	var err error
	for _, b := range bindings {
		err = s.alreadyExists(ctx, parent, sameBinding(b))
		var e *Error
		if !errors.As(err, &e) || e.Resource.Name != "" {
			return err
		}
	}
	return err
}

// Update changes the identity or the role of a binding.
func (s RoleBindings) Update(ctx context.Context, uid UID, in Input[RoleBinding]) (*RoleBinding, error) {
	change, err := s.change(ctx, uid, in)
	if err != nil {
		return nil, s.refused(ctx, "updated", uid, err)
	}
	if len(change.fields) == 0 {
		return s.unchanged(ctx, uid)
	}
	var row *RoleBinding
	var wanted RoleBinding
	err = s.p.store.Write(ctx, func(tx Tx) error {
		current, err := s.locked(ctx, tx, uid)
		if err != nil {
			return err
		}
		next := &RoleBinding{UID: uid, IdentityUID: current.Identity.UID, RoleUID: current.Role.UID}
		if change.writes("identityUid") {
			next.IdentityUID = change.row.IdentityUID
		}
		if change.writes("roleUid") {
			next.RoleUID = change.row.RoleUID
		}
		if next.RoleUID != current.Role.UID {
			if err := s.notLastOwner(ctx, tx, current); err != nil {
				return err
			}
		}
		var v violations
		if next.reach(uid.Parent(), "", &v); len(v) > 0 {
			return v.err()
		}
		if err := s.mayBind(ctx, tx, uid.Parent(), next); err != nil {
			return err
		}
		wanted = *next
		if err := s.rows(tx).Update(ctx, next, change.fields...); err != nil {
			return err
		}
		row = next
		if err := s.hydrate(ctx, tx, []*RoleBinding{row}); err != nil {
			return err
		}
		s.recordUpdate(ctx, tx, row, change.changesTo(current.asWritten(), row.asWritten(), s.kind.Fields))
		return nil
	})
	if errors.Is(err, ErrDuplicate) {
		err = s.alreadyExists(ctx, uid.Parent(), sameBinding(&wanted))
	}
	if err != nil {
		return nil, s.refused(ctx, "updated", uid, err)
	}
	return row, nil
}

// asWritten is a binding with what it binds in the fields that are written.
func (b *RoleBinding) asWritten() *RoleBinding {
	return &RoleBinding{UID: b.UID, IdentityUID: b.Identity.UID, RoleUID: b.Role.UID}
}

// Delete takes a role from an identity; it counts from the next request on.
func (s RoleBindings) Delete(ctx context.Context, uid UID) error {
	return s.removeIf(ctx, uid, s.mayUnbind(ctx))
}

// mayUnbind demands of a binding that is to go that somebody else can give access.
func (s RoleBindings) mayUnbind(ctx context.Context) func(tx Tx, uid UID) error {
	return func(tx Tx, uid UID) error {
		current, err := s.locked(ctx, tx, uid)
		if err != nil {
			return err
		}
		return s.notLastOwner(ctx, tx, current)
	}
}

// notLastOwner keeps an organisation from losing the last one who can give
// anybody access to it.
func (s RoleBindings) notLastOwner(ctx context.Context, tx Tx, b *RoleBinding) error {
	root := b.Group.UID
	if !root.IsRoot() || b.Role.UID != OwnerRole {
		return nil
	}
	owners, err := TableOf[RoleBinding, RoleBindingFilter](tx).List(ctx, Query[RoleBindingFilter]{
		Scope: scopeOf(Branch{Relation: OfRole, UID: OwnerRole, Inside: root}), Filter: RoleBindingFilter{Group: root},
		Order: s.kind.DefaultOrder, Limit: 2, Parts: PartItems,
	})
	if err != nil || len(owners.Items) > 1 {
		return err
	}
	return blocked("LAST_OWNER", string(root), "an organisation needs an owner")
}
