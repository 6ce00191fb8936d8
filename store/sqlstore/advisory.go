package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"atrium/internal/cvss"
	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

var advisories = table.New(&table.Definition[*inventory.Advisory, *inventory.AdvisoryFilter]{
	Name:         "advisory",
	UID:          func(a *inventory.Advisory) core.UID { return a.UID },
	LiesIn:       parentUID,
	HasScopeKeys: true,
	FoundByParent: func(order string, f *inventory.AdvisoryFilter) bool {
		return order == "advisory_id" || len(f.AdvisoryIDs) > 0
	},
	AliasTable: "advisory_alias", AliasField: "aliases",
	AliasesOf: func(a *inventory.Advisory) []string { return slices.Concat(a.Aliases, a.Upstream) },
	Columns: []table.Column[*inventory.Advisory]{
		{SQL: "t.uid", To: func(a *inventory.Advisory) any { return table.UIDOf(&a.UID) }},
		{SQL: "t.advisory_id", To: func(a *inventory.Advisory) any { return &a.AdvisoryID }},
		{SQL: "t.artifact_name", Field: "artifactName", To: func(a *inventory.Advisory) any { return &a.ArtifactName }},
		{SQL: "t.artifact_type", To: func(a *inventory.Advisory) any { return &a.ArtifactType }},
		{SQL: "t.artifact_architecture", Field: "artifactArchitecture", To: func(a *inventory.Advisory) any { return &a.ArtifactArchitecture }},
		{SQL: "t.component_name", Field: "componentName", To: func(a *inventory.Advisory) any { return &a.ComponentName }},
		{SQL: "t.component_location", Field: "componentLocation", To: func(a *inventory.Advisory) any { return &a.ComponentLocation }},
		{SQL: "t.component_type", Field: "componentType", To: func(a *inventory.Advisory) any { return &a.ComponentType }},
		{SQL: "t.legacy_advisory_id", Field: "legacyAdvisoryId", To: func(a *inventory.Advisory) any { return &a.LegacyAdvisoryID }},
		{SQL: "t.author", Field: "author", To: func(a *inventory.Advisory) any { return &a.Author }},
		{SQL: "t.origin", Field: "origin", To: func(a *inventory.Advisory) any { return &a.Origin }},
		{SQL: "t.aliases", Field: "aliases", To: func(a *inventory.Advisory) any { return table.JSONOf(&a.Aliases) }},
		{SQL: "t.upstream", Field: "upstream", To: func(a *inventory.Advisory) any { return table.JSONOf(&a.Upstream) }},
		{SQL: "t.related", Field: "related", To: func(a *inventory.Advisory) any { return table.JSONOf(&a.Related) }},
		{SQL: "t.events", Field: "events", To: func(a *inventory.Advisory) any { return table.JSONOf(&a.Events) }},
		{SQL: "t.severities", Field: "severities", To: func(a *inventory.Advisory) any { return table.JSONOf(&a.Severities) }},
		{SQL: "t.severity", Field: "severities", To: func(a *inventory.Advisory) any { return severityColumn{&a.Severity} }},
		{SQL: "t.severity_vector", Field: "severities", To: func(a *inventory.Advisory) any { return &a.Severity.Vector }},
		{SQL: "t.severity_version", Field: "severities", To: func(a *inventory.Advisory) any { return &a.Severity.Version }},
		{SQL: "t.severity_source", Field: "severities", To: func(a *inventory.Advisory) any { return (*string)(&a.Severity.Source) }},
		{SQL: "t.representative", To: func(a *inventory.Advisory) any { return table.UIDOf(&a.Representative) }},
		{SQL: "t.delete_time", Field: "deleteTime", To: func(a *inventory.Advisory) any { return table.TimeOf(&a.DeleteTime) }},
		{SQL: "t.source_time", Field: "sourceTime", To: func(a *inventory.Advisory) any { return table.TimeOf(&a.SourceTime) }},
		{SQL: "t.create_time", To: func(a *inventory.Advisory) any { return table.TimeOf(&a.CreateTime) }},
		{SQL: "t.update_time", To: func(a *inventory.Advisory) any { return table.TimeOf(&a.UpdateTime) }},
		{SQL: "t.affected", Field: "affected", To: func(a *inventory.Advisory) any { return affectedColumn{table.JSONColumn{To: &a.Affected}} }},
	},
	CostlyColumns: map[string]table.CostlyColumn{"t.events": {Field: core.AdvisoryEvents}, "t.affected": {Field: core.AdvisoryAffected}},
	WriteOnly: []table.Column[*inventory.Advisory]{
		{SQL: "t.normal_name", To: func(a *inventory.Advisory) any { name := a.NormalName(); return &name }},
		{SQL: "t.name_rule", To: func(a *inventory.Advisory) any { rule := string(a.NameRule()); return &rule }},
		{SQL: "t.search", Field: "aliases", To: func(a *inventory.Advisory) any { text := searchText(a); return &text }},
		{SQL: "t.event_types", Field: "events", To: func(a *inventory.Advisory) any { return eventWords(a, eventType) }},
		{SQL: "t.event_authors", Field: "events", To: func(a *inventory.Advisory) any { return eventWords(a, eventAuthor) }},
		{SQL: "t.event_reviewers", Field: "events", To: func(a *inventory.Advisory) any { return eventWords(a, eventReviewer) }},
		{SQL: "t.event_review_states", Field: "events", To: func(a *inventory.Advisory) any { return eventWords(a, eventReviewState) }},
		{SQL: "t.latest_event_type", Field: "events", To: func(a *inventory.Advisory) any { t := string(a.LatestEventType()); return &t }},
		{SQL: "t.fix_time", Field: "events", To: func(a *inventory.Advisory) any { fixed := a.FixTime(); return table.TimeOrNullOf(&fixed) }},
		{SQL: "t.count_class", Field: "severities", To: func(a *inventory.Advisory) any { class := classOf(a); return &class }},
	},
	Where:       whereAdvisory,
	ClassColumn: "count_class", ClassOf: classOf, ClassCounters: advisoryCounters,
	FilterCounters: countersOfAdvisories, MostCounter: standing,
	Relations: map[core.Relation]table.Relation{core.OfDocument: {Column: "artifact_name"}},
	Narrow:    func(b core.Branch) table.Narrowing { return affecting(b.Affecting) },
	OnChange: addTask(func(a *inventory.Advisory) inventory.FindingTask {
		return inventory.FindingTask{Subject: a.UID, Advisory: a.UID}
	}),
	Derive: func(a *inventory.Advisory) {
		a.Severity = inventory.RateAdvisory(a.Severities, a.Inherited, cvss.Score)
	},
})

