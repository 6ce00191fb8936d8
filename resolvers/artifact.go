package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

// artifacts resolves the fields of artifacts.
type artifacts struct {
	p *platform.Platform
	viewerFields[*platform.Artifact]
}

func (r root) Artifact() graph.ArtifactResolver {
	return artifacts{r.p, newViewerFields(r.p.Artifacts)}
}

func (r *reads) artifacts() *loader[platform.UID, *platform.Artifact] {
	return loaderOf(r, r.p.Artifacts.GetMany)
}

func (q queries) Artifact(ctx context.Context, uid platform.UID) (*platform.Artifact, error) {
	return readsOf(ctx).artifacts().load(ctx, uid)
}

func (q queries) Artifacts(ctx context.Context, window scalar.Window, where platform.ArtifactFilter) (*scalar.ArtifactConnection, error) {
	return newConnection(q.p.Artifacts.List(ctx, request(ctx, platform.UIDFilter{}, &where, window)))
}

func (q queries) ArtifactCounts(ctx context.Context, ecosystems []platform.Ecosystem) ([]*platform.EcosystemCount, error) {
	return q.p.Artifacts.Counts(ctx, ecosystems)
}

func (e entities) FindManyArtifactByUIDs(ctx context.Context, reps []*graph.ArtifactByUIDsInput) ([]*platform.Artifact, error) {
	return readRepresentations(ctx, readsOf(ctx).artifacts(), mapEach(reps, func(r *graph.ArtifactByUIDsInput) platform.UID { return r.UID }))
}

// artifactScope returns the scope of an artifact's versions.
func artifactScope(a *platform.Artifact) platform.UIDFilter {
	return platform.UIDFilter{ChildrenOf: a.UID}
}

func (r artifacts) Versions(ctx context.Context, all []*platform.Artifact, window scalar.Window) ([]*scalar.ArtifactVersionConnection, error) {
	return newConnections(r.p.ArtifactVersions.ListEach(ctx, request(ctx, platform.UIDFilter{}, &platform.ArtifactVersionFilter{}, window), mapEach(all, artifactScope)))
}
