package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform"
)

func (e entities) FindManyArtifactVersionByUIDs(ctx context.Context, reps []*graph.ArtifactVersionByUIDsInput) ([]*platform.ArtifactVersion, error) {
	return readRepresentations(ctx, &readsOf(ctx).artifactVersions, mapEach(reps, func(r *graph.ArtifactVersionByUIDsInput) platform.UID { return r.UID }))
}

func (artifactVersions) Artifact(ctx context.Context, all []*platform.ArtifactVersion) ([]*platform.Artifact, error) {
	return follow(ctx, all, &readsOf(ctx).artifacts, func(v *platform.ArtifactVersion) platform.UID { return v.UID.Parent() })
}
