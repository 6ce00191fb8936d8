package platform

import "context"

// The facets of repos.
type (
	// A TierFacet counts the repos of a catalogue tier; "" is for repos without one.
	TierFacet = Facet[CatalogTier]
	// A BundleFacet counts the repos of a bundle.
	BundleFacet = TextFacet
)

// RepoFacets count the repos of a list, sorted by descending count. A repo counts in each of its bundles and labels.
type RepoFacets struct {
	Tier   []TierFacet
	Bundle []BundleFacet
	Label  []TextFacet // labels as key=value
	Group  []UIDFacet
}

// Facets counts all repos of the lists that the pages belong to.
func (s Repos) Facets(ctx context.Context, pages []Page[*Repo]) ([]*RepoFacets, error) {
	return facetEach(ctx, s.rows, pages, s.area.tables.FacetRepos, func(f *RepoFacets) {
		f.Tier, f.Bundle, f.Label, f.Group = sortFacets(f.Tier), sortFacets(f.Bundle), sortFacets(f.Label), sortFacets(f.Group)
	})
}
