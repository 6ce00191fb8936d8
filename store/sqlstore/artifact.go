package sqlstore

import (
	"unicode/utf8"

	"atrium/platform"
)

var artifacts = newTable(&table[*platform.Artifact, *platform.ArtifactFilter]{
	name:      "artifact",
	uid:       func(a *platform.Artifact) platform.UID { return a.UID },
	countedBy: "t.ecosystem",
	relations: map[platform.Relation]relation{platform.OfEcosystem: {column: "ecosystem"}},
	filterCounters: func(f *platform.ArtifactFilter) counterSum {
		others := *f
		others.Ecosystems = nil // They are the scope.
		if restricts(&others) {
			return counterSum{}
		}
		return counterSum{added: []byte{allArtifacts}}
	},
	columns: []column[*platform.Artifact]{
		{"t.uid", "", func(a *platform.Artifact) any { return keyOf(&a.UID) }},
		{"t.ecosystem", "", func(a *platform.Artifact) any { return (*string)(&a.Ecosystem) }},
		{"t.name", "", func(a *platform.Artifact) any { return &a.Name }},
		{"t.description", "description", func(a *platform.Artifact) any { return &a.Description }},
		{"t.remediated", "remediated", func(a *platform.Artifact) any { return &a.Remediated }},
		{"t.cuda_version", "cudaVersion", func(a *platform.Artifact) any { return &a.CudaVersion }},
		{"t.latest_version", "latestVersion", func(a *platform.Artifact) any { return &a.LatestVersion }},
		{"t.version_count", "versionCount", func(a *platform.Artifact) any { return &a.VersionCount }},
		{"t.create_time", "", func(a *platform.Artifact) any { return timeOf(&a.CreateTime) }},
		{"t.update_time", "", func(a *platform.Artifact) any { return timeOf(&a.UpdateTime) }},
	},
	writeOnly: []column[*platform.Artifact]{
		{"t.search", "description", func(a *platform.Artifact) any {
			text := artifactText(a.Name + "\n" + a.Description)
			return &text
		}},
	},
	// The index finds texts of three letters and more.
	searchFor: func(f *platform.ArtifactFilter) string {
		text := artifactText(f.Query)
		if utf8.RuneCountInString(text) < trigramLength {
			return ""
		}
		return text
	},
	searchPhrase: true,
	where: func(f *platform.ArtifactFilter, s *statement) {
		addAnyOf(s, "name", f.Names)
		if f.CudaVersion != "" {
			s.add(" AND t.cuda_version = ?", f.CudaVersion)
		}
		if f.Remediated {
			s.add(" AND t.remediated") // the index of remediated artifacts has the same condition
		}
		if f.Query != "" {
			s.addSlow(` AND t.search LIKE ? ESCAPE '\'`, likePattern(artifactText(f.Query)))
		}
		s.addChanged(&f.ChangeFilter)
	},
})

// allArtifacts is the number of the kind.
const allArtifacts = 15

// artifactText returns a text as searches of artifacts compare it.
func artifactText(text string) string { return foldText(platform.ArtifactText(text)) }
