package resolvers

import (
	"fmt"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

func TestDocumentsDoNotTellAdvisoriesOfOthers(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := core.WithActor(t.Context(), core.NewOperator("test"))
	must(w.p.Groups.Bootstrap(ctx, "other", testIssuer, "owner-of-other"))(t)
	must(w.p.Feeds.ImportAdvisories(ctx, w.org, []*inventory.Advisory{{AdvisoryID: "ACME-1", ArtifactName: "lib"}, {AdvisoryID: "ACME-2", ArtifactName: "secret"}}))(t)
	must(w.p.Feeds.ImportAdvisories(ctx, "", []*inventory.Advisory{{AdvisoryID: "GO-1", ArtifactName: "lib"}, {AdvisoryID: "GO-2", ArtifactName: "lib"}}))(t)
	ask := func(subject, query string, variables ...any) answer {
		t.Helper()
		return w.askAs(subject, query, variables...)
	}
	const list = `{ advisoryDocuments { totalCount nodes { id documentId advisories { totalCount nodes { advisoryId } } } } }`
	own := ask(theOwner, list).expectErrors().expect("advisoryDocuments.nodes.*.documentId", "lib secret").expect("advisoryDocuments.nodes.0.advisories.nodes.*.advisoryId", "ACME-1 GO-1 GO-2")
	ask("owner-of-other", list).expectErrors().expect("advisoryDocuments.totalCount", 1.0).expect("advisoryDocuments.nodes.*.documentId", "lib").
		expect("advisoryDocuments.nodes.0.advisories.totalCount", 2.0).expect("advisoryDocuments.nodes.0.advisories.nodes.*.advisoryId", "GO-1 GO-2")
	ask("owner-of-other", `query($of: [_Any!]!) { _entities(representations: $of) { ... on AdvisoryDocument { advisories { nodes { advisoryId } } } } }`,
		"of", []any{representation("AdvisoryDocument", "secret"), representation("AdvisoryDocument", "lib")}).
		expect("_entities.0", nil).expect("_entities.1.advisories.nodes.*.advisoryId", "GO-1 GO-2")
	ask("owner-of-other", `query($id: ID!) { node(id: $id) { id } }`, "id", own.text("advisoryDocuments.nodes.1.id")).expectErrors("NOT_FOUND node")
	for _, name := range []string{"ACME-1", "ACME-2"} {
		ask("owner-of-other", `query($name: String!) { advisoryDocuments(where: {cves: [$name]}) { totalCount nodes { documentId } } }`, "name", name).expect("advisoryDocuments.nodes", []any{})
	}
}

func TestTheAdvisoriesOfADocumentPage(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	ctx := core.WithActor(t.Context(), core.NewOperator("test"))
	for i, group := range []core.UID{"", w.org, ""} {
		must(w.p.Feeds.ImportAdvisories(ctx, group, []*inventory.Advisory{
			{AdvisoryID: fmt.Sprintf("GO-%d", i), ArtifactName: "lib", Aliases: []string{"CVE-1"}}, {AdvisoryID: fmt.Sprintf("GO-%d", i), ArtifactName: "net"},
		}))(t)
	}
	const pages = `query($after: String, $cves: [String!]) { advisoryDocuments(where: {cves: $cves}, first: 1) { nodes { advisories(first: 2, after: $after) {
		edges { cursor } nodes { advisoryId } pageInfo { hasNextPage endCursor } } } } }`
	const at = "advisoryDocuments.nodes.0.advisories."
	for _, given := range [][]any{{}, {"cves", []any{"CVE-1", "GO-9"}}} {
		first := w.ask(pages, given...).expect(at+"nodes.*.advisoryId", "GO-0 GO-1").expect(at+"pageInfo.hasNextPage", true)
		w.ask(pages, append(given, "after", first.text(at+"pageInfo.endCursor"))...).expect(at+"nodes.*.advisoryId", "GO-2").expect(at+"pageInfo.hasNextPage", false)
	}
	w.ask(`{ advisoryDocuments(orderBy: {field: DOCUMENT_ID, direction: DESC}) { nodes { documentId advisories(last: 1) { nodes { advisoryId } } } } }`).
		expect("advisoryDocuments.nodes.*.documentId", "net lib").expect("advisoryDocuments.nodes.1.advisories.nodes.*.advisoryId", "GO-2")
}
