package storetest_test

import (
	"cmp"
	"fmt"
	"maps"
	"reflect"
	"slices"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
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
	return &inventory.RepoFacets{Tiers: sortedFacets(tiers), Bundles: sortedFacets(bundles), Labels: sortedFacets(labels), Groups: sortedFacets(groups)}
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
			filled += len(got.Tiers) + len(got.Bundles)
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
				roles, groups, who := map[core.UID]int64{}, map[core.UID]int64{}, map[core.UID]int64{}
				for _, b := range bindings.expectedRows(c, scope, bound, f.p.RoleBindings.Kind().DefaultOrder) {
					roles[b.Role.UID]++
					groups[b.Group.UID]++
					who[b.Identity.UID]++
				}
				if want := (&iam.RoleBindingFacets{Roles: sortedFacets(roles), Groups: sortedFacets(groups), Identities: sortedFacets(who)}); !reflect.DeepEqual(got, want) {
					t.Errorf("bindings of %s, %+v, %+v: got %+v, want %+v", c.subject, scope, bound.filter, got, want)
				}
				filled += len(got.Roles)
			}
			who := pick(d, identities.filters)
			if page, err := f.p.Identities.List(ctx, core.ListRequest[*iam.IdentityFilter]{UIDP: scope, Filter: who.filter, PageSize: 1}); err == nil {
				got := must[[]*iam.IdentityFacets](t)(f.p.Identities.Facets(ctx, []core.Page[*iam.Identity]{page}))[0]
				kinds, groups := map[iam.IdentityType]int64{}, map[core.UID]int64{}
				for _, i := range identities.expectedRows(c, scope, who, f.p.Identities.Kind().DefaultOrder) {
					kinds[kindOf(i)]++
					groups[i.UID.Parent()]++
				}
				if want := (&iam.IdentityFacets{Kinds: sortedFacets(kinds), Groups: sortedFacets(groups)}); !reflect.DeepEqual(got, want) {
					t.Errorf("identities of %s, %+v, %+v: got %+v, want %+v", c.subject, scope, who.filter, got, want)
				}
				filled += len(got.Kinds)
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
			got := must[[]*inventory.TagFacets](t)(f.p.Tags.Facets(ctx, []core.Page[*inventory.Tag]{page}, inventory.TagFacetsOfTags|inventory.TagFacetsOfImages))[0]
			repos, ends, classes, bundles := map[core.UID]int64{}, map[bool]int64{}, map[inventory.TagClass]int64{}, map[string]int64{}
			bases, architectures := map[string]int64{}, map[string]int64{} // No image of these tags is known.
			for _, tag := range tags.expectedRows(c, scope, s, f.p.Tags.Kind().DefaultOrder) {
				repos[tag.UID.Parent()]++
				ends[tag.Deprecated]++
				bases[""]++
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
			want := &inventory.TagFacets{
				Repos: sortedFacets(repos), Deprecated: got.Deprecated, Classes: sortedFacets(classes), Bundles: sortedFacets(bundles),
				BaseImages: sortedFacets(bases), Architectures: sortedFacets(architectures),
			}
			if !reflect.DeepEqual(got, want) || !maps.Equal(counted, ends) {
				t.Errorf("tags of %s, %+v, %+v: got %+v, want %+v and %v", c.subject, scope, s.filter, got, want, ends)
			}
			filled += len(got.Repos)
		}
		if filled < 200 {
			t.Errorf("only %d facets were counted", filled)
		}
	})
}

const allFacetsOfFindings = inventory.FindingFacetsSummed | inventory.FindingFacetsByVulnerability | inventory.FindingFacetsByPackage | inventory.FindingFacetsByAssignee | inventory.FindingFacetsByLabel

// facetsOfFindings counts findings in the simplest way. Some repos have the label team=a.
func facetsOfFindings(all []*inventory.Finding, labeled map[core.UID]bool) *inventory.FindingFacets {
	ratings, states, ecosystems, repos, groups := map[core.SeverityRating]int64{}, map[inventory.FindingState]int64{}, map[string]int64{}, map[core.UID]int64{}, map[core.UID]int64{}
	vulnerabilities, packages, assignees, labels := map[string]int64{}, map[string]int64{}, map[core.UID]int64{}, map[string]int64{}
	for _, f := range all {
		vulnerabilities[f.VulnerabilityID]++
		packages[f.Package]++
		assignees[f.Assignee]++
		if labeled[f.Repo] {
			labels["team=a"]++
		}
		ratings[f.Severity.Rating]++
		states[f.State]++
		ecosystems[f.Ecosystem]++
		repos[f.Repo]++
		groups[f.Repo.Parent()]++
	}
	return &inventory.FindingFacets{
		Severities: sortedFacets(ratings), States: sortedFacets(states), Ecosystems: sortedFacets(ecosystems), Repos: sortedFacets(repos), Groups: sortedFacets(groups),
		Vulnerabilities: sortedFacets(vulnerabilities), Packages: sortedFacets(packages), Assignees: sortedFacets(assignees), Labels: sortedFacets(labels),
	}
}

