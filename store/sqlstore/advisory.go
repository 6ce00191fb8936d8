package sqlstore

import (
	"context"
	"maps"
	"slices"
	"strings"

	"atrium/internal/cvss"
	"atrium/platform"
	"atrium/platform/affected"
	"atrium/platform/ecosystem"
	"atrium/store/sqlstore/dbconn"
)

var advisories = newTable(&table[*platform.Advisory, *platform.AdvisoryFilter]{
	name:     "advisory",
	uid:      func(a *platform.Advisory) platform.UID { return a.UID },
	enclosed: parentUID,
	compact:  true,
	byParent: func(order string, f *platform.AdvisoryFilter) bool {
		return order == "advisory_id" || len(f.AdvisoryIDs) > 0
	},
	aliasTable: "advisory_alias", aliasesOf: "aliases",
	aliases: func(a *platform.Advisory) []string { return slices.Concat(a.Aliases, a.Upstream) },
	columns: []column[*platform.Advisory]{
		{"t.uid", "", func(a *platform.Advisory) any { return keyOf(&a.UID) }},
		{"t.advisory_id", "", func(a *platform.Advisory) any { return &a.AdvisoryID }},
		{"t.artifact_name", "artifactName", func(a *platform.Advisory) any { return &a.ArtifactName }},
		{"t.artifact_type", "", func(a *platform.Advisory) any { return &a.ArtifactType }},
		{"t.artifact_architecture", "artifactArchitecture", func(a *platform.Advisory) any { return &a.ArtifactArchitecture }},
		{"t.component_name", "componentName", func(a *platform.Advisory) any { return &a.ComponentName }},
		{"t.component_location", "componentLocation", func(a *platform.Advisory) any { return &a.ComponentLocation }},
		{"t.component_type", "componentType", func(a *platform.Advisory) any { return &a.ComponentType }},
		{"t.legacy_advisory_id", "legacyAdvisoryId", func(a *platform.Advisory) any { return &a.LegacyAdvisoryID }},
		{"t.author", "author", func(a *platform.Advisory) any { return &a.Author }},
		{"t.origin", "origin", func(a *platform.Advisory) any { return &a.Origin }},
		{"t.aliases", "aliases", func(a *platform.Advisory) any { return jsonOf(&a.Aliases) }},
		{"t.upstream", "upstream", func(a *platform.Advisory) any { return jsonOf(&a.Upstream) }},
		{"t.related", "related", func(a *platform.Advisory) any { return jsonOf(&a.Related) }},
		{"t.events", "events", func(a *platform.Advisory) any { return jsonOf(&a.Events) }},
		{"t.severities", "severities", func(a *platform.Advisory) any { return jsonOf(&a.Severities) }},
		{"t.severity", "severities", func(a *platform.Advisory) any { return severityColumn{&a.Severity} }},
		{"t.severity_vector", "severities", func(a *platform.Advisory) any { return &a.Severity.Vector }},
		{"t.severity_version", "severities", func(a *platform.Advisory) any { return &a.Severity.Version }},
		{"t.severity_source", "severities", func(a *platform.Advisory) any { return (*string)(&a.Severity.Source) }},
		{"t.delete_time", "deleteTime", func(a *platform.Advisory) any { return timeOf(&a.DeleteTime) }},
		{"t.source_time", "sourceTime", func(a *platform.Advisory) any { return timeOf(&a.SourceTime) }},
		{"t.create_time", "", func(a *platform.Advisory) any { return timeOf(&a.CreateTime) }},
		{"t.update_time", "", func(a *platform.Advisory) any { return timeOf(&a.UpdateTime) }},
		{"t.affected", "affected", func(a *platform.Advisory) any { return affectedColumn{jsonColumn{to: &a.Affected}} }},
	},
	costly: map[string]costlyColumn{"t.events": {field: platform.AdvisoryEvents}, "t.affected": {field: platform.AdvisoryAffected}},
	writeOnly: []column[*platform.Advisory]{
		{"t.normal_name", "", func(a *platform.Advisory) any { name := a.NormalName(); return &name }},
		{"t.name_rule", "", func(a *platform.Advisory) any { rule := string(a.NameRule()); return &rule }},
		{"t.search", "aliases", func(a *platform.Advisory) any { text := searchText(a); return &text }},
		{"t.event_types", "events", func(a *platform.Advisory) any { return eventWords(a, eventType) }},
		{"t.event_authors", "events", func(a *platform.Advisory) any { return eventWords(a, eventAuthor) }},
		{"t.event_reviewers", "events", func(a *platform.Advisory) any { return eventWords(a, eventReviewer) }},
		{"t.event_review_states", "events", func(a *platform.Advisory) any { return eventWords(a, eventReviewState) }},
		{"t.latest_event_type", "events", func(a *platform.Advisory) any { t := string(a.LatestEventType()); return &t }},
		{"t.fix_time", "events", func(a *platform.Advisory) any { fixed := a.FixTime(); return timeOrNullOf(&fixed) }},
		{"t.count_class", "severities", func(a *platform.Advisory) any { class := classOf(a); return &class }},
	},
	where:       whereAdvisory,
	classColumn: "count_class", class: classOf, classCounters: advisoryCounters,
	filterCounters: countersOfAdvisories, mostCounter: standing,
	relations: map[platform.Relation]relation{platform.OfDocument: {column: "artifact_name"}},
	narrow:    func(b platform.Branch) narrowing { return affecting(b.Affecting) },
	changed: addTask(func(a *platform.Advisory) platform.FindingTask {
		return platform.FindingTask{Subject: a.UID, Advisory: a.UID}
	}),
	derive: func(a *platform.Advisory) { a.Severity = platform.RateAdvisory(a.Severities, a.Inherited, cvss.Score) },
})

