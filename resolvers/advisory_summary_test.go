package resolvers

import (
	"fmt"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// The cost of a list of repos must not grow with their advisories. A summary may cost no
// more than an edge to one object.
func TestSummariesOfReposCostNoMoreThanAnEdge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.addRegistry(w.org, 20, 2)
	ctx := core.WithActor(t.Context(), core.NewOperator("test"))
	var advisories []*inventory.Advisory
	for i := range 20 * 200 {
		advisories = append(advisories, &inventory.Advisory{AdvisoryID: fmt.Sprint("GO-", i), ArtifactName: fmt.Sprintf("r%02d", i%20)})
	}
	must(w.p.Feeds.ImportAdvisories(ctx, w.org, advisories))(t)
	w.settle()
	const counts = `{ open { total critical high medium low none unknown } fixed { total } notAffected { total critical } }`
	edge := w.ask(`{ repos(first: 20) { nodes { name group { name } } } }`)
	for _, query := range []string{`{ repos(first: 20) { nodes { name advisorySummary ` + counts + ` } } }`, `{ tags(first: 20) { nodes { name advisorySummary ` + counts + ` } } }`} {
		if got := w.ask(query); got.Extensions.Cost.Requested > edge.Extensions.Cost.Requested {
			t.Errorf("%s costs %d, and an edge %d", query, got.Extensions.Cost.Requested, edge.Extensions.Cost.Requested)
		}
	}
	w.ask(`{ repos(first: 1) { nodes { advisorySummary `+counts+` advisories(first: 1) { totalCount } tag(name: "t00") { advisorySummary `+counts+` advisories { totalCount } } } } }`).
		expect("repos.nodes.0.advisorySummary.open.total", 200).expect("repos.nodes.0.advisories.totalCount", 200).
		expect("repos.nodes.0.tag.advisorySummary.open.total", 200).expect("repos.nodes.0.tag.advisories.totalCount", 200).expectStatements(6)
}

func TestFacetsCountTags(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		w.addRegistry(w.group(w.org, "team"), 2, 3)
		repo := w.ask(`{ repos(where: {name: "r01"}) { nodes { uid } } }`).value("repos.nodes.0.uid")
		digest := "sha256:" + strings.Repeat("ab", 32)
		for i, name := range []string{"nightly-20260327", "1.2.3-r4", "sha256-" + strings.Repeat("cd", 32) + ".sig"} {
			w.ask(`mutation($repo: UID!, $name: String!, $digest: String!, $old: Boolean) { createTag(input: {parent: $repo, name: $name, digest: $digest, deprecated: $old, bundles: ["b"]}) { tag { uid } } }`, "repo", repo, "name", name, "digest", digest, "old", i == 0)
		}
		const facets = ` { facets { repos { value count repo { name } } deprecated { value count } baseImages { value } architectures { value } classes { value count } bundles { value count } } }`
		w.ask(`query($repo: UID!) { tags(first: 0)`+facets+` image: tags(where: {name: "1.2.3-r4"}) { nodes { image { tags`+facets+` } } } old: tags(within: $repo, directOnly: true, where: {deprecated: true, query: "nightly"})`+facets+` none: tags(where: {name: "none"})`+facets+` }`, "repo", repo).
			expect("tags.facets.repos.*.repo.name", "r01 r00").expect("tags.facets.repos.*.count", "6 3").expect("tags.facets.deprecated.*.value", "false true").expect("tags.facets.deprecated.*.count", "6 3").
			expect("tags.facets.classes.*.value", "<nil> DATE EPOCH REFERRER").expect("tags.facets.classes.*.count", "6 1 1 1").
			expect("old.facets.classes.*.value", "DATE").expect("old.facets.repos.*.value", repo).expect("none.facets.deprecated", []any{})
	})
}

func TestFacetsCountRepos(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := w.group(w.org, "team")
	ctx := core.WithActor(t.Context(), core.NewOperator("test"))
	for i, r := range []string{`"catalogTier": "CATALOG_TIER_BASE", "bundles": ["a", "b"]`, `"catalogTier": "CATALOG_TIER_BASE", "bundles": ["b"]`, `"description": "none"`} {
		must(w.p.Repos.Create(ctx, []core.UID{w.org, team, team}[i], body[*inventory.Repo](`{"name": "r%d", %s}`, i, r)))(t)
	}
	const facets = ` { facets { tiers { value count } bundles { value count } } }`
	w.ask(`{ repos`+facets+` base: repos(first: 1, where: {tiers: [BASE], query: "r1"})`+facets+` none: repos(where: {tiers: []})`+facets+` group(path: "acme/team") { repos`+facets+` } }`).
		expect("repos.facets.tiers.*.value", "BASE <nil>").expect("repos.facets.tiers.*.count", "2 1").expect("repos.facets.bundles.*.value", "b a").expect("repos.facets.bundles.*.count", "2 1").
		expect("base.facets.tiers.*.value", "BASE").expect("base.facets.bundles.*.count", "1").expect("none.facets.tiers", []any{}).
		expect("group.repos.facets.tiers.*.count", "1 1").expect("group.repos.facets.bundles.*.value", "b")
}
