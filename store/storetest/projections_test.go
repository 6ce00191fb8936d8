package storetest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// everyCostlyField leaves out all that a read may leave out.
const everyCostlyField = ^core.CostlyFields(0)

// addProjections adds reads that leave out costly fields, of each kind that has some, in
// every way in which rows are found and in every order that has an index there. An index
// that contains all that is selected must not tempt a planner to sort.
func (r *readList) addProjections() {
	p, b := r.p, r.b
	groups, repos := b.groups[:50], append(slices.Clone(b.repos[1:50]), b.busyRepo)
	root, busy := []core.UIDFilter{descendantsOf(b.root), childrenOf(b.root)}, []core.UIDFilter{childrenOf(b.libraries[0])}
	names := []string{"name", "name desc", "create_time desc", "update_time", "uid", "uid desc"}
	addProjection(r, "repos", p.Repos.List, names, root)
	addProjection(r, "identities", p.Identities.List, append(names, "last_seen_time desc"), root[:1])
	addProjection(r, "identities", p.Identities.List, names, root[1:])
	addProjection(r, "bindings", p.RoleBindings.List, []string{"create_time", "create_time desc", "uid", "uid desc"}, root)
	addProjection(r, "bindings", p.RoleBindings.List, []string{"create_time"}, []core.UIDFilter{descendantsOf(b.deep[1]), descendantsOf(b.deep[2])})
	for name, without := range map[string]core.CostlyFields{"names": core.BindingTexts | core.BindingRules, "descriptions": core.BindingRules} {
		lean := core.ListRequest[*iam.RoleBindingFilter]{Without: without}
		for _, lean.OrderBy = range []string{"create_time desc", "uid"} {
			for _, lean.UIDP = range root {
				in := " of bindings in "
				if lean.UIDP.DescendantsOf != "" {
					in = " of bindings below "
				}
				r.add(name+in+"a scope by "+lean.OrderBy, pageBuffers+51*hydratedBuffers, askList(p.RoleBindings.List, lean))
			}
		}
	}
	addProjection(r, "versions", p.ArtifactVersions.List, []string{"version", "create_time desc", "update_time", "uid"}, busy)
	for _, order := range names[1:5] {
		addNestedProjection(r, "repos", p.Repos.ListEach, order, groups)
		addNestedProjection(r, "identities", p.Identities.ListEach, order, groups)
	}
	for _, order := range []string{"create_time", "uid"} {
		addNestedProjection(r, "bindings", p.RoleBindings.ListEach, order, groups)
	}
	addProjection(r, "tags", p.Tags.List, names, []core.UIDFilter{descendantsOf(b.root), childrenOf(b.busyRepo)})
	for _, order := range names[1:5] {
		addNestedProjection(r, "tags", p.Tags.ListEach, order, repos)
	}
	r.addOne("bindings of 50 identities without costly fields", eachBuffers, func(ctx context.Context) error {
		return checkNotEmpty(p.RoleBindings.ListOfIdentities(ctx, core.ListRequest[*iam.RoleBindingFilter]{PageSize: 10, Without: everyCostlyField}, b.identities[:50]))
	}).grows = countsRows
	r.addOne("50 repos without costly fields", 5*pageBuffers, func(ctx context.Context) error {
		_, errs := p.Repos.GetManyWithout(ctx, repos, everyCostlyField)
		return errs[0]
	})
	skipped := r.add("bindings behind a skip without costly fields", 8*pageBuffers, askList(p.RoleBindings.List, core.ListRequest[*iam.RoleBindingFilter]{UIDP: root[0], Skip: 900, Without: everyCostlyField}))
	skipped.sorts = true
}

// addOne adds a read of many parents, whose totals cost as much for each of them.
func (r *readList) addOne(name string, bar int, run func(ctx context.Context) error) *hotRead {
	read := r.add(name, bar, run)
	read.maxTotalBuffers = 50 * totalBuffers
	return read
}

// addProjection adds pages of scopes without costly fields.
func addProjection[T, F any](r *readList, kind string, list func(context.Context, core.ListRequest[F]) (core.Page[T], error), orders []string, scopes []core.UIDFilter) {
	for _, scope := range scopes {
		in := kind + " in "
		if scope.DescendantsOf != "" {
			in = kind + " below "
		}
		for _, order := range orders {
			r.add(in+"a scope by "+order+" without costly fields", pageBuffers, askList(list, core.ListRequest[F]{UIDP: scope, OrderBy: order, Without: everyCostlyField}))
		}
	}
}

