package libraries

import "atrium/platform/core"

// An Area has the operations on the artifacts of libraries.
type Area struct {
	*core.Core
	tables Tables

	Artifacts        Artifacts
	ArtifactVersions ArtifactVersions
}

// New returns the area.
func New(c *core.Core, tables Tables) *Area {
	area := &Area{Core: c, tables: tables}
	artifacts := core.NewCollection(c, &ArtifactKind, nil, tables.Artifacts)
	area.Artifacts = Artifacts{artifacts.Resources(), artifacts, area}
	versions := core.NewCollection(c, &ArtifactVersionKind, nil, tables.ArtifactVersions)
	area.ArtifactVersions = ArtifactVersions{versions.Resources(), versions, area}
	return area
}

// Tables has the artifacts of libraries.
type Tables struct {
	Artifacts        core.Table[*Artifact, *ArtifactFilter]
	ArtifactVersions core.Table[*ArtifactVersion, *ArtifactVersionFilter]
}
