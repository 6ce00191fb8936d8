package resolvers

import (
	"testing"

	"atrium/platform/core"
)

func TestArtifactsAreReadWithTheirVersionsInTheOrderOfTheirEcosystem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	artifact, version := w.addLibraries(2)
	got := w.ask(`{ artifacts(where: {ecosystems: [PYTHON, JAVA]}) { totalCount nodes { name ecosystem latestVersion versionCount description
		versions(first: 3) { totalCount nodes { version name sizeBytes artifact { name } } } } } }`)
	got.expect("artifacts.totalCount", 4).expect("artifacts.nodes.*.name", "j00 j01 p00 p01").expect("artifacts.nodes.*.ecosystem", "JAVA JAVA PYTHON PYTHON")
	got.expect("artifacts.nodes.0.latestVersion", "1.12").expect("artifacts.nodes.0.versionCount", 12).expect("artifacts.nodes.0.description", nil)
	got.expect("artifacts.nodes.3.versions.totalCount", 12).expect("artifacts.nodes.3.versions.nodes.*.version", "1.12 1.11 1.10").
		expect("artifacts.nodes.3.versions.nodes.0.artifact.name", "p01").expect("artifacts.nodes.3.versions.nodes.0.sizeBytes", 11)

	one := w.ask(`query($a: UID!, $v: UID!) { artifact(uid: $a) { name uid versions(orderBy: {field: VERSION, direction: ASC}, last: 2) { nodes { version } pageInfo { startCursor } } }
		_entities(representations: [{__typename: "ArtifactVersion", uid: $v}]) { ... on ArtifactVersion { version sizeBytes artifact { uid } } } }`, "a", artifact, "v", version)
	one.expect("artifact.name", "j00").expect("artifact.versions.nodes.*.version", "1.11 1.12")
	one.expect("_entities.0.version", "1.1").expect("_entities.0.sizeBytes", nil).expect("_entities.0.artifact.uid", string(artifact))
	w.ask(`query($a: UID!, $c: String) { artifact(uid: $a) { versions(orderBy: {field: VERSION, direction: ASC}, last: 2, before: $c) { nodes { version } } } }`,
		"a", artifact, "c", one.text("artifact.versions.pageInfo.startCursor")).expect("artifact.versions.nodes.*.version", "1.9 1.10")

	w.ask(`{ artifacts(where: {ecosystems: JAVA, query: "J01", remediated: false, cudaVersion: null}, orderBy: {field: UPDATE_TIME, direction: DESC}) { nodes { name } } }`).
		expect("artifacts.nodes.*.name", "j01")
	w.ask(`{ artifacts(where: {ecosystems: [JAVA, PYTHON], remediated: true}) { totalCount } }`).expect("artifacts.totalCount", 0)
	w.ask(`{ artifactCounts(ecosystems: [PYTHON, JAVA, JAVA]) { ecosystem totalCount } }`).
		expect("artifactCounts.*.ecosystem", "JAVA PYTHON").expect("artifactCounts.1.totalCount", 2)
}

func TestArtifactsAreForCallersWhoMayListThemSomewhere(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	artifact, _ := w.addLibraries(1)
	team := w.group(w.org, "team")
	w.member(team, "reader", w.role(team, "reader", core.CapLibrariesArtifactsList))
	w.member(team, "other", w.role(team, "other", core.CapRepoList))
	const query = `query($a: UID!) { artifact(uid: $a) { name } artifacts(where: {ecosystems: [JAVA]}) { totalCount } artifactCounts(ecosystems: [JAVA]) { totalCount } }`
	w.askAs("reader", query, "a", artifact).expectSuccess().expect("artifacts.totalCount", 1)
	w.askAs("other", query, "a", artifact).expectErrors("PERMISSION_DENIED artifact", "PERMISSION_DENIED artifacts", "PERMISSION_DENIED artifactCounts")
	w.askAs("reader", query, "a", absent).expectErrors("NOT_FOUND artifact")
	w.askAs("reader", `{ artifacts(where: {ecosystems: []}) { totalCount } }`).expectErrors("INVALID_ARGUMENT artifacts")
	if got := w.askAs("reader", `{ artifacts(where: {ecosystems: [], cudaVersion: "\u0000"}) { totalCount } }`).violations(); got != "ecosystems cudaVersion" {
		t.Errorf("got %v, want 'ecosystems cudaVersion'", got)
	}
}
