package platform

import (
	"cmp"
	"context"
	"slices"
)

// A Facet tells how many repos of a list have a value.
type Facet[V any] struct {
	Value V
	Count int64
}

// The facets of repos.
type (
	// A TierFacet is of a part of the catalogue; "": of repos that are in none.
	TierFacet = Facet[CatalogTier]
	// A BundleFacet is of a bundle.
	BundleFacet = Facet[string]
)

// RepoFacets tell how the repos of a list are spread over parts of the catalogue
// and over bundles, what has most of them first.
type RepoFacets struct {
	Tier   []TierFacet
	Bundle []BundleFacet
}

// maxFacets bounds what is told of one field.
const maxFacets = 100

// Facets tells of all repos of the lists that pages are of, with one read. A repo
// counts in each of its bundles.
func (s Repos) Facets(ctx context.Context, pages []Page[Repo]) ([]*RepoFacets, error) {
	all, scopes := make([]*RepoFacets, len(pages)), make([]Scope, len(pages))
	var filter RepoFilter
	isEmpty := true
	for i, page := range pages {
		q, _ := page.asked.(Query[RepoFilter])
		all[i], filter = &RepoFacets{Tier: []TierFacet{}, Bundle: []BundleFacet{}}, q.Filter // which is the same for all
		if !asksForNone(q.Filter) {
			scopes[i] = q.Scope
		}
		isEmpty = isEmpty && len(scopes[i].branches) == 0
	}
	if isEmpty {
		return all, nil
	}
	found, err := s.p.store.FacetRepos(ctx, filter, scopes)
	if err != nil {
		return nil, s.kind.in(err)
	}
	for i, f := range found {
		all[i].Tier, all[i].Bundle = mostFirst(f.Tier), mostFirst(f.Bundle)
	}
	return all, nil
}

func mostFirst[V cmp.Ordered](facets []Facet[V]) []Facet[V] {
	slices.SortFunc(facets, func(a, b Facet[V]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return append([]Facet[V]{}, facets[:min(len(facets), maxFacets)]...)
}
