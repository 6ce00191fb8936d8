package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform/core"
	"atrium/platform/libraries"
)

// artifactVersions resolves the fields of artifact versions.
type artifactVersions struct {
	viewerFields[*libraries.ArtifactVersion]
}

func (r root) ArtifactVersion() graph.ArtifactVersionResolver {
	return artifactVersions{newViewerFields(r.p.ArtifactVersions)}
}

func (r *reads) artifactVersions() *loader[core.UID, *libraries.ArtifactVersion] {
	return loaderOf(r, func(ctx context.Context, keys []core.UID) ([]*libraries.ArtifactVersion, []error) {
		return r.p.ArtifactVersions.GetManyWithout(ctx, keys, r.without)
	})
}

func (e entities) FindManyArtifactVersionByUIDs(ctx context.Context, reps []*graph.ArtifactVersionByUIDsInput) ([]*libraries.ArtifactVersion, error) {
	return readRepresentations(ctx, readsOf(ctx).artifactVersions(), mapEach(reps, func(r *graph.ArtifactVersionByUIDsInput) core.UID { return r.UID }))
}

func (artifactVersions) Artifact(ctx context.Context, all []*libraries.ArtifactVersion) ([]*libraries.Artifact, error) {
	return follow(ctx, all, readsOf(ctx).artifacts(), func(v *libraries.ArtifactVersion) core.UID { return v.UID.Parent() })
}
