package sqlstore

import (
	"unicode/utf8"

	"atrium/platform/core"
	"atrium/platform/libraries"
	"atrium/store/sqlstore/table"
)

var artifacts = table.New(&table.Definition[*libraries.Artifact, *libraries.ArtifactFilter]{
	Name:      "artifact",
	UID:       func(a *libraries.Artifact) core.UID { return a.UID },
	CountedBy: "t.ecosystem",
	Relations: map[core.Relation]table.Relation{core.OfEcosystem: {Column: "ecosystem"}},
	FilterCounters: func(f *libraries.ArtifactFilter) table.CounterSum {
		others := *f
		others.Ecosystems = nil // They are the scope.
		if table.Restricts(&others) {
			return table.CounterSum{}
		}
		return table.CounterSum{Added: []byte{allArtifacts}}
	},
	Columns: []table.Column[*libraries.Artifact]{
		{SQL: "t.uid", To: func(a *libraries.Artifact) any { return table.UIDOf(&a.UID) }},
		{SQL: "t.ecosystem", To: func(a *libraries.Artifact) any { return (*string)(&a.Ecosystem) }},
		{SQL: "t.name", To: func(a *libraries.Artifact) any { return &a.Name }},
		{SQL: "t.description", Field: "description", To: func(a *libraries.Artifact) any { return &a.Description }},
		{SQL: "t.remediated", Field: "remediated", To: func(a *libraries.Artifact) any { return &a.Remediated }},
		{SQL: "t.cuda_version", Field: "cudaVersion", To: func(a *libraries.Artifact) any { return &a.CudaVersion }},
		{SQL: "t.latest_version", Field: "latestVersion", To: func(a *libraries.Artifact) any { return &a.LatestVersion }},
		{SQL: "t.version_count", Field: "versionCount", To: func(a *libraries.Artifact) any { return &a.VersionCount }},
		{SQL: "t.create_time", To: func(a *libraries.Artifact) any { return table.TimeOf(&a.CreateTime) }},
		{SQL: "t.update_time", To: func(a *libraries.Artifact) any { return table.TimeOf(&a.UpdateTime) }},
	},
	WriteOnly: []table.Column[*libraries.Artifact]{
		{SQL: "t.search", Field: "description", To: func(a *libraries.Artifact) any {
			text := artifactText(a.Name + "\n" + a.Description)
			return &text
		}},
	},
	// The index finds texts of three letters and more.
	SearchQuery: func(f *libraries.ArtifactFilter) string {
		text := artifactText(f.Query)
		if utf8.RuneCountInString(text) < table.TrigramLength {
			return ""
		}
		return text
	},
	SearchesPhrase: true,
	Where: func(f *libraries.ArtifactFilter, s *table.Statement) {
		table.AddAnyOf(s, "name", f.Names)
		if f.CudaVersion != "" {
			s.Add(" AND t.cuda_version = ?", f.CudaVersion)
		}
		if f.Remediated {
			s.Add(" AND t.remediated") // the index of remediated artifacts has the same condition
		}
		if f.Query != "" {
			s.AddSlow(` AND t.search LIKE ? ESCAPE '\'`, table.LikePattern(artifactText(f.Query)))
		}
		s.AddChanged(&f.ChangeFilter)
	},
})

// allArtifacts is the number of the kind.
const allArtifacts = 15

// artifactText returns a text as searches of artifacts compare it.
func artifactText(text string) string { return table.Fold(libraries.ArtifactText(text)) }
