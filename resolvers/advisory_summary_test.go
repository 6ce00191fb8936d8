package resolvers

import (
	"fmt"
	"testing"

	"atrium/platform"
)

// What a list of repos costs does not grow with their advisories: a summary costs
// no more than an edge to one object.
func TestSummariesOfReposCostNoMoreThanAnEdge(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.registry(w.org, 20, 2)
	ctx := platform.WithActor(t.Context(), platform.NewOperator("test"))
	var advisories []*platform.Advisory
	for i := range 20 * 200 {
		advisories = append(advisories, &platform.Advisory{AdvisoryID: fmt.Sprint("GO-", i), ArtifactName: fmt.Sprintf("r%02d", i%20)})
	}
	must(w.p.Advisories.Import(ctx, w.org, advisories))(t)
	const counts = `{ open { total critical high medium low none unknown } fixed { total } notAffected { total critical } }`
	edge := w.ask(`{ repos(first: 20) { nodes { name group { name } } } }`)
	for _, of := range []string{`{ repos(first: 20) { nodes { name advisorySummary ` + counts + ` } } }`, `{ tags(first: 20) { nodes { name advisorySummary ` + counts + ` } } }`} {
		if got := w.ask(of); got.Extensions.Cost.Requested > edge.Extensions.Cost.Requested {
			t.Errorf("%s costs %d, and an edge %d", of, got.Extensions.Cost.Requested, edge.Extensions.Cost.Requested)
		}
	}
	w.ask(`{ repos(first: 1) { nodes { advisorySummary `+counts+` advisories(first: 1) { totalCount } tag(name: "t00") { advisorySummary `+counts+` advisories { totalCount } } } } }`).
		want("repos.nodes.0.advisorySummary.open.total", 200).want("repos.nodes.0.advisories.totalCount", 200).
		want("repos.nodes.0.tag.advisorySummary.open.total", 200).want("repos.nodes.0.tag.advisories.totalCount", 200).cost(10)
}

func TestFacetsCountRepos(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	team := w.group(w.org, "team")
	ctx := platform.WithActor(t.Context(), platform.NewOperator("test"))
	for i, r := range []string{`"catalogTier": "CATALOG_TIER_BASE", "bundles": ["a", "b"]`, `"catalogTier": "CATALOG_TIER_BASE", "bundles": ["b"]`, `"description": "none"`} {
		must(w.p.Repos.Create(ctx, []platform.UID{w.org, team, team}[i], body[*platform.Repo](`{"name": "r%d", %s}`, i, r)))(t)
	}
	const facets = ` { facets { tier { value count } bundle { value count } } }`
	w.ask(`{ repos`+facets+` base: repos(first: 1, where: {tiers: [BASE], query: "r1"})`+facets+` none: repos(where: {tiers: []})`+facets+` group(path: "acme/team") { repos`+facets+` } }`).
		want("repos.facets.tier.*.value", "BASE <nil>").want("repos.facets.tier.*.count", "2 1").want("repos.facets.bundle.*.value", "b a").want("repos.facets.bundle.*.count", "2 1").
		want("base.facets.tier.*.value", "BASE").want("base.facets.bundle.*.count", "1").want("none.facets.tier", []any{}).
		want("group.repos.facets.tier.*.count", "1 1").want("group.repos.facets.bundle.*.value", "b")
}
