package rest

import (
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

func vulnerabilitiesRoutes(p *platform.Platform) []route {
	type filter = inventory.AdvisoryFilter
	return []route{
		list("/vulnerabilities/v2/advisories", p.Advisories,
			textsFilter("advisoryIds", func(f *filter) *[]string { return &f.AdvisoryIDs }),
			textsFilter("legacyAdvisoryIds", func(f *filter) *[]string { return &f.LegacyAdvisoryIDs }),
			textsFilter("artifactNames", func(f *filter) *[]string { return &f.ArtifactNames }),
			textsFilter("artifactTypes", func(f *filter) *[]string { return &f.ArtifactTypes }),
			textsFilter("artifactArchitectures", func(f *filter) *[]string { return &f.ArtifactArchitectures }),
			textsFilter("componentNames", func(f *filter) *[]string { return &f.ComponentNames }),
			textsFilter("componentTypes", func(f *filter) *[]string { return &f.ComponentTypes }),
			textsFilter("componentLocations", func(f *filter) *[]string { return &f.ComponentLocations }),
			textsFilter("aliases", func(f *filter) *[]string { return &f.Aliases }),
			textFilter("origin", func(f *filter) *string { return &f.Origin }),
			textsFilter("eventReviewStates", func(f *filter) *[]inventory.ReviewState { return &f.EventReviewStates }),
			textsFilter("eventAuthors", func(f *filter) *[]string { return &f.EventAuthors }),
			textsFilter("excludeEventAuthors", func(f *filter) *[]string { return &f.ExcludeEventAuthors }),
			textsFilter("eventReviewers", func(f *filter) *[]string { return &f.EventReviewers }),
			textsFilter("eventTypes", func(f *filter) *[]inventory.EventType { return &f.EventTypes }),
			textFilter("latestEventType", func(f *filter) *inventory.EventType { return &f.LatestEventType }),
			textFilter("query", func(f *filter) *string { return &f.Query }),
			textsFilter("severities", func(f *filter) *[]core.SeverityRating { return &f.Severities }),
			textsFilter("states", func(f *filter) *[]inventory.AdvisoryState { return &f.States }),
			numberFilter("minScore", func(f *filter) **float64 { return &f.MinScore }),
			value("withdrawn", parseBool, func(l *core.ListRequest[*filter]) *bool { return &l.Filter.Withdrawn }).withDefault(false)),
		get("/vulnerabilities/v2/advisories/{uid=**}", p.Advisories),
	}
}
