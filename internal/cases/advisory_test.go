package cases

import (
	"atrium/platform/core"
	"atrium/platform/inventory"
)

var _ = newKind(kind{
	name: "Advisory", plural: "Advisories", ref: "advisory", area: "vulnerabilities", parent: "iam/Group", in: "{group}", put: putAdvisory,
	minimal: fields{"advisoryId": "GO-{n}", "artifactName": "stdlib"},
	shown:   fields{"severity": fields{"rating": "SEVERITY_RATING_UNKNOWN"}},
	derived: map[string]func(any) fields{"severities": withSeverity},
	full: fields{
		"advisoryId": "GO-2024-1", "artifactName": "stdlib", "artifactType": "go", "artifactArchitecture": "amd64", "author": "osv",
		"componentName": "net/http", "componentLocation": "/usr/lib/go", "componentType": "package", "aliases": []string{"CVE-2024-1", "GHSA-1"},
		"legacyAdvisoryId": "OLD-1", "severities": fullSeverities, "deleteTime": "2024-02-03T04:05:06.007Z",
		"events": []fields{detected, scanned, byHand, determined, fixed, falsePositive, notAnalysed, notFixed, pending, patched},
	},
	library: library{
		items: []item{
			{"a", "{shelf}", fields{"advisoryId": "GO-4", "artifactName": "stdlib", "artifactType": "go", "aliases": []string{"CVE-4"},
				"origin": "osv", "events": []fields{detected, fixed}}},
			{"b", "{shelf}", fields{"advisoryId": "GO-3", "artifactName": "openssl", "artifactType": "deb", "artifactArchitecture": "arm64",
				"componentName": "libssl", "componentType": "library", "componentLocation": "/lib/libssl", "severities": []fields{{"type": "TYPE_CVSS_V3", "score": "7.5"}}, "events": []fields{falsePositive}}},
			{"c", "{inner}", fields{"advisoryId": "GO-2", "artifactName": "stdlib", "legacyAdvisoryId": "OLD-2", "componentName": "straße", "severities": []fields{{"type": "TYPE_CVSS_V4", "score": "9"}}}},
			{"d", "{side}", fields{"advisoryId": "GO-1", "artifactName": "net", "aliases": []string{"CVE-4", "CVE-1"}, "events": []fields{patched, byHand}}},
		},
		orders: []order{
			{"advisory_id", "advisoryId"}, {"artifact_name", "artifactName"}, {"create_time", "createTime"}, {"update_time", "updateTime"}, {"uid", "uid"}, {"delete_time", "deleteTime"}, {"severity", "severity.version"},
		},
		byDefault: "uid",
		filters: []filterCase{
			{fields{"advisory_ids": []string{"GO-1", "GO-2", "nope"}}, "c d"}, {fields{"legacy_advisory_ids": []string{"OLD-2"}}, "c"},
			{fields{"artifact_names": []string{"stdlib"}}, "a c"}, {fields{"artifact_names": []string{"net", "openssl"}}, "b d"},
			{fields{"artifact_types": []string{"go", "deb"}}, "a b"}, {fields{"artifact_architectures": []string{"arm64"}}, "b"}, {fields{"artifact_architectures": []string{"linux/AArch64"}}, "b"},
			{fields{"component_names": []string{"libssl"}}, "b"}, {fields{"component_types": []string{"library"}}, "b"},
			{fields{"component_locations": []string{"/lib/libssl"}}, "b"}, {fields{"aliases": []string{"CVE-4"}}, "a d"}, {fields{"aliases": []string{"CVE"}}, ""},
			{fields{"origin": "osv"}, "a"}, {fields{"origin": "OSV"}, ""},
			{fields{"event_review_states": []string{"REVIEW_STATE_APPROVED"}}, "a"}, {fields{"event_authors": []string{"ada"}}, "b"},
			{fields{"event_authors": []string{"ada", "nvd"}}, "a b"}, {fields{"exclude_event_authors": []string{"ada", "nvd"}}, "c d"},
			{fields{"event_reviewers": []string{"bob"}}, "a"},
			{fields{"event_types": []string{"EVENT_TYPE_FILTER_FIXED"}}, "a"}, {fields{"event_types": []string{"EVENT_TYPE_FILTER_DETECTION"}}, "a d"},
			{fields{"latest_event_type": "EVENT_TYPE_FILTER_DETECTION"}, "d"}, {fields{"latest_event_type": "EVENT_TYPE_FILTER_FIXED"}, "a"},
			{fields{"event_types": []string{"EVENT_TYPE_FILTER_DETECTION"}, "event_authors": []string{"osv"}}, "a"}, // Each condition is true of a different event.
			{fields{"query": "STD"}, "a c"}, {fields{"query": "cve-4"}, "a d"}, {fields{"query": "ssl"}, "b"}, {fields{"query": "STRASSE"}, "c"}, {fields{"query": "STRAẞE"}, "c"}, {fields{"query": "go-"}, "a b c d"},
			{fields{"severities": []string{"SEVERITY_RATING_HIGH", "SEVERITY_RATING_CRITICAL"}}, "b c"}, {fields{"severities": []string{"SEVERITY_RATING_LOW"}}, ""},
			{fields{"severities": []string{"SEVERITY_RATING_UNKNOWN"}}, "a d"}, {fields{"min_score": 9.0}, "c"}, {fields{"min_score": 9.1}, ""}, {fields{"withdrawn": true}, "a b c d"},
			{fields{"states": []string{"ADVISORY_STATE_OPEN"}}, "c d"}, {fields{"states": []string{"ADVISORY_STATE_FIXED", "ADVISORY_STATE_NOT_AFFECTED"}}, "a b"},
			{fields{"states": []string{"ADVISORY_STATE_OPEN"}, "severities": []string{"SEVERITY_RATING_HIGH", "SEVERITY_RATING_CRITICAL"}}, "c"},
			{fields{"states": []string{"ADVISORY_STATE_FIXED"}, "withdrawn": true}, "a"}, {fields{"states": []string{"ADVISORY_STATE_OPEN"}, "query": "cve-4"}, "d"},
			{fields{"query": "%"}, ""}, {fields{"query": "_"}, ""},
			{fields{"artifact_names": []string{"stdlib"}, "uidp.children_of": "{inner}"}, "c"},
		},
		badParams: []badInput{
			{name: "unknown values", fields: fields{"event_types": []string{"x"}, "latest_event_type": "y", "event_review_states": []string{"z"}},
				violations: "eventReviewStates eventTypes latestEventType", typeErrors: typeError},
			{name: "an unknown rating", fields: fields{"severities": []string{"x"}}, violations: "severities", typeErrors: typeError},
			{name: "an unknown state", fields: fields{"states": []string{"x"}}, violations: "states", typeErrors: typeError},
			{name: "a score that none has", fields: fields{"min_score": 10.5}, violations: "minScore"},
			{name: "a query of two lines", fields: fields{"query": "a\nb"}, violations: "query"},
		},
	},
})

