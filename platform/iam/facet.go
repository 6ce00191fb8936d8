package iam

import (
	"context"

	"atrium/platform/core"
)

type (
	// An IdentityTypeFacet counts the identities of a kind.
	IdentityTypeFacet = core.Facet[IdentityType]
)

// RoleBindingFacets count the role bindings of a list, sorted by descending count.
type RoleBindingFacets struct{ Roles, Groups, Identities []core.UIDFacet }

// IdentityFacets count the identities of a list, sorted by descending count.
type IdentityFacets struct {
	Kinds  []IdentityTypeFacet
	Groups []core.UIDFacet
}

// Facets counts all role bindings of the lists that the pages belong to.
func (s RoleBindings) Facets(ctx context.Context, pages []core.Page[*RoleBinding]) ([]*RoleBindingFacets, error) {
	return core.FacetEach(ctx, s.rows, pages, s.area.Tables.FacetRoleBindings, func(f *RoleBindingFacets) {
		f.Roles, f.Groups, f.Identities = core.SortFacets(f.Roles), core.SortFacets(f.Groups), core.SortFacets(f.Identities)
	})
}

// Facets counts all identities of the lists that the pages belong to.
func (s Identities) Facets(ctx context.Context, pages []core.Page[*Identity]) ([]*IdentityFacets, error) {
	return core.FacetEach(ctx, s.rows, pages, s.area.Tables.FacetIdentities, func(f *IdentityFacets) {
		f.Kinds, f.Groups = core.SortFacets(f.Kinds), core.SortFacets(f.Groups)
	})
}
