package core

import (
	"cmp"
	"context"
	"reflect"
	"slices"
)

// A Facet counts the rows of a list with a value.
type Facet[V any] struct {
	Value V     `json:"value"`
	Count int64 `json:"count"`
}

type (
	// A UIDFacet counts the rows of a resource, such as a group.
	UIDFacet = Facet[UID]
	// A TextFacet counts the rows with a text.
	TextFacet = Facet[string]
)

// MaxFacets limits the values of one field.
const MaxFacets = 100

// FacetEach counts the rows of the lists that the pages belong to, with one read for the lists with the same filter,
// which are all of them unless they have page tokens. The function sort sorts what was counted.
func FacetEach[T, C any, F Filter](ctx context.Context, r *Collection[T, F], pages []Page[T], count func(context.Context, Conn, F, []Scope) ([]*C, error), sort func(*C)) ([]*C, error) {
	all, asked := make([]*C, len(pages)), make([]Query[F], len(pages))
	for i, page := range pages {
		asked[i], _ = page.asked.(Query[F])
	}
	for i := range asked {
		if all[i] != nil {
			continue
		}
		var scopes []Scope
		var indices []int
		for n := i; n < len(asked); n++ {
			if all[n] == nil && reflect.DeepEqual(asked[n].Filter, asked[i].Filter) {
				scopes, indices = append(scopes, asked[n].Scope), append(indices, n)
			}
		}
		if MatchesNothing(asked[i].Filter) {
			scopes = make([]Scope, len(scopes))
		}
		found, err := count(ctx, r.Core.Store, asked[i].Filter, scopes)
		if err != nil {
			return nil, r.Kind.AddArea(err)
		}
		for at, n := range indices {
			sort(found[at])
			all[n] = found[at]
		}
	}
	return all, nil
}

// SortFacets returns the values that most rows have, those first.
func SortFacets[V cmp.Ordered](facets []Facet[V]) []Facet[V] {
	slices.SortFunc(facets, func(a, b Facet[V]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return append([]Facet[V]{}, facets[:min(len(facets), MaxFacets)]...)
}

// FacetsOf returns facets of counts by value.
func FacetsOf[V cmp.Ordered](counts map[V]int64) []Facet[V] {
	facets := make([]Facet[V], 0, len(counts))
	for value, n := range counts {
		facets = append(facets, Facet[V]{value, n})
	}
	return SortFacets(facets)
}
