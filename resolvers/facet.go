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

func (r tagLists) Facets(ctx context.Context, all []*scalar.TagConnection) ([]*platform.TagFacets, error) {
	return r.p.Tags.Facets(ctx, mapEach(all, (*scalar.TagConnection).Page))
}

func (repoFacets) Repo(ctx context.Context, all []*platform.UIDFacet) ([]*platform.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), facetUID)
}

func (roleFacets) Role(ctx context.Context, all []*platform.UIDFacet) ([]*platform.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), facetUID)
}

func (groupFacets) Group(ctx context.Context, all []*platform.UIDFacet) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), facetUID)
}
