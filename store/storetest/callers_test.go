package storetest_test

import (
	"slices"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// pullRole can list groups, repos and tags, and nothing else.
const pullRole core.UID = "8796e4182e21cccdbd8ea824f1d05487610c7285"

// createCallers creates callers who see different parts of the forest.
func (f *forest) createCallers() {
	atDepth := func(depth int) core.UID {
		for _, g := range f.groups {
			if g.UID.Depth() == depth && g.UID.Root() == f.root {
				return g.UID
			}
		}
		f.t.Fatalf("no group of depth %d grew", depth)
		return ""
	}
	var leaves, several []core.UID
	for _, g := range f.groups {
		isParent := slices.ContainsFunc(f.groups, func(h *iam.Group) bool { return h.UID.Parent() == g.UID })
		if g.UID.Root() != f.root || g.UID == f.root {
			continue
		}
		if !isParent {
			leaves = append(leaves, g.UID)
		}
		if f.d.IntN(4) == 0 {
			several = append(several, g.UID)
		}
	}
	if len(leaves) <= 32 {
		f.t.Fatalf("%d leaves are too few: one statement reads 32 branches", len(leaves))
	}
	people := slices.Clone(f.identities)
	f.caller("root", iam.OwnerRole, f.root, f.root)
	for i, name := range []string{"two", "three", "four", "five"} {
		f.caller(name, iam.ViewerRole, f.root, atDepth(i+2))
	}
	f.caller("leaves", iam.ViewerRole, f.root, leaves...)
	f.caller("several", iam.ViewerRole, f.root, several...)
	f.caller("puller", pullRole, f.root, several[:2]...)
	f.caller("housed", iam.ViewerRole, atDepth(2), f.root) // A role has no effect outside the group that it belongs to.
	f.caller("stranger", iam.OwnerRole, f.other, f.other)
	for range 40 {
		group := pick(f.d, f.groups).UID
		f.bind(group, pick(f.d, people).UID, pick(f.d, f.builtIn).UID)
		if role := pick(f.d, f.roles).UID; role.Root() == group.Root() {
			f.bind(group, pick(f.d, people).UID, role)
		}
	}
}

func (f *forest) caller(subject string, role, home core.UID, groups ...core.UID) {
	i := &iam.Identity{UID: f.d.below(home), Name: subject, CreateTime: f.randomTime(), UpdateTime: f.randomTime(), ClaimMatch: &iam.ClaimMatch{Issuer: issuer, Subject: subject}}
	f.identities = append(f.identities, i)
	c := &caller{subject: subject, role: role}
	for _, g := range groups {
		f.bind(g, i.UID, role)
		if home.Within(g) {
			g = home
		}
		c.sees = append(c.sees, g)
	}
	f.callers = append(f.callers, c)
}

func (f *forest) bind(group, identity, role core.UID) {
	same := func(b *iam.RoleBinding) bool {
		return b.UID.Parent() == group && b.IdentityUID == identity && b.RoleUID == role
	}
	if identity.Root() == group.Root() && !slices.ContainsFunc(f.bindings, same) {
		f.bindings = append(f.bindings, &iam.RoleBinding{UID: f.d.below(group), IdentityUID: identity, RoleUID: role, CreateTime: f.randomTime(), ExpireTime: pick(f.d, ends), ReviewTime: pick(f.d, []core.Time{{}, f.randomTime()})})
	}
}

// ends are when bindings expire: most never do.
var ends = []core.Time{{}, {}, core.At(time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)), core.At(time.Date(2950, 1, 1, 0, 0, 0, 0, time.UTC))}

// completeBindings fills in the fields that are read with a binding.
func (f *forest) completeBindings() {
	byUID := map[core.UID]*iam.Identity{}
	for _, i := range f.identities {
		byUID[i.UID] = i
	}
	groups := map[core.UID]*iam.Group{}
	for _, g := range f.groups {
		groups[g.UID] = g
	}
	roles := map[core.UID]*iam.Role{}
	for _, r := range slices.Concat(f.roles, f.builtIn) {
		roles[r.UID] = r
	}
	for n, b := range f.bindings {
		i, g, r := byUID[b.IdentityUID], groups[b.UID.Parent()], roles[b.RoleUID]
		full := &iam.RoleBinding{
			UID: b.UID, CreateTime: b.CreateTime, ExpireTime: b.ExpireTime, ReviewTime: b.ReviewTime, Identity: iam.BoundIdentity{UID: i.UID, Name: i.Name, Description: i.Description, Email: i.Email},
			Group: iam.BoundGroup{UID: g.UID, Name: g.Name, Description: g.Description}, Role: iam.BoundRole{UID: r.UID, Name: r.Name, Description: r.Description},
		}
		if i.ClaimMatch != nil {
			full.Identity.Issuer, full.Identity.Subject = i.ClaimMatch.Issuer, i.ClaimMatch.Subject
		} else if i.StaticKeys != nil {
			full.Identity.Issuer, full.Identity.Subject = i.StaticKeys.Issuer, i.StaticKeys.Subject
		}
		f.bindings[n] = full
	}
}

// holds reports whether the caller's role has a capability.
func (f *forest) holds(c *caller, capability core.Capability) bool {
	return slices.ContainsFunc(f.builtIn, func(r *iam.Role) bool {
		return r.UID == c.role && slices.Contains(r.Capabilities, capability)
	})
}

// maySee reports whether a caller may see a row, by the definition of access.
func (f *forest) maySee(c *caller, list core.Capability, uid core.UID) bool {
	if !f.holds(c, list) {
		return false
	}
	return iam.IsBuiltInRole(uid) || slices.ContainsFunc(c.sees, uid.Within)
}

// isRefused reports whether a caller sees nothing at all above, in or below a scope, or
// none of the children that it asks for. ofGroups means that the list contains groups,
// which may be granted themselves.
func (f *forest) isRefused(c *caller, list core.Capability, scope core.UIDFilter, ofGroups bool) bool {
	if !f.holds(c, list) {
		return true
	}
	for _, asked := range []core.UID{scope.AncestorsOf, scope.DescendantsOf, scope.ChildrenOf} {
		related := func(seen core.UID) bool { return seen.Within(asked) || asked.Within(seen) }
		if asked != "" && !slices.ContainsFunc(c.sees, related) {
			return true
		}
	}
	shows := func(seen core.UID) bool {
		return scope.ChildrenOf.Within(seen) || ofGroups && seen.Parent() == scope.ChildrenOf
	}
	return scope.ChildrenOf != "" && !slices.ContainsFunc(c.sees, shows)
}

// liesWithin reports whether a row is in a scope, by the definition of scopes.
func liesWithin(scope core.UIDFilter, uid, parent core.UID) bool {
	return (scope.AncestorsOf == "" || scope.AncestorsOf.Below(uid)) &&
		(scope.DescendantsOf == "" || parent.Within(scope.DescendantsOf)) &&
		(scope.ChildrenOf == "" || parent == scope.ChildrenOf) &&
		(!scope.InRoot || uid.IsRoot()) &&
		(scope.IDs == nil || slices.Contains(scope.IDs, uid))
}