func whereAdvisory(f *inventory.AdvisoryFilter, s *table.Statement) {
	s.AddChanged(&f.ChangeFilter)
	table.AddAnyOf(s, "advisory_id", f.AdvisoryIDs)
	table.AddAnyOf(s, "legacy_advisory_id", f.LegacyAdvisoryIDs)
	addAnyArtifact(s, ecosystem.NameKeys(f.ArtifactNames...))
	table.AddAnyOf(s, "artifact_type", f.ArtifactTypes)
	table.AddAnyOf(s, "artifact_architecture", ecosystem.ArchitectureNames(f.ArtifactArchitectures))
	table.AddAnyOf(s, "component_name", f.ComponentNames)
	table.AddAnyOf(s, "component_type", f.ComponentTypes)
	table.AddAnyOf(s, "component_location", f.ComponentLocations)
	if len(f.Aliases) > 0 {
		s.Add(" AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias ?)", table.Values(f.Aliases))
	}
	if len(f.Names) > 0 {
		s.Add(" AND t.uid")
		addNamedAdvisory(s, f.Names)
	}
	if f.Origin != "" {
		s.Add(" AND t.origin = ?", f.Origin)
	}
	if f.LatestEventType != "" {
		s.Add(" AND t.latest_event_type = ?", string(f.LatestEventType))
	}
	addHasWord(s, "event_types", f.EventTypes)
	addHasWord(s, "event_review_states", f.EventReviewStates)
	addHasWord(s, "event_authors", f.EventAuthors)
	addHasWord(s, "event_reviewers", f.EventReviewers)
	if len(f.ExcludeEventAuthors) > 0 {
		s.Add(" AND NOT ")
		addAnyWord(s, "event_authors", f.ExcludeEventAuthors)
	}
	if !f.Withdrawn {
		// The class of withdrawn advisories is 0. With this condition, counts read only an
		// index.
		s.Add(" AND t.count_class > 0")
	}
	if len(f.Severities) > 0 {
		addRatings(s, f.Severities)
	}
	if len(f.States) > 0 {
		addStates(s, f.States, f.Withdrawn)
	}
	if f.MinScore != nil {
		s.Add(" AND substr(t.severity, 2) >= ?", inventory.ScoreKey(*f.MinScore))
	}
	s.AddNarrowing(affecting(f.Affecting))
	if f.Feed != nil {
		addNamed(s, f.Feed.Names)
		addLatest(s, f.Feed.Scope)
	}
	if f.Query != "" {
		s.AddSlow(` AND t.search LIKE ? ESCAPE '\'`, table.LikePattern(table.Fold(f.Query)))
	}
}

