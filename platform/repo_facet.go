package platform

import (
	"cmp"
	"context"
	"slices"
)

// A Facet counts the repos of a list with a value.
type Facet[V any] struct {
	Value V
	Count int64
}

// The facets of repos.
type (
	// A TierFacet counts the repos of a catalogue tier; "" is for repos without one.
	TierFacet = Facet[CatalogTier]
	// A BundleFacet counts the repos of a bundle.
	BundleFacet = Facet[string]
)

// RepoFacets count the repos of a list by catalogue tier and by bundle, sorted by
// descending count.
type RepoFacets struct {
	Tier   []TierFacet
	Bundle []BundleFacet
}

// maxFacets limits the values of one field.
const maxFacets = 100

// Facets counts all repos of the lists that the pages belong to, with one read. A
// repo counts in each of its bundles.
func (s Repos) Facets(ctx context.Context, pages []Page[*Repo]) ([]*RepoFacets, error) {
	all, scopes := make([]*RepoFacets, len(pages)), make([]Scope, len(pages))
	var filter *RepoFilter
	isEmpty := true
	for i, page := range pages {
		q, _ := page.asked.(Query[*RepoFilter])
		all[i], filter = &RepoFacets{Tier: []TierFacet{}, Bundle: []BundleFacet{}}, q.Filter // which is the same for all
		if !matchesNothing(q.Filter) {
			scopes[i] = q.Scope
		}
		isEmpty = isEmpty && len(scopes[i].branches) == 0
	}
	if isEmpty {
		return all, nil
	}
	found, err := s.p.store.FacetRepos(ctx, filter, scopes)
	if err != nil {
		return nil, s.kind.addArea(err)
	}
	for i, f := range found {
		all[i].Tier, all[i].Bundle = sortFacets(f.Tier), sortFacets(f.Bundle)
	}
	return all, nil
}

func sortFacets[V cmp.Ordered](facets []Facet[V]) []Facet[V] {
	slices.SortFunc(facets, func(a, b Facet[V]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return append([]Facet[V]{}, facets[:min(len(facets), maxFacets)]...)
}
