package storetest_test

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// facetsOf counts repos in the simplest way.
func facetsOf(repos []*inventory.Repo) *inventory.RepoFacets {
	tiers, bundles, labels, groups := map[core.CatalogTier]int64{}, map[string]int64{}, map[string]int64{}, map[core.UID]int64{}
	for _, r := range repos {
		tiers[r.CatalogTier]++
		groups[r.UID.Parent()]++
		for key, value := range r.Labels {
			labels[key+"="+value]++
		}
		for i, bundle := range r.Bundles {
			if !slices.Contains(r.Bundles[:i], bundle) {
				bundles[bundle]++
			}
		}
	}
	return &inventory.RepoFacets{Tier: sortedFacets(tiers), Bundle: sortedFacets(bundles), Label: sortedFacets(labels), Group: sortedFacets(groups)}
}

func sortedFacets[V cmp.Ordered](counts map[V]int64) []core.Facet[V] {
	facets := []core.Facet[V]{}
	for value, count := range counts {
		facets = append(facets, core.Facet[V]{Value: value, Count: count})
	}
	slices.SortFunc(facets, func(a, b core.Facet[V]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return facets[:min(len(facets), 100)]
}

func TestFacetsCountTheReposOfTheList(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		k := &kind[*inventory.Repo, *inventory.RepoFilter]{f: f, ops: f.p.Repos, rows: f.repos, filters: f.repoFilters()}
		d, filled := newDice(29), 0
		check := func(c *caller, scope core.UIDFilter, s filterCase[*inventory.Repo, *inventory.RepoFilter], got *inventory.RepoFacets) {
			t.Helper()
			want := facetsOf(k.expectedRows(c, scope, s, k.ops.Kind().DefaultOrder))
			if !reflect.DeepEqual(got, want) {
				t.Errorf("%s, %+v, %+v: got %+v, want %+v", c.subject, scope, s.filter, got, want)
			}
			filled += len(got.Tier) + len(got.Bundle)
		}
		for range 150 {
			c, s := pick(d, f.callers), pick(d, k.filters)
			ctx := f.contextAs(c.subject)
			req := core.ListRequest[*inventory.RepoFilter]{UIDP: f.scope(d), Filter: s.filter, PageSize: 1, Skip: d.IntN(2)}
			if page, err := f.p.Repos.List(ctx, req); err == nil {
				facets := must[[]*inventory.RepoFacets](t)(f.p.Repos.Facets(ctx, []core.Page[*inventory.Repo]{page}))
				check(c, req.UIDP, s, facets[0])
			}
			scopes := times(4, func(int) *core.UIDFilter { return &core.UIDFilter{DescendantsOf: pick(d, f.groups).UID} })
			pages, errs := f.p.Repos.ListEach(ctx, core.ListRequest[*inventory.RepoFilter]{Filter: s.filter, PageSize: 1}, values(scopes))
			var read []core.Page[*inventory.Repo]
			var places []int
			for i := range pages {
				if errs[i] == nil {
					read, places = append(read, pages[i]), append(places, i)
				}
			}
			facets := must[[]*inventory.RepoFacets](t)(f.p.Repos.Facets(ctx, read))
			for n, i := range places {
				check(c, *scopes[i], s, facets[n])
			}
		}
		if filled < 500 {
			t.Errorf("only %d facets were counted", filled)
		}
	})
}

