package resolvers

import (
	"strings"
	"testing"
)

// A filter inside another one takes every condition.
func TestFiltersOfFindingsHaveFiltersInside(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		const found = ` { totalCount nodes { vulnerabilityId installedVersion } }`
		w.ask(`query($org: UID!, $tools: UID!, $uid: UID!) {
			either: findings(where: {or: [{vulnerabilityIds: ["CVE-3"]}, {packages: ["left-pad"], query: "left"}], basis: [VERSION]})`+found+`
			without: findings(within: $org, where: {not: {vulnerabilityIds: ["GHSA-1"]}})`+found+`
			both: findings(where: {or: [{severities: [LOW]}, {not: {or: [{severities: [CRITICAL]}, {minScore: 0}]}}]})`+found+`
			listed: findings(where: {or: [{uids: [$uid]}]})`+found+`
			others: findings(where: {not: {uids: [$uid]}})`+found+`
			nobody: findings(where: {not: {assignee: $uid}})`+found+`
			never: findings(where: {or: []})`+found+`
			always: findings(where: {not: {severities: []}})`+found+`
			resolved: findings(where: {or: [{states: [RESOLVED]}, {severities: [LOW]}]})`+found+`
			inRepo: repo(uid: $tools) { findings(where: {not: {packages: ["x"]}})`+found+` }
			top: topPackages(where: {not: {packages: ["left-pad"]}}) { nodes { package } }
		}`, "org", w.org, "tools", w.tools, "uid", w.ask(`{ findings(where: {packages: ["express"]}) { nodes { uid } } }`).value("findings.nodes.0.uid")).
			expect("either.totalCount", 4).expect("either.nodes.*.vulnerabilityId", "CVE-1 CVE-1 CVE-1 CVE-3").
			expect("without.totalCount", 2).expect("without.nodes.*.vulnerabilityId", "CVE-3 CVE-5").
			expect("both.nodes.*.vulnerabilityId", "CVE-3 CVE-5").
			expect("listed.nodes.*.vulnerabilityId", "CVE-3").expect("others.totalCount", 4).expect("nobody.totalCount", 5).
			expect("never.totalCount", 0).expect("always.totalCount", 5).expect("resolved.nodes.*.vulnerabilityId", "CVE-3").
			expect("inRepo.findings.totalCount", 2).expect("top.nodes.*.package", "express checkout")
		for where, want := range map[string]string{
			`{or: [{}, {minScore: 11}]}`:                                                 "or[1].minScore",
			`{not: {or: [{deprecatedTags: true}]}}`:                                      "not.or[0].deprecatedTags",
			`{not: {not: {not: {not: {}}}}}`:                                             "not.not.not.not",
			`{or: [{uids: ["x"]}]}`:                                                      "or[0].uids[0]",
			`{or: [` + strings.Repeat("{}, ", 21) + `]}`:                                 "or",
			`{not: {labels: [{key: "-", value: "x"}]}}`:                                  "not.labels",
			`{severities: [LOW], or: [{or: [{or: [{ecosystems: ["x"], minEpss: 2}]}]}]}`: "or[0].or[0].or[0].minEpss",
		} {
			if got := w.askAs(theOwner, `{ findings(where: `+where+`) { totalCount } }`).expectErrors("INVALID_ARGUMENT findings").violations(); got != want {
				t.Errorf("%s: %q, want %q", where, got, want)
			}
		}
		// Decisions take such a filter too. It makes no rule for later findings.
		w.ask(`mutation($uid: UID!) { updateFindings(input: {within: $uid, where: {not: {severities: [LOW]}}, state: ACCEPTED}) { updatedCount } }`, "uid", w.checkout).expect("updateFindings.updatedCount", 2)
		w.ask(`{ findings(where: {states: [ACCEPTED]}) { totalCount } }`).expect("findings.totalCount", 2)
	})
}
