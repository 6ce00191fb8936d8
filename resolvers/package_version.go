package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/internal/sbom"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// packageVersions resolves the fields of versions of packages.
type packageVersions struct {
	p *platform.Platform
	viewerFields[*inventory.PackageVersion]
}

func (r root) PackageVersion() graph.PackageVersionResolver {
	return packageVersions{r.p, newViewerFields(r.p.PackageVersions)}
}

func (r *reads) packageVersions() *loader[core.UID, *inventory.PackageVersion] {
	return loaderOf(r, r.p.PackageVersions.GetMany)
}

func (q queries) PackageVersion(ctx context.Context, uid core.UID) (*inventory.PackageVersion, error) {
	return readsOf(ctx).packageVersions().load(ctx, uid)
}

func (e entities) FindManyPackageVersionByUIDs(ctx context.Context, reps []*graph.PackageVersionByUIDsInput) ([]*inventory.PackageVersion, error) {
	return readRepresentations(ctx, readsOf(ctx).packageVersions(), mapEach(reps, func(r *graph.PackageVersionByUIDsInput) core.UID { return r.UID }))
}

// Purl answers package URLs of the versions whose ecosystem is known.
func (packageVersions) Purl(_ context.Context, all []*inventory.PackageVersion) ([]*string, error) {
	return mapEach(all, func(v *inventory.PackageVersion) *string {
		if v.Package.Ecosystem == "" {
			return nil
		}
		return new(sbom.WritePURL(v.Package.Name, v.Package.Ecosystem, v.Version))
	}), nil
}

func (r packageVersions) Licenses(ctx context.Context, all []*inventory.PackageVersion) ([][]string, error) {
	return r.p.PackageVersions.Licenses(ctx, all)
}

// Package answers the package, which is read with its version.
func (packageVersions) Package(_ context.Context, all []*inventory.PackageVersion) ([]*inventory.Package, error) {
	return mapEach(all, func(v *inventory.PackageVersion) *inventory.Package { return &v.Package }), nil
}

func (r packageVersions) Images(ctx context.Context, all []*inventory.PackageVersion, window scalar.Window) ([]*scalar.ImageConnection, error) {
	return newConnections(r.p.Images.ListHolding(ctx, request[*inventory.ImageFilter](ctx, core.UIDFilter{}, nil, window), all))
}

func (r packageVersions) Tags(ctx context.Context, all []*inventory.PackageVersion, window scalar.Window, where *scalar.TagFilter) ([]*scalar.TagConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Tags.ListHolding(ctx, request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.TagFilter, window), all))
}

func (r packageVersions) Repos(ctx context.Context, all []*inventory.PackageVersion, window scalar.Window, where *scalar.RepoFilter) ([]*scalar.RepoConnection, error) {
	f := valueOrZero(where)
	return newConnections(r.p.Repos.ListHolding(ctx, request(ctx, core.UIDFilter{IDs: f.UIDs}, &f.RepoFilter, window), all))
}

func (r packageVersions) Advisories(ctx context.Context, all []*inventory.PackageVersion, window scalar.Window) ([]*scalar.AdvisoryConnection, error) {
	return newConnections(r.p.PackageVersions.ListAdvisories(ctx, request[*inventory.AdvisoryFilter](ctx, core.UIDFilter{}, nil, window), all))
}