func whereAdvisory(f *platform.AdvisoryFilter, s *statement) {
	s.addChanged(&f.ChangeFilter)
	addAnyOf(s, "advisory_id", f.AdvisoryIDs)
	addAnyOf(s, "legacy_advisory_id", f.LegacyAdvisoryIDs)
	addAnyArtifact(s, ecosystem.NameKeys(f.ArtifactNames...))
	addAnyOf(s, "artifact_type", f.ArtifactTypes)
	addAnyOf(s, "artifact_architecture", platform.ArchitectureNames(f.ArtifactArchitectures))
	addAnyOf(s, "component_name", f.ComponentNames)
	addAnyOf(s, "component_type", f.ComponentTypes)
	addAnyOf(s, "component_location", f.ComponentLocations)
	if len(f.Aliases) > 0 {
		s.add(" AND t.uid IN (SELECT a.uid FROM advisory_alias a WHERE a.alias ?)", valueList(f.Aliases))
	}
	if len(f.Names) > 0 {
		s.add(" AND t.uid")
		addNamedAdvisory(s, f.Names)
	}
	if f.Origin != "" {
		s.add(" AND t.origin = ?", f.Origin)
	}
	if f.LatestEventType != "" {
		s.add(" AND t.latest_event_type = ?", string(f.LatestEventType))
	}
	addHasWord(s, "event_types", f.EventTypes)
	addHasWord(s, "event_review_states", f.EventReviewStates)
	addHasWord(s, "event_authors", f.EventAuthors)
	addHasWord(s, "event_reviewers", f.EventReviewers)
	if len(f.ExcludeEventAuthors) > 0 {
		s.add(" AND NOT ")
		addAnyWord(s, "event_authors", f.ExcludeEventAuthors)
	}
	if !f.Withdrawn {
		// The class of withdrawn advisories is 0. With this condition, counts read only an
		// index.
		s.add(" AND t.count_class > 0")
	}
	if len(f.Severities) > 0 {
		addRatings(s, f.Severities)
	}
	if len(f.States) > 0 {
		addStates(s, f.States, f.Withdrawn)
	}
	if f.MinScore != nil {
		s.add(" AND substr(t.severity, 2) >= ?", platform.ScoreKey(*f.MinScore))
	}
	s.addNarrowing(affecting(f.Affecting))
	if f.Feed != nil {
		addNamed(s, f.Feed.Names())
		addLatest(s, f.Feed.Scope())
	}
	if f.Query != "" {
		s.addSlow(` AND t.search LIKE ? ESCAPE '\'`, likePattern(foldText(f.Query)))
	}
}

