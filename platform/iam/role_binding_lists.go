package iam

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// Capabilities returns what a caller needs besides the right to list role bindings. A condition on a capability needs
// nothing more: who may list role bindings may ask what they give.
func (f *RoleBindingFilter) Capabilities() []core.Capability {
	if f.IdentityKinds == nil && f.IdentityLastSeenBefore.IsZero() {
		return nil
	}
	return []core.Capability{core.CapIdentityList}
}

// ListEffective reads, with one read, the same page of the bindings that apply to
// each group, including inherited ones. If a capability is given, it lists only
// bindings that give it, and leaves out those that have expired. Without one, a binding that
// has just expired is listed until it is deleted, so that totals are read from an index.
func (s RoleBindings) ListEffective(ctx context.Context, groups []core.UID, capability core.Capability, req core.ListRequest[*RoleBindingFilter]) ([]core.Page[*RoleBinding], []error) {
	req.Malformed = slices.Clone(req.Malformed)
	if req.UIDP.IsNarrow() || req.UIDP.DescendantsOf != "" {
		req.Malformed = append(req.Malformed, fieldmask.Violation{Field: "uidp", Description: "does not apply to the bindings that count on a group; filter by group, identity or role instead"})
	}
	if asked := core.FillFilter(req.Filter).Capability; capability != "" && asked != "" && asked != capability {
		req.Malformed = append(req.Malformed, fieldmask.Violation{Field: "capability", Description: "is given twice, with different values; leave one out"})
	}
	req.Filter = core.EditFilter(req.Filter, func(f *RoleBindingFilter) { f.Capability = cmp.Or(capability, f.Capability) })
	return s.rows.ReadEach(ctx, len(groups), func(i int) (core.ListRequest[*RoleBindingFilter], core.Query[*RoleBindingFilter], error) {
		req.UIDP = core.UIDFilter{AncestorsOf: groups[i]} // part of the page tokens; it is not the scope
		q, err := s.effectiveQuery(ctx, groups[i], req)
		return req, q, err
	})
}

// effectiveQuery checks and authorizes a request for the bindings that apply to a
// group. The scope is the group and all groups above it on which the caller may
// list bindings.
func (s RoleBindings) effectiveQuery(ctx context.Context, group core.UID, req core.ListRequest[*RoleBindingFilter]) (core.Query[*RoleBindingFilter], error) {
	if err := core.InvalidUID("group", group); err != nil {
		return core.Query[*RoleBindingFilter]{}, err
	}
	kind := s.rows.Kind.ForFilter(core.FillFilter(req.Filter))
	actor, err := core.Require(ctx, group, kind.ReadCapabilities()...)
	if err != nil {
		return core.Query[*RoleBindingFilter]{}, err
	}
	q, err := s.rows.BuildQuery(ctx, req)
	for _, g := range append(group.Ancestors(), group) {
		if kind.ReadableBy(actor, g) {
			q.Scope.Branches = append(q.Scope.Branches, core.Branch{Relation: core.Children, UID: g})
		}
	}
	return q, err
}

// ListOwn reads a page of the bindings of the caller's identities. It needs no
// capability. What reviewers noted is left out where the caller may not list bindings.
func (s RoleBindings) ListOwn(ctx context.Context, req core.ListRequest[*RoleBindingFilter]) (core.Page[*RoleBinding], error) {
	actor, err := core.RequireCaller(ctx)
	if err != nil {
		return core.Page[*RoleBinding]{}, s.rows.Kind.AddArea(err)
	}
	if req.UIDP.IsNarrow() || req.UIDP.DescendantsOf != "" {
		req.Malformed = append(slices.Clone(req.Malformed), fieldmask.Violation{Field: "uidp", Description: "does not apply to your own bindings; filter by group, identity or role instead"})
	}
	var own core.Scope
	for _, identity := range actor.Identities {
		own.Branches = append(own.Branches, core.Branch{Relation: core.OfIdentity, UID: identity})
	}
	page, err := s.rows.ListInScope(ctx, own, req)
	s.hideNotes(ctx, page.Items...)
	return page, s.rows.Kind.AddArea(err)
}

// ListOfIdentities reads, with one read, the same page of the bindings of each
// identity. The page tokens are those of the plain list with the corresponding
// filter.
func (s RoleBindings) ListOfIdentities(ctx context.Context, req core.ListRequest[*RoleBindingFilter], identities []core.UID) ([]core.Page[*RoleBinding], []error) {
	return core.ListReferring(ctx, s.rows, req, len(identities), func(i int, req *core.ListRequest[*RoleBindingFilter]) func(core.Branch) []core.Branch {
		req.Filter = core.EditFilter(req.Filter, func(f *RoleBindingFilter) { f.Identity = identities[i] })
		return func(b core.Branch) []core.Branch {
			return []core.Branch{{Relation: core.OfIdentity, UID: identities[i], Inside: b.UID}}
		}
	})
}

// ListOfRoles reads, with one read, the same page of the bindings of each role.
func (s RoleBindings) ListOfRoles(ctx context.Context, req core.ListRequest[*RoleBindingFilter], roles []core.UID) ([]core.Page[*RoleBinding], []error) {
	return core.ListReferring(ctx, s.rows, req, len(roles), func(i int, req *core.ListRequest[*RoleBindingFilter]) func(core.Branch) []core.Branch {
		req.Filter = core.EditFilter(req.Filter, func(f *RoleBindingFilter) { f.Role = roles[i] })
		return func(b core.Branch) []core.Branch {
			return []core.Branch{{Relation: core.OfRole, UID: roles[i], Inside: b.UID}}
		}
	})
}
