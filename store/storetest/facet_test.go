package storetest_test

import (
	"cmp"
	"maps"
	"reflect"
	"slices"
	"testing"

	"atrium/platform"
)

// facetsOf counts repos in the simplest way.
func facetsOf(repos []*platform.Repo) *platform.RepoFacets {
	tiers, bundles, labels, groups := map[platform.CatalogTier]int64{}, map[string]int64{}, map[string]int64{}, map[platform.UID]int64{}
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
	return &platform.RepoFacets{Tier: sortedFacets(tiers), Bundle: sortedFacets(bundles), Label: sortedFacets(labels), Group: sortedFacets(groups)}
}

func sortedFacets[V cmp.Ordered](counts map[V]int64) []platform.Facet[V] {
	facets := []platform.Facet[V]{}
	for value, count := range counts {
		facets = append(facets, platform.Facet[V]{Value: value, Count: count})
	}
	slices.SortFunc(facets, func(a, b platform.Facet[V]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return facets[:min(len(facets), 100)]
}

func TestFacetsCountTheReposOfTheList(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		k := &kind[*platform.Repo, *platform.RepoFilter]{f: f, ops: f.p.Repos, rows: f.repos, filters: f.repoFilters()}
		d, filled := newDice(29), 0
		check := func(c *caller, scope platform.UIDFilter, s filterCase[*platform.Repo, *platform.RepoFilter], got *platform.RepoFacets) {
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
			req := platform.ListRequest[*platform.RepoFilter]{UIDP: f.scope(d), Filter: s.filter, PageSize: 1, Skip: d.IntN(2)}
			if page, err := f.p.Repos.List(ctx, req); err == nil {
				facets := must[[]*platform.RepoFacets](t)(f.p.Repos.Facets(ctx, []platform.Page[*platform.Repo]{page}))
				check(c, req.UIDP, s, facets[0])
			}
			scopes := times(4, func(int) *platform.UIDFilter { return &platform.UIDFilter{DescendantsOf: pick(d, f.groups).UID} })
			pages, errs := f.p.Repos.ListEach(ctx, platform.ListRequest[*platform.RepoFilter]{Filter: s.filter, PageSize: 1}, values(scopes))
			var read []platform.Page[*platform.Repo]
			var places []int
			for i := range pages {
				if errs[i] == nil {
					read, places = append(read, pages[i]), append(places, i)
				}
			}
			facets := must[[]*platform.RepoFacets](t)(f.p.Repos.Facets(ctx, read))
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
		bindings := &kind[*platform.RoleBinding, *platform.RoleBindingFilter]{f: f, ops: f.p.RoleBindings, rows: f.bindings, filters: f.bindingFilters()}
		identities := &kind[*platform.Identity, *platform.IdentityFilter]{f: f, ops: f.p.Identities, rows: f.identities, filters: f.identityFilters()}
		d, filled := newDice(31), 0
		for range 150 {
			c, scope := pick(d, f.callers), f.scope(d)
			ctx := f.contextAs(c.subject)
			bound := pick(d, bindings.filters)
			if page, err := f.p.RoleBindings.List(ctx, platform.ListRequest[*platform.RoleBindingFilter]{UIDP: scope, Filter: bound.filter, PageSize: 1}); err == nil {
				got := must[[]*platform.RoleBindingFacets](t)(f.p.RoleBindings.Facets(ctx, []platform.Page[*platform.RoleBinding]{page}))[0]
				roles, groups := map[platform.UID]int64{}, map[platform.UID]int64{}
				for _, b := range bindings.expectedRows(c, scope, bound, f.p.RoleBindings.Kind().DefaultOrder) {
					roles[b.Role.UID]++
					groups[b.Group.UID]++
				}
				if want := (&platform.RoleBindingFacets{Role: sortedFacets(roles), Group: sortedFacets(groups)}); !reflect.DeepEqual(got, want) {
					t.Errorf("bindings of %s, %+v, %+v: got %+v, want %+v", c.subject, scope, bound.filter, got, want)
				}
				filled += len(got.Role)
			}
			who := pick(d, identities.filters)
			if page, err := f.p.Identities.List(ctx, platform.ListRequest[*platform.IdentityFilter]{UIDP: scope, Filter: who.filter, PageSize: 1}); err == nil {
				got := must[[]*platform.IdentityFacets](t)(f.p.Identities.Facets(ctx, []platform.Page[*platform.Identity]{page}))[0]
				kinds, groups := map[platform.IdentityType]int64{}, map[platform.UID]int64{}
				for _, i := range identities.expectedRows(c, scope, who, f.p.Identities.Kind().DefaultOrder) {
					kinds[kindOf(i)]++
					groups[i.UID.Parent()]++
				}
				if want := (&platform.IdentityFacets{Kind: sortedFacets(kinds), Group: sortedFacets(groups)}); !reflect.DeepEqual(got, want) {
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

func kindOf(i *platform.Identity) platform.IdentityType {
	switch {
	case i.Provider != "":
		return platform.IdentityTypeUser
	case i.ClaimMatch != nil:
		return platform.IdentityTypeClaimMatch
	case i.StaticKeys != nil:
		return platform.IdentityTypeStaticKeys
	default:
		return platform.IdentityTypeNobody
	}
}

func TestFacetsCountTheTagsOfTheList(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		tags := &kind[*platform.Tag, *platform.TagFilter]{f: f, ops: f.p.Tags, rows: f.tags, filters: f.tagFilters()}
		d, filled := newDice(37), 0
		for range 150 {
			c, scope, s := pick(d, f.callers), f.scope(d), pick(d, tags.filters)
			ctx := f.contextAs(c.subject)
			page, err := f.p.Tags.List(ctx, platform.ListRequest[*platform.TagFilter]{UIDP: scope, Filter: s.filter, PageSize: 1})
			if err != nil {
				continue
			}
			got := must[[]*platform.TagFacets](t)(f.p.Tags.Facets(ctx, []platform.Page[*platform.Tag]{page}))[0]
			repos, ends, classes, bundles := map[platform.UID]int64{}, map[bool]int64{}, map[platform.TagClass]int64{}, map[string]int64{}
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
			want := &platform.TagFacets{Repo: sortedFacets(repos), Deprecated: got.Deprecated, Class: sortedFacets(classes), Bundle: sortedFacets(bundles)}
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
