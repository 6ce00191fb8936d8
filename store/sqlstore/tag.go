package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

var tags = table.New(&table.Definition[*inventory.Tag, *inventory.TagFilter]{
	Name:           "tag",
	HasUniqueNames: true,
	UID:            func(t *inventory.Tag) core.UID { return t.UID },
	LiesIn:         parentUID,
	HasFewWriters:  true,
	HasScopeKeys:   true,
	FoundByParent: func(order string, f *inventory.TagFilter) bool {
		return f.Digest == "" && (order == "name" || f.Name != "" || len(f.Names) > 0)
	},
	Columns: []table.Column[*inventory.Tag]{
		{SQL: "t.uid", To: func(t *inventory.Tag) any { return table.UIDOf(&t.UID) }},
		{SQL: "t.name", To: func(t *inventory.Tag) any { return &t.Name }},
		{SQL: "t.digest", Field: "digest", To: func(t *inventory.Tag) any { return &t.Digest }},
		{SQL: "t.deprecated", Field: "deprecated", To: func(t *inventory.Tag) any { return &t.Deprecated }},
		{SQL: "t.bundles", Field: "bundles", To: func(t *inventory.Tag) any { return table.JSONOf(&t.Bundles) }},
		{SQL: "t.class", To: func(t *inventory.Tag) any { return (*string)(&t.Class) }},
		{SQL: "t.create_time", To: func(t *inventory.Tag) any { return table.TimeOf(&t.CreateTime) }},
		{SQL: "t.update_time", To: func(t *inventory.Tag) any { return table.TimeOf(&t.UpdateTime) }},
		{SQL: "t.open_severity", To: func(t *inventory.Tag) any { return &t.OpenSeverity }},
	},
	CostlyColumns: map[string]table.CostlyColumn{
		"t.bundles": {Field: core.TagDetails}, "t.class": {Field: core.TagDetails}, "t.create_time": {Field: core.TagDetails}, "t.open_severity": {Field: core.TagDetails},
	},
	WriteOnly: []table.Column[*inventory.Tag]{
		{SQL: "t.source", Field: "source", To: func(t *inventory.Tag) any { return &t.Source }},
	},
	ClassColumn: "deprecated", ClassOf: classOfTag, ClassCounters: tagCounters, FilterCounters: countersOfTags,
	SearchText: tagText, SearchQuery: func(f *inventory.TagFilter) string { return f.Query },
	Where: whereTag, Narrow: narrowTags,
	OnChange: addTask(func(t *inventory.Tag) inventory.FindingTask {
		return inventory.FindingTask{Subject: t.UID.Parent(), Digest: t.Digest}
	}),
})

// narrowTags returns the condition of a branch of tags.
func narrowTags(b core.Branch) table.Narrowing {
	switch {
	case b.Digest != "": // The index has the key of the repo, and 24 bits of a digest.
		return table.Narrowing{SQL: " AND t.digest = p.x AND t.parent_key = p.xroot AND substr(t.digest, 8, 6) = substr(p.x, 8, 6)", Text: b.Digest, Root: table.ParentKey(b.UID)}
	case b.Lacks != "":
		return lacking(b.Lacks)
	case b.Holds != "":
		return holding(tagHolds, b.Holds)
	default:
		return table.Narrowing{}
	}
}

// tagText is the SQL form of the search text of a tag, which is its name: it has no
// blanks and only ASCII letters. It is indexed and not stored.
const tagText = "('  ' || lower(t.name) || '\n')"

// TagsByName reads tags by repo and name, with one index lookup each.
func (queries) TagsByName(ctx context.Context, on core.Conn, names inventory.TagNames) ([]*inventory.Tag, error) {
	wanted := names.Names()
	repos, texts := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, n := range wanted {
		repos[i], texts[i] = table.PackUID(n.Repo), n.Name
	}
	return tags.ReadPairs(ctx, on, table.UIDPairs(repos, texts), 1, "t.parent = p.k AND t.name = p.inside")
}

