package resolvers

import (
	"strings"
	"testing"
)

func TestASearchPagesOverSeveralKinds(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	variables := w.furnish()
	const page = `query($after: String) { search(query: "r", first: 2, after: $after) { edges { cursor matchedField node { __typename ... on Node { id } ... on Repo { name } ... on Role { name } } } pageInfo { hasNextPage endCursor } } }`
	var found []string
	var cursor any
	for {
		got := w.ask(page, "after", cursor)
		found = append(found, got.text("search.edges.*.node.name"))
		if cursor = got.value("search.pageInfo.endCursor"); got.value("search.pageInfo.hasNextPage") == false {
			break
		}
	}
	// Names that begin with r come first. The description of a built-in role also has
	// such a word.
	if got := strings.Join(found, " "); !strings.HasPrefix(got, "r00 r01 r02 registry.pull") || !strings.Contains(got, "viewer") {
		t.Errorf("found %s, want it to begin with 'r00 r01 r02 registry.pull'", got)
	}
	w.askAs("ann", `{ search(query: "r0") { nodes { ... on Repo { name } } } }`).expectSuccess().expect("search.nodes.*.name", "r00 r01 r02")
	w.askAs("ann", `{ search(query: "team", kinds: [GROUP, TAG]) { nodes { ... on Node { id } } } }`).expectErrors("PERMISSION_DENIED search").expect("search", nil)
	w.askAs("ann", `{ search(query: "team") { nodes { ... on Node { id } } } }`).expectSuccess().expect("search.nodes", []any{})
	w.ask(`{ search(query: "r0", kinds: []) { nodes { ... on Node { id } } } }`).expect("search.nodes", []any{})
	for asked, violation := range map[string]string{
		`{ search(query: "") { nodes { ... on Node { id } } } }`: "query", `{ search(query: " ") { nodes { ... on Node { id } } } }`: "query", `{ search(query: "a", first: -1) { nodes { ... on Node { id } } } }`: "first",
		`{ search(query: "a", after: "x") { nodes { ... on Node { id } } } }`: "after", `{ search(query: "a", within: "x") { nodes { ... on Node { id } } } }`: "within",
		`{ repos(where: {query: "\n"}) { nodes { name } } }`: "query",
	} {
		if got := w.askAs(theOwner, asked, variables...).violations(); got != violation {
			t.Errorf("%s names %q, want %q", asked, got, violation)
		}
	}
	w.askAs(theOwner, `{ search(query: "a", within: "`+string(w.org)+`/00000000000000ff") { nodes { ... on Node { id } } } }`).expectErrors("NOT_FOUND search")
}
