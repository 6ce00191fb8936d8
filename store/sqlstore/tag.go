package sqlstore

import (
	"context"

	"atrium/platform"
)

var tags = newTable(&table[*platform.Tag, *platform.TagFilter]{
	name:        "tag",
	uniqueNames: true,
	uid:         func(t *platform.Tag) platform.UID { return t.UID },
	enclosed:    parentUID,
	quietParent: true,
	compact:     true,
	byParent: func(order string, f *platform.TagFilter) bool {
		return f.Digest == "" && (order == "name" || f.Name != "" || len(f.Names) > 0)
	},
	columns: []column[*platform.Tag]{
		{"t.uid", "", func(t *platform.Tag) any { return keyOf(&t.UID) }},
		{"t.name", "", func(t *platform.Tag) any { return &t.Name }},
		{"t.digest", "digest", func(t *platform.Tag) any { return &t.Digest }},
		{"t.deprecated", "deprecated", func(t *platform.Tag) any { return &t.Deprecated }},
		{"t.bundles", "bundles", func(t *platform.Tag) any { return jsonOf(&t.Bundles) }},
		{"t.class", "", func(t *platform.Tag) any { return (*string)(&t.Class) }},
		{"t.create_time", "", func(t *platform.Tag) any { return timeOf(&t.CreateTime) }},
		{"t.update_time", "", func(t *platform.Tag) any { return timeOf(&t.UpdateTime) }},
		{"t.open_severity", "", func(t *platform.Tag) any { return &t.OpenSeverity }},
	},
	costly: map[string]costlyColumn{
		"t.bundles": {field: platform.TagDetails}, "t.class": {field: platform.TagDetails}, "t.create_time": {field: platform.TagDetails}, "t.open_severity": {field: platform.TagDetails},
	},
	writeOnly: []column[*platform.Tag]{
		{"t.source", "source", func(t *platform.Tag) any { return &t.Source }},
	},
	classColumn: "deprecated", class: classOfTag, classCounters: tagCounters, filterCounters: countersOfTags,
	searchText: tagText, searchFor: func(f *platform.TagFilter) string { return f.Query },
	where: whereTag, narrow: narrowTags,
	changed: addTask(func(t *platform.Tag) platform.FindingTask {
		return platform.FindingTask{Subject: t.UID.Parent(), Digest: t.Digest}
	}),
})

// narrowTags returns the condition of a branch of tags.
func narrowTags(b platform.Branch) narrowing {
	switch {
	case b.Digest != "": // The index contains 24 bits of a digest.
		return narrowing{sql: " AND t.digest = p.x AND substr(t.digest, 8, 6) = substr(p.x, 8, 6)", text: b.Digest}
	case b.Lacks != "":
		return lacking(b.Lacks)
	case b.Holds != "":
		return holding(tagHolds, b.Holds)
	default:
		return narrowing{}
	}
}

// tagText is the SQL form of the search text of a tag, which is its name: it has no
// blanks and only ASCII letters. It is indexed and not stored.
const tagText = "('  ' || lower(t.name) || '\n')"

// TagsByName reads tags by repo and name, with one index lookup each.
func (queries) TagsByName(ctx context.Context, on platform.Conn, names platform.TagNames) ([]*platform.Tag, error) {
	wanted := names.Names()
	repos, texts := make([][]byte, len(wanted)), make([]string, len(wanted))
	for i, n := range wanted {
		repos[i], texts[i] = packUID(n.Repo), n.Name
	}
	return tags.ReadPairs(ctx, on, uidPairs(repos, texts), "t.parent = p.k AND t.name = p.inside")
}

// TagsOfSource reads the tags of a repo that were imported from a source.
func (queries) TagsOfSource(ctx context.Context, on platform.Conn, from platform.RepoSource) ([]*platform.Tag, error) {
	s := tablesOf(on)
	var found []*platform.Tag
	q := newStatement(s.dialect)
	q.add("SELECT "+tags.projectAll().selected+" FROM tag t WHERE t.parent = ? AND t.source = ? AND t.source <> ''", from.Repo, from.Source)
	err := s.conn.Run(ctx, q.build(tags.projectAll().collect(&found)))
	return found, err
}

// RepoSources reads the sources of tags in the repos of a group, for one registry.
func (queries) RepoSources(ctx context.Context, on platform.Conn, group platform.UID, registry string) ([]platform.RepoSource, error) {
	s := tablesOf(on)
	var found []platform.RepoSource
	q := newStatement(s.dialect)
	// CROSS JOIN makes SQLite start with the repos of the group. '0' follows '/'.
	q.add("SELECT DISTINCT t.parent, t.source FROM repo r CROSS JOIN tag t WHERE r.parent = ? AND t.parent = r.uid", group)
	q.add(" AND t.source > ? AND t.source < ? AND t.source <> '' ORDER BY t.source, t.parent", registry+"/", registry+"0")
	err := s.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var from platform.RepoSource
		err := scan(keyOf(&from.Repo), &from.Source)
		found = append(found, from)
		return err
	}))
	return found, err
}

