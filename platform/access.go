package platform

import (
	"context"
	"slices"
)

// Access is decided from paths alone, before anything is read: who lacks a
// capability learns nothing about what exists (access model: capabilities.md
// and the comments of each operation).

// need demands that the caller holds every capability on uid.
func need(ctx context.Context, uid UID, capabilities ...Capability) (*Actor, error) {
	a, err := caller(ctx)
	if err != nil {
		return nil, err
	}
	if err := proveToChange(ctx, capabilities); err != nil {
		return nil, err
	}
	for _, c := range capabilities {
		if !a.Can(c, uid) {
			return nil, a.lacks(c, uid)
		}
	}
	return a, nil
}

// identified demands a caller with an identity, which is all that feed data
// asks for.
func identified(ctx context.Context) error {
	a, err := caller(ctx)
	if err == nil && a.operator == "" && len(a.Identities) == 0 {
		err = a.lacks("", "")
	}
	return err
}

// everywhere lists the topmost UIDs on which a holds all of capabilities, or
// tells which one it lacks.
func (a *Actor) everywhere(capabilities ...Capability) ([]UID, error) {
	all := a.scopes(capabilities[0])
	for _, c := range capabilities {
		held := a.scopes(c)
		within := func(scopes []UID) func(UID) bool {
			return func(u UID) bool { return slices.ContainsFunc(scopes, u.Within) }
		}
		both := slices.Concat(keep(all, within(held)), keep(held, within(all)))
		slices.Sort(both)
		if all = slices.Compact(both); len(all) == 0 {
			return nil, a.lacks(c, "")
		}
	}
	return all, nil
}

// lacks is the answer to an actor without capability on uid ("" anywhere).
func (a *Actor) lacks(capability Capability, uid UID) *Error {
	err := denied(capability, uid)
	if len(a.Identities) == 0 {
		err.Reason = "IDENTITY_NOT_FOUND"
		err.Message = "Permission denied: no identity matches this token"
	}
	return err
}

// dominates demands that the actor holds everything it hands out on uid: no
// one gives more than they have.
func (a *Actor) dominates(handedOut capabilitySet, uid UID) error {
	if missing := handedOut.without(a.on(uid)); missing != 0 {
		err := denied(missing.list()[0], uid)
		err.Message = "Permission denied: you cannot hand out on " + string(uid) + " what you do not hold there: " + missing.String()
		return err
	}
	return nil
}

// reads reports whether the actor may read the resource uid of kind k.
func (k *Kind[T]) readableBy(a *Actor, uid UID) bool {
	// Of a kind with built-in ones, what has no group is one of them or nothing.
	if k.Shared || k.IsBuiltIn != nil && uid.IsRoot() {
		return a.operator != "" || len(a.scopes(k.List)) > 0
	}
	return a.Can(k.List, uid)
}

// shared demands that the caller may read the rows of a shared kind.
func (k *Kind[T]) shared(ctx context.Context) error {
	a, err := caller(ctx)
	if err == nil && !k.readableBy(a, "") {
		err = a.lacks(k.List, "")
	}
	return err
}

// scope folds what the caller may see with what it asks for. An allowed UID at
// or above the asked one gives exactly the asked scope; else the allowed ones
// below it are what is left of it.
func (k *Kind[T]) scope(a *Actor, f UIDFilter) (Scope, error) {
	if k.Shared {
		if !k.readableBy(a, "") {
			return Scope{}, a.lacks(k.List, "")
		}
		return scopeOf(Branch{Relation: Children, UID: f.ChildrenOf}), nil
	}
	asked := []UID{f.AncestorsOf, f.DescendantsOf, f.ChildrenOf}
	asked = slices.DeleteFunc(asked, func(u UID) bool { return u == "" })
	if a.operator != "" && len(asked) > 0 {
		return k.narrowed(f, []UID{asked[0].Root()}), nil
	}
	allowed := a.scopes(k.List)
	if len(allowed) == 0 {
		return Scope{}, a.lacks(k.List, firstOf(asked))
	}
	for _, u := range asked {
		related := func(r UID) bool { return u.Within(r) || r.Within(u) }
		if !slices.ContainsFunc(allowed, related) {
			return Scope{}, a.lacks(k.List, u)
		}
	}
	if f.ChildrenOf != "" && !k.showsChildren(f.ChildrenOf, allowed) {
		return Scope{}, a.lacks(k.List, f.ChildrenOf)
	}
	return k.narrowed(f, allowed), nil
}

