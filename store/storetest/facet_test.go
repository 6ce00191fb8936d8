package storetest_test

import (
	"cmp"
	"reflect"
	"slices"
	"testing"

	"atrium/platform"
)

// facetsOf counts repos in the simplest way.
func facetsOf(repos []*platform.Repo) *platform.RepoFacets {
	tiers, bundles := map[platform.CatalogTier]int64{}, map[string]int64{}
	for _, r := range repos {
		tiers[r.CatalogTier]++
		for i, bundle := range r.Bundles {
			if !slices.Contains(r.Bundles[:i], bundle) {
				bundles[bundle]++
			}
		}
	}
	return &platform.RepoFacets{Tier: sortedFacets(tiers), Bundle: sortedFacets(bundles)}
}

func sortedFacets[V cmp.Ordered](counts map[V]int64) []platform.Facet[V] {
	facets := []platform.Facet[V]{}
	for value, count := range counts {
		facets = append(facets, platform.Facet[V]{Value: value, Count: count})
	}
	slices.SortFunc(facets, func(a, b platform.Facet[V]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return facets
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

// The advisories of tags follow from their images. For every caller, a list and a summary
// must equal the result of a simple computation.
func TestAdvisoriesOfTagsAreThoseOfTheirImages(t *testing.T) {
	eachForest(t, func(t *testing.T, f *forest) {
		d := newDice(31)
		var images []*platform.Image
		for _, tag := range f.tags {
			if d.IntN(2) == 0 && !slices.ContainsFunc(images, func(i *platform.Image) bool { return i.Repo == tag.UID.Parent() && i.Digest == tag.Digest }) {
				image := &platform.Image{Repo: tag.UID.Parent(), Digest: tag.Digest}
				for range d.IntN(4) {
					image.Packages = append(image.Packages, pick(d, repoNames))
				}
				images = append(images, image)
			}
		}
		for _, a := range f.advisories[:len(f.advisories)/3] {
			a.ArtifactName = pick(d, digests)
		}
		f.insert(func(tx platform.Tx) error {
			for _, a := range f.advisories {
				if _, err := tx.AdvisoryWriter().Delete(t.Context(), a.UID); err != nil {
					return err
				}
			}
			if err := tx.AdvisoryWriter().Insert(t.Context(), f.advisories...); err != nil {
				return err
			}
			return tx.PutImages(t.Context(), images)
		})
		namesOf := func(tag *platform.Tag) []string {
			for _, i := range images {
				if i.Repo == tag.UID.Parent() && i.Digest == tag.Digest && len(i.Packages) > 0 {
					return append([]string{tag.Digest}, i.Packages...)
				}
			}
			at := slices.IndexFunc(f.repos, func(r *platform.Repo) bool { return r.UID == tag.UID.Parent() })
			return []string{tag.Digest, f.repos[at].Name}
		}
		k := &kind[*platform.Advisory, *platform.AdvisoryFilter]{f: f, ops: f.p.Advisories, rows: f.advisories}
		found := 0
		for _, c := range f.callers {
			ctx := f.contextAs(c.subject)
			tags := times(40, func(int) *platform.Tag { return pick(d, f.tags) })
			req := platform.ListRequest[*platform.AdvisoryFilter]{PageSize: 1 + d.IntN(3), OrderBy: spell(pick(d, k.orders()))}
			pages, errs := f.p.Advisories.ListOfTags(ctx, req, tags)
			for i, tag := range tags {
				may := f.maySee(c, platform.CapManifestMetadataList, tag.UID) && f.maySee(c, platform.CapRepoList, tag.UID)
				if !may || f.isRefused(c, platform.CapAdvisoriesList, platform.UIDFilter{DescendantsOf: tag.UID.Root()}, false) {
					if errs[i] == nil {
						t.Errorf("%s is shown the advisories of %s", c.subject, tag.UID)
					}
					continue
				}
				names := namesOf(tag)
				matches := filterCase[*platform.Advisory, *platform.AdvisoryFilter]{matches: func(a *platform.Advisory) bool {
					return slices.Contains(names, a.ArtifactName) && tag.UID.Below(a.UID.Parent())
				}}
				order := platform.Order{Field: "uid"}
				want := k.expectedRows(c, platform.UIDFilter{DescendantsOf: tag.UID.Root()}, matches, order)
				if errs[i] != nil || pages[i].TotalCount != int64(len(want)) {
					t.Errorf("%s, tag %s: %d advisories (%v), want %d", c.subject, tag.UID, pages[i].TotalCount, errs[i], len(want))
					continue
				}
				got := k.uids(pages[i].Items)
				for next := pages[i]; next.NextPageToken() != ""; {
					again := req
					again.PageToken = next.NextPageToken()
					more, errs := f.p.Advisories.ListOfTags(ctx, again, []*platform.Tag{tag})
					if errs[0] != nil {
						t.Fatal(errs[0])
					}
					next, got = more[0], append(got, k.uids(more[0].Items)...)
				}
				slices.Sort(got)
				if !slices.Equal(got, k.uids(want)) {
					t.Errorf("%s, tag %s: got %v, want %v", c.subject, tag.UID, got, k.uids(want))
				}
				found += len(got)
			}
		}
		if found < 50 {
			t.Errorf("only %d advisories were found", found)
		}
	})
}
