package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
)

// packages resolves the fields of packages.
type packages struct {
	p *platform.Platform
	viewerFields[*inventory.Package]
}

func (r root) Package() graph.PackageResolver { return packages{r.p, newViewerFields(r.p.Packages)} }

func (r *reads) packages() *loader[core.UID, *inventory.Package] {
	return loaderOf(r, r.p.Packages.GetMany)
}

func (q queries) Package(ctx context.Context, uid core.UID) (*inventory.Package, error) {
	return readsOf(ctx).packages().load(ctx, uid)
}

func (q queries) Packages(ctx context.Context, window scalar.Window, within *core.UID, where *inventory.PackageFilter) (*scalar.PackageConnection, error) {
	return newConnection(q.p.Packages.ListHeld(ctx, valueOrZero(within), request(ctx, core.UIDFilter{}, where, window)))
}

func (e entities) FindManyPackageByUIDs(ctx context.Context, reps []*graph.PackageByUIDsInput) ([]*inventory.Package, error) {
	return readRepresentations(ctx, readsOf(ctx).packages(), mapEach(reps, func(r *graph.PackageByUIDsInput) core.UID { return r.UID }))
}

func (packages) Group(ctx context.Context, all []*inventory.Package) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(p *inventory.Package) core.UID { return p.UID.Parent() })
}

func (r packages) Versions(ctx context.Context, all []*inventory.Package, window scalar.Window, where *inventory.PackageVersionFilter) ([]*scalar.PackageVersionConnection, error) {
	return newConnections(r.p.PackageVersions.ListOfPackages(ctx, request(ctx, core.UIDFilter{}, where, window), all))
}