func TestFacetsCountTheRoleBindingsAndTheIdentitiesOfTheList(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		bindings := &kind[*iam.RoleBinding, *iam.RoleBindingFilter]{f: f, ops: f.p.RoleBindings, rows: f.bindings, filters: f.bindingFilters()}
		identities := &kind[*iam.Identity, *iam.IdentityFilter]{f: f, ops: f.p.Identities, rows: f.identities, filters: f.identityFilters()}
		d, filled := newDice(31), 0
		for range 150 {
			c, scope := pick(d, f.callers), f.scope(d)
			ctx := f.contextAs(c.subject)
			bound := pick(d, bindings.filters)
			if page, err := f.p.RoleBindings.List(ctx, core.ListRequest[*iam.RoleBindingFilter]{UIDP: scope, Filter: bound.filter, PageSize: 1}); err == nil {
				got := must[[]*iam.RoleBindingFacets](t)(f.p.RoleBindings.Facets(ctx, []core.Page[*iam.RoleBinding]{page}))[0]
				roles, groups := map[core.UID]int64{}, map[core.UID]int64{}
				for _, b := range bindings.expectedRows(c, scope, bound, f.p.RoleBindings.Kind().DefaultOrder) {
					roles[b.Role.UID]++
					groups[b.Group.UID]++
				}
				if want := (&iam.RoleBindingFacets{Role: sortedFacets(roles), Group: sortedFacets(groups)}); !reflect.DeepEqual(got, want) {
					t.Errorf("bindings of %s, %+v, %+v: got %+v, want %+v", c.subject, scope, bound.filter, got, want)
				}
				filled += len(got.Role)
			}
			who := pick(d, identities.filters)
			if page, err := f.p.Identities.List(ctx, core.ListRequest[*iam.IdentityFilter]{UIDP: scope, Filter: who.filter, PageSize: 1}); err == nil {
				got := must[[]*iam.IdentityFacets](t)(f.p.Identities.Facets(ctx, []core.Page[*iam.Identity]{page}))[0]
				kinds, groups := map[iam.IdentityType]int64{}, map[core.UID]int64{}
				for _, i := range identities.expectedRows(c, scope, who, f.p.Identities.Kind().DefaultOrder) {
					kinds[kindOf(i)]++
					groups[i.UID.Parent()]++
				}
				if want := (&iam.IdentityFacets{Kind: sortedFacets(kinds), Group: sortedFacets(groups)}); !reflect.DeepEqual(got, want) {
					t.Errorf("identities of %s, %+v, %+v: got %+v, want %+v", c.subject, scope, who.filter, got, want)
				}
				filled += len(got.Kind)
			}
		}
		if filled < 200 {
			t.Errorf("only %d facets were counted", filled)
		}
	})
}

func kindOf(i *iam.Identity) iam.IdentityType {
	switch {
	case i.Provider != "":
		return iam.IdentityTypeUser
	case i.ClaimMatch != nil:
		return iam.IdentityTypeClaimMatch
	case i.StaticKeys != nil:
		return iam.IdentityTypeStaticKeys
	default:
		return iam.IdentityTypeNobody
	}
}

func TestFacetsCountTheTagsOfTheList(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		tags := &kind[*inventory.Tag, *inventory.TagFilter]{f: f, ops: f.p.Tags, rows: f.tags, filters: f.tagFilters()}
		d, filled := newDice(37), 0
		for range 150 {
			c, scope, s := pick(d, f.callers), f.scope(d), pick(d, tags.filters)
			ctx := f.contextAs(c.subject)
			page, err := f.p.Tags.List(ctx, core.ListRequest[*inventory.TagFilter]{UIDP: scope, Filter: s.filter, PageSize: 1})
			if err != nil {
				continue
			}
			got := must[[]*inventory.TagFacets](t)(f.p.Tags.Facets(ctx, []core.Page[*inventory.Tag]{page}))[0]
			repos, ends, classes, bundles := map[core.UID]int64{}, map[bool]int64{}, map[inventory.TagClass]int64{}, map[string]int64{}
			for _, tag := range tags.expectedRows(c, scope, s, f.p.Tags.Kind().DefaultOrder) {
				repos[tag.UID.Parent()]++
				ends[tag.Deprecated]++
				classes[tag.Class]++
				for _, bundle := range slices.Compact(slices.Sorted(slices.Values(tag.Bundles))) {
					bundles[bundle]++
				}
			}
			counted := map[bool]int64{}
			for i, one := range got.Deprecated {
				if counted[one.Value] = one.Count; i > 0 && one.Count > got.Deprecated[0].Count {
					t.Errorf("%+v are not sorted", got.Deprecated)
				}
			}
			want := &inventory.TagFacets{Repo: sortedFacets(repos), Deprecated: got.Deprecated, Class: sortedFacets(classes), Bundle: sortedFacets(bundles)}
			if !reflect.DeepEqual(got, want) || !maps.Equal(counted, ends) {
				t.Errorf("tags of %s, %+v, %+v: got %+v, want %+v and %v", c.subject, scope, s.filter, got, want, ends)
			}
			filled += len(got.Repo)
		}
		if filled < 200 {
			t.Errorf("only %d facets were counted", filled)
		}
	})
}
