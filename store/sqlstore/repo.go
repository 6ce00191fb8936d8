package sqlstore

import (
	"context"

	"atrium/platform"
	"atrium/store/sqlstore/table"
)

var repos = table.New(&table.Definition[*platform.Repo, *platform.RepoFilter]{
	Name:           "repo",
	HasUniqueNames: true,
	UID:            func(r *platform.Repo) platform.UID { return r.UID },
	LiesIn:         parentUID,
	HasScopeKeys:   true,
	FoundByParent: func(order string, f *platform.RepoFilter) bool {
		return order == "name" || f.Name != "" || len(f.Names) > 0
	},
	Columns: []table.Column[*platform.Repo]{
		{SQL: "t.uid", To: func(r *platform.Repo) any { return table.UIDOf(&r.UID) }},
		{SQL: "t.name", Field: "name", To: func(r *platform.Repo) any { return &r.Name }},
		{SQL: "t.description", Field: "description", To: func(r *platform.Repo) any { return &r.Description }},
		{SQL: "t.catalog_tier", Field: "catalogTier", To: func(r *platform.Repo) any { return (*string)(&r.CatalogTier) }},
		{SQL: "t.bundles", Field: "bundles", To: func(r *platform.Repo) any { return table.JSONOf(&r.Bundles) }},
		{SQL: "t.aliases", Field: "aliases", To: func(r *platform.Repo) any { return table.JSONOf(&r.Aliases) }},
		{SQL: "t.active_tags", Field: "activeTags", To: func(r *platform.Repo) any { return table.JSONOf(&r.ActiveTags) }},
		{SQL: "t.sync_config", Field: "sync_config", To: func(r *platform.Repo) any { return table.JSONOf(&r.SyncConfig) }},
		{SQL: "t.create_time", To: func(r *platform.Repo) any { return table.TimeOf(&r.CreateTime) }},
		{SQL: "t.update_time", To: func(r *platform.Repo) any { return table.TimeOf(&r.UpdateTime) }},
		{SQL: "t.labels", Field: "labels", To: func(r *platform.Repo) any { return table.JSONOf(&r.Labels) }},
		{SQL: "t.open_severity", To: func(r *platform.Repo) any { return &r.OpenSeverity }},
	},
	CostlyColumns: map[string]table.CostlyColumn{
		"t.bundles": {Field: platform.RepoLists}, "t.aliases": {Field: platform.RepoLists},
		"t.active_tags": {Field: platform.RepoLists}, "t.sync_config": {Field: platform.RepoLists},
		"t.labels": {Field: platform.RepoLists},
	},
	WriteOnly: []table.Column[*platform.Repo]{
		table.SearchColumn((*platform.Repo).SearchText),
	},
	AliasTable: "repo_label", AliasField: "labels",
	AliasesOf:  func(r *platform.Repo) []string { return r.Labels.Conditions() },
	SearchText: "t.search", SearchQuery: func(f *platform.RepoFilter) string { return f.Query },
	SearchTextOf: (*platform.Repo).SearchText, SearchFields: []string{"name", "description", "aliases"},
	Narrow: func(b platform.Branch) table.Narrowing {
		if b.Holds == "" {
			return table.Narrowing{}
		}
		return holding(repoHolds, b.Holds)
	},
	OnChange:   addTask(func(r *platform.Repo) platform.FindingTask { return platform.FindingTask{Subject: r.UID} }),
	Owned:      ownedByScope,
	OnChangeOf: []string{"name"}, // which stands for packages that are not known
	Where: func(f *platform.RepoFilter, s *table.Statement) {
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
func (queries) Readmes(ctx context.Context, on platform.Conn, keys platform.Keys) ([]*platform.Readme, error) {
	s := tablesOf(on)
	var readmes []*platform.Readme
	q := table.NewStatement(s.Dialect).Add("SELECT uid, readme FROM repo WHERE uid ?", table.UIDKeys(keys.UIDs))
	err := s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		r := new(platform.Readme)
		readmes = append(readmes, r)
		return scan(table.UIDOf(&r.UID), &r.Content)
	}))
	return readmes, err
}

// SetReadme changes the readme of a repo.
func (queries) SetReadme(ctx context.Context, in platform.Tx, repo platform.UID, content string) error {
	tx := transactionOf(in)
	return tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("UPDATE repo SET readme = ? WHERE uid = ?", content, repo).Build(nil))
}
