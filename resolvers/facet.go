package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// facetsOf returns facets in the form of the graph.
func facetsOf[F, G any](found []F, convert func(F) *G, err error) ([]*G, error) {
	if err != nil {
		return nil, err
	}
	return mapEach(found, convert), nil
}

func (r roleBindingLists) Facets(ctx context.Context, all []*scalar.RoleBindingConnection) ([]*scalar.RoleBindingFacets, error) {
	found, err := r.p.RoleBindings.Facets(ctx, mapEach(all, (*scalar.RoleBindingConnection).Page))
	return facetsOf(found, scalar.NewRoleBindingFacets, err)
}

func (r identityLists) Facets(ctx context.Context, all []*scalar.IdentityConnection) ([]*scalar.IdentityFacets, error) {
	found, err := r.p.Identities.Facets(ctx, mapEach(all, (*scalar.IdentityConnection).Page))
	return facetsOf(found, scalar.NewIdentityFacets, err)
}

func (r repoConnections) Facets(ctx context.Context, all []*scalar.RepoConnection) ([]*scalar.RepoFacets, error) {
	found, err := r.p.Repos.Facets(ctx, mapEach(all, (*scalar.RepoConnection).Page))
	return facetsOf(found, scalar.NewRepoFacets, err)
}

func (r packageConnections) Facets(ctx context.Context, all []*scalar.PackageConnection) ([]*scalar.PackageFacets, error) {
	found, err := r.p.Packages.Facets(ctx, mapEach(all, (*scalar.PackageConnection).Page))
	return facetsOf(found, scalar.NewPackageFacets, err)
}

func (r tagLists) Facets(ctx context.Context, all []*scalar.TagConnection) ([]*scalar.TagFacets, error) {
	var parts inventory.TagFacetParts
	for field := range selectedFields(ctx) {
		switch field.Name {
		case "baseImages", "architectures":
			parts |= inventory.TagFacetsOfImages
		default:
			parts |= inventory.TagFacetsOfTags
		}
	}
	found, err := r.p.Tags.Facets(ctx, mapEach(all, (*scalar.TagConnection).Page), parts)
	return facetsOf(found, scalar.NewTagFacets, err)
}

func (r findingConnections) Facets(ctx context.Context, all []*scalar.FindingConnection) ([]*scalar.FindingFacets, error) {
	var parts inventory.FindingFacetParts
	for field := range selectedFields(ctx) {
		switch field.Name {
		case "vulnerabilities":
			parts |= inventory.FindingFacetsByVulnerability
		case "packages":
			parts |= inventory.FindingFacetsByPackage
		case "assignees":
			parts |= inventory.FindingFacetsByAssignee
		case "labels":
			parts |= inventory.FindingFacetsByLabel
		default:
			parts |= inventory.FindingFacetsSummed
		}
	}
	found, err := r.p.Findings.Facets(ctx, mapEach(all, (*scalar.FindingConnection).Page), parts)
	return facetsOf(found, scalar.NewFindingFacets, err)
}

// vulnerabilityFacets resolves the fields of counts by vulnerability.
type vulnerabilityFacets struct{}

func (root) VulnerabilityFacet() graph.VulnerabilityFacetResolver { return vulnerabilityFacets{} }

func (vulnerabilityFacets) Vulnerability(ctx context.Context, all []*scalar.VulnerabilityFacet) ([]*inventory.NamedVulnerability, error) {
	return followVulnerability(ctx, all, func(f *scalar.VulnerabilityFacet) string { return f.Value })
}

func (repoFacets) Repo(ctx context.Context, all []*scalar.RepoFacet) ([]*inventory.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), (*scalar.RepoFacet).UID)
}

func (roleFacets) Role(ctx context.Context, all []*scalar.RoleFacet) ([]*iam.Role, error) {
	return follow(ctx, all, readsOf(ctx).roles(), (*scalar.RoleFacet).UID)
}

func (groupFacets) Group(ctx context.Context, all []*scalar.GroupFacet) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), (*scalar.GroupFacet).UID)
}

func (identityFacets) Identity(ctx context.Context, all []*scalar.IdentityFacet) ([]*iam.Identity, error) {
	return follow(ctx, all, readsOf(ctx).identities(), (*scalar.IdentityFacet).UID)
}