// showsChildren reports whether a caller who may list on allowed sees children
// of parent: all of them from the parent or above. A grant lies on a group, so
// only where groups lie in groups can a child be granted itself. An empty page
// would not tell what is refused from what is not there.
func (k *Kind[T]) showsChildren(parent UID, allowed []UID) bool {
	inGroups := k.Parent == k.Name
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

func (k *Kind[T]) narrowed(f UIDFilter, allowed []UID) Scope {
	within := func(u UID) bool {
		return slices.ContainsFunc(allowed, func(r UID) bool { return u.Within(r) })
	}
	switch {
	case f.IDs != nil || f.AncestorsOf != "" || f.InRoot:
		return k.listed(f, allowed, within)
	case f.ChildrenOf != "" && f.DescendantsOf != "" && !f.ChildrenOf.Within(f.DescendantsOf):
		return Scope{}
	case f.ChildrenOf != "" && within(f.ChildrenOf):
		return scopeOf(Branch{Relation: Children, UID: f.ChildrenOf})
	case f.ChildrenOf != "":
		// Of the children only those groups are visible that are granted themselves.
		visible := keep(allowed, func(r UID) bool { return k.parent(r) == f.ChildrenOf })
		return scopeOf(Branch{Relation: Listed, UIDs: visible})
	case f.DescendantsOf != "" && within(f.DescendantsOf):
		return scopeOf(Branch{Relation: Below, UID: f.DescendantsOf})
	case f.DescendantsOf != "":
		return subtrees(keep(allowed, func(r UID) bool { return r.Below(f.DescendantsOf) }))
	}
	all := subtrees(allowed)
	if k.IsBuiltIn != nil {
		all.branches = append(all.branches, Branch{Relation: BuiltIn})
	}
	return all
}

// listed is the scope of filters that name rows one by one.
func (k *Kind[T]) listed(f UIDFilter, allowed []UID, within func(UID) bool) Scope {
	var uids []UID
	switch {
	case f.IDs != nil:
		uids = slices.Clone(f.IDs)
	case f.AncestorsOf != "":
		uids = f.AncestorsOf.Ancestors()
	default:
		uids = keep(allowed, UID.IsRoot)
		if k.IsBuiltIn != nil && f.DescendantsOf == "" && f.ChildrenOf == "" {
			return scopeOf(Branch{Relation: BuiltIn})
		}
	}
	uids = keep(uids, func(u UID) bool {
		builtIn := k.IsBuiltIn != nil && k.IsBuiltIn(u)
		return (builtIn || within(u)) &&
			(f.AncestorsOf == "" || f.AncestorsOf.Below(u)) &&
			(f.DescendantsOf == "" || k.below(u, f.DescendantsOf)) &&
			(f.ChildrenOf == "" || k.parent(u) == f.ChildrenOf) &&
			(!f.InRoot || u.IsRoot())
	})
	slices.Sort(uids)
	return scopeOf(Branch{Relation: Listed, UIDs: slices.Compact(uids)})
}

func scopeOf(b Branch) Scope {
	if b.Relation == Listed && len(b.UIDs) == 0 {
		return Scope{}
	}
	return Scope{[]Branch{b}}
}

func subtrees(roots []UID) Scope {
	s := Scope{make([]Branch, len(roots))}
	for i, r := range roots {
		s.branches[i] = Branch{Relation: Within, UID: r}
	}
	return s
}

func keep(uids []UID, ok func(UID) bool) []UID {
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
			v.uid(x.field, x.uid)
		}
	}
	if len(f.IDs) > maxIDs {
		v.add("uidp.ids", "must be at most %d UIDs", maxIDs)
	}
	for _, u := range f.IDs {
		if !u.Valid() {
			v.uid("uidp.ids", u)
			break
		}
	}
}

// maxIDs bounds filters that name rows one by one.
const maxIDs = 1000
