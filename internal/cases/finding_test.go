package cases

import (
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A finding is made by the service: {finding} is one of a repo with an image that holds a package, and an advisory about that.
var _ = newKind(kind{
	name: "Finding", plural: "Findings", ref: "finding", area: "vulnerabilities", parent: "registry/Repo", in: "{group}", put: putFinding,
	minimal: fields{"package": "package-{n}", "id": "CVE-2026-{n}"}, full: fields{"package": "package-{n}", "id": "CVE-2026-{n}"},
	extra: []call{
		setDuePolicy("{group}", 7), acceptFindings("{group}"), previewRule("{group}"), decideFindings(fields{"state": "FINDING_STATE_ACCEPTED"}),
	},
	rows: []row{
		{name: "summary", setup: []call{getFinding}, do: askPlace("SummarizeFindings", "{finding.repo}"), want: resource(summaryOf(1, 0, 0))},
		{name: "summary of what is decided", setup: []call{decideFindings(fields{"state": "FINDING_STATE_ACCEPTED"})}, do: askPlace("SummarizeFindings", "{finding.repo}"), want: resource(summaryOf(0, 1, 0))},
		{name: "summary of a missing repo", do: askPlace("SummarizeFindings", "{group}/00000000000000ff"), want: notFound("iam/Group", "{group}/00000000000000ff")},
		{name: "summary of no UID", do: askPlace("SummarizeFindings", "nope"), want: invalid("within")},
		{name: "count", setup: []call{getFinding}, do: call{rpc: "CountFindings", params: fields{"uidp.children_of": "{finding.repo}"}}, want: resource(fields{
			"severities": []fields{{"value": "SEVERITY_RATING_UNKNOWN", "count": 1}}, "states": []fields{{"value": "FINDING_STATE_OPEN", "count": 1}},
			"ecosystems": []fields{{"value": "", "count": 1}}, "repos": []fields{{"value": "{finding.repo}", "count": 1}}, "groups": []fields{{"value": "{group}", "count": 1}},
		})},
		{name: "count by what reads each", setup: []call{getFinding}, do: call{rpc: "CountFindings", params: fields{"uidp.children_of": "{finding.repo}", "facets": []string{"FINDING_FACET_PACKAGES", "FINDING_FACET_VULNERABILITIES", "FINDING_FACET_ASSIGNEES", "FINDING_FACET_LABELS"}}}, want: resource(fields{
			"severities": []fields{{"value": "SEVERITY_RATING_UNKNOWN", "count": 1}}, "states": []fields{{"value": "FINDING_STATE_OPEN", "count": 1}},
			"ecosystems": []fields{{"value": "", "count": 1}}, "repos": []fields{{"value": "{finding.repo}", "count": 1}}, "groups": []fields{{"value": "{group}", "count": 1}},
			"vulnerabilities": []fields{{"value": "{finding.vulnerabilityId}", "count": 1}}, "packages": []fields{{"value": "{finding.package}", "count": 1}}, "assignees": []fields{{"value": "", "count": 1}},
		})},
		{name: "summary by age", setup: []call{getFinding}, do: call{rpc: "SummarizeFindings", target: "{finding.repo}", params: fields{"within": "{finding.repo}", "days": []any{1, 30}}},
			want: resource(summaryOf(1, 0, 0).with(fields{"openByAge": []fields{{"fromDays": 0, "toDays": 1, "open": ofUnknown(1)}, {"fromDays": 1, "toDays": 30, "open": ofUnknown(0)}, {"fromDays": 30, "open": ofUnknown(0)}}}))},
		{name: "summary by no age", do: call{rpc: "SummarizeFindings", target: "{finding.repo}", params: fields{"within": "{finding.repo}", "days": []any{30, 7}}}, want: invalid("days")},
		{name: "top vulnerabilities", setup: []call{getFinding}, do: call{rpc: "GetTopVulnerabilities", params: fields{"uidp.descendants_of": "{finding.repo}", "by": "severity"}},
			want: resource(fields{"totalCount": 1, "rows": []fields{rowOfRanking(fields{"vulnerabilityId": "{finding.vulnerabilityId}"})}})},
		{name: "top packages", setup: []call{getFinding}, do: call{rpc: "GetTopPackages", params: fields{"uidp.descendants_of": "{finding.repo}", "states": []string{"FINDING_STATE_OPEN"}}},
			want: resource(fields{"totalCount": 1, "rows": []fields{rowOfRanking(fields{"package": "{finding.package}"})}})},
		{name: "top packages by nothing", do: call{rpc: "GetTopPackages", params: fields{"by": "nothing"}}, want: invalid("by"), instead: typedAnswer},
		{name: "decide", do: decideFindings(fields{"state": "FINDING_STATE_NOT_AFFECTED", "justification": "component_not_present", "note": "gone"}),
			want: having{"updatedCount": 1, "findings": []fields{{"uid": "{finding}", "state": "FINDING_STATE_NOT_AFFECTED", "justification": "component_not_present", "note": "gone"}}}},
		{name: "decide in the background", do: decideInBackground(fields{"state": "FINDING_STATE_ACCEPTED"}),
			want: having{"updatedCount": 0, "findings": []fields{}, "operation": fields{"uid": "<uid>", "kind": "update/findings", "state": "OPERATION_STATE_RUNNING", "done": false, "records": 0, "progressPercent": 0}}},
		{name: "decide nothing in the background", do: decideInBackground(fields{}), want: invalid("state")},
		{name: "decide nothing", do: decideFindings(fields{}), want: invalid("state")},
		{name: "decide what cannot be", do: decideFindings(fields{"state": "FINDING_STATE_NOT_AFFECTED"}), want: invalid("justification")},
		{name: "decide about a missing one", do: call{rpc: "UpdateFindings", fields: fields{"uids": []string{"{repo}/00000000000000ff"}, "finding": fields{"note": "a"}}},
			want: notFoundBy("uids[0]", "vulnerabilities/Finding", "{repo}/00000000000000ff")},
		{name: "accept", do: acceptFindings("{group}"), want: resource(fields{"uid": "<uid>", "within": "{group}", "where": fields{"packages": []string{"nothing-has-it"}, "labels": []string{"env", "team=none"}}, "note": "fine",
			"expireTime": "2999-01-01T00:00:00.000Z", "createTime": "<time>", "acceptedCount": 0})},
		{name: "rules", setup: []call{acceptFindings("{group}")}, do: askPlace("GetAcceptanceRules", "{group}"), want: resource(fields{"acceptanceRules": []fields{{
			"uid": "<uid>", "within": "{group}", "where": fields{"packages": []string{"nothing-has-it"}, "labels": []string{"env", "team=none"}}, "note": "fine", "expireTime": "2999-01-01T00:00:00.000Z", "createTime": "<time>", "acceptedCount": 0}}})},
		{name: "preview", do: previewRule("{group}"), want: having{"findings": []fields{}}},
		{name: "a due policy", do: setDuePolicy("{group}", 7), want: resource(fields{"policy": fields{"within": "{group}", "criticalDays": 7, "updateTime": "<time>"}})},
		{name: "a due policy that is set", setup: []call{setDuePolicy("{group}", 9)}, do: askPlace("GetDuePolicy", "{group}"), want: resource(fields{"policy": fields{"within": "{group}", "criticalDays": 9, "updateTime": "<time>"}})},
		{name: "a due policy of no day", do: setDuePolicy("{group}", 0), want: invalid("criticalDays")},
		{name: "activity", setup: []call{getFinding}, do: askPlace("GetFindingActivity", "{finding.repo}"), want: having{"activity": []fields{{"time": "<time>", "open": fields{"total": 1, "unknown": 1}}}}},
		{name: "activity of no interval", do: call{rpc: "GetFindingActivity", params: fields{"within": "{group}", "time_zone": "Moon"}}, want: invalid("timeZone")},
		{name: "remediation", setup: []call{getFinding}, do: askPlace("GetRemediationActivity", "{finding.repo}"), want: having{"activity": []fields{{"time": "<time>", "opened": fields{"total": 1}, "fixed": fields{"total": 0}}}}},
	},
	library: library{
		items: []item{
			{"a", "{shelf}", fields{"package": "delta", "id": "CVE-2026-1"}}, {"b", "{org}", fields{"package": "alpha", "id": "CVE-2026-2"}},
			{"c", "{inner}", fields{"package": "charlie", "id": "CVE-2026-3"}}, {"d", "{side}", fields{"package": "beta", "id": "CVE-2026-4"}},
		},
		orders:    []order{{"package", "package"}, {"first_seen", "firstSeenTime"}, {"uid", "uid"}, {"severity", "none"}},
		byDefault: "severity desc",
		filters: []filterCase{
			{fields{"packages": []string{"alpha", "delta"}}, "a b"}, {fields{"vulnerabilityIds": []string{"CVE-2026-3"}}, "c"}, {fields{"query": "bet"}, "d"},
			{fields{"states": []string{"FINDING_STATE_OPEN"}}, "a b c d"}, {fields{"fixable": true}, ""}, {fields{"basis": []string{"FINDING_BASIS_NAME"}}, "a b c d"},
			{fields{"assignedToMe": true}, ""}, {fields{"assignedToMe": false}, "a b c d"}, {fields{"knownExploited": false}, "a b c d"}, {fields{"minScore": 1.5}, ""}, {fields{"firstSeenSince": "2999-01-01T00:00:00.000Z"}, ""},
		},
		badParams: []badInput{{name: "score", fields: fields{"minScore": 11}, violations: "minScore"}, {name: "ids", fields: fields{"uidp.ids": []string{"x"}}, violations: "uidp.ids"}},
	},
})

// {rule} is a rule of acceptance.
var _ = newKind(kind{
	name: "Rule", ref: "rule", area: "vulnerabilities", in: "{group}",
	put: func(e *env, group string, _ fields) fields {
		e.Helper()
		return e.mustCall(acceptFindings(group)).resource
	},
	extra: []call{{rpc: "DeleteAcceptanceRule", target: "{rule}"}},
	rows: []row{
		{name: "delete", do: call{rpc: "DeleteAcceptanceRule", target: "{rule}"}},
		{name: "delete one that is gone", setup: []call{{rpc: "DeleteAcceptanceRule", target: "{rule}"}}, do: call{rpc: "DeleteAcceptanceRule", target: "{rule}"}, want: notFound("vulnerabilities/AcceptanceRule", "{rule}")},
		{name: "delete no UID", do: call{rpc: "DeleteAcceptanceRule", target: "nope"}, want: invalid("uid")},
	},
})

var getFinding = call{rpc: "GetFinding", target: "{finding}"}

// askPlace asks about what is within a group or repo.
func askPlace(rpc, within string) call {
	return call{rpc: rpc, target: within, params: fields{"within": within}}
}

func decideFindings(finding fields) call {
	return call{rpc: "UpdateFindings", target: "{finding}", onParent: true, fields: fields{"uids": []string{"{finding}"}, "finding": finding}}
}

func decideInBackground(finding fields) call {
	return call{rpc: "UpdateFindings", target: "{finding}", onParent: true, fields: fields{"within": "{finding.repo}", "where": fields{}, "background": true, "finding": finding}}
}

func acceptFindings(within string) call {
	return call{rpc: "CreateAcceptanceRule", target: within, fields: fields{"where": fields{"packages": []string{"nothing-has-it"}, "labels": []string{"env", "team=none"}}, "note": "fine", "expireTime": "2999-01-01T00:00:00.000Z"}}
}

func previewRule(within string) call {
	return call{rpc: "PreviewAcceptanceRule", target: within, fields: fields{"within": within, "where": fields{"withoutFix": true}}}
}

func setDuePolicy(within string, critical int) call {
	return call{rpc: "SetDuePolicy", target: within, fields: fields{"within": within, "criticalDays": critical}}
}

// rowOfRanking returns the row of a ranking about {finding}.
func rowOfRanking(of fields) fields {
	return of.with(fields{"severity": fields{"rating": "SEVERITY_RATING_UNKNOWN"}, "knownExploited": false, "findings": 1, "fixable": 0, "images": 1, "repos": 1})
}

// ofUnknown counts findings without a rating.
func ofUnknown(n int) fields {
	return fields{"total": n, "critical": 0, "high": 0, "medium": 0, "low": 0, "none": 0, "unknown": n}
}

// summaryOf counts findings of one image of a repo.
func summaryOf(open, accepted, notAffected int) fields {
	count := func(n int) fields { return ofUnknown(n).with(fields{"fixable": 0, "knownExploited": 0}) }
	return fields{"open": count(open), "accepted": count(accepted), "notAffected": count(notAffected), "affectedRepos": open, "affectedImages": open, "images": 1, "knownImages": 0, "unknownPackages": 0, "overdue": 0}
}

// putFinding imports an image that holds a package, and an advisory about the package, into a new repo of a group.
func putFinding(e *env, group string, given fields) fields {
	e.Helper()
	name := given["package"].(string)
	repo := keyOf(e.mustCall(call{rpc: "CreateRepo", target: group, fields: fields{"name": "holds-" + name}}).resource)
	e.mustCall(call{rpc: "CreateTag", target: repo, fields: fields{"name": "latest", "digest": digest(1)}})
	root := core.UID(group).Root()
	_, err := e.w.p.Registry.ImportImages(e.operator(), []*inventory.Image{{Repo: core.UID(repo), Digest: digest(1), Packages: []string{name}}})
	if err == nil {
		_, err = e.w.p.Feeds.ImportAdvisories(e.operator(), root, []*inventory.Advisory{{AdvisoryID: given["id"].(string), ArtifactName: name}})
	}
	if err == nil {
		err = e.w.p.Findings.SettleIn(e.operator(), root)
	}
	page, listed := e.w.p.Findings.List(e.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{ChildrenOf: core.UID(repo)}})
	if err != nil || listed != nil || len(page.Items) != 1 {
		e.Fatalf("%d findings: %v %v", len(page.Items), err, listed)
	}
	return e.mustCall(call{rpc: "GetFinding", target: string(page.Items[0].UID)}).resource
}

// createFinding imports an advisory about the name of a repo, and creates a tag there.
func createFinding(e *env, repo string) fields {
	e.Helper()
	uid := core.UID(repo)
	found, err := e.w.p.Repos.Get(e.operator(), uid)
	if err == nil {
		_, err = e.w.p.Feeds.ImportAdvisories(e.operator(), uid.Root(), []*inventory.Advisory{{AdvisoryID: "CVE-2026-1", ArtifactName: found.Name}})
	}
	e.mustCall(call{rpc: "CreateTag", target: repo, fields: fields{"name": "affected", "digest": digest(1)}})
	if err == nil {
		err = e.w.p.Findings.Settle(e.operator())
	}
	page, listed := e.w.p.Findings.List(e.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{ChildrenOf: uid}})
	if err != nil || listed != nil || len(page.Items) != 1 {
		e.Fatalf("%d findings: %v %v", len(page.Items), err, listed)
	}
	return fields{"uid": string(page.Items[0].UID)}
}
