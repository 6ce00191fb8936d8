package inventory

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform/core"
)

type (
	// A TagClassFacet counts the tags of a class; "" is for tags of none.
	TagClassFacet = core.Facet[TagClass]
	// A DeprecatedFacet counts the tags that have, or have not, reached their end of life.
	DeprecatedFacet = core.Facet[bool]
)

// TagFacets count the tags of a list, sorted by descending count. A tag counts in each of its bundles.
type TagFacets struct {
	Repo       []core.UIDFacet
	Deprecated []DeprecatedFacet
	Class      []TagClassFacet
	Bundle     []core.TextFacet
}

// Facets counts all tags of the lists that the pages belong to.
func (s Tags) Facets(ctx context.Context, pages []core.Page[*Tag]) ([]*TagFacets, error) {
	return core.FacetEach(ctx, s.rows, pages, s.area.tables.FacetTags, func(f *TagFacets) {
		f.Repo, f.Class, f.Bundle = core.SortFacets(f.Repo), core.SortFacets(f.Class), core.SortFacets(f.Bundle)
		slices.SortFunc(f.Deprecated, func(a, b DeprecatedFacet) int {
			if a.Count == b.Count && b.Value {
				return -1
			}
			return cmp.Compare(b.Count, a.Count)
		})
	})
}
