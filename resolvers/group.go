package resolvers

import (
	"context"
	"maps"
	"slices"
	"strings"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// groups resolves the fields of groups.
type groups struct {
	p *platform.Platform
	viewerFields[*iam.Group]
}

func (r root) Group() graph.GroupResolver { return groups{r.p, newViewerFields(r.p.Groups)} }

func (r *reads) groups() *loader[core.UID, *iam.Group] {
	return loaderOf(r, r.p.Groups.GetMany)
}

func (q queries) Group(ctx context.Context, uid *core.UID, path *string) (*iam.Group, error) {
	return readReferred(ctx, readsOf(ctx).groups(), q.p.Groups.GetByPath, uid, path)
}

func (q queries) Groups(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.GroupFilter) (*scalar.GroupConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Groups.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.GroupFilter, window)))
}

func (m mutations) CreateGroup(ctx context.Context, input map[string]any) (*scalar.CreateGroupPayload, error) {
	parent, in := decodeInput[*iam.Group](input)
	made, err := m.p.Groups.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.Groups.ListEach, parent, made, err)
}

func (m mutations) UpdateGroup(ctx context.Context, input map[string]any) (*scalar.UpdateGroupPayload, error) {
	uid, in := decodeInput[*iam.Group](input)
	return newUpdated(m.p.Groups.Update(withConditions(ctx, input), uid, in))
}

func (m mutations) DeleteGroup(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("Group", input, m.p.Groups.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (e entities) FindManyGroupByUIDs(ctx context.Context, reps []*graph.GroupByUIDsInput) ([]*iam.Group, error) {
	return readRepresentations(ctx, readsOf(ctx).groups(), mapEach(reps, func(r *graph.GroupByUIDsInput) core.UID { return r.UID }))
}

// ResourceLimits returns the limits sorted by name.
func (groups) ResourceLimits(_ context.Context, all []*iam.Group) ([][]*graph.ResourceLimit, error) {
	return mapEach(all, resourceLimits), nil
}

func resourceLimits(g *iam.Group) []*graph.ResourceLimit {
	limits := []*graph.ResourceLimit{}
	for _, name := range slices.Sorted(maps.Keys(g.ResourceLimits)) {
		limits = append(limits, &graph.ResourceLimit{Name: name, Limit: g.ResourceLimits[name]})
	}
	return limits
}

// Labels returns the labels sorted by key.
func (groups) Labels(_ context.Context, all []*iam.Group) ([][]*core.Label, error) {
	return mapEach(all, func(g *iam.Group) []*core.Label { return g.Labels.List() }), nil
}

func groupUID(g *iam.Group) core.UID { return g.UID }

// descendantScopes returns, for each group, the scope of all its descendants.
func descendantScopes(all []*iam.Group, by scalar.ByUID) []core.UIDFilter {
	return mapEach(all, func(g *iam.Group) core.UIDFilter { return core.UIDFilter{DescendantsOf: g.UID, IDs: by.UIDs} })
}

// childScopes returns, for each group, the scope of its direct children.
func childScopes(all []*iam.Group, by scalar.ByUID) []core.UIDFilter {
	return mapEach(all, func(g *iam.Group) core.UIDFilter { return core.UIDFilter{ChildrenOf: g.UID, IDs: by.UIDs} })
}

// groupScopes returns childScopes or descendantScopes, as directOnly says.
func groupScopes(all []*iam.Group, directOnly *bool, by scalar.ByUID) []core.UIDFilter {
	if valueOrZero(directOnly) {
		return childScopes(all, by)
	}
	return descendantScopes(all, by)
}

func (groups) Parent(ctx context.Context, all []*iam.Group) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(g *iam.Group) core.UID { return g.UID.Parent() })
}

// Ancestors returns the ancestors that the caller may see.
func (groups) Ancestors(ctx context.Context, all []*iam.Group) ([][]*iam.Group, error) {
	return followAll(ctx, all, readsOf(ctx).groups(), func(g *iam.Group) []core.UID { return g.UID.Ancestors() }, ignoreHidden)
}

// Path returns the path of each group whose ancestors the caller may all see.
func (groups) Path(ctx context.Context, all []*iam.Group) ([]*string, error) {
	return readPaths(ctx, all, groupUID, func(g *iam.Group) string { return g.Name })
}

// readPaths returns, for each object, the names of the groups above it and its own
// name, or nil if the caller may not see one of these groups. It reads the groups of
// all objects together.
func readPaths[T any](ctx context.Context, objects []*T, uid func(*T) core.UID, name func(*T) string) ([]*string, error) {
	above, err := followAll(ctx, objects, readsOf(ctx).groups(), func(object *T) []core.UID { return uid(object).Ancestors() }, ignoreHidden)
	paths := make([]*string, len(objects))
	for i, object := range objects {
		if len(above[i]) < len(uid(object).Ancestors()) {
			continue
		}
		names := append(mapEach(above[i], func(g *iam.Group) string { return g.Name }), name(object))
		paths[i] = new(strings.Join(names, "/"))
	}
	return paths, err
}

