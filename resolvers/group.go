package resolvers

import (
	"context"
	"maps"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

func (q queries) Group(ctx context.Context, uid *platform.UID, path *string) (*platform.Group, error) {
	return byUIDOrPath(ctx, &readsOf(ctx).groups, uid, q.p.Groups.GetByPath, path)
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
	return represented(ctx, &readsOf(ctx).groups, keysOf(reps, func(r *graph.GroupByUIDsInput) platform.UID { return r.UID }))
}

// ResourceLimits are sorted by name.
func (groups) ResourceLimits(_ context.Context, all []*platform.Group) ([][]*graph.ResourceLimit, error) {
	return keysOf(all, resourceLimits), nil
}

func resourceLimits(g *platform.Group) []*graph.ResourceLimit {
	limits := []*graph.ResourceLimit{}
	for _, name := range slices.Sorted(maps.Keys(g.ResourceLimits)) {
		limits = append(limits, &graph.ResourceLimit{Name: name, Limit: g.ResourceLimits[name]})
	}
	return limits
}

func groupUID(g *platform.Group) platform.UID { return g.UID }

// Edges lead to what is below a group, or directly in it.

func anywhere(all []*platform.Group, by scalar.ByUID) []platform.UIDFilter {
	return keysOf(all, func(g *platform.Group) platform.UIDFilter { return within(&g.UID, nil, by) })
}

func directly(all []*platform.Group, by scalar.ByUID) []platform.UIDFilter {
	return keysOf(all, func(g *platform.Group) platform.UIDFilter { return within(nil, &g.UID, by) })
}

func below(all []*platform.Group, directOnly *bool, by scalar.ByUID) []platform.UIDFilter {
	if or(directOnly) {
		return directly(all, by)
	}
	return anywhere(all, by)
}

func (groups) Parent(ctx context.Context, all []*platform.Group) ([]*platform.Group, error) {
	return follow(ctx, all, &readsOf(ctx).groups, func(g *platform.Group) platform.UID { return g.UID.Parent() })
}

// Ancestors are those that the caller may see.
func (groups) Ancestors(ctx context.Context, all []*platform.Group) ([][]*platform.Group, error) {
	return followAll(ctx, all, &readsOf(ctx).groups, func(g *platform.Group) []platform.UID { return g.UID.Ancestors() }, unlessHidden)
}

func (r groups) Children(ctx context.Context, all []*platform.Group, where *scalar.GroupFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.GroupConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Groups.ListEach, directly(all, f.ByUID), f.GroupFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Child(ctx context.Context, all []*platform.Group, name string) ([]*platform.Group, error) {
	return named(ctx, r.p.Groups.ListEach, directly(all, scalar.ByUID{}), platform.GroupFilter{Name: name})
}

func (r groups) Descendants(ctx context.Context, all []*platform.Group, where *scalar.GroupFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.GroupConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Groups.ListEach, anywhere(all, f.ByUID), f.GroupFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Identities(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.IdentityFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.IdentityConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Identities.ListEach, below(all, directOnly, f.ByUID), f.IdentityFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Roles(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.RoleFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.RoleConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Roles.ListEach, below(all, directOnly, f.ByUID), f.RoleFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) RoleBindings(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.RoleBindingFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.RoleBindingConnection, error) {
	f := or(where)
	return nested(ctx, r.p.RoleBindings.ListEach, below(all, directOnly, f.ByUID), f.RoleBindingFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) EffectiveBindings(ctx context.Context, all []*platform.Group, capability *platform.Capability, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.RoleBindingConnection, error) {
	req := request(ctx, platform.UIDFilter{}, platform.RoleBindingFilter{}, window{nil, first, after, last, before, skip})
	return connections(r.p.RoleBindings.ListEffective(ctx, keysOf(all, groupUID), or(capability), req))
}

func (r groups) WhoCan(ctx context.Context, all []*platform.Group, capability platform.Capability, first *int, after *string, last *int, before *string) ([]*scalar.RoleBindingConnection, error) {
	return r.EffectiveBindings(ctx, all, &capability, first, after, last, before, nil)
}

func (r groups) Repos(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.RepoFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.RepoConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Repos.ListEach, below(all, directOnly, f.ByUID), f.RepoFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) Repo(ctx context.Context, all []*platform.Group, name string) ([]*platform.Repo, error) {
	return named(ctx, r.p.Repos.ListEach, directly(all, scalar.ByUID{}), platform.RepoFilter{Name: name})
}

func (r groups) Tags(ctx context.Context, all []*platform.Group, where *scalar.TagFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.TagConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Tags.ListEach, anywhere(all, f.ByUID), f.Tags(), window{orderBy, first, after, last, before, skip})
}

func (r groups) Advisories(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.AdvisoryFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.AdvisoryConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Advisories.ListEach, below(all, directOnly, f.ByUID), f.AdvisoryFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) IdentityProviders(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.IdentityProviderFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.IdentityProviderConnection, error) {
	f := or(where)
	return nested(ctx, r.p.IdentityProviders.ListEach, below(all, directOnly, f.ByUID), f.IdentityProviderFilter, window{orderBy, first, after, last, before, skip})
}

// AccountAssociation has the UID of its group.
func (groups) AccountAssociation(ctx context.Context, all []*platform.Group) ([]*platform.AccountAssociation, error) {
	found, err := follow(ctx, all, &readsOf(ctx).accountAssociations, groupUID)
	return found, ignoring(err, unlessMissing)
}

func (r groups) Invites(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.GroupInviteFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.GroupInviteConnection, error) {
	f := or(where)
	return nested(ctx, r.p.GroupInvites.ListEach, below(all, directOnly, f.ByUID), f.GroupInviteFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) TermsAcceptances(ctx context.Context, all []*platform.Group, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.TermsAcceptanceConnection, error) {
	return nested(ctx, r.p.Terms.ListOfEach, keysOf(all, groupUID), platform.TermsFilter{}, window{orderBy, first, after, last, before, skip})
}

func (r groups) Subscriptions(ctx context.Context, all []*platform.Group, directOnly *bool, where *scalar.EventSubscriptionFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.EventSubscriptionConnection, error) {
	f := or(where)
	return nested(ctx, r.p.Subscriptions.ListEach, below(all, directOnly, f.ByUID), f.SubscriptionFilter, window{orderBy, first, after, last, before, skip})
}

func (r groups) AdvisorySummary(ctx context.Context, all []*platform.Group) ([]*platform.AdvisorySummary, error) {
	summaries, errs := r.p.Advisories.SummarizeGroups(ctx, keysOf(all, groupUID))
	return summaries, joined(errs)
}
