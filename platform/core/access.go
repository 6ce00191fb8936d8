package platform

import (
	"context"
	"slices"
)

// Access is decided from paths alone, before anything is read. A caller who
// lacks a capability learns nothing about what exists. docs/concepts.md explains the
// access model. The comment of each operation says what it needs.

// require returns the caller if it holds every capability on uid, and
// PERMISSION_DENIED otherwise.
func require(ctx context.Context, uid UID, capabilities ...Capability) (*Actor, error) {
	a, err := requireCaller(ctx)
	if err != nil {
		return nil, err
	}
	for _, c := range capabilities {
		if !a.Can(c, uid) {
			return nil, a.permissionError(c, uid)
		}
	}
	return a, nil
}

// requireIdentity fails unless the caller has an identity. Reading feed data
// needs nothing more.
func requireIdentity(ctx context.Context) error {
	a, err := requireCaller(ctx)
	if err == nil && a.operator == "" && len(a.Identities) == 0 {
		err = &Error{Code: CodePermissionDenied, Reason: unknownBearer, Message: unknownBearerMessage}
	}
	return err
}

// scopesWithAll lists the topmost UIDs on which the actor holds all of the
// capabilities. When there are none, the error names a capability it lacks.
func (a *Actor) scopesWithAll(capabilities ...Capability) ([]UID, error) {
	all := a.scopes(capabilities[0])
	if len(all) == 0 {
		return nil, a.permissionError(capabilities[0], "")
	}
	for _, c := range capabilities[1:] {
		held := a.scopes(c)
		within := func(scopes []UID) func(UID) bool {
			return func(u UID) bool { return slices.ContainsFunc(scopes, u.Within) }
		}
		both := slices.Concat(filterUIDs(all, within(held)), filterUIDs(held, within(all)))
		slices.Sort(both)
		if all = slices.Compact(both); len(all) == 0 {
			return nil, a.permissionError(c, "")
		}
	}
	return all, nil
}

