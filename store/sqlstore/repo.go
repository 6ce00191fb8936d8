package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/table"
)

var repos = table.New(&table.Definition[*inventory.Repo, *inventory.RepoFilter]{
	Name:           "repo",
	HasUniqueNames: true,
	UID:            func(r *inventory.Repo) core.UID { return r.UID },
	LiesIn:         parentUID,
	HasScopeKeys:   true,
	FoundByParent: func(order string, f *inventory.RepoFilter) bool {
		return order == "name" || f.Name != "" || len(f.Names) > 0
	},
	Columns: []table.Column[*inventory.Repo]{
		{SQL: "t.uid", To: func(r *inventory.Repo) any { return table.UIDOf(&r.UID) }},
		{SQL: "t.name", Field: "name", To: func(r *inventory.Repo) any { return &r.Name }},
		{SQL: "t.description", Field: "description", To: func(r *inventory.Repo) any { return &r.Description }},
		{SQL: "t.catalog_tier", Field: "catalogTier", To: func(r *inventory.Repo) any { return (*string)(&r.CatalogTier) }},
		{SQL: "t.bundles", Field: "bundles", To: func(r *inventory.Repo) any { return table.JSONOf(&r.Bundles) }},
		{SQL: "t.aliases", Field: "aliases", To: func(r *inventory.Repo) any { return table.JSONOf(&r.Aliases) }},
		{SQL: "t.active_tags", Field: "activeTags", To: func(r *inventory.Repo) any { return table.JSONOf(&r.ActiveTags) }},
		{SQL: "t.sync_config", Field: "sync_config", To: func(r *inventory.Repo) any { return table.JSONOf(&r.SyncConfig) }},
		{SQL: "t.create_time", To: func(r *inventory.Repo) any { return table.TimeOf(&r.CreateTime) }},
		{SQL: "t.update_time", To: func(r *inventory.Repo) any { return table.TimeOf(&r.UpdateTime) }},
		{SQL: "t.labels", Field: "labels", To: func(r *inventory.Repo) any { return table.JSONOf(&r.Labels) }},
		{SQL: "t.open_severity", To: func(r *inventory.Repo) any { return &r.OpenSeverity }},
	},
	CostlyColumns: map[string]table.CostlyColumn{
		"t.bundles": {Field: core.RepoLists}, "t.aliases": {Field: core.RepoLists},
		"t.active_tags": {Field: core.RepoLists}, "t.sync_config": {Field: core.RepoLists},
		"t.labels": {Field: core.RepoLists},
	},
	WriteOnly: []table.Column[*inventory.Repo]{
		table.SearchColumn((*inventory.Repo).SearchText),
	},
	AliasTable: "repo_label", AliasField: "labels",
	AliasesOf:  func(r *inventory.Repo) []string { return r.Labels.Conditions() },
	SearchText: "t.search", SearchQuery: func(f *inventory.RepoFilter) string { return f.Query },
	SearchTextOf: (*inventory.Repo).SearchText, SearchFields: []string{"name", "description", "aliases"},
	Narrow: func(b core.Branch) table.Narrowing {
		if b.Holds == "" {
			return table.Narrowing{}
		}
		return holding(repoHolds, b.Holds)
	},
	OnChange:   addTask(func(r *inventory.Repo) inventory.FindingTask { return inventory.FindingTask{Subject: r.UID} }),
	Owned:      ownedByScope,
	OnChangeOf: []string{"name", "labels"}, // the name stands for packages that are not known, and rules name labels
	Where: func(f *inventory.RepoFilter, s *table.Statement) {
		s.AddName(f.Name)
		table.AddAnyOf(s, "name", f.Names)
		table.AddAnyOf(s, "catalog_tier", f.Tiers)
		table.AddAnyElement(s, "t.bundles", f.Bundles)
		table.AddAnyElement(s, "t.aliases", f.Aliases)
		s.AddWords("t.search", f.Query)
		addHolds(s, repoHolds, f.Holds)
		whereRepoImages(&f.ImageConditions, s)
		addTagCondition(s, f.Tags)
		addLabels(s, "repo_label", "t.uid", f.Labels)
		s.AddChanged(&f.ChangeFilter)
	},
})

// Readmes reads the readmes of repos, which lists do not read.
func (queries) Readmes(ctx context.Context, on core.Conn, keys core.Keys) ([]*inventory.Readme, error) {
	s := tablesOf(on)
	var readmes []*inventory.Readme
	q := table.NewStatement(s.Dialect).Add("SELECT uid, readme FROM repo WHERE uid ?", table.UIDKeys(keys.UIDs))
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		r := new(inventory.Readme)
		readmes = append(readmes, r)
		return scan(table.UIDOf(&r.UID), &r.Content)
	}))
	return readmes, err
}

// SetReadme changes the readme of a repo.
func (queries) SetReadme(ctx context.Context, in core.Tx, repo core.UID, content string) error {
	tx := transactionOf(in)
	return tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("UPDATE repo SET readme = ? WHERE uid = ?", content, repo).Build(nil))
}
