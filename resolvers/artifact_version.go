package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform"
)

// artifactVersions resolves the fields of artifact versions.
type artifactVersions struct {
	viewerFields[*platform.ArtifactVersion]
}

func (r root) ArtifactVersion() graph.ArtifactVersionResolver {
	return artifactVersions{newViewerFields(r.p.ArtifactVersions)}
}

func (r *reads) artifactVersions() *loader[platform.UID, *platform.ArtifactVersion] {
	return loaderOf(r, func(ctx context.Context, keys []platform.UID) ([]*platform.ArtifactVersion, []error) {
		return r.p.ArtifactVersions.GetManyWithout(ctx, keys, r.without)
	})
}

func (e entities) FindManyArtifactVersionByUIDs(ctx context.Context, reps []*graph.ArtifactVersionByUIDsInput) ([]*platform.ArtifactVersion, error) {
	return readRepresentations(ctx, readsOf(ctx).artifactVersions(), mapEach(reps, func(r *graph.ArtifactVersionByUIDsInput) platform.UID { return r.UID }))
}

func (artifactVersions) Artifact(ctx context.Context, all []*platform.ArtifactVersion) ([]*platform.Artifact, error) {
	return follow(ctx, all, readsOf(ctx).artifacts(), func(v *platform.ArtifactVersion) platform.UID { return v.UID.Parent() })
}
