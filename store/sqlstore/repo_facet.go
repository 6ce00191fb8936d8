package sqlstore

import (
	"context"

	"atrium/platform"
)

// FacetRepos counts repos by their parts of the catalogue, groups, bundles and labels.
func (queries) FacetRepos(ctx context.Context, on platform.Conn, filter *platform.RepoFilter, scopes []platform.Scope) ([]*platform.RepoFacets, error) {
	s := tablesOf(on)
	facets := emptyEach[platform.RepoFacets](len(scopes))
	r := repos.reader(s)
	tiers, texts, groups := counting[platform.CatalogTier]{}, counting[string]{}, counting[platform.UID]{}
	var tier, bundle, label string
	var group platform.UID
	run := r.countBy(filter, scopes, "", []string{"t.catalog_tier", "t.parent"}, []any{&tier, keyOf(&group)}, func(i int, n int64) {
		tiers.add(&facets[i].Tier, platform.CatalogTier(tier), n)
		groups.add(&facets[i].Group, group, n)
	})
	run = append(run, r.countBy(filter, scopes, " CROSS JOIN "+s.dialect.Elements("t.bundles"), []string{"e.value"}, []any{&bundle}, func(i int, n int64) {
		texts.add(&facets[i].Bundle, bundle, n)
	})...)
	// Without an index of the other side, SQLite cannot begin with the labels of all organisations.
	run = append(run, r.countBy(filter, scopes, " JOIN repo_label v ON v.uid = "+withoutIndex("t.uid")+" AND v.alias LIKE '%=%'", []string{"v.alias"}, []any{&label}, func(i int, n int64) {
		texts.add(&facets[i].Label, label, n)
	})...)
	return facets, s.runAll(ctx, run)
}
