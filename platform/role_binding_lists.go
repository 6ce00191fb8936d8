package platform

import (
	"context"
	"slices"
)

// Effective lists the bindings that count on a group, inherited ones included:
// each tells by its group where it comes from. With a capability, only those
// whose role holds it.
func (s RoleBindings) Effective(ctx context.Context, group UID, capability Capability, req ListRequest[RoleBindingFilter]) (Page[RoleBinding], error) {
	if err := invalidUID("group", group); err != nil {
		return Page[RoleBinding]{}, s.kind.in(err)
	}
	actor, err := need(ctx, group, s.kind.List)
	if err != nil {
		return Page[RoleBinding]{}, s.kind.in(err)
	}
	req.Filter.Capability = capability
	req.UIDP = UIDFilter{AncestorsOf: group} // what the token is bound to; the scope is another
	var inherited Scope
	for _, g := range append(group.Ancestors(), group) {
		if actor.Can(s.kind.List, g) {
			inherited.branches = append(inherited.branches, Branch{Relation: Children, UID: g})
		}
	}
	page, err := s.listWithin(ctx, inherited, req)
	return page, s.kind.in(err)
}

// ListOwn reads a page of what is bound to the identities that the caller acts
// as; none of its capabilities is asked for that.
func (s RoleBindings) ListOwn(ctx context.Context, req ListRequest[RoleBindingFilter]) (Page[RoleBinding], error) {
	actor, err := caller(ctx)
	if err != nil {
		return Page[RoleBinding]{}, s.kind.in(err)
	}
	if req.UIDP.narrow() || req.UIDP.DescendantsOf != "" {
		req.Malformed = append(slices.Clone(req.Malformed), Violation{"uidp", "does not narrow one's own bindings; group, identity and role do"})
	}
	var own Scope
	for _, identity := range actor.Identities {
		own.branches = append(own.branches, Branch{Relation: OfIdentity, UID: identity})
	}
	page, err := s.listWithin(ctx, own, req)
	return page, s.kind.in(err)
}

// ListOfIdentities reads the same page of the bindings of each identity, with
// one read. A page token of such a list is one of the plain list with that
// filter.
func (s RoleBindings) ListOfIdentities(ctx context.Context, req ListRequest[RoleBindingFilter], identities []UID) ([]Page[RoleBinding], []error) {
	return listPointing(ctx, s.resources, req, len(identities), func(i int, req *ListRequest[RoleBindingFilter]) func(Branch) Branch {
		req.Filter.Identity = identities[i]
		return func(b Branch) Branch { return Branch{Relation: OfIdentity, UID: identities[i], Inside: b.UID} }
	})
}

// ListOfRoles reads the same page of the bindings of each role, with one read.
func (s RoleBindings) ListOfRoles(ctx context.Context, req ListRequest[RoleBindingFilter], roles []UID) ([]Page[RoleBinding], []error) {
	return listPointing(ctx, s.resources, req, len(roles), func(i int, req *ListRequest[RoleBindingFilter]) func(Branch) Branch {
		req.Filter.Role = roles[i]
		return func(b Branch) Branch { return Branch{Relation: OfRole, UID: roles[i], Inside: b.UID} }
	})
}