// TagsOfSource reads the tags of a repo that were imported from a source.
func (queries) TagsOfSource(ctx context.Context, on core.Conn, from registry.RepoSource) ([]*inventory.Tag, error) {
	s := tablesOf(on)
	var found []*inventory.Tag
	q := table.NewStatement(s.Dialect)
	q.Add("SELECT "+tags.ProjectAll().Selected+" FROM tag t WHERE t.parent = ? AND t.source = ? AND t.source <> ''", from.Repo, from.Source)
	err := s.Conn.Run(ctx, q.Build(tags.ProjectAll().Collect(&found)))
	return found, err
}

// RepoSources reads the sources of tags in the repos of a group, for one registry.
func (queries) RepoSources(ctx context.Context, on core.Conn, group core.UID, host string) ([]registry.RepoSource, error) {
	s := tablesOf(on)
	var found []registry.RepoSource
	q := table.NewStatement(s.Dialect)
	// CROSS JOIN makes SQLite start with the repos of the group. '0' follows '/'.
	q.Add("SELECT DISTINCT t.parent, t.source FROM repo r CROSS JOIN tag t WHERE r.parent = ? AND t.parent = r.uid", group)
	q.Add(" AND t.source > ? AND t.source < ? AND t.source <> '' ORDER BY t.source, t.parent", host+"/", host+"0")
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var from registry.RepoSource
		err := scan(table.UIDOf(&from.Repo), &from.Source)
		found = append(found, from)
		return err
	}))
	return found, err
}

// ClaimTags sets the source of tags that have another one or none. The digest is compared with
// that of the row, also if a concurrent change has just ended.
func (queries) ClaimTags(ctx context.Context, in core.Tx, source string, claimed []*inventory.Tag) error {
	tx := transactionOf(in)
	uids, digests := make([][]byte, len(claimed)), make([]string, len(claimed))
	for i, t := range claimed {
		uids[i], digests[i] = table.PackUID(t.UID), t.Digest
	}
	q := table.NewStatement(tx.Dialect)
	q.Add("UPDATE tag SET source = ? FROM ", source)
	q.Add(q.Parents(table.UIDPairs(uids, digests)...))
	q.Add(" WHERE tag.uid = p.k AND tag.digest = p.inside AND tag.source <> ?", source)
	return tx.Conn.Run(ctx, q.Build(nil))
}

// LockTagsOfSource finds and locks those of tags that come from a source.
func (queries) LockTagsOfSource(ctx context.Context, in core.Tx, from registry.RepoSource, uids []core.UID) ([]core.UID, error) {
	tx := transactionOf(in)
	var found []core.UID
	q := table.NewStatement(tx.Dialect)
	q.Add("SELECT t.uid FROM tag t WHERE t.uid ? AND t.parent = ? AND t.source = ?"+tx.Dialect.KeepRow, table.UIDKeys(uids), from.Repo, from.Source)
	err := tx.Conn.Run(ctx, q.Build(collectUIDs(&found)))
	return found, err
}

func whereTag(f *inventory.TagFilter, s *table.Statement) {
	s.AddName(f.Name)
	table.AddAnyOf(s, "name", f.Names)
	s.AddWords(tagText, f.Query)
	if !f.UpdatedSince.IsZero() {
		s.Add(" AND t.update_time >= ?", f.UpdatedSince)
	}
	if f.Digest != "" {
		// The index contains 24 bits of a digest.
		s.Add(" AND t.digest = ? AND substr(t.digest, 8, 6) = substr(?, 8, 6)", f.Digest, f.Digest)
	}
	switch { // The indexes of deprecated tags need a condition without an argument.
	case f.Deprecated == nil:
	case *f.Deprecated:
		s.Add(" AND t.deprecated")
	default:
		s.Add(" AND NOT t.deprecated")
	}
	if f.Lacks != "" {
		s.AddNarrowing(lacking(f.Lacks))
	}
	addHolds(s, tagHolds, f.Holds)
	whereTagImages(&f.ImageConditions, s)
	for _, class := range f.Without {
		s.Add(" AND t.class <> ?", string(class))
	}
}

