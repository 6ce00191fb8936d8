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
	Repos      []core.UIDFacet
	Deprecated []DeprecatedFacet
	Classes    []TagClassFacet
	Bundles    []core.TextFacet

	BaseImages, Architectures []core.TextFacet // of the images
}

// TagFacetParts select facets of tags.
type TagFacetParts uint8

// The facets of tags that need a read of their own.
const (
	TagFacetsOfTags   TagFacetParts = 1 << iota // what the tags themselves tell
	TagFacetsOfImages                           // base images and architectures
)

// Facets counts all tags of the lists that the pages belong to, by the selected facets.
func (s Tags) Facets(ctx context.Context, pages []core.Page[*Tag], parts TagFacetParts) ([]*TagFacets, error) {
	count := func(ctx context.Context, on core.Conn, f *TagFilter, scopes []core.Scope) ([]*TagFacets, error) {
		return s.area.tables.FacetTags(ctx, on, f, scopes, parts)
	}
	return core.FacetEach(ctx, s.rows, pages, count, func(f *TagFacets) {
		f.Repos, f.Classes, f.Bundles = core.SortFacets(f.Repos), core.SortFacets(f.Classes), core.SortFacets(f.Bundles)
		f.BaseImages, f.Architectures = core.SortFacets(f.BaseImages), core.SortFacets(f.Architectures)
		slices.SortFunc(f.Deprecated, func(a, b DeprecatedFacet) int {
			if a.Count == b.Count && b.Value {
				return -1
			}
			return cmp.Compare(b.Count, a.Count)
		})
	})
}
