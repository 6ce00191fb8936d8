// Package libraries has the catalog of library artifacts and their versions. It imports core, ecosystem and fieldmask.
//
// Begin with Artifact (artifact.go), with ArtifactVersion (artifact_version.go), and with Artifacts.Import
// (import_libraries.go), by which both come in. area.go has Area, which has the operations.
package libraries
