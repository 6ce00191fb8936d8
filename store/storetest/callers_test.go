package storetest_test

import (
	"slices"
	"time"

	"atrium/platform"
)

// pullRole can list groups, repos and tags, and nothing else.
const pullRole platform.UID = "8796e4182e21cccdbd8ea824f1d05487610c7285"

// createCallers creates callers who see different parts of the forest.
func (f *forest) createCallers() {
	atDepth := func(depth int) platform.UID {
		for _, g := range f.groups {
			if g.UID.Depth() == depth && g.UID.Root() == f.root {
				return g.UID
			}
		}
		f.t.Fatalf("no group of depth %d grew", depth)
		return ""
	}
	var leaves, several []platform.UID
	for _, g := range f.groups {
		isParent := slices.ContainsFunc(f.groups, func(h *platform.Group) bool { return h.UID.Parent() == g.UID })
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
	f.caller("root", platform.OwnerRole, f.root, f.root)
	for i, name := range []string{"two", "three", "four", "five"} {
		f.caller(name, platform.ViewerRole, f.root, atDepth(i+2))
	}
	f.caller("leaves", platform.ViewerRole, f.root, leaves...)
	f.caller("several", platform.ViewerRole, f.root, several...)
	f.caller("puller", pullRole, f.root, several[:2]...)
	f.caller("housed", platform.ViewerRole, atDepth(2), f.root) // A role has no effect outside the group that it belongs to.
	f.caller("stranger", platform.OwnerRole, f.other, f.other)
	for range 40 {
		group := pick(f.d, f.groups).UID
		f.bind(group, pick(f.d, people).UID, pick(f.d, f.builtIn).UID)
		if role := pick(f.d, f.roles).UID; role.Root() == group.Root() {
			f.bind(group, pick(f.d, people).UID, role)
		}
	}
}

func (f *forest) caller(subject string, role, home platform.UID, groups ...platform.UID) {
	i := &platform.Identity{UID: f.d.below(home), Name: subject, CreateTime: f.randomTime(), UpdateTime: f.randomTime(), ClaimMatch: &platform.ClaimMatch{Issuer: issuer, Subject: subject}}
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

func (f *forest) bind(group, identity, role platform.UID) {
	same := func(b *platform.RoleBinding) bool {
		return b.UID.Parent() == group && b.IdentityUID == identity && b.RoleUID == role
	}
	if identity.Root() == group.Root() && !slices.ContainsFunc(f.bindings, same) {
		f.bindings = append(f.bindings, &platform.RoleBinding{UID: f.d.below(group), IdentityUID: identity, RoleUID: role, CreateTime: f.randomTime(), ExpireTime: pick(f.d, ends), ReviewTime: pick(f.d, []platform.Time{{}, f.randomTime()})})
	}
}

// ends are when bindings expire: most never do.
var ends = []platform.Time{{}, {}, platform.At(time.Date(2900, 1, 1, 0, 0, 0, 0, time.UTC)), platform.At(time.Date(2950, 1, 1, 0, 0, 0, 0, time.UTC))}

// completeBindings fills in the fields that are read with a binding.
func (f *forest) completeBindings() {
	byUID := map[platform.UID]*platform.Identity{}
	for _, i := range f.identities {
		byUID[i.UID] = i
	}
	groups := map[platform.UID]*platform.Group{}
	for _, g := range f.groups {
		groups[g.UID] = g
	}
	roles := map[platform.UID]*platform.Role{}
	for _, r := range slices.Concat(f.roles, f.builtIn) {
		roles[r.UID] = r
	}
	for n, b := range f.bindings {
		i, g, r := byUID[b.IdentityUID], groups[b.UID.Parent()], roles[b.RoleUID]
		full := &platform.RoleBinding{
			UID: b.UID, CreateTime: b.CreateTime, ExpireTime: b.ExpireTime, ReviewTime: b.ReviewTime, Identity: platform.BoundIdentity{UID: i.UID, Name: i.Name, Description: i.Description, Email: i.Email},
			Group: platform.BoundGroup{UID: g.UID, Name: g.Name, Description: g.Description}, Role: platform.BoundRole{UID: r.UID, Name: r.Name, Description: r.Description},
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
func (f *forest) holds(c *caller, capability platform.Capability) bool {
	return slices.ContainsFunc(f.builtIn, func(r *platform.Role) bool {
		return r.UID == c.role && slices.Contains(r.Capabilities, capability)
	})
}

// maySee reports whether a caller may see a row, by the definition of access.
func (f *forest) maySee(c *caller, list platform.Capability, uid platform.UID) bool {
	if !f.holds(c, list) {
		return false
	}
	return platform.IsBuiltInRole(uid) || slices.ContainsFunc(c.sees, uid.Within)
}

// isRefused reports whether a caller sees nothing at all above, in or below a scope, or
// none of the children that it asks for. ofGroups means that the list contains groups,
// which may be granted themselves.
func (f *forest) isRefused(c *caller, list platform.Capability, scope platform.UIDFilter, ofGroups bool) bool {
	if !f.holds(c, list) {
		return true
	}
	for _, asked := range []platform.UID{scope.AncestorsOf, scope.DescendantsOf, scope.ChildrenOf} {
		related := func(seen platform.UID) bool { return seen.Within(asked) || asked.Within(seen) }
		if asked != "" && !slices.ContainsFunc(c.sees, related) {
			return true
		}
	}
	shows := func(seen platform.UID) bool {
		return scope.ChildrenOf.Within(seen) || ofGroups && seen.Parent() == scope.ChildrenOf
	}
	return scope.ChildrenOf != "" && !slices.ContainsFunc(c.sees, shows)
}

// liesWithin reports whether a row is in a scope, by the definition of scopes.
func liesWithin(scope platform.UIDFilter, uid, parent platform.UID) bool {
	return (scope.AncestorsOf == "" || scope.AncestorsOf.Below(uid)) &&
		(scope.DescendantsOf == "" || parent.Within(scope.DescendantsOf)) &&
		(scope.ChildrenOf == "" || parent == scope.ChildrenOf) &&
		(!scope.InRoot || uid.IsRoot()) &&
		(scope.IDs == nil || slices.Contains(scope.IDs, uid))
}