// addNestedProjection adds pages of many parents without costly fields.
func addNestedProjection[T, F any](r *readList, kind string, list func(context.Context, core.ListRequest[F], []core.UIDFilter) ([]core.Page[T], []error), order string, parents []core.UID) {
	lean := func(ctx context.Context, req core.ListRequest[F], scopes []core.UIDFilter) ([]core.Page[T], []error) {
		req.Without = everyCostlyField
		return list(ctx, req, scopes)
	}
	r.addOne(kind+" of 50 parents by "+order+" without costly fields", eachBuffers, askEach(lean, order, parents))
}

// A binding has the texts that a read leaves out neither by themselves nor with the objects
// that they belong to.
func TestBindingsAreReadWithoutSomeTexts(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		group := org.Group.UID
		identity := must[*iam.Identity](t)(w.p.Identities.Create(ctx, group, input[*iam.Identity](`{"name": "ann", "description": "d", "claimMatch": {"issuer": "https://issuer.example.com", "subject": "ann"}}`)))
		must[*iam.RoleBinding](t)(w.p.RoleBindings.Create(ctx, group, input[*iam.RoleBinding](fmt.Sprintf(`{"identityUid": %q, "roleUid": %q}`, identity.UID, iam.ViewerRole))))
		for _, order := range []string{"uid", "identity_name", "group_name", "role_name"} {
			for _, without := range []core.CostlyFields{0, core.BindingTexts, core.BindingRules, core.BindingTexts | core.BindingRules} {
				for _, scope := range []core.UIDFilter{descendantsOf(group), childrenOf(group)} {
					page := must[core.Page[*iam.RoleBinding]](t)(w.p.RoleBindings.List(ctx, core.ListRequest[*iam.RoleBindingFilter]{
						UIDP: scope, Filter: &iam.RoleBindingFilter{Identity: identity.UID}, OrderBy: order, Without: without,
					}))
					b := page.Items[0]
					if b.Identity.UID != identity.UID || b.Identity.Name != "ann" || b.Group.UID != group || b.Group.Name != "acme" || b.Role.UID != iam.ViewerRole || b.Role.Name != "viewer" {
						t.Errorf("by %s, without %b: %+v", order, without, b)
					}
					if got := b.Identity.Description != "" && b.Role.Description != ""; got == without.HasAny(core.BindingTexts) {
						t.Errorf("by %s, without %b: the descriptions are %q and %q", order, without, b.Identity.Description, b.Role.Description)
					}
					if got := b.Identity.Issuer != "" && b.Identity.Subject != ""; got == without.HasAny(core.BindingRules) {
						t.Errorf("by %s, without %b: the identity is %+v", order, without, b.Identity)
					}
				}
			}
		}
	})
}

// A list is read with the field that it is sorted by, although the caller leaves it out:
// without it, the cursor of a page would lead to the start of the list.
func TestAListKeepsTheFieldThatItIsSortedBy(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		ctx, org := w.createOrganization("acme")
		repo := w.repo(ctx, org.Group.UID, "alpine")
		for i := range 5 {
			if _, err := w.p.Tags.Create(ctx, repo, tagInput(fmt.Sprint("v", i), digests[0])); err != nil {
				t.Fatal(err)
			}
		}
		var names []string
		req := core.ListRequest[*inventory.TagFilter]{UIDP: childrenOf(repo), OrderBy: "create_time desc", PageSize: 2, Without: everyCostlyField}
		for {
			page, err := w.p.Tags.List(ctx, req)
			if err != nil || len(names) > 5 {
				t.Fatal(names, err)
			}
			for _, tag := range page.Items {
				names = append(names, tag.Name)
			}
			if req.PageToken = page.NextPageToken(); req.PageToken == "" {
				break
			}
		}
		if slices.Sort(names); !slices.Equal(names, []string{"v0", "v1", "v2", "v3", "v4"}) {
			t.Errorf("the pages hold %v, want each tag once", names)
		}
	})
}
