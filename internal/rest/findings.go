package rest

import (
	"context"
	"net/http"
	"slices"

	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

type findingRequest = core.ListRequest[*inventory.FindingFilter]

// findingsRoutes returns the routes of findings, and of what is decided about them.
func findingsRoutes(p *platform.Platform) []route {
	const path, rules, policy = "/vulnerabilities/v2/findings", "/vulnerabilities/v2/acceptanceRules", "/vulnerabilities/v2/duePolicy"
	w, conditions := wire.New(p), slices.Concat(scopeFilters[*inventory.FindingFilter](), findingFilters())
	read := p.Findings.Kind().ReadCapabilities()
	decide := append([]core.Capability{core.CapFindingsUpdate}, read...)
	required := []filter[wire.Place]{place().asRequired()}
	activity := intervals(func(q *wire.Interval) *wire.Interval { return q })
	return []route{
		list(path, p.Findings, findingFilters()...),
		get(path+"/{uid=**}", p.Findings),
		ask("SummarizeFindings", path+":summarize", w.SummarizeFindings, []filter[wire.SummarizeFindingsRequest]{
			value("within", parseText[core.UID], func(q *wire.SummarizeFindingsRequest) *core.UID { return &q.Within }),
			values("days", parseNumber, func(q *wire.SummarizeFindingsRequest) *[]int { return &q.Days }),
		}, read...),
		ask("CheckImage", "/vulnerabilities/v2/images:check", w.CheckImage, append([]filter[reports.CheckRequest]{
			value("image", parseText[string], func(q *reports.CheckRequest) *string { return &q.Image }).asRequired(),
		}, checkFilters()...), read...),
		ask("CountFindings", path+":count", w.CountFindings, append(ofList(conditions, func(q *wire.CountFindingsRequest) *findingRequest { return &q.ListRequest }),
			values("facets", parseText[inventory.FindingFacet], func(q *wire.CountFindingsRequest) *[]inventory.FindingFacet { return &q.Facets })), read...),
		ask("GetFindingActivity", path+":activity", w.GetFindingActivity, activity, read...),
		ask("GetRemediationActivity", path+":remediationActivity", w.GetRemediationActivity, activity, read...),
		ask("GetTopVulnerabilities", path+":topVulnerabilities", w.GetTopVulnerabilities, ranking(conditions, rankedBy()), read...),
		ask("GetTopPackages", path+":topPackages", w.GetTopPackages, ranking(conditions, rankedBy()), read...),
		ask("GetUpgrades", path+":upgrades", w.GetUpgrades, ranking(conditions), read...),
		updateFindings(path+":update", w.UpdateFindings, decide...),

		ask("GetAcceptanceRules", rules, w.GetAcceptanceRules, required, read...),
		sendTo("CreateAcceptanceRule", rules+"/{parent=**}", func(in *wire.AcceptanceRule) *core.UID { return &in.Within }, w.CreateAcceptanceRule, decide...),
		send("PreviewAcceptanceRule", rules+":preview", w.PreviewAcceptanceRule, decide...),
		{
			name: "DeleteAcceptanceRule", method: http.MethodDelete, pattern: rules + "/{uid=**}", capabilities: decide,
			call: func(r *request) (any, error) { return nil, p.Findings.DeletePattern(r.Context(), r.uid()) },
		},
		ask("GetDuePolicy", policy, w.GetDuePolicy, required, read...),
		send("SetDuePolicy", policy+":set", w.SetDuePolicy, decide...),
	}
}

// updateFindings returns the route of decisions. One in the background is answered as an import is that goes on.
func updateFindings(pattern string, call func(context.Context, *wire.UpdateFindingsRequest) (*wire.UpdateFindingsResponse, error), needed ...core.Capability) route {
	r := send("UpdateFindings", pattern, call, needed...)
	r.call = func(r *request) (any, error) {
		return decodeAndCall(r, func(ctx context.Context, asked *wire.UpdateFindingsRequest) (any, error) {
			answer, err := call(ctx, asked)
			if err != nil || answer.Operation == nil {
				return answer, err
			}
			return acceptedAnswer(r, answer.Operation, answer), nil
		})
	}
	return r
}

// checkFilters are the parameters of checks of images and of SBOMs, beside the image.
func checkFilters() []filter[reports.CheckRequest] {
	type check = reports.CheckRequest
	return []filter[check]{
		optional("group", parseText[core.UID], func(q *check) **core.UID { return &q.Group }),
		value("failOn", parseEnum[core.SeverityRating], func(q *check) *core.SeverityRating { return &q.FailOn }),
		value("fixableOnly", parseBool, func(q *check) *bool { return &q.FixableOnly }).withDefault(false),
		value("knownExploitedOnly", parseBool, func(q *check) *bool { return &q.KnownExploitedOnly }).withDefault(false),
		optional("newSince", parseOptional, func(q *check) **string { return &q.NewSince }),
	}
}

// ranking returns the parameters of a ranking of the findings of a list.
func ranking(conditions []filter[findingRequest], more ...filter[wire.Ranking]) []filter[wire.Ranking] {
	return append(append(ofList(conditions, func(q *wire.Ranking) *findingRequest { return &q.ListRequest }), more...),
		value("first", parseNumber, func(q *wire.Ranking) *int { return &q.First }).withDefault(wire.DefaultRanked))
}

// rankedBy returns the parameter of the order of a ranking.
func rankedBy() filter[wire.Ranking] {
	return value("by", parseText[string], func(q *wire.Ranking) *string { return &q.By }).withPattern("^(findings|images|repos|severity)$").withDefault("findings")
}

// findingFilters are the conditions of lists of findings, and of files with them.
func findingFilters() []filter[findingRequest] {
	type finding = inventory.FindingFilter
	return []filter[findingRequest]{
		enumsFilter("severities", func(f *finding) *[]core.SeverityRating { return &f.Severities }),
		numberFilter("minScore", func(f *finding) **float64 { return &f.MinScore }),
		enumsFilter("states", func(f *finding) *[]inventory.FindingState { return &f.States }),
		enumsFilter("basis", func(f *finding) *[]inventory.FindingBasis { return &f.Basis }),
		choiceFilter("fixable", func(f *finding) **bool { return &f.Fixable }),
		choiceFilter("knownExploited", func(f *finding) **bool { return &f.KnownExploited }),
		numberFilter("minEpss", func(f *finding) **float64 { return &f.MinEPSS }),
		textsFilter("vulnerabilityIds", func(f *finding) *[]string { return &f.VulnerabilityIDs }),
		textsFilter("packages", func(f *finding) *[]string { return &f.Packages }),
		textsFilter("ecosystems", func(f *finding) *[]string { return &f.Ecosystems }),
		textFilter("query", func(f *finding) *string { return &f.Query }),
		textFilter("assignee", func(f *finding) *core.UID { return &f.Assignee }),
		choiceFilter("assigned", func(f *finding) **bool { return &f.Assigned }),
		choiceFilter("assignedToMe", func(f *finding) **bool { return &f.AssignedToMe }),
		choiceFilter("hasDueTime", func(f *finding) **bool { return &f.HasDueTime }),
		timeFilter("firstSeenSince", func(f *finding) *core.Time { return &f.FirstSeenSince }),
		timeFilter("firstSeenBefore", func(f *finding) *core.Time { return &f.FirstSeenBefore }),
		timeFilter("resolvedSince", func(f *finding) *core.Time { return &f.ResolvedSince }),
		timeFilter("updatedSince", func(f *finding) *core.Time { return &f.UpdatedSince }),
		timeFilter("dueBefore", func(f *finding) *core.Time { return &f.DueBefore }),
		timeFilter("expireBefore", func(f *finding) *core.Time { return &f.ExpireBefore }),
		textFilter("decidedBy", func(f *finding) *string { return &f.DecidedBy }),
		textsFilter("tagNames", func(f *finding) *[]string { return &f.TagNames }),
		enumsFilter("scopes", func(f *finding) *[]inventory.PackageScope { return &f.Scopes }),
		choiceFilter("direct", func(f *finding) **bool { return &f.Direct }),
		choiceFilter("newInRepo", func(f *finding) **bool { return &f.NewInRepo }),
		value("withoutLiveTags", parseBool, func(l *core.ListRequest[*finding]) *bool { return &l.Filter.WithoutLiveTags }),
		textsFilter("digests", func(f *finding) *[]string { return &f.Digests }),
		textsFilter("advisories", func(f *finding) *[]core.UID { return &f.Advisories }),
		labelsFilter(func(f *finding) *core.LabelFilter { return &f.LabelFilter }),
		value("decided", parseBool, func(l *core.ListRequest[*finding]) *bool { return &l.Filter.Decided }),
	}
}
