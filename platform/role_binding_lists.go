package platform

import (
	"context"
	"slices"
)

// Effective lists the bindings that count on a group.
func (s RoleBindings) Effective(ctx context.Context, group UID, capability Capability, req ListRequest[RoleBindingFilter]) (Page[RoleBinding], error) {
	pages, errs := s.ListEffective(ctx, []UID{group}, capability, req)
	return pages[0], errs[0]
}

// ListEffective reads the same page of the bindings that count on each group,
// inherited ones included, with one read: each binding tells by its group where
// it comes from. With a capability, only those whose role holds it.
func (s RoleBindings) ListEffective(ctx context.Context, groups []UID, capability Capability, req ListRequest[RoleBindingFilter]) ([]Page[RoleBinding], []error) {
	pages, errs := make([]Page[RoleBinding], len(groups)), make([]error, len(groups))
	req.Filter.Capability = capability
	var q Query[RoleBindingFilter]
	var read []Scope
	var places []int
	for i, group := range groups {
		req.UIDP = UIDFilter{AncestorsOf: group} // what a token is bound to; the scope is another
		one, err := s.effectiveQuery(ctx, group, req)
		switch {
		case err != nil:
			errs[i] = s.kind.in(err)
		case req.PageToken != "": // which belongs to one group, so there is nothing to read together
			pages[i], err = s.read(ctx, req, one)
			errs[i] = s.kind.in(err)
		default:
			q, read, places = one, append(read, one.Scope), append(places, i)
		}
	}
	if len(read) == 0 {
		return pages, errs
	}
	found, err := s.table(s.p.store).ListEach(ctx, q, read)
	for n, i := range places {
		if errs[i] = s.kind.in(err); err == nil {
			req.UIDP = UIDFilter{AncestorsOf: groups[i]}
			pages[i] = s.page(req, q, found[n])
		}
	}
	return pages, errs
}

// effectiveQuery checks a request for the bindings that count on a group, as far
// as the caller may list them. The scope is the group and each one above.
func (s RoleBindings) effectiveQuery(ctx context.Context, group UID, req ListRequest[RoleBindingFilter]) (Query[RoleBindingFilter], error) {
	if err := invalidUID("group", group); err != nil {
		return Query[RoleBindingFilter]{}, err
	}
	actor, err := need(ctx, group, s.kind.List)
	if err != nil {
		return Query[RoleBindingFilter]{}, err
	}
	q, err := s.checked(ctx, req)
	for _, g := range append(group.Ancestors(), group) {
		if actor.Can(s.kind.List, g) {
			q.Scope.branches = append(q.Scope.branches, Branch{Relation: Children, UID: g})
		}
	}
	return q, err
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
	return listPointing(ctx, s.resources, req, len(identities), func(i int, req *ListRequest[RoleBindingFilter]) func(Branch) []Branch {
		req.Filter.Identity = identities[i]
		return func(b Branch) []Branch { return []Branch{{Relation: OfIdentity, UID: identities[i], Inside: b.UID}} }
	})
}

// ListOfRoles reads the same page of the bindings of each role, with one read.
func (s RoleBindings) ListOfRoles(ctx context.Context, req ListRequest[RoleBindingFilter], roles []UID) ([]Page[RoleBinding], []error) {
	return listPointing(ctx, s.resources, req, len(roles), func(i int, req *ListRequest[RoleBindingFilter]) func(Branch) []Branch {
		req.Filter.Role = roles[i]
		return func(b Branch) []Branch { return []Branch{{Relation: OfRole, UID: roles[i], Inside: b.UID}} }
	})
}
