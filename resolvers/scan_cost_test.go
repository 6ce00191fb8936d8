package resolvers

import "testing"

// What the database reads and does not answer costs once, for all parents together.
func TestRowsThatAreOnlyReadCost(t *testing.T) {
	t.Parallel()
	w := limitedWorld(t)
	for query, want := range map[string]int{
		`{ repos(first: 10, where: {query: "x"}) { nodes { name } } }`:                                                    11 + 400,
		`{ repos(first: 10, where: {query: "x"}) { totalCount } }`:                                                        1 + 400,
		`{ repos(first: 10, where: {query: "x"}) { totalCount pageInfo { endCursor } } }`:                                 1 + 800,
		`{ repos(first: 10, where: {name: "x"}) { totalCount nodes { name } } }`:                                          11,
		`query($org: ID!) { repos(childrenOf: $org, where: {name: "x", query: "y"}) { totalCount nodes { name } } }`:      2,
		`{ repos(first: 10) { totalCount nodes { tags(first: 2, where: {query: "x"}) { totalCount nodes { name } } } } }`: 1 + 10*(1+1+2) + 800,
		`{ repos(first: 10, skip: 1) { nodes { name } } }`:                                                                11 + 1,
		`{ repos(first: 10, skip: 10000) { nodes { name } } }`:                                                            11 + 201,
		`{ repos(first: 10, skip: 2000000000) { nodes { name } } }`:                                                       11 + 2000,
		`{ repos(first: 1) { facets { tier { count } } } }`:                                                               1 + 1 + 800,
		`{ identities(first: 1, orderBy: {field: EMAIL}) { nodes { name } } }`:                                            2 + 800,
		`{ identities(first: 1, orderBy: {field: NAME}) { nodes { name } } }`:                                             2,
		`{ advisoryDocuments(first: 1) { totalCount } }`:                                                                  1 + 400,
		`{ advisoryDocuments(first: 2) { nodes { documentId advisories(first: 3) { nodes { advisoryId } } } } }`:          1 + 2*(1+1+3),
		`{ search(query: "x", first: 1) { edges { node { __typename } } } }`:                                              2 + 400,
		`{ lookupIdentity(issuer: "https://issuer.example.com", subject: "owner-of-acme") }`:                              1,
	} {
		if got := w.ask(query, "org", w.org).Extensions.Cost.Requested; got != want {
			t.Errorf("%s costs %d, want %d", query, got, want)
		}
	}
}
