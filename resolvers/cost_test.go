package resolvers

import (
	"fmt"
	"strings"
	"testing"

	endpoint "atrium/internal/graphql"
)

// limitedWorld returns a world that enforces the limits of documents.
func limitedWorld(t *testing.T) *world {
	t.Helper()
	w := newWorld(t)
	w.handler = serve(w.p, nil, endpoint.DefaultSettings())
	return w
}

func TestACostErrorSuggestsAReduction(t *testing.T) {
	t.Parallel()
	w := limitedWorld(t)
	for _, c := range []struct{ query, field, help string }{
		{`{ repos(first: 200) { nodes { tags { nodes { image { digest } } } } } }`, "repos.tags", "give `first` on repos.tags, which counts as 50 rows without it"},
		{`{ repos(first: 200) { nodes { tags(first: 100) { nodes { name } } } } }`, "repos.tags", "give a smaller `first` on repos, which asks for 200 rows"},
		{`{ groups(first: 100) { nodes { name } } repos(first: 20) { nodes { group { name } ... on Repo { ...T } } } }
			fragment T on Repo { tags(first: 200) { edges { node { name repo { group { name } } } } } }`, "repos.tags", "give a smaller `first` on repos.tags, which asks for 200 rows"},
		{`{ repos(first: 100) { nodes { tags(first: 5) { nodes { name } } } } groups { nodes { repos { nodes { tags(first: 5) { nodes { name } } } } } } }`,
			"groups.repos.tags", "give `first` on groups.repos, which counts as 50 rows without it"},
		{`{ roles(first: 200) { nodes { roleBindings(last: 150) { nodes { uid } } } } }`, "roles.roleBindings", "give a smaller `first` on roles, which asks for 200 rows"},
	} {
		got := w.askAs(theOwner, c.query)
		if len(got.Errors) != 1 {
			t.Fatalf("%s: %+v, want 1 of them", c.query, got.Errors)
		}
		refused := got.Errors[0]
		if fmt.Sprint(refused.Extensions.Limit.Field) != c.field || refused.Extensions.Limit.Help != c.help {
			t.Errorf("%s: blames %s: %s, want %s: %s", c.query, refused.Extensions.Limit.Field, refused.Extensions.Limit.Help, c.field, c.help)
		}
		for _, part := range []string{"cost, at most 5000", fmt.Sprintf("costs %d", refused.Extensions.Limit.Requested), c.field, c.help} {
			if !strings.Contains(refused.Message, part) || !strings.Contains(fmt.Sprint(refused.Extensions.Details), part) {
				t.Errorf("%s: %q does not say %q, or its details %v", c.query, refused.Message, part, refused.Extensions.Details)
			}
		}
	}
}

func TestAListOfOneUniqueNameCountsAsOneRow(t *testing.T) {
	t.Parallel()
	w := limitedWorld(t)
	w.furnish()
	for query, want := range map[string]int{
		`query($org: UID!) { repos(within: $org, directOnly: true, where: {name: "x"}) { nodes { group { name } } } }`:                                        3,
		`query($org: UID!) { repos(within: $org, where: {name: "x"}) { nodes { name } } }`:                                                                    51,
		`query($org: UID!) { group(uid: $org) { repos(directOnly: true, where: {name: "x"}) { nodes { name } } } }`:                                           3,
		`query($org: UID!) { group(uid: $org) { repos(where: {name: "x"}) { nodes { name } } } }`:                                                             52,
		`query($org: UID!) { group(uid: $org) { children(where: {name: "x"}, first: 20) { nodes { name } } } }`:                                               3,
		`query($org: UID!) { group(uid: $org) { children(where: {name: null}, first: 20) { nodes { name } } } }`:                                              22,
		`query($org: UID!, $name: String = "x") { groups(within: $org, directOnly: true, where: {name: $name}) { nodes { name } } }`:                          2,
		`{ repos(first: 10) { nodes { tags(where: {name: "latest", deprecated: false}) { nodes { image { digest } } } } } }`:                                  1 + 10*(1+1+2),
		`query($org: UID!, $w: RepoFilter = {name: "x"}) { repos(within: $org, directOnly: true, where: $w) { totalCount nodes { name } } }`:                  2,
		`query($org: UID!, $no: Boolean) { repos(within: $org, directOnly: $no, where: {name: "x"}) { nodes { name } } }`:                                     51,
		`{ groups(directOnly: true, where: {name: "x"}) { nodes { name } } }`:                                                                                 2,
		`query($org: UID!) { identities(first: 9) { nodes { can(capability: REPO_LIST, within: $org) effectiveCapabilities(within: $org) } } }`:               1 + 9*(1+2),
		`{ repos(first: 2) { nodes { viewerCan(capabilities: [REPO_LIST]) viewerCapabilities } } }`:                                                           1 + 2*2,
		`{ a: lookupIdentity(issuer: "https://issuer.example.com", subject: "ann") b: lookupIdentity(issuer: "https://issuer.example.com", subject: "ann") }`: 2,
	} {
		if got := w.ask(query, "org", w.org).Extensions.Cost.Requested; got != want {
			t.Errorf("%s costs %d, want %d", query, got, want)
		}
	}
}

// Ancestors within ancestors multiply: groups can be nested 26 levels below their organization.
func TestAncestorsCostTenGroups(t *testing.T) {
	t.Parallel()
	w := limitedWorld(t)
	for query, want := range map[string]int{
		`{ group(path: "acme") { ancestors { name } } }`:                             1 + 10,
		`{ group(path: "acme") { ancestors { parent { name } } } }`:                  1 + 10*2,
		`{ group(path: "acme") { ancestors { ancestors { name } } } }`:               1 + 10*(1+10),
		`{ groups(first: 20) { nodes { ancestors { name } } } }`:                     1 + 20*(1+10),
		`{ group(path: "acme") { ancestors { ancestors { ancestors { name } } } } }`: 1 + 10*(1+10*(1+10)),
	} {
		if got := w.ask(query).Extensions.Cost.Requested; got != want {
			t.Errorf("%s costs %d, want %d", query, got, want)
		}
	}
	got := w.askAs(theOwner, `{ group(path: "acme") { ancestors { ancestors { ancestors { ancestors { name } } } } } }`)
	if len(got.Errors) != 1 || got.Errors[0].Extensions.Limit.Requested != 11_111 || got.Errors[0].Extensions.Limit.Field != "group.ancestors.ancestors.ancestors.ancestors" {
		t.Errorf("got %+v, want a refusal by the cost", got.Errors)
	}
}