// ClaimTags sets the source of tags that have another one or none. The digest is compared with
// that of the row, also if a concurrent change has just ended.
func (queries) ClaimTags(ctx context.Context, in platform.Tx, source string, claimed []*platform.Tag) error {
	tx := transactionOf(in)
	uids, digests := make([][]byte, len(claimed)), make([]string, len(claimed))
	for i, t := range claimed {
		uids[i], digests[i] = packUID(t.UID), t.Digest
	}
	q := newStatement(tx.dialect)
	q.add("UPDATE tag SET source = ? FROM ", source)
	q.add(q.parents(uidPairs(uids, digests)...))
	q.add(" WHERE tag.uid = p.k AND tag.digest = p.inside AND tag.source <> ?", source)
	return tx.conn.Run(ctx, q.build(nil))
}

// LockTagsOfSource finds and locks those of tags that come from a source.
func (queries) LockTagsOfSource(ctx context.Context, in platform.Tx, from platform.RepoSource, uids []platform.UID) ([]platform.UID, error) {
	tx := transactionOf(in)
	var found []platform.UID
	q := newStatement(tx.dialect)
	q.add("SELECT t.uid FROM tag t WHERE t.uid ? AND t.parent = ? AND t.source = ?"+tx.dialect.KeepRow, uidKeyList(uids), from.Repo, from.Source)
	err := tx.conn.Run(ctx, q.build(collectUIDs(&found)))
	return found, err
}

func whereTag(f *platform.TagFilter, s *statement) {
	s.addName(f.Name)
	addAnyOf(s, "name", f.Names)
	s.addWords(tagText, f.Query)
	if !f.UpdatedSince.IsZero() {
		s.add(" AND t.update_time >= ?", f.UpdatedSince)
	}
	if f.Digest != "" {
		// The index contains 24 bits of a digest.
		s.add(" AND t.digest = ? AND substr(t.digest, 8, 6) = substr(?, 8, 6)", f.Digest, f.Digest)
	}
	switch { // The indexes of deprecated tags need a condition without an argument.
	case f.Deprecated == nil:
	case *f.Deprecated:
		s.add(" AND t.deprecated")
	default:
		s.add(" AND NOT t.deprecated")
	}
	if f.Lacks != "" {
		s.addNarrowing(lacking(f.Lacks))
	}
	addHolds(s, tagHolds, f.Holds)
	whereTagImages(&f.ImageConditions, s)
	for _, class := range f.Without {
		s.add(" AND t.class <> ?", string(class))
	}
}

// Deprecated tags have a counter of their own. These numbers are stored.
const (
	allTags        = 6 // number of the kind
	deprecatedTags = 126
)

func classOfTag(t *platform.Tag) int64 {
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
func countersOfTags(f *platform.TagFilter) counterSum {
	others := *f
	others.Deprecated = nil
	all := []byte{allTags}
	switch {
	case restricts(&others):
		return counterSum{}
	case f.Deprecated == nil:
		return counterSum{added: all}
	case *f.Deprecated:
		return counterSum{added: []byte{deprecatedTags}}
	default:
		return counterSum{added: all, subtracted: deprecatedTags}
	}
}

// lacksAdvisory is the condition that a tag counts, and that the SBOM of its image shows that it
// does not have the finding of an advisory.
const lacksAdvisory = " AND NOT t.deprecated AND EXISTS (SELECT 1 FROM image_status m WHERE m.parent = t.parent AND m.digest = t.digest AND m.basis = '" + string(platform.BasisVersion) + "')" +
	" AND NOT EXISTS (SELECT 1 FROM finding f WHERE f.parent = t.parent AND f.digest = t.digest AND f.advisory = p.x AND f.count_class > 0)"

// lacking returns the condition lacksAdvisory of an advisory.
func lacking(advisory platform.UID) narrowing {
	return narrowing{sql: lacksAdvisory, bytes: packUID(advisory)}
}

// FacetTags counts tags by repo, end of life, class and bundle.
func (queries) FacetTags(ctx context.Context, on platform.Conn, filter *platform.TagFilter, scopes []platform.Scope) ([]*platform.TagFacets, error) {
	s := tablesOf(on)
	facets := emptyEach[platform.TagFacets](len(scopes))
	r := tags.reader(s)
	repos, ends, classes, bundles := counting[platform.UID]{}, counting[bool]{}, counting[platform.TagClass]{}, counting[string]{}
	var repo platform.UID
	var deprecated bool
	var class, bundle string
	run := r.countBy(filter, scopes, "", []string{"t.parent", "t.deprecated", "t.class"}, []any{keyOf(&repo), &deprecated, &class}, func(i int, n int64) {
		repos.add(&facets[i].Repo, repo, n)
		ends.add(&facets[i].Deprecated, deprecated, n)
		classes.add(&facets[i].Class, platform.TagClass(class), n)
	})
	run = append(run, r.countBy(filter, scopes, " CROSS JOIN "+s.dialect.Elements("t.bundles"), []string{"e.value"}, []any{&bundle}, func(i int, n int64) {
		bundles.add(&facets[i].Bundle, bundle, n)
	})...)
	return facets, s.runAll(ctx, run)
}
