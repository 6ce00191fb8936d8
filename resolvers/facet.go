package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

func (r roleBindingLists) Facets(ctx context.Context, all []*scalar.RoleBindingConnection) ([]*iam.RoleBindingFacets, error) {
	return r.p.RoleBindings.Facets(ctx, mapEach(all, (*scalar.RoleBindingConnection).Page))
}

func (r identityLists) Facets(ctx context.Context, all []*scalar.IdentityConnection) ([]*iam.IdentityFacets, error) {
	return r.p.Identities.Facets(ctx, mapEach(all, (*scalar.IdentityConnection).Page))
}

func (r tagLists) Facets(ctx context.Context, all []*scalar.TagConnection) ([]*inventory.TagFacets, error) {
	return r.p.Tags.Facets(ctx, mapEach(all, (*scalar.TagConnection).Page))
}

func (repoFacets) Repo(ctx context.Context, all []*core.UIDFacet) ([]*inventory.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), facetUID)
}

func (roleFacets) Role(ctx context.Context, all []*core.UIDFacet) ([]*iam.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), facetUID)
}

func (groupFacets) Group(ctx context.Context, all []*core.UIDFacet) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), facetUID)
}
