package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/table"
)

// FacetRepos counts repos by their parts of the catalog, groups, bundles and labels.
func (queries) FacetRepos(ctx context.Context, on core.Conn, filter *inventory.RepoFilter, scopes []core.Scope) ([]*inventory.RepoFacets, error) {
	s := tablesOf(on)
	facets := table.EmptyEach[inventory.RepoFacets](len(scopes))
	r := repos.Reader(s)
	tiers, texts, groups := table.Counting[core.CatalogTier]{}, table.Counting[string]{}, table.Counting[core.UID]{}
	var tier, bundle, label string
	var group core.UID
	run := r.CountBy(filter, scopes, "", []string{"t.catalog_tier", "t.parent"}, []any{&tier, table.UIDOf(&group)}, func(i int, n int64) {
		tiers.Add(&facets[i].Tiers, core.CatalogTier(tier), n)
		groups.Add(&facets[i].Groups, group, n)
	})
	run = append(run, r.CountBy(filter, scopes, " CROSS JOIN "+s.Dialect.Elements("t.bundles"), []string{"e.value"}, []any{&bundle}, func(i int, n int64) {
		texts.Add(&facets[i].Bundles, bundle, n)
	})...)
	// Without an index of the other side, SQLite cannot begin with the labels of all organizations.
	run = append(run, r.CountBy(filter, scopes, " JOIN repo_label v ON v.uid = "+table.WithoutIndex("t.uid")+" AND v.alias LIKE '%=%'", []string{"v.alias"}, []any{&label}, func(i int, n int64) {
		texts.Add(&facets[i].Labels, label, n)
	})...)
	return facets, s.RunAll(ctx, run)
}
