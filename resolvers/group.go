package resolvers

import (
	"context"
	"maps"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

func (q queries) Group(ctx context.Context, uid platform.UID) (*platform.Group, error) {
	return readsOf(ctx).groups.one(ctx, uid)
}

func (q queries) Groups(ctx context.Context, descendantsOf, childrenOf *platform.UID, where *scalar.GroupFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.GroupConnection, error) {
	f := or(where)
	return list(ctx, q.p.Groups.List, within(descendantsOf, childrenOf, f.ByUID), f.GroupFilter, window{orderBy, first, after, last, before, skip})
}

func (m mutations) CreateGroup(ctx context.Context, input map[string]any) (*scalar.CreateGroupPayload, error) {
	return create(ctx, m.p.Groups.Create, m.p.Groups.ListEach, input)
}

func (m mutations) UpdateGroup(ctx context.Context, input map[string]any) (*scalar.UpdateGroupPayload, error) {
	return update(ctx, m.p.Groups.Update, input)
}

func (m mutations) DeleteGroup(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return remove(ctx, m.p.Groups.Delete, "Group", input)
}

func (e entities) FindManyGroupByUIDs(ctx context.Context, reps []*graph.GroupByUIDsInput) ([]*platform.Group, error) {
	return represented(ctx, readsOf(ctx).groups, keysOf(reps, func(r *graph.GroupByUIDsInput) platform.UID { return r.UID }))
}

// ResourceLimits are sorted by name.
func (groups) ResourceLimits(_ context.Context, g *platform.Group) ([]*graph.ResourceLimit, error) {
	limits := []*graph.ResourceLimit{}
	for _, name := range slices.Sorted(maps.Keys(g.ResourceLimits)) {
		limits = append(limits, &graph.ResourceLimit{Name: name, Limit: g.ResourceLimits[name]})
	}
	return limits, nil
}

// Edges lead to what is below a group, or directly in it.

func anywhere(by scalar.ByUID) func(*platform.Group) platform.UIDFilter {
	return func(g *platform.Group) platform.UIDFilter { return within(&g.UID, nil, by) }
}

func directly(by scalar.ByUID) func(*platform.Group) platform.UIDFilter {
	return func(g *platform.Group) platform.UIDFilter { return within(nil, &g.UID, by) }
}

func below(directOnly *bool, by scalar.ByUID) func(*platform.Group) platform.UIDFilter {
	if or(directOnly) {
		return directly(by)
	}
	return anywhere(by)
}

func (groups) Parent(ctx context.Context, g *platform.Group) (*platform.Group, error) {
	return follow(ctx, g, readsOf(ctx).groups, func(g *platform.Group) platform.UID { return g.UID.Parent() })
}

// Ancestors are those that the caller may see.
func (groups) Ancestors(ctx context.Context, g *platform.Group) ([]*platform.Group, error) {
	return followAll(ctx, g, readsOf(ctx).groups, func(g *platform.Group) []platform.UID { return g.UID.Ancestors() }, unlessHidden)
}

func (r groups) Children(ctx context.Context, g *platform.Group, where *scalar.GroupFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.GroupConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Groups.ListEach, directly(f.ByUID)), f.GroupFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Descendants(ctx context.Context, g *platform.Group, where *scalar.GroupFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.GroupConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Groups.ListEach, anywhere(f.ByUID)), f.GroupFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Identities(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.IdentityFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.IdentityConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Identities.ListEach, below(directOnly, f.ByUID)), f.IdentityFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Roles(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.RoleFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.RoleConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Roles.ListEach, below(directOnly, f.ByUID)), f.RoleFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) RoleBindings(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.RoleBindingFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.RoleBindingConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.RoleBindings.ListEach, below(directOnly, f.ByUID)), f.RoleBindingFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) EffectiveBindings(ctx context.Context, g *platform.Group, capability *platform.Capability, first *int, after *string, last *int, before *string, skip *int) (*scalar.RoleBindingConnection, error) {
	effective := func(ctx context.Context, req platform.ListRequest[platform.RoleBindingFilter], all []*platform.Group) ([]platform.Page[platform.RoleBinding], []error) {
		return forEach(all, func(g *platform.Group) (platform.Page[platform.RoleBinding], error) {
			return r.p.RoleBindings.Effective(ctx, g.UID, or(capability), req)
		})
	}
	return nested(ctx, g, effective, platform.RoleBindingFilter{}, window{nil, first, after, last, before, skip})
}

func (r groups) Repos(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.RepoFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.RepoConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Repos.ListEach, below(directOnly, f.ByUID)), f.RepoFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Tags(ctx context.Context, g *platform.Group, where *scalar.TagFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.TagConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Tags.ListEach, anywhere(f.ByUID)), f.Tags(), window{orderBy, first, after, last, before, skip})
}

func (r groups) Advisories(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.AdvisoryFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.AdvisoryConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Advisories.ListEach, below(directOnly, f.ByUID)), f.AdvisoryFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) IdentityProviders(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.IdentityProviderFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.IdentityProviderConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.IdentityProviders.ListEach, below(directOnly, f.ByUID)), f.IdentityProviderFilter, window{orderBy, first, after, last, before, skip})
}

// AccountAssociation has the UID of its group.
func (groups) AccountAssociation(ctx context.Context, g *platform.Group) (*platform.AccountAssociation, error) {
	found, err := follow(ctx, g, readsOf(ctx).accountAssociations, func(g *platform.Group) platform.UID { return g.UID })
	return found, unlessMissing(err)
}

func (r groups) Invites(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.GroupInviteFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.GroupInviteConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.GroupInvites.ListEach, below(directOnly, f.ByUID)), f.GroupInviteFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) TermsAcceptances(ctx context.Context, g *platform.Group, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.TermsAcceptanceConnection, error) {
	counting := of(r.p.Terms.ListOfEach, func(g *platform.Group) platform.UID { return g.UID })
	return nested(ctx, g, counting, platform.TermsFilter{}, window{orderBy, first, after, last, before, skip})
}

func (r groups) Subscriptions(ctx context.Context, g *platform.Group, directOnly *bool, where *scalar.EventSubscriptionFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.EventSubscriptionConnection, error) {
	f := or(where)
	return nested(ctx, g, of(r.p.Subscriptions.ListEach, below(directOnly, f.ByUID)), f.SubscriptionFilter, window{orderBy, first, after, last, before, skip})
}
