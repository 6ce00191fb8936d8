package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform"
)

func (r roleBindingLists) Facets(ctx context.Context, all []*scalar.RoleBindingConnection) ([]*platform.RoleBindingFacets, error) {
	return r.p.RoleBindings.Facets(ctx, mapEach(all, (*scalar.RoleBindingConnection).Page))
}

func (r identityLists) Facets(ctx context.Context, all []*scalar.IdentityConnection) ([]*platform.IdentityFacets, error) {
	return r.p.Identities.Facets(ctx, mapEach(all, (*scalar.IdentityConnection).Page))
}

func (roleFacets) Role(ctx context.Context, all []*platform.UIDFacet) ([]*platform.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), facetUID)
}

func (groupFacets) Group(ctx context.Context, all []*platform.UIDFacet) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), facetUID)
}
