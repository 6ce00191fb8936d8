package inventory

import (
	"context"

	"atrium/platform/core"
)

// The facets of repos.
type (
	// A TierFacet counts the repos of a catalog tier; "" is for repos without one.
	TierFacet = core.Facet[core.CatalogTier]
	// A BundleFacet counts the repos of a bundle.
	BundleFacet = core.TextFacet
)

// RepoFacets count the repos of a list, sorted by descending count. A repo counts in each of its bundles and labels.
type RepoFacets struct {
	Tiers   []TierFacet
	Bundles []BundleFacet
	Labels  []core.TextFacet // labels as key=value
	Groups  []core.UIDFacet
}

// Facets counts all repos of the lists that the pages belong to.
func (s Repos) Facets(ctx context.Context, pages []core.Page[*Repo]) ([]*RepoFacets, error) {
	return core.FacetEach(ctx, s.rows, pages, s.area.tables.FacetRepos, func(f *RepoFacets) {
		f.Tiers, f.Bundles, f.Labels, f.Groups = core.SortFacets(f.Tiers), core.SortFacets(f.Bundles), core.SortFacets(f.Labels), core.SortFacets(f.Groups)
	})
}
