package rest

import "atrium/platform"

func vulnerabilitiesRoutes(p *platform.Platform) []route {
	type filter = platform.AdvisoryFilter
	return []route{
		list("/vulnerabilities/v2/advisories", p.Advisories,
			texts("advisoryIds", func(f *filter) *[]string { return &f.AdvisoryIDs }),
			texts("legacyAdvisoryIds", func(f *filter) *[]string { return &f.LegacyAdvisoryIDs }),
			texts("artifactNames", func(f *filter) *[]string { return &f.ArtifactNames }),
			texts("artifactTypes", func(f *filter) *[]string { return &f.ArtifactTypes }),
			texts("artifactArchitectures", func(f *filter) *[]string { return &f.ArtifactArchitectures }),
			texts("componentNames", func(f *filter) *[]string { return &f.ComponentNames }),
			texts("componentTypes", func(f *filter) *[]string { return &f.ComponentTypes }),
			texts("componentLocations", func(f *filter) *[]string { return &f.ComponentLocations }),
			texts("aliases", func(f *filter) *[]string { return &f.Aliases }),
			text("origin", func(f *filter) *string { return &f.Origin }),
			texts("eventReviewStates", func(f *filter) *[]platform.ReviewState { return &f.EventReviewStates }),
			texts("eventAuthors", func(f *filter) *[]string { return &f.EventAuthors }),
			texts("excludeEventAuthors", func(f *filter) *[]string { return &f.ExcludeEventAuthors }),
			texts("eventReviewers", func(f *filter) *[]string { return &f.EventReviewers }),
			texts("eventTypes", func(f *filter) *[]platform.EventType { return &f.EventTypes }),
			text("latestEventType", func(f *filter) *platform.EventType { return &f.LatestEventType }),
			text("query", func(f *filter) *string { return &f.Query }),
			texts("severities", func(f *filter) *[]platform.SeverityRating { return &f.Severities }),
			number("minScore", func(f *filter) **float64 { return &f.MinScore }),
			value("withdrawn", parseBool, func(l *platform.ListRequest[filter]) *bool { return &l.Filter.Withdrawn }).or(false)),
		get("/vulnerabilities/v2/advisories/{uid=**}", p.Advisories),
	}
}