func TestFacetsCountTheFindingsOfTheList(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		d := newDice(41)
		owner, org := w.createOrganization("acme")
		groups, labeled := []core.UID{org.Group.UID}, map[core.UID]bool{}
		repos := []core.UID{w.repo(owner, groups[0], "r")}
		for i := range 6 {
			g := w.group(owner, groups[i-i%2], fmt.Sprintf("g%d", i))
			r := must[*inventory.Repo](t)(w.p.Repos.Create(owner, g, input[*inventory.Repo](`{"name": "r", "labels": {"team": "a"}}`)))
			groups, repos, labeled[r.UID] = append(groups, g), append(repos, r.UID), true
		}
		w.bind(owner, groups[1], w.identity(owner, groups[0], "viewer"), iam.ViewerRole)
		viewer := w.contextAs("viewer")
		_, other := w.createOrganization("other") // Nobody of acme sees its findings.
		w.findingsOf(d, []core.UID{w.repo(w.contextAs("owner of other"), other.Group.UID, "r")})
		all, filled := w.findingsOf(d, repos), 0
		check := func() {
			t.Helper()
			w.checkCounters(t, 0)
			for range 100 {
				filter, means := findingFilters(d)
				if d.IntN(4) == 0 {
					filter.Labels = []core.LabelCondition{core.ParseLabelCondition("team=a")}
				}
				ctx, seen := owner, groups[0]
				if d.IntN(3) == 0 {
					ctx, seen = viewer, groups[1]
				}
				scopes := []core.UIDFilter{descendantsOf(pick(d, groups)), descendantsOf(pick(d, repos)), childrenOf(pick(d, repos)), descendantsOf(seen)}
				pages, errs := w.p.Findings.ListEach(ctx, core.ListRequest[*inventory.FindingFilter]{Filter: filter, PageSize: 1}, scopes)
				scopes = append(scopes, core.UIDFilter{})
				whole, err := w.p.Findings.List(ctx, core.ListRequest[*inventory.FindingFilter]{Filter: filter, PageSize: 1})
				pages, errs = append(pages, whole), append(errs, err)
				for i, page := range pages {
					if errs[i] != nil {
						continue // The viewer may not read there.
					}
					want := facetsOfFindings(slices.DeleteFunc(slices.Clone(all), func(x *inventory.Finding) bool {
						inScope := scopes[i].ChildrenOf == x.Repo || scopes[i].DescendantsOf != "" && x.UID.Within(scopes[i].DescendantsOf) || i == len(pages)-1
						return !means(x) || !inScope || !x.UID.Within(seen) || filter.Labels != nil && !labeled[x.Repo]
					}), labeled)
					got := must[[]*inventory.FindingFacets](t)(w.p.Findings.Facets(ctx, []core.Page[*inventory.Finding]{page}, allFacetsOfFindings))[0]
					if !reflect.DeepEqual(got, want) {
						t.Fatalf("%+v in %+v: got %+v, want %+v", *filter, scopes[i], got, want)
					}
					filled += len(got.Repos)
				}
				if ctx == owner {
					for i, got := range must[[]*inventory.FindingFacets](t)(w.p.Findings.Facets(ctx, pages, allFacetsOfFindings)) {
						if one := must[[]*inventory.FindingFacets](t)(w.p.Findings.Facets(ctx, pages[i:i+1], allFacetsOfFindings))[0]; !reflect.DeepEqual(got, one) {
							t.Fatalf("%+v in %+v: with others, got %+v, want %+v", *filter, scopes[i], got, one)
						}
					}
				}
			}
		}
		check()
		w.insert(func(tx core.Tx) error { // Findings change their class, come to be live and are no longer.
			var changed []*inventory.Finding
			for i, f := range all[:150] {
				is := *f
				is.State, is.IsLive, is.Severity.Rating = pick(d, inventory.FindingStates()), i%3 > 0, pick(d, core.SeverityRatings())
				if is.ResolvedTime = (core.Time{}); is.State == inventory.FindingResolved {
					is.ResolvedTime = core.At(epoch)
				}
				changed = append(changed, &is)
			}
			old := all[:150]
			all = slices.Concat(changed, all[150:])
			return storetest.Tables.Inventory.ReplaceFindings(t.Context(), tx, old, changed)
		})
		check()
		if err := w.p.Repos.Delete(owner, repos[2]); err != nil {
			t.Fatal(err)
		}
		all = slices.DeleteFunc(all, func(f *inventory.Finding) bool { return f.Repo == repos[2] })
		check()
		db := w.openDirect()
		w.exec(db, "UPDATE finding_count SET n = n + 1 WHERE class = 1")
		w.exec(db, "DELETE FROM finding_count WHERE class = 2")
		if wrong := must[int64](t)(w.store.Recount(t.Context())); wrong == 0 {
			t.Error("no count is wrong")
		}
		check()
		if filled < 500 {
			t.Errorf("only %d facets were counted", filled)
		}
	})
}
