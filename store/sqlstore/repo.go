package sqlstore

import (
	"context"

	"atrium/platform"
)

var repos = newTable(&table[*platform.Repo, *platform.RepoFilter]{
	name:        "repo",
	uniqueNames: true,
	uid:         func(r *platform.Repo) platform.UID { return r.UID },
	enclosed:    parentUID,
	compact:     true,
	byParent: func(order string, f *platform.RepoFilter) bool {
		return order == "name" || f.Name != "" || len(f.Names) > 0
	},
	columns: []column[*platform.Repo]{
		{"t.uid", "", func(r *platform.Repo) any { return keyOf(&r.UID) }},
		{"t.name", "name", func(r *platform.Repo) any { return &r.Name }},
		{"t.description", "description", func(r *platform.Repo) any { return &r.Description }},
		{"t.catalog_tier", "catalogTier", func(r *platform.Repo) any { return (*string)(&r.CatalogTier) }},
		{"t.bundles", "bundles", func(r *platform.Repo) any { return jsonOf(&r.Bundles) }},
		{"t.aliases", "aliases", func(r *platform.Repo) any { return jsonOf(&r.Aliases) }},
		{"t.active_tags", "activeTags", func(r *platform.Repo) any { return jsonOf(&r.ActiveTags) }},
		{"t.sync_config", "sync_config", func(r *platform.Repo) any { return jsonOf(&r.SyncConfig) }},
		{"t.create_time", "", func(r *platform.Repo) any { return timeOf(&r.CreateTime) }},
		{"t.update_time", "", func(r *platform.Repo) any { return timeOf(&r.UpdateTime) }},
		{"t.labels", "labels", func(r *platform.Repo) any { return jsonOf(&r.Labels) }},
		{"t.open_severity", "", func(r *platform.Repo) any { return &r.OpenSeverity }},
	},
	costly: map[string]costlyColumn{
		"t.bundles": {field: platform.RepoLists}, "t.aliases": {field: platform.RepoLists},
		"t.active_tags": {field: platform.RepoLists}, "t.sync_config": {field: platform.RepoLists},
		"t.labels": {field: platform.RepoLists},
	},
	writeOnly: []column[*platform.Repo]{
		searchColumn((*platform.Repo).SearchText),
	},
	aliasTable: "repo_label", aliasesOf: "labels",
	aliases:    func(r *platform.Repo) []string { return r.Labels.Conditions() },
	searchText: "t.search", searchFor: func(f *platform.RepoFilter) string { return f.Query },
	searchOf: (*platform.Repo).SearchText, searchFields: []string{"name", "description", "aliases"},
	narrow: func(b platform.Branch) narrowing {
		if b.Holds == "" {
			return narrowing{}
		}
		return holding(repoHolds, b.Holds)
	},
	changed:   addTask(func(r *platform.Repo) platform.FindingTask { return platform.FindingTask{Subject: r.UID} }),
	changedBy: []string{"name"}, // which stands for packages that are not known
	where: func(f *platform.RepoFilter, s *statement) {
		s.addName(f.Name)
		addAnyOf(s, "name", f.Names)
		addAnyOf(s, "catalog_tier", f.Tiers)
		addAnyElement(s, "t.bundles", f.Bundles)
		addAnyElement(s, "t.aliases", f.Aliases)
		s.addWords("t.search", f.Query)
		addHolds(s, repoHolds, f.Holds)
		whereRepoImages(&f.ImageConditions, s)
		addTagCondition(s, f.Tags)
		addLabels(s, "repo_label", "t.uid", f.Labels)
		s.addChanged(&f.ChangeFilter)
	},
})

// Readmes reads the readmes of repos, which lists do not read.
func (queries) Readmes(ctx context.Context, on platform.Conn, keys platform.Keys) ([]*platform.Readme, error) {
	s := tablesOf(on)
	var readmes []*platform.Readme
	q := newStatement(s.dialect).add("SELECT uid, readme FROM repo WHERE uid ?", uidKeyList(keys.UIDs()))
	err := s.reads.Run(ctx, q.build(func(scan func(...any) error) error {
		r := new(platform.Readme)
		readmes = append(readmes, r)
		return scan(keyOf(&r.UID), &r.Content)
	}))
	return readmes, err
}

// SetReadme changes the readme of a repo.
func (queries) SetReadme(ctx context.Context, in platform.Tx, repo platform.UID, content string) error {
	tx := transactionOf(in)
	return tx.conn.Run(ctx, newStatement(tx.dialect).add("UPDATE repo SET readme = ? WHERE uid = ?", content, repo).build(nil))
}