// fullSeverities has a number and a vector. The vector has the higher version, so it
// determines the severity.
var fullSeverities = []fields{{"type": "TYPE_CVSS_V3", "score": "9.9"}, {"type": "TYPE_CVSS_V4", "score": "CVSS:4.0/AV:N/AC:L/AT:N/PR:N/UI:N/VC:H/VI:N/VA:N/SC:N/SI:N/SA:N"}}

func withSeverity(given any) fields {
	return fields{"severities": given, "severity": fields{"rating": "SEVERITY_RATING_HIGH", "score": 8.7, "vector": fullSeverities[1]["score"], "version": "4.0", "source": "SEVERITY_SOURCE_ADVISORY"}}
}

// fullEvents has one event of each variant.
var (
	detected = fields{"createTime": "2024-01-01T00:00:00.000Z", "author": "nvd", "reviewer": "bob", "reviewState": "REVIEW_STATE_APPROVED",
		"issue": "https://issues.example.com/1", "detection": fields{"nvdapi": fields{"cpeSearched": "cpe:a", "cpeFound": "cpe:b"}}}
	scanned = fields{"createTime": "2024-01-02T00:00:00.000Z", "detection": fields{"scanv1": fields{"scanner": "grype", "subpackage": "s", "componentId": "1",
		"component": "c", "componentVersion": "1.0", "componentType": "go", "componentLocation": "/c", "artifactVersion": "2.0", "scannerVersion": "3.0",
		"grypeDbBuilt": "2024", "grypeDbChecksum": "abc"}}}
	byHand        = fields{"createTime": "2024-01-03T00:00:00.000Z", "detection": fields{"manual": fields{}}}
	determined    = fields{"createTime": "2024-01-04T00:00:00.000Z", "truePositiveDetermination": fields{"note": "it is"}}
	fixed         = fields{"createTime": "2024-01-05T00:00:00.000Z", "author": "osv", "fixed": fields{"fixedVersion": "1.2.3", "note": "n", "scannerVersion": "3.1", "grypeDbBuilt": "2025", "grypeDbChecksum": "def"}}
	falsePositive = fields{"createTime": "2024-01-06T00:00:00.000Z", "author": "ada", "reviewState": "REVIEW_STATE_PENDING",
		"falsePositiveDetermination": fields{"type": "TYPE_COMPONENT_VULNERABILITY_MISMATCH", "note": "it is not"}}
	notAnalysed = fields{"createTime": "2024-01-07T00:00:00.000Z", "analysisNotPlanned": fields{"note": "a"}}
	notFixed    = fields{"createTime": "2024-01-08T00:00:00.000Z", "fixNotPlanned": fields{"note": "f"}}
	pending     = fields{"createTime": "2024-01-09T00:00:00.000Z", "pendingUpstreamFix": fields{"note": "p"}}
	patched     = fields{"createTime": "2024-01-01T12:00:00.000Z", "patched": fields{"patchedVersions": []string{"1.2.2"}, "note": "b"}}
)

// putAdvisory imports an advisory. No operation creates one.
func putAdvisory(e *env, parent string, given fields) fields {
	e.Helper()
	advisory := decodeFields[inventory.Advisory](e, given)
	advisory.Origin, _ = given["origin"].(string)
	if _, err := e.w.p.Feeds.ImportAdvisories(e.operator(), core.UID(parent), []*inventory.Advisory{advisory}); err != nil {
		e.Fatal(err)
	}
	return e.mustCall(call{rpc: "GetAdvisory", target: string(advisory.UID)}).resource
}