// permissionError returns the error for an actor that lacks a capability on uid,
// or on every resource when uid is "".
func (a *Actor) permissionError(capability Capability, uid UID) *Error {
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

// checkMayGrant fails unless the actor holds on uid every capability that it
// grants there until end, for as long; zero means for ever. Nobody can grant more than they hold,
// nor for longer.
func (a *Actor) checkMayGrant(granted capabilitySet, uid UID, end Time) error {
	missing, why := granted.without(a.capabilitySetOn(uid)), "that you do not hold there: "
	if missing == 0 {
		missing, why = granted.without(a.capabilitySetUntil(uid, end)), "for longer than your own binding lasts; set an expireTime that is not later, or ask somebody whose binding does not expire: "
	}
	if missing == 0 {
		return nil
	}
	err := permissionDenied(missing.list()[0], uid)
	err.Message = "Permission denied: you cannot grant capabilities on " + string(uid) + " " + why + missing.String()
	return err
}

// readableBy reports whether the actor may read the resource uid of the kind. This is the one definition for every way
// to a resource: its list, by UID, path or name, in searches and exports, and by the events about it.
func (k *Kind[T]) readableBy(a *Actor, uid UID) bool {
	// A UID without a group, of a kind with built-in rows, can only name a built-in row.
	if k.Shared || k.IsBuiltIn != nil && uid.IsRoot() {
		return a.operator != "" || a.holdsAnywhere(k.List)
	}
	return !slices.ContainsFunc(k.ReadCapabilities(), func(c Capability) bool { return !a.Can(c, uid) })
}

// newAccessCheck returns the check whether an actor may read the resource uid of the kind, with its outcome.
func (k *Kind[T]) newAccessCheck(uid UID, isReadable bool) accessCheck {
	return accessCheck{func(other *Actor) bool { return k.readableBy(other, uid) }, isReadable}
}

// ReadCapabilities lists what reading needs on the resource.
func (k *Kind[T]) ReadCapabilities() []Capability { return append([]Capability{k.List}, k.Also...) }

// checkSharedReadable fails unless the caller may read the rows of a shared kind.
func (k *Kind[T]) checkSharedReadable(ctx context.Context) error {
	a, err := requireCaller(ctx)
	if err == nil && !k.readableBy(a, "") {
		err = k.refuseReading(a, "")
	}
	return err
}

// scope intersects what the caller may see with what the filter asks for. If the
// caller may see the requested UID, the result is the requested scope. Otherwise
// it is the part of the requested scope that the caller may see.
func (k *Kind[T]) scope(a *Actor, f UIDFilter) (Scope, error) {
	if k.Shared {
		if !k.readableBy(a, "") {
			return Scope{}, k.refuseReading(a, "")
		}
		return newScope(Branch{Relation: Children, UID: f.ChildrenOf}), nil
	}
	asked := []UID{f.AncestorsOf, f.DescendantsOf, f.ChildrenOf}
	asked = slices.DeleteFunc(asked, func(u UID) bool { return u == "" })
	if a.operator != "" && len(asked) > 0 {
		return k.narrowScope(f, []UID{asked[0].Root()}), nil
	}
	allowed, lacking := a.scopesWithAll(k.ReadCapabilities()...)
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
	return k.narrowScope(f, allowed), nil
}

// refuseReading returns the error for an actor that may not read rows of the kind at uid, or anywhere if uid is "". It
// names the first capability that the actor lacks there, above and below.
func (k *Kind[T]) refuseReading(a *Actor, uid UID) *Error {
	isNear := func(r UID) bool { return uid == "" || uid.Within(r) || r.Within(uid) }
	for _, c := range k.ReadCapabilities() {
		if !slices.ContainsFunc(a.scopes(c), isNear) {
			return a.permissionError(c, uid)
		}
	}
	return a.permissionError(k.List, uid)
}

// refuseReadingOf returns the error for an actor that may not read the resource uid. It names the first capability
// that the actor lacks on it.
func (k *Kind[T]) refuseReadingOf(a *Actor, uid UID) *Error {
	if k.Shared {
		return k.refuseReading(a, "") // the grant need not be on this UID
	}
	for _, c := range k.ReadCapabilities() {
		if !a.Can(c, uid) {
			return a.permissionError(c, uid)
		}
	}
	return a.permissionError(k.List, uid)
}

// showsChildren reports whether a caller with grants on the allowed UIDs can see
// any children of parent. A grant on the parent or above shows all of them. A
// child can have a grant of its own only if it is a group. When the caller can
// see no child, the list must fail: an empty page would not distinguish "not
// permitted" from "there are none".
func (k *Kind[T]) showsChildren(parent UID, allowed []UID) bool {
	inGroups := k.Parent == k.ref()
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

func (k *Kind[T]) narrowScope(f UIDFilter, allowed []UID) Scope {
	within := func(u UID) bool {
		return slices.ContainsFunc(allowed, func(r UID) bool { return u.Within(r) })
	}
	switch {
	case f.IDs != nil || f.AncestorsOf != "" || f.InRoot:
		return k.listedScope(f, allowed, within)
	case f.ChildrenOf != "" && f.DescendantsOf != "" && !f.ChildrenOf.Within(f.DescendantsOf):
		return Scope{}
	case f.ChildrenOf != "" && within(f.ChildrenOf):
		return newScope(Branch{Relation: Children, UID: f.ChildrenOf})
	case f.ChildrenOf != "":
		// Only the children that have a grant of their own are visible.
		visible := filterUIDs(allowed, func(r UID) bool { return k.parent(r) == f.ChildrenOf })
		return newScope(Branch{Relation: Listed, UIDs: visible})
	case f.DescendantsOf != "" && within(f.DescendantsOf):
		return newScope(Branch{Relation: Below, UID: f.DescendantsOf})
	case f.DescendantsOf != "":
		return subtreeScope(filterUIDs(allowed, func(r UID) bool { return r.Below(f.DescendantsOf) }))
	}
	all := subtreeScope(allowed)
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
			return newScope(Branch{Relation: BuiltIn})
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
	return newScope(Branch{Relation: Listed, UIDs: slices.Compact(uids)})
}

func newScope(b Branch) Scope {
	if b.Relation == Listed && len(b.UIDs) == 0 {
		return Scope{}
	}
	return Scope{[]Branch{b}}
}

func subtreeScope(roots []UID) Scope {
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

func (f UIDFilter) check(v *violations) {
	for _, x := range []struct {
		field string
		uid   UID
	}{{"uidp.ancestors_of", f.AncestorsOf}, {"uidp.descendants_of", f.DescendantsOf}, {"uidp.children_of", f.ChildrenOf}} {
		if x.uid != "" {
			v.checkUID(x.field, x.uid)
		}
	}
	if len(f.IDs) > maxIDs {
		v.add("uidp.ids", "must be at most %d UIDs", maxIDs)
	}
	for _, u := range f.IDs {
		if !u.Valid() {
			v.checkUID("uidp.ids", u)
			break
		}
	}
}

// maxIDs limits filters that name individual rows.
const maxIDs = 1000
