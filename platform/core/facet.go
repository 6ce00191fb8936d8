package platform

import (
	"cmp"
	"context"
	"reflect"
	"slices"
)

// A Facet counts the rows of a list with a value.
type Facet[V any] struct {
	Value V
	Count int64
}

type (
	// A UIDFacet counts the rows of a resource, such as a group.
	UIDFacet = Facet[UID]
	// A TextFacet counts the rows with a text.
	TextFacet = Facet[string]
	// A TagClassFacet counts the tags of a class; "" is for tags of none.
	TagClassFacet = Facet[TagClass]
	// A DeprecatedFacet counts the tags that have, or have not, reached their end of life.
	DeprecatedFacet = Facet[bool]
	// An IdentityTypeFacet counts the identities of a kind.
	IdentityTypeFacet = Facet[IdentityType]
)

// maxFacets limits the values of one field.
const maxFacets = 100

// RoleBindingFacets count the role bindings of a list, sorted by descending count.
type RoleBindingFacets struct{ Role, Group []UIDFacet }

// IdentityFacets count the identities of a list, sorted by descending count.
type IdentityFacets struct {
	Kind  []IdentityTypeFacet
	Group []UIDFacet
}

// TagFacets count the tags of a list, sorted by descending count. A tag counts in each of its bundles.
type TagFacets struct {
	Repo       []UIDFacet
	Deprecated []DeprecatedFacet
	Class      []TagClassFacet
	Bundle     []TextFacet
}

// Facets counts all tags of the lists that the pages belong to.
func (s Tags) Facets(ctx context.Context, pages []Page[*Tag]) ([]*TagFacets, error) {
	return facetEach(ctx, s.rows, pages, s.area.tables.FacetTags, func(f *TagFacets) {
		f.Repo, f.Class, f.Bundle = sortFacets(f.Repo), sortFacets(f.Class), sortFacets(f.Bundle)
		slices.SortFunc(f.Deprecated, func(a, b DeprecatedFacet) int {
			if a.Count == b.Count && b.Value {
				return -1
			}
			return cmp.Compare(b.Count, a.Count)
		})
	})
}

// Facets counts all role bindings of the lists that the pages belong to.
func (s RoleBindings) Facets(ctx context.Context, pages []Page[*RoleBinding]) ([]*RoleBindingFacets, error) {
	return facetEach(ctx, s.rows, pages, s.area.tables.FacetRoleBindings, func(f *RoleBindingFacets) {
		f.Role, f.Group = sortFacets(f.Role), sortFacets(f.Group)
	})
}

// Facets counts all identities of the lists that the pages belong to.
func (s Identities) Facets(ctx context.Context, pages []Page[*Identity]) ([]*IdentityFacets, error) {
	return facetEach(ctx, s.rows, pages, s.area.tables.FacetIdentities, func(f *IdentityFacets) {
		f.Kind, f.Group = sortFacets(f.Kind), sortFacets(f.Group)
	})
}

// facetEach counts the rows of the lists that the pages belong to, with one read for the lists with the same filter,
// which are all of them unless they have page tokens. The function sort sorts what was counted.
func facetEach[T, C any, F filter](ctx context.Context, r *Collection[T, F], pages []Page[T], count func(context.Context, Conn, F, []Scope) ([]*C, error), sort func(*C)) ([]*C, error) {
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
		if matchesNothing(asked[i].Filter) {
			scopes = make([]Scope, len(scopes))
		}
		found, err := count(ctx, r.core.store, asked[i].Filter, scopes)
		if err != nil {
			return nil, r.kind.addArea(err)
		}
		for at, n := range indices {
			sort(found[at])
			all[n] = found[at]
		}
	}
	return all, nil
}

// sortFacets returns the values that most rows have, those first.
func sortFacets[V cmp.Ordered](facets []Facet[V]) []Facet[V] {
	slices.SortFunc(facets, func(a, b Facet[V]) int {
		return cmp.Or(cmp.Compare(b.Count, a.Count), cmp.Compare(a.Value, b.Value))
	})
	return append([]Facet[V]{}, facets[:min(len(facets), maxFacets)]...)
}
