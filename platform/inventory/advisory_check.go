package inventory

import (
	"fmt"
	"slices"

	"atrium/platform/core"
)

// FeedGroup contains the advisories of feeds for all organizations. Nobody has a role on it,
// so only documents show them.
const FeedGroup core.UID = "0000000000000000000000000000000000000000"

// Names returns the id and the aliases of an advisory.
func (a *Advisory) Names() []string { return append([]string{a.AdvisoryID}, a.Aliases...) }

// Names returns the id and the aliases of a vulnerability, each once.
func (vuln *Vulnerability) Names() []string {
	names := append([]string{vuln.ID}, vuln.Aliases...)
	slices.Sort(names)
	return slices.Compact(names)
}

// An AdvisoryName identifies an advisory in a group.
type AdvisoryName struct{ AdvisoryID, ArtifactType, NormalName string }

// Key returns what identifies the advisory.
func (a *Advisory) Key() AdvisoryName {
	return AdvisoryName{a.AdvisoryID, a.ArtifactType, a.NormalName()}
}

// Check adds the violations of the fields.
func (a *Advisory) Check(v *core.Violations) {
	for _, x := range []struct{ field, s string }{{"advisoryId", a.AdvisoryID}, {"artifactName", a.ArtifactName}} {
		v.CheckRequiredLine(x.field, x.s)
	}
	for _, x := range []struct{ field, s string }{
		{"artifactType", a.ArtifactType}, {"artifactArchitecture", a.ArtifactArchitecture}, {"componentName", a.ComponentName},
		{"componentLocation", a.ComponentLocation}, {"componentType", a.ComponentType}, {"legacyAdvisoryId", a.LegacyAdvisoryID},
		{"author", a.Author}, {"origin", a.Origin},
	} {
		v.CheckLine(x.field, x.s)
	}
	for i := range a.Events {
		a.Events[i].check(fmt.Sprintf("events[%d]", i), v)
	}
	checkSeverities(a.Severities, v)
	checkNames(v, a.Aliases, a.Upstream, a.Related)
}

// Limits of a record of a feed. Real records have far fewer: at most a dozen aliases, 3 KB of
// details and 300 bytes of summary.
const (
	maxAliases      = 2000
	maxSeverities   = 1000
	maxSummaryBytes = 4 << 10
	maxDetailsBytes = 256 << 10
)

// checkNames checks the ids of other vulnerabilities, which are indexed. PostgreSQL refuses long
// index entries, and thereby the whole batch.
func checkNames(v *core.Violations, aliases, upstream, related []string) {
	v.CheckRequiredLines("aliases", aliases, maxAliases)
	v.CheckRequiredLines("upstream", upstream, maxAliases)
	v.CheckRequiredLines("related", related, maxAliases)
}

func checkSeverities(all []Severity, v *core.Violations) {
	if len(all) > maxSeverities {
		v.Add("severities", "must have at most %d items", maxSeverities)
		return
	}
	for i, s := range all {
		core.CheckOneOf(v, fmt.Sprintf("severities[%d].type", i), s.Type, severityTypes)
	}
}

// check requires exactly one variant, and values that filters and enums accept.
func (e *AdvisoryEvent) check(at string, v *core.Violations) {
	variants := 0
	for _, set := range []bool{
		e.Detection != nil, e.Fixed != nil, e.FalsePositiveDetermination != nil, e.AnalysisNotPlanned != nil,
		e.FixNotPlanned != nil, e.PendingUpstreamFix != nil, e.TruePositiveDetermination != nil, e.Patched != nil,
	} {
		if set {
			variants++
		}
	}
	if variants != 1 {
		v.Add(at, "must have one variant, such as detection or fixed")
	}
	if d := e.Detection; d != nil && (d.NVDAPI != nil && (d.Manual != nil || d.ScanV1 != nil) || d.Manual != nil && d.ScanV1 != nil) {
		v.Add(at+".detection", "must have one of nvdapi, manual and scanv1")
	}
	if f := e.FalsePositiveDetermination; f != nil {
		core.CheckOneOf(v, at+".falsePositiveDetermination.type", f.Type, falsePositiveTypes)
	}
	core.CheckOneOf(v, at+".reviewState", e.ReviewState, reviewStates)
	v.CheckLine(at+".author", e.Author)
	v.CheckLine(at+".reviewer", e.Reviewer)
	v.CheckLine(at+".issue", e.Issue)
}

// Check adds the violations of the fields.
func (vuln *Vulnerability) Check(v *core.Violations) {
	v.CheckRequiredLine("id", vuln.ID)
	v.CheckText("summary", vuln.Summary, maxSummaryBytes)
	v.CheckText("details", vuln.Details, maxDetailsBytes)
	for i, r := range vuln.References {
		core.CheckOneOf(v, fmt.Sprintf("references[%d].type", i), r.Type, referenceTypes)
	}
	checkSeverities(vuln.Severities, v)
	checkNames(v, vuln.Aliases, vuln.Upstream, vuln.Related)
}
