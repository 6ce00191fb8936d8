package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/libraries"
)

// artifacts resolves the fields of artifacts.
type artifacts struct {
	p *platform.Platform
	viewerFields[*libraries.Artifact]
}

func (r root) Artifact() graph.ArtifactResolver {
	return artifacts{r.p, newViewerFields(r.p.Artifacts)}
}

func (r *reads) artifacts() *loader[core.UID, *libraries.Artifact] {
	return loaderOf(r, r.p.Artifacts.GetMany)
}

func (q queries) Artifact(ctx context.Context, uid core.UID) (*libraries.Artifact, error) {
	return readsOf(ctx).artifacts().load(ctx, uid)
}

func (q queries) Artifacts(ctx context.Context, window scalar.Window, where libraries.ArtifactFilter) (*scalar.ArtifactConnection, error) {
	return newConnection(q.p.Artifacts.List(ctx, request(ctx, core.UIDFilter{}, &where, window)))
}

func (q queries) ArtifactCounts(ctx context.Context, ecosystems []libraries.Ecosystem) ([]*libraries.EcosystemCount, error) {
	return q.p.Artifacts.Counts(ctx, ecosystems)
}

func (e entities) FindManyArtifactByUIDs(ctx context.Context, reps []*graph.ArtifactByUIDsInput) ([]*libraries.Artifact, error) {
	return readRepresentations(ctx, readsOf(ctx).artifacts(), mapEach(reps, func(r *graph.ArtifactByUIDsInput) core.UID { return r.UID }))
}

// artifactScope returns the scope of an artifact's versions.
func artifactScope(a *libraries.Artifact) core.UIDFilter {
	return core.UIDFilter{ChildrenOf: a.UID}
}

func (r artifacts) Versions(ctx context.Context, all []*libraries.Artifact, window scalar.Window) ([]*scalar.ArtifactVersionConnection, error) {
	return newConnections(r.p.ArtifactVersions.ListEach(ctx, request(ctx, core.UIDFilter{}, &libraries.ArtifactVersionFilter{}, window), mapEach(all, artifactScope)))
}
