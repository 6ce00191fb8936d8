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

func (q queries) Packages(ctx context.Context, within *platform.UID, where *platform.PackageFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) (*scalar.PackageConnection, error) {
	return newConnection(q.p.Packages.ListHeld(ctx, valueOrZero(within), request(ctx, platform.UIDFilter{}, where, window{orderBy, first, after, last, before, skip})))
}

func (e entities) FindManyPackageByUIDs(ctx context.Context, reps []*graph.PackageByUIDsInput) ([]*platform.Package, error) {
	return readRepresentations(ctx, readsOf(ctx).packages(), mapEach(reps, func(r *graph.PackageByUIDsInput) platform.UID { return r.UID }))
}

func (packages) Group(ctx context.Context, all []*platform.Package) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(p *platform.Package) platform.UID { return p.UID.Parent() })
}

func (r packages) Versions(ctx context.Context, all []*platform.Package, where *platform.PackageVersionFilter, orderBy *scalar.Order, first *int, after *string, last *int, before *string, skip *int) ([]*scalar.PackageVersionConnection, error) {
	return newConnections(r.p.PackageVersions.ListOfPackages(ctx, request(ctx, platform.UIDFilter{}, where, window{orderBy, first, after, last, before, skip}), all))
}
