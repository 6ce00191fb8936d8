package resolvers

import (
	"fmt"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// What the database reads and does not answer costs once, for all parents together.
func TestRowsThatAreOnlyReadCost(t *testing.T) {
	t.Parallel()
	w, many := limitedWorld(t), make([]string, 1000)
	for i := range many {
		many[i] = fmt.Sprintf("%s/%016x", w.org, i)
	}
	for query, want := range map[string]int{
		`{ repos(first: 10, where: {query: "x"}) { nodes { name } } }`:                                                                                          11 + 400,
		`{ repos(first: 10, where: {query: "x"}) { totalCount } }`:                                                                                              1 + 400,
		`{ repos(first: 10, where: {query: "x"}) { totalCount pageInfo { endCursor } } }`:                                                                       1 + 800,
		`{ repos(first: 10, where: {name: "x"}) { totalCount nodes { name } } }`:                                                                                11,
		`query($org: UID!) { repos(within: $org, directOnly: true, where: {name: "x", query: "y"}) { totalCount nodes { name } } }`:                             2,
		`{ repos(first: 10) { totalCount nodes { tags(first: 2, where: {query: "x"}) { totalCount nodes { name } } } } }`:                                       1 + 10*(1+1+2) + 800,
		`{ repos(first: 10, skip: 1) { nodes { name } } }`:                                                                                                      11 + 1,
		`{ repos(first: 10, skip: 10000) { nodes { name } } }`:                                                                                                  11 + 201,
		`{ repos(first: 10, skip: 2000000000) { nodes { name } } }`:                                                                                             11 + 2000,
		`{ repos(first: 1) { facets { tiers { count } } } }`:                                                                                                    1 + 1 + 800,
		`{ identities(first: 1, orderBy: {field: EMAIL}) { nodes { name } } }`:                                                                                  2 + 800,
		`{ identities(first: 1, orderBy: {field: NAME}) { nodes { name } } }`:                                                                                   2,
		`{ advisoryDocuments(first: 1) { totalCount } }`:                                                                                                        1 + 400,
		`{ advisoryDocuments(first: 2) { nodes { documentId advisories(first: 3) { nodes { advisoryId } } } } }`:                                                1 + 2*(1+1+3),
		`{ search(query: "x", first: 1) { edges { node { __typename } } } }`:                                                                                    2 + 400,
		`{ findings(first: 1, where: {states: [OPEN, RESOLVED]}) { totalCount nodes { uid } } }`:                                                                2,
		`{ findings(first: 1, where: {knownExploited: true}) { totalCount } }`:                                                                                  1,
		`{ findings(first: 1, where: {knownExploited: true, fixable: true}) { totalCount nodes { uid } } }`:                                                     2 + 400,
		`{ findings(first: 1, where: {ecosystems: ["npm"]}) { totalCount nodes { uid } } }`:                                                                     2 + 800,
		`{ findings(first: 1, orderBy: [{field: FIRST_SEEN}]) { nodes { uid } } }`:                                                                              2,
		`{ findings(first: 1, orderBy: [{field: SEVERITY}, {field: FIRST_SEEN}]) { nodes { uid } } }`:                                                           2 + 800,
		`{ findings(first: 1, orderBy: {field: FIRST_SEEN}) { nodes { uid } } }`:                                                                                2,
		`query($org: UID!) { findings(first: 1, within: $org, orderBy: {field: FIRST_SEEN}) { nodes { uid } } }`:                                                2,
		`{ repos(first: 10) { nodes { findings(first: 1, orderBy: {field: FIRST_SEEN}) { nodes { uid } } } } }`:                                                 1 + 10*(1+2) + 800,
		`query($org: UID!) { findingActivity(within: $org) { open { total } } }`:                                                                                1 + 100,
		`query($org: UID!) { auditLogSummary(within: $org, since: "2026-01-01T00:00:00Z") { made } }`:                                                           1 + 800,
		`query($org: UID!) { auditLogRuns(within: $org, first: 20) { nodes { count newest { kind } } } }`:                                                       1 + 20*2 + 600,
		`{ groups(first: 10) { nodes { findingActivity { open { total } } } } }`:                                                                                1 + 10*(1+1) + 400,
		`{ findingSummary { openByAge { open { total } } } }`:                                                                                                   1 + 3 + 800,
		`{ findings(first: 1, where: {or: [{severities: [HIGH]}, {not: {severities: [LOW]}}]}) { totalCount nodes { uid } } }`:                                  2 + 800,
		`{ findings(first: 1, where: {or: [{fixable: true}, {not: {ecosystems: ["a", "b", "c", "d"]}}]}) { totalCount } }`:                                      2 + 800,
		`{ findings(first: 1, where: {or: [{fixable: true}, {query: "a"}, {query: "b"}, {query: "c"}]}) { totalCount } }`:                                       1 + 800,
		`{ topVulnerabilities { totalCount } }`:                                                                                                                 1 + 800,
		`{ topPackages(where: {severities: [HIGH], query: "x"}) { nodes { package } } }`:                                                                        1 + 100 + 800 + 400,
		`{ topPackages(where: {ecosystems: ["a", "b", "c", "d"]}) { totalCount } }`:                                                                             1 + 800 + 800,
		`{ upgrades(first: 5) { nodes { package steps { to } } } }`:                                                                                             1 + 100*(1+5) + 800,
		`query($many: [UID!]) { repos(first: 1, where: {uids: $many}) { totalCount } }`:                                                                         1 + 200,
		`query($many: [UID!]) { groups(first: 2) { nodes { repos(first: 1, where: {uids: $many}) { totalCount } } } }`:                                          1 + 2*(1+1+200),
		`{ repos(first: 1, where: {tags: {name: "x"}}) { totalCount nodes { uid } } }`:                                                                          2 + 1600,
		`query($org: UID!) { group(uid: $org) { repos(first: 1, where: {tags: {name: "x"}}) { totalCount } } }`:                                                 1 + 1 + 800,
		`{ groups(first: 10) { nodes { repos(first: 1, where: {tags: {name: "x"}}) { totalCount } } } }`:                                                        1 + 10*(1+1) + 5*800,
		`{ groups(first: 2) { nodes { parent { repos(first: 1, where: {tags: {name: "x"}}) { totalCount } } } } }`:                                              1 + 2*(1+1+1) + 2*800,
		`{ groups(first: 10) { nodes { repos(first: 1, directOnly: true, where: {query: "x"}) { totalCount } } } }`:                                             1 + 10*(1+1) + 400,
		`{ advisories(first: 1, where: {eventAuthors: ["a", "b", "c", "d"]}) { nodes { uid } } }`:                                                               2 + 800,
		`{ advisories(first: 1, where: {severities: [HIGH]}) { totalCount nodes { uid } } }`:                                                                    2 + 400,
		`{ findings(first: 1, where: {vulnerabilityIds: ["a", "b"]}) { totalCount } }`:                                                                          1,
		`{ lookupIdentity(issuer: "https://issuer.example.com", subject: "owner-of-acme") }`:                                                                    1,
		`{ findings(first: 0) { facets { states { count } } } }`:                                                                                                1 + 1 + 800,
		`{ findings(first: 0, where: {states: [OPEN], fixable: true, ecosystems: ["npm"], labels: [{key: "a", value: "b"}]}) { facets { states { count } } } }`: 1 + 1 + 800,
		`{ findings(first: 0, where: {vulnerabilityIds: ["a"]}) { facets { states { count } } } }`:                                                              1 + 1 + 800,
		`{ findings(first: 0) { facets { vulnerabilities { count } } } }`:                                                                                       1 + 1 + 800,
		`{ findings(first: 0, where: {minScore: 7}) { facets { states { count } packages { count } assignees { count } } } }`:                                   1 + 1 + 3200 + 2,
		`{ tags(first: 0) { facets { repos { count } architectures { count } } } }`:                                                                             1 + 1 + 1600 + 1,
		`{ findings(first: 0, where: {minScore: 7}) { facets { states { count } } } }`:                                                                          1 + 1 + 1600,
		`{ findings(first: 0, where: {query: "x"}) { totalCount facets { states { count } } } }`:                                                                1 + 1 + 2000,
		`{ repos(first: 0, where: {query: "x"}) { facets { tiers { count } } } }`:                                                                               1 + 1 + 800,
	} {
		if got := w.ask(query, "org", w.org, "many", many).Extensions.Cost.Requested; got != want {
			t.Errorf("%s costs %d, want %d", query, got, want)
		}
	}
}

// The guide names the conditions that are free.
func TestTheGuideNamesTheFreeConditions(t *testing.T) {
	t.Parallel()
	guide, err := os.ReadFile("../docs/graphql.md")
	if err != nil {
		t.Fatal(err)
	}
	_, rest, _ := strings.Cut(string(guide), "index or a counter serves them:")
	free, rest, _ := strings.Cut(rest, ". ")
	counted, _, _ := strings.Cut(rest, ".")
	for _, c := range []struct {
		told string
		want []string
	}{{free, indexedConditions}, {counted, append(slices.Clone(countedConditions), "totalCount")}} {
		var told, want []string
		for _, name := range regexp.MustCompile("`(\\w+)`").FindAllStringSubmatch(c.told, -1) {
			told = append(told, name[1])
		}
		for _, name := range c.want {
			want = append(want, name[strings.LastIndexByte(name, '.')+1:])
		}
		if slices.Sort(told); !slices.Equal(told, slices.Sorted(slices.Values(want))) {
			t.Errorf("the guide says that %q are free, and %q are", told, want)
		}
	}
}