// addAnyArtifact adds the condition that one of keys finds the artifact of an advisory.
func addAnyArtifact(s *statement, keys []ecosystem.NameKey) {
	byRule := map[ecosystem.NameRule]valueList{}
	for _, k := range keys {
		byRule[k.Rule] = append(byRule[k.Rule], k.Name)
	}
	for n, rule := range slices.Sorted(maps.Keys(byRule)) { // that of any artifact first
		if n == 0 {
			s.add(" AND (t.normal_name ?", byRule[rule])
			continue
		}
		s.add(" OR t.normal_name ?", byRule[rule])
		s.add(" AND t.name_rule = ?", string(rule))
	}
	if len(keys) > 0 {
		s.add(")")
	}
}

// AdvisoriesByName reads advisories of a group by advisory id and artifact, with
// one index lookup each. Thus the cost of an import batch does not depend on
// the size of the group.
func (queries) AdvisoriesByName(ctx context.Context, on platform.Conn, names platform.AdvisoryNames) ([]*platform.Advisory, error) {
	group, wanted := names.Names()
	ids, normal, types := make([]string, len(wanted)), make([]string, len(wanted)), make([]string, len(wanted))
	for i, n := range wanted {
		ids[i], normal[i], types[i] = n.AdvisoryID, n.NormalName, n.ArtifactType
	}
	columns := append(textPairs(ids, normal), dbconn.ParentColumn{Name: "type", Texts: types})
	return advisories.ReadPairs(ctx, on, columns, "t.parent = ? AND t.advisory_id = p.k AND t.normal_name = p.inside AND t.artifact_type = p.type", group)
}

// searchText returns the text that a free-text query searches.
func searchText(a *platform.Advisory) string {
	parts := slices.Concat([]string{a.AdvisoryID, a.ArtifactName, a.ComponentName}, a.Aliases, a.Upstream, a.Related)
	return foldText(strings.Join(parts, "\n"))
}

// eventWords returns the values of an advisory's events that filters use, each
// between line breaks. They are not stored as JSON, because each engine queries JSON
// differently.
func eventWords(a *platform.Advisory, wordOf func(*platform.AdvisoryEvent) string) *string {
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

func eventType(e *platform.AdvisoryEvent) string        { return string(e.Type()) }
func eventAuthor(e *platform.AdvisoryEvent) string      { return e.Author }
func eventReviewer(e *platform.AdvisoryEvent) string    { return e.Reviewer }
func eventReviewState(e *platform.AdvisoryEvent) string { return string(e.ReviewState) }

// addHasWord adds the condition that a column of words contains one of values.
func addHasWord[S ~string](s *statement, column string, values []S) {
	if len(values) > 0 {
		s.add(" AND ")
		addAnyWord(s, column, values)
	}
}

// addAnyWord adds an expression that is true if a column of words contains one of
// values. The values are bound as rows, because SQLite does not allow a thousand
// conditions.
func addAnyWord[S ~string](s *statement, column string, values []S) {
	patterns := make([]string, len(values))
	for i, v := range values {
		patterns[i] = likePattern(word(string(v)))
	}
	s.add("EXISTS (SELECT 1 FROM ")
	s.add(s.parents(textPairs(patterns, patterns)...))
	s.addSlow(" WHERE t." + column + ` LIKE p.k ESCAPE '\')`)
}

// Advisories with findings in an image, or in a repo.
const (
	affectsImage = " AND t.uid IN (SELECT f.advisory FROM finding f WHERE f.parent = p.xroot AND f.digest = p.x AND f.count_class > 0)"
	affectsRepo  = " AND t.uid IN (SELECT f.advisory FROM finding f WHERE f.parent = p.x AND f.count_class > 0)"
)

// affecting returns the condition that advisories have findings in an image, or in a repo, if there is one.
func affecting(image platform.ImageKey) narrowing {
	switch {
	case image.Repo == "":
		return narrowing{}
	case image.Digest == "":
		return narrowing{sql: affectsRepo, bytes: packUID(image.Repo)}
	default:
		return narrowing{sql: affectsImage, text: image.Digest, root: packUID(image.Repo)}
	}
}

// An affectedColumn stores which versions are affected. A feed that does not say it is stored too, unlike one that says
// nothing.
type affectedColumn struct{ jsonColumn }

// StoredText returns the text.
func (c affectedColumn) StoredText() string {
	if set, ok := c.to.(**affected.Set); ok && *set != nil && c.text() == "" {
		return "{}"
	}
	return c.text()
}
