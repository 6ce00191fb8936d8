package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// packages resolves the fields of packages.
type packages struct {
	p *platform.Platform
	viewerFields[*platform.Package]
}

func (r root) Package() graph.PackageResolver { return packages{r.p, newViewerFields(r.p.Packages)} }

func (r *reads) packages() *loader[platform.UID, *platform.Package] {
	return loaderOf(r, r.p.Packages.GetMany)
}

func (q queries) Package(ctx context.Context, uid platform.UID) (*platform.Package, error) {
	return readsOf(ctx).packages().load(ctx, uid)
}

func (q queries) Packages(ctx context.Context, window scalar.Window, within *platform.UID, where *platform.PackageFilter) (*scalar.PackageConnection, error) {
	return newConnection(q.p.Packages.ListHeld(ctx, valueOrZero(within), request(ctx, platform.UIDFilter{}, where, window)))
}

func (e entities) FindManyPackageByUIDs(ctx context.Context, reps []*graph.PackageByUIDsInput) ([]*platform.Package, error) {
	return readRepresentations(ctx, readsOf(ctx).packages(), mapEach(reps, func(r *graph.PackageByUIDsInput) platform.UID { return r.UID }))
}

func (packages) Group(ctx context.Context, all []*platform.Package) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(p *platform.Package) platform.UID { return p.UID.Parent() })
}

func (r packages) Versions(ctx context.Context, all []*platform.Package, window scalar.Window, where *platform.PackageVersionFilter) ([]*scalar.PackageVersionConnection, error) {
	return newConnections(r.p.PackageVersions.ListOfPackages(ctx, request(ctx, platform.UIDFilter{}, where, window), all))
}
