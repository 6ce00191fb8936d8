package platform

// A librariesArea has the operations on the artifacts of libraries.
type librariesArea struct {
	*Core
	tables LibraryTables

	Artifacts        Artifacts
	ArtifactVersions ArtifactVersions
}

func newLibraries(c *Core, tables LibraryTables) *librariesArea {
	area := &librariesArea{Core: c, tables: tables}
	artifacts := newCollection(c, &artifactKind, nil, tables.Artifacts)
	area.Artifacts = Artifacts{artifacts.Resources(), artifacts, area}
	versions := newCollection(c, &artifactVersionKind, nil, tables.ArtifactVersions)
	area.ArtifactVersions = ArtifactVersions{versions.Resources(), versions, area}
	return area
}

// LibraryTables has the artifacts of libraries.
type LibraryTables struct {
	Artifacts        Table[*Artifact, *ArtifactFilter]
	ArtifactVersions Table[*ArtifactVersion, *ArtifactVersionFilter]
}