// addAnyArtifact adds the condition that one of keys finds the artifact of an advisory.
func addAnyArtifact(s *table.Statement, keys []ecosystem.NameKey) {
	byRule := map[ecosystem.NameRule]table.Values{}
	for _, k := range keys {
		byRule[k.Rule] = append(byRule[k.Rule], k.Name)
	}
	for n, rule := range slices.Sorted(maps.Keys(byRule)) { // that of any artifact first
		if n == 0 {
			s.Add(" AND (t.normal_name ?", byRule[rule])
			continue
		}
		s.Add(" OR t.normal_name ?", byRule[rule])
		s.Add(" AND t.name_rule = ?", string(rule))
	}
	if len(keys) > 0 {
		s.Add(")")
	}
}

// AdvisoriesOfRecords reads the advisories of records in a group, with one index lookup for each record. Thus the cost of an
// import batch does not depend on the size of the group.
func (queries) AdvisoriesOfRecords(ctx context.Context, on core.Conn, of feeds.AdvisoryRecords) ([]*inventory.Advisory, error) {
	group, ids := of.Records()
	columns := []dbconn.ParentColumn{{Name: "k", Texts: ids}}
	return advisories.ReadPairs(ctx, on, columns, core.NoLimit, "t.parent = ? AND t.advisory_id = p.k", group)
}

// AdvisoriesOfVulnerabilities reads what says which advisories are of the same vulnerability.
func (queries) AdvisoriesOfVulnerabilities(ctx context.Context, in core.Tx, group core.UID, names []string) (found []*inventory.Advisory, err error) {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("SELECT t.uid, t.advisory_id, t.artifact_name, t.artifact_type, t.aliases, t.upstream, t.representative, t.create_time FROM")
	q.Add(" (SELECT a.uid FROM advisory_alias a WHERE a.alias ?", table.Values(names)).Add(" UNION SELECT v.uid FROM advisory v WHERE v.advisory_id ?)", table.Values(names))
	q.Add(" x CROSS JOIN advisory t WHERE t.uid = x.uid AND t.count_class > 0")
	if group != inventory.FeedGroup {
		q.Add(" AND (t.parent ?", table.UIDValues(append(group.Ancestors(), group, inventory.FeedGroup))).Add(" OR t.parent >= ? AND t.parent < ?)", table.PackUID(group), table.PastSubtree(group))
	}
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		a := new(inventory.Advisory)
		found = append(found, a)
		return scan(table.UIDOf(&a.UID), &a.AdvisoryID, &a.ArtifactName, &a.ArtifactType, table.JSONOf(&a.Aliases), table.JSONOf(&a.Upstream), table.UIDOf(&a.Representative), table.TimeOf(&a.CreateTime))
	}))
	return found, err
}

