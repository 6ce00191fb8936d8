package core

import (
	"context"
	"slices"
)

// Access is decided from paths alone, before anything is read. A caller who
// lacks a capability learns nothing about what exists. docs/concepts.md explains the
// access model. The comment of each operation says what it needs.

// Require returns the caller if it holds every capability on uid, and
// PERMISSION_DENIED otherwise.
func Require(ctx context.Context, uid UID, capabilities ...Capability) (*Actor, error) {
	a, err := RequireCaller(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range capabilities {
		if !a.Can(c, uid) {
			return nil, a.PermissionError(c, uid)
		}
	}
	return a, nil
}

// RequireIdentity fails unless the caller has an identity. Reading feed data
// needs nothing more.
func RequireIdentity(ctx context.Context) error {
	a, err := RequireCaller(ctx)
	if err == nil && a.Operator == "" && len(a.Identities) == 0 {
		err = &Error{Code: CodePermissionDenied, Reason: unknownBearer, Message: unknownBearerMessage}
	}
	return err
}

// ScopesWithAll lists the topmost UIDs on which the actor holds all of the
// capabilities. When there are none, the error names a capability it lacks.
func (a *Actor) ScopesWithAll(capabilities ...Capability) ([]UID, error) {
	all := a.Scopes(capabilities[0])
	if len(all) == 0 {
		return nil, a.PermissionError(capabilities[0], "")
	}
	for _, c := range capabilities[1:] {
		held := a.Scopes(c)
		within := func(scopes []UID) func(UID) bool {
			return func(u UID) bool { return slices.ContainsFunc(scopes, u.Within) }
		}
		both := slices.Concat(filterUIDs(all, within(held)), filterUIDs(held, within(all)))
		slices.Sort(both)
		if all = slices.Compact(both); len(all) == 0 {
			return nil, a.PermissionError(c, "")
		}
	}
	return all, nil
}

// PermissionError returns the error for an actor that lacks a capability on uid,
// or on every resource when uid is "".
func (a *Actor) PermissionError(capability Capability, uid UID) *Error {
	err := permissionDenied(capability, uid)
	if len(a.Identities) == 0 {
		err.Reason, err.Message = unknownBearer, unknownBearerMessage
	}
	return err
}

// The reason and the message of the error for a caller without an identity.
const (
	unknownBearer        = "IDENTITY_NOT_FOUND"
	unknownBearerMessage = "Permission denied: no identity matches this token"
)

// CheckMayGrant fails unless the actor holds on uid every capability that it
// grants there until end, for as long; zero means for ever. Nobody can grant more than they hold,
// nor for longer.
func (a *Actor) CheckMayGrant(granted CapabilitySet, uid UID, end Time) error {
	missing, why := granted.Without(a.CapabilitySetOn(uid)), "that you do not hold there: "
	if missing == 0 {
		missing, why = granted.Without(a.capabilitySetUntil(uid, end)), "for longer than your own binding lasts; set an expireTime that is not later, or ask somebody whose binding does not expire: "
	}
	if missing == 0 {
		return nil
	}
	err := permissionDenied(missing.List()[0], uid)
	err.Message = "Permission denied: you cannot grant capabilities on " + string(uid) + " " + why + missing.String()
	return err
}

// ReadableBy reports whether the actor may read the resource uid of the kind. This is the one definition for every way
// to a resource: its list, by UID, path or name, in searches and exports, and by the events about it.
func (k *Kind[T]) ReadableBy(a *Actor, uid UID) bool {
	// A UID without a group, of a kind with built-in rows, can only name a built-in row.
	if k.Shared || k.IsBuiltIn != nil && uid.IsRoot() {
		return a.Operator != "" || a.holdsAnywhere(k.List)
	}
	return !slices.ContainsFunc(k.ReadCapabilities(), func(c Capability) bool { return !a.Can(c, uid) })
}

// newAccessCheck returns the check whether an actor may read the resource uid of the kind, with its outcome.
func (k *Kind[T]) newAccessCheck(uid UID, isReadable bool) accessCheck {
	return accessCheck{func(other *Actor) bool { return k.ReadableBy(other, uid) }, isReadable}
}

// ReadCapabilities lists what reading needs on the resource.
func (k *Kind[T]) ReadCapabilities() []Capability { return append([]Capability{k.List}, k.Also...) }

// CheckSharedReadable fails unless the caller may read the rows of a shared kind.
func (k *Kind[T]) CheckSharedReadable(ctx context.Context) error {
	a, err := RequireCaller(ctx)
	if err == nil && !k.ReadableBy(a, "") {
		err = k.refuseReading(a, "")
	}
	return err
}

// Scope intersects what the caller may see with what the filter asks for. If the
// caller may see the requested UID, the result is the requested scope. Otherwise
// it is the part of the requested scope that the caller may see.
func (k *Kind[T]) Scope(a *Actor, f UIDFilter) (Scope, error) {
	if k.Shared {
		if !k.ReadableBy(a, "") {
			return Scope{}, k.refuseReading(a, "")
		}
		return NewScope(Branch{Relation: Children, UID: f.ChildrenOf}), nil
	}
	asked := []UID{f.AncestorsOf, f.DescendantsOf, f.ChildrenOf}
	asked = slices.DeleteFunc(asked, func(u UID) bool { return u == "" })
	if a.Operator != "" && len(asked) > 0 {
		return k.NarrowScope(f, []UID{asked[0].Root()}), nil
	}
	allowed, lacking := a.ScopesWithAll(k.ReadCapabilities()...)
	if lacking != nil {
		return Scope{}, k.refuseReading(a, firstOf(asked))
	}
	for _, u := range asked {
		related := func(r UID) bool { return u.Within(r) || r.Within(u) }
		if !slices.ContainsFunc(allowed, related) {
			return Scope{}, k.refuseReading(a, u)
		}
	}
	if f.ChildrenOf != "" && !k.showsChildren(f.ChildrenOf, allowed) {
		return Scope{}, k.refuseReading(a, f.ChildrenOf)
	}
	return k.NarrowScope(f, allowed), nil
}

// refuseReading returns the error for an actor that may not read rows of the kind at uid, or anywhere if uid is "". It
// names the first capability that the actor lacks there, above and below.
func (k *Kind[T]) refuseReading(a *Actor, uid UID) *Error {
	isNear := func(r UID) bool { return uid == "" || uid.Within(r) || r.Within(uid) }
	for _, c := range k.ReadCapabilities() {
		if !slices.ContainsFunc(a.Scopes(c), isNear) {
			return a.PermissionError(c, uid)
		}
	}
	return a.PermissionError(k.List, uid)
}

// RefuseReadingOf returns the error for an actor that may not read the resource uid. It names the first capability
// that the actor lacks on it.
func (k *Kind[T]) RefuseReadingOf(a *Actor, uid UID) *Error {
	if k.Shared {
		return k.refuseReading(a, "") // the grant need not be on this UID
	}
	for _, c := range k.ReadCapabilities() {
		if !a.Can(c, uid) {
			return a.PermissionError(c, uid)
		}
	}
	return a.PermissionError(k.List, uid)
}

// showsChildren reports whether a caller with grants on the allowed UIDs can see
// any children of parent. A grant on the parent or above shows all of them. A
// child can have a grant of its own only if it is a group. When the caller can
// see no child, the list must fail: an empty page would not distinguish "not
// permitted" from "there are none".
func (k *Kind[T]) showsChildren(parent UID, allowed []UID) bool {
	inGroups := k.Parent == k.Ref()
	return slices.ContainsFunc(allowed, func(r UID) bool {
		return parent.Within(r) || inGroups && k.parent(r) == parent
	})
}

func firstOf(uids []UID) UID {
	if len(uids) == 0 {
		return ""
	}
	return uids[0]
}

// NarrowScope returns the part of a request that lies within the UIDs allowed.
func (k *Kind[T]) NarrowScope(f UIDFilter, allowed []UID) Scope {
	within := func(u UID) bool {
		return slices.ContainsFunc(allowed, func(r UID) bool { return u.Within(r) })
	}
	switch {
	case f.IDs != nil || f.AncestorsOf != "" || f.InRoot:
		return k.listedScope(f, allowed, within)
	case f.ChildrenOf != "" && f.DescendantsOf != "" && !f.ChildrenOf.Within(f.DescendantsOf):
		return Scope{}
	case f.ChildrenOf != "" && within(f.ChildrenOf):
		return NewScope(Branch{Relation: Children, UID: f.ChildrenOf})
	case f.ChildrenOf != "":
		// Only the children that have a grant of their own are visible.
		visible := filterUIDs(allowed, func(r UID) bool { return k.parent(r) == f.ChildrenOf })
		return NewScope(Branch{Relation: Listed, UIDs: visible})
	case f.DescendantsOf != "" && within(f.DescendantsOf):
		return NewScope(Branch{Relation: Below, UID: f.DescendantsOf})
	case f.DescendantsOf != "":
		return SubtreeScope(filterUIDs(allowed, func(r UID) bool { return r.Below(f.DescendantsOf) }))
	}
	all := SubtreeScope(allowed)
	if k.IsBuiltIn != nil {
		all.Branches = append(all.Branches, Branch{Relation: BuiltIn})
	}
	return all
}

// listedScope returns the scope of filters that name individual rows.
func (k *Kind[T]) listedScope(f UIDFilter, allowed []UID, within func(UID) bool) Scope {
	var uids []UID
	switch {
	case f.IDs != nil:
		uids = slices.Clone(f.IDs)
	case f.AncestorsOf != "":
		uids = f.AncestorsOf.Ancestors()
	default:
		uids = filterUIDs(allowed, UID.IsRoot)
		if k.IsBuiltIn != nil && f.DescendantsOf == "" && f.ChildrenOf == "" {
			return NewScope(Branch{Relation: BuiltIn})
		}
	}
	uids = filterUIDs(uids, func(u UID) bool {
		builtIn := k.IsBuiltIn != nil && k.IsBuiltIn(u)
		return (builtIn || within(u)) &&
			(f.AncestorsOf == "" || f.AncestorsOf.Below(u)) &&
			(f.DescendantsOf == "" || k.below(u, f.DescendantsOf)) &&
			(f.ChildrenOf == "" || k.parent(u) == f.ChildrenOf) &&
			(!f.InRoot || u.IsRoot())
	})
	slices.Sort(uids)
	return NewScope(Branch{Relation: Listed, UIDs: slices.Compact(uids)})
}

// NewScope returns the scope of a branch.
func NewScope(b Branch) Scope {
	if b.Relation == Listed && len(b.UIDs) == 0 {
		return Scope{}
	}
	return Scope{[]Branch{b}}
}

// SubtreeScope returns the scope of all rows at roots and below.
func SubtreeScope(roots []UID) Scope {
	s := Scope{make([]Branch, len(roots))}
	for i, r := range roots {
		s.Branches[i] = Branch{Relation: Within, UID: r}
	}
	return s
}

func filterUIDs(uids []UID, ok func(UID) bool) []UID {
	kept := []UID{}
	for _, u := range uids {
		if ok(u) {
			kept = append(kept, u)
		}
	}
	return kept
}

// Check adds the violations of the conditions.
func (f UIDFilter) Check(v *Violations) {
	for _, x := range []struct {
		field string
		uid   UID
	}{{"uidp.ancestors_of", f.AncestorsOf}, {"uidp.descendants_of", f.DescendantsOf}, {"uidp.children_of", f.ChildrenOf}} {
		if x.uid != "" {
			v.CheckUID(x.field, x.uid)
		}
	}
	if len(f.IDs) > MaxIDs {
		v.Add("uidp.ids", "must have at most %d UIDs", MaxIDs)
	}
	for _, u := range f.IDs {
		if !u.Valid() {
			v.CheckUID("uidp.ids", u)
			break
		}
	}
}

// MaxIDs limits filters that name individual rows.
const MaxIDs = 1000