// Deprecated tags have a counter of their own. These numbers are stored.
const (
	allTags        = 6 // number of the kind
	deprecatedTags = 126
)

func classOfTag(t *inventory.Tag) int64 {
	if t.Deprecated {
		return 1
	}
	return 0
}

// tagCounters returns the counters of a class, besides that of the kind.
func tagCounters(class int64) []byte {
	if class == 0 {
		return nil
	}
	return []byte{deprecatedTags}
}

// countersOfTags returns the counters whose sum is the total of a filter.
func countersOfTags(f *inventory.TagFilter) table.CounterSum {
	others := *f
	others.Deprecated = nil
	all := []byte{allTags}
	switch {
	case table.Restricts(&others):
		return table.CounterSum{}
	case f.Deprecated == nil:
		return table.CounterSum{Added: all}
	case *f.Deprecated:
		return table.CounterSum{Added: []byte{deprecatedTags}}
	default:
		return table.CounterSum{Added: all, Subtracted: deprecatedTags}
	}
}

// lacksAdvisory is the condition that a tag counts, and that the SBOM of its image shows that it
// does not have the finding of an advisory.
const lacksAdvisory = " AND NOT t.deprecated AND EXISTS (SELECT 1 FROM image_status m WHERE m.parent = t.parent AND m.digest = t.digest AND m.basis = '" + string(inventory.BasisVersion) + "')" +
	" AND NOT EXISTS (SELECT 1 FROM finding f WHERE f.parent = t.parent AND f.digest = t.digest AND f.representative = p.x AND f.count_class > 0)"

// lacking returns the condition lacksAdvisory of an advisory.
func lacking(advisory core.UID) table.Narrowing {
	return table.Narrowing{SQL: lacksAdvisory, Bytes: table.PackUID(advisory)}
}

// FacetTags counts tags by repo, end of life, class and bundle, and by the base and the architectures of their images.
func (queries) FacetTags(ctx context.Context, on core.Conn, filter *inventory.TagFilter, scopes []core.Scope, parts inventory.TagFacetParts) ([]*inventory.TagFacets, error) {
	s := tablesOf(on)
	facets := table.EmptyEach[inventory.TagFacets](len(scopes))
	r := tags.Reader(s)
	repos, ends, classes, texts := table.Counting[core.UID]{}, table.Counting[bool]{}, table.Counting[inventory.TagClass]{}, table.Counting[string]{}
	var run []*dbconn.Statement
	if parts&inventory.TagFacetsOfImages != 0 {
		var base string
		var architectures []inventory.Architecture
		const image = " LEFT JOIN image v ON v.repo = t.parent AND v.digest = t.digest"
		run = r.CountBy(filter, scopes, image, []string{"COALESCE(v.base_name, '')", "COALESCE(v.architectures, '')"}, []any{&base, table.JSONOf(&architectures)}, func(i int, n int64) {
			texts.Add(&facets[i].BaseImages, base, n)
			for _, a := range architectures {
				texts.Add(&facets[i].Architectures, a.Name, n)
			}
			architectures = nil // An image that is not known has none, not those of the row before.
		})
	}
	if parts&inventory.TagFacetsOfTags == 0 {
		return facets, s.RunAll(ctx, run)
	}
	var repo core.UID
	var deprecated bool
	var class, bundle string
	run = append(run, r.CountBy(filter, scopes, "", []string{"t.parent", "t.deprecated", "t.class"}, []any{table.UIDOf(&repo), &deprecated, &class}, func(i int, n int64) {
		repos.Add(&facets[i].Repos, repo, n)
		ends.Add(&facets[i].Deprecated, deprecated, n)
		classes.Add(&facets[i].Classes, inventory.TagClass(class), n)
	})...)
	run = append(run, r.CountBy(filter, scopes, " CROSS JOIN "+s.Dialect.Elements("t.bundles"), []string{"e.value"}, []any{&bundle}, func(i int, n int64) {
		texts.Add(&facets[i].Bundles, bundle, n)
	})...)
	return facets, s.RunAll(ctx, run)
}