// SetRepresentatives changes the representatives of advisories.
func (queries) SetRepresentatives(in core.Tx, all []*inventory.Advisory) {
	tx := transactionOf(in)
	for _, a := range all {
		tx.Conn.Queue(table.NewStatement(tx.Dialect).Add("UPDATE advisory SET representative = ? WHERE uid = ?", a.Representative, a.UID).Build(nil))
	}
}

// SearchText returns the text that a free-text query searches.
func searchText(a *inventory.Advisory) string {
	parts := slices.Concat([]string{a.AdvisoryID, a.ArtifactName, a.ComponentName}, a.Aliases, a.Upstream, a.Related)
	return table.Fold(strings.Join(parts, "\n"))
}

// eventWords returns the values of an advisory's events that filters use, each
// between line breaks. They are not stored as JSON, because each engine queries JSON
// differently.
func eventWords(a *inventory.Advisory, wordOf func(*inventory.AdvisoryEvent) string) *string {
	var words []string
	for i := range a.Events {
		if w := wordOf(&a.Events[i]); w != "" && !slices.Contains(words, w) {
			words = append(words, w)
		}
	}
	text := ""
	if len(words) > 0 {
		text = word(strings.Join(words, "\n"))
	}
	return &text
}

func word(s string) string { return "\n" + s + "\n" }

func eventType(e *inventory.AdvisoryEvent) string        { return string(e.Type()) }
func eventAuthor(e *inventory.AdvisoryEvent) string      { return e.Author }
func eventReviewer(e *inventory.AdvisoryEvent) string    { return e.Reviewer }
func eventReviewState(e *inventory.AdvisoryEvent) string { return string(e.ReviewState) }

// addHasWord adds the condition that a column of words contains one of values.
func addHasWord[S ~string](s *table.Statement, column string, values []S) {
	if len(values) > 0 {
		s.Add(" AND ")
		addAnyWord(s, column, values)
	}
}

// addAnyWord adds an expression that is true if a column of words contains one of
// values. The values are bound as rows, because SQLite does not allow a thousand
// conditions.
func addAnyWord[S ~string](s *table.Statement, column string, values []S) {
	patterns := make([]string, len(values))
	for i, v := range values {
		patterns[i] = table.LikePattern(word(string(v)))
	}
	s.Add("EXISTS (SELECT 1 FROM ")
	s.Add(s.Parents(table.TextPairs(patterns, patterns)...))
	s.AddSlow(" WHERE t." + column + ` LIKE p.k ESCAPE '\')`)
}

// Advisories with findings in an image, or in a repo.
const (
	affectsImage = " AND t.uid IN (SELECT v.uid FROM finding f CROSS JOIN advisory v WHERE f.parent = p.xroot AND f.digest = p.x AND f.count_class > 0 AND " + isSource + ")"
	affectsRepo  = " AND t.uid IN (SELECT v.uid FROM finding f CROSS JOIN advisory v WHERE f.parent = p.x AND f.count_class > 0 AND " + isSource + ")"

	// isSource is the condition that a finding f names an advisory v, which is of a feed or of a group around the repo.
	isSource = "v.representative = f.representative AND replace(f.sources, '\"' || v.advisory_id || '\"', '') <> f.sources AND (v.root <> f.root OR v.parent = substr(f.parent, 1, length(v.parent)))"
)

// affecting returns the condition that advisories have findings in an image, or in a repo, if there is one.
func affecting(image core.ImageKey) table.Narrowing {
	switch {
	case image.Repo == "":
		return table.Narrowing{}
	case image.Digest == "":
		return table.Narrowing{SQL: affectsRepo, Bytes: table.PackUID(image.Repo)}
	default:
		return table.Narrowing{SQL: affectsImage, Text: image.Digest, Root: table.PackUID(image.Repo)}
	}
}

// An affectedColumn stores which versions are affected. A feed that does not say it is stored too, unlike one that says
// nothing.
type affectedColumn struct{ table.JSONColumn }

// StoredText returns the text.
func (c affectedColumn) StoredText() string {
	if set, ok := c.To.(**affected.Set); ok && *set != nil && c.Text() == "" {
		return "{}"
	}
	return c.Text()
}