func (r groups) Children(ctx context.Context, all []*iam.Group, window scalar.Window, where *scalar.GroupFilter) ([]*scalar.GroupConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Groups.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.GroupFilter, window), childScopes(all, f.ByUID)))
}

func (r groups) Child(ctx context.Context, all []*iam.Group, name string) ([]*iam.Group, error) {
	return readByName(ctx, r.p.Groups.ListEach, childScopes(all, scalar.ByUID{}), &iam.GroupFilter{Name: name})
}

func (r groups) Descendants(ctx context.Context, all []*iam.Group, window scalar.Window, where *scalar.GroupFilter) ([]*scalar.GroupConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Groups.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.GroupFilter, window), descendantScopes(all, f.ByUID)))
}

func (r groups) Identities(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.IdentityFilter) ([]*scalar.IdentityConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Identities.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.IdentityFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

func (r groups) Roles(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.RoleFilter) ([]*scalar.RoleConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Roles.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.RoleFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

func (r groups) RoleBindings(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.RoleBindings.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.RoleBindingFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

func (r groups) EffectiveBindings(ctx context.Context, all []*iam.Group, window scalar.Window, capability *core.Capability, where *scalar.RoleBindingFilter) ([]*scalar.RoleBindingConnection, error) {
	f := valueOrZero(where)
	req := request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.RoleBindingFilter, window)
	return newConnections(r.p.RoleBindings.ListEffective(ctx, mapEach(all, groupUID), valueOrZero(capability), req))
}

func (r groups) WhoCan(ctx context.Context, all []*iam.Group, window scalar.Window, capability core.Capability) ([]*scalar.RoleBindingConnection, error) {
	return r.EffectiveBindings(ctx, all, window, &capability, nil)
}

func (r groups) Repos(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.RepoFilter) ([]*scalar.RepoConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Repos.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.RepoFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

func (r groups) Repo(ctx context.Context, all []*iam.Group, name string) ([]*inventory.Repo, error) {
	return readByName(ctx, r.p.Repos.ListEach, childScopes(all, scalar.ByUID{}), &inventory.RepoFilter{Name: name})
}

func (r groups) Tags(ctx context.Context, all []*iam.Group, window scalar.Window, where *scalar.TagFilter) ([]*scalar.TagConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Tags.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.TagFilter, window), descendantScopes(all, f.ByUID)))
}

func (r groups) Advisories(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.AdvisoryFilter) ([]*scalar.AdvisoryConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Advisories.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.AdvisoryFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

func (r groups) IdentityProviders(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.IdentityProviderFilter) ([]*scalar.IdentityProviderConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.IdentityProviders.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.IdentityProviderFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

// AccountAssociation reads the associations by the uids of the groups, because an
// association has the uid of its group.
func (groups) AccountAssociation(ctx context.Context, all []*iam.Group) ([]*iam.AccountAssociation, error) {
	found, err := follow(ctx, all, readsOf(ctx).accountAssociations(), groupUID)
	return found, filterErrors(err, ignoreNotFound)
}

func (r groups) Invites(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.GroupInviteFilter) ([]*scalar.GroupInviteConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.GroupInvites.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.GroupInviteFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

func (r groups) TermsAcceptances(ctx context.Context, all []*iam.Group, window scalar.Window) ([]*scalar.TermsAcceptanceConnection, error) {
	return newConnections(r.p.Terms.ListOfEach(ctx, request(ctx, core.UIDFilter{}, &iam.TermsFilter{}, window), mapEach(all, groupUID)))
}

func (r groups) Subscriptions(ctx context.Context, all []*iam.Group, window scalar.Window, directOnly *bool, where *scalar.EventSubscriptionFilter) ([]*scalar.EventSubscriptionConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Subscriptions.ListEach(ctx, request(ctx, core.UIDFilter{}, &f.SubscriptionFilter, window), groupScopes(all, directOnly, f.ByUID)))
}

func (r groups) AdvisorySummary(ctx context.Context, all []*iam.Group) ([]*inventory.AdvisorySummary, error) {
	summaries, errs := r.p.Advisories.SummarizeGroups(ctx, mapEach(all, groupUID))
	return summaries, joinErrors(errs)
}

func (r groups) Findings(ctx context.Context, all []*iam.Group, window scalar.Window, where *scalar.FindingFilter) ([]*scalar.FindingConnection, error) {
	return listFindingsIn(ctx, r.p, descendantScopes(all, valueOrZero(where).ByUID), where, window)
}

func (r groups) FindingActivity(ctx context.Context, all []*iam.Group, interval core.ActivityInterval, from, to *core.Time, timeZone string) ([][]*reports.FindingActivity, error) {
	req := core.ActivityRequest{Interval: interval, From: valueOrZero(from), To: valueOrZero(to), TimeZone: &timeZone}
	activity, errs := r.p.Activities.ListFindingActivityOf(ctx, req, mapEach(all, groupUID))
	return mapEach(activity, pointers), joinErrors(errs)
}

func (r groups) FindingSummary(ctx context.Context, all []*iam.Group) ([]*inventory.FindingSummary, error) {
	return summarizeFindings(ctx, r.p, mapEach(all, groupUID))
}
