package resolvers

import (
	"testing"

	"atrium/platform"
)

func TestArtifactsAreReadWithTheirVersionsInTheOrderOfTheirEcosystem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	artifact, version := w.libraries(2)
	got := w.ask(`{ artifacts(where: {ecosystems: [PYTHON, JAVA]}) { totalCount nodes { name ecosystem latestVersion versionCount description
		versions(first: 3) { totalCount nodes { version name sizeBytes artifact { name } } } } } }`)
	got.want("artifacts.totalCount", 4).want("artifacts.nodes.*.name", "j00 j01 p00 p01").want("artifacts.nodes.*.ecosystem", "JAVA JAVA PYTHON PYTHON")
	got.want("artifacts.nodes.0.latestVersion", "1.12").want("artifacts.nodes.0.versionCount", 12).want("artifacts.nodes.0.description", nil)
	got.want("artifacts.nodes.3.versions.totalCount", 12).want("artifacts.nodes.3.versions.nodes.*.version", "1.12 1.11 1.10").
		want("artifacts.nodes.3.versions.nodes.0.artifact.name", "p01").want("artifacts.nodes.3.versions.nodes.0.sizeBytes", 11)

	one := w.ask(`query($a: ID!, $v: ID!) { artifact(uid: $a) { name uid versions(orderBy: {field: VERSION}, last: 2) { nodes { version } pageInfo { startCursor } } }
		_entities(representations: [{__typename: "ArtifactVersion", uid: $v}]) { ... on ArtifactVersion { version sizeBytes artifact { uid } } } }`, "a", artifact, "v", version)
	one.want("artifact.name", "j00").want("artifact.versions.nodes.*.version", "1.11 1.12")
	one.want("_entities.0.version", "1.1").want("_entities.0.sizeBytes", nil).want("_entities.0.artifact.uid", string(artifact))
	w.ask(`query($a: ID!, $c: String) { artifact(uid: $a) { versions(orderBy: {field: VERSION}, last: 2, before: $c) { nodes { version } } } }`,
		"a", artifact, "c", one.text("artifact.versions.pageInfo.startCursor")).want("artifact.versions.nodes.*.version", "1.9 1.10")

	w.ask(`{ artifacts(where: {ecosystems: JAVA, query: "J01", remediated: false, cudaVersion: null}, orderBy: {field: UPDATE_TIME, direction: DESC}) { nodes { name } } }`).
		want("artifacts.nodes.*.name", "j01")
	w.ask(`{ artifacts(where: {ecosystems: [JAVA, PYTHON], remediated: true}) { totalCount } }`).want("artifacts.totalCount", 0)
	w.ask(`{ artifactCounts(ecosystems: [PYTHON, JAVA, JAVA]) { ecosystem totalCount } }`).
		want("artifactCounts.*.ecosystem", "JAVA PYTHON").want("artifactCounts.1.totalCount", 2)
}

func TestArtifactsAreForCallersWhoMayListThemSomewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	artifact, _ := w.libraries(1)
	team := w.group(w.org, "team")
	w.member(team, "reader", w.role(team, "reader", platform.CapLibrariesArtifactsList))
	w.member(team, "other", w.role(team, "other", platform.CapRepoList))
	const query = `query($a: ID!) { artifact(uid: $a) { name } artifacts(where: {ecosystems: [JAVA]}) { totalCount } artifactCounts(ecosystems: [JAVA]) { totalCount } }`
	w.as("reader", query, "a", artifact).clean().want("artifacts.totalCount", 1)
	w.as("other", query, "a", artifact).fails("PERMISSION_DENIED artifact", "PERMISSION_DENIED artifacts", "PERMISSION_DENIED artifactCounts")
	w.as("reader", query, "a", absent).fails("NOT_FOUND artifact")
	w.as("reader", `{ artifacts(where: {ecosystems: []}) { totalCount } }`).fails("INVALID_ARGUMENT artifacts")
	if got := w.as("reader", `{ artifacts(where: {ecosystems: [], cudaVersion: "\u0000"}) { totalCount } }`).violations(); got != "ecosystems cudaVersion" {
		t.Error(got)
	}
}
