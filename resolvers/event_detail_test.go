package resolvers

import (
	"strings"
	"testing"

	"atrium/graph"
	"atrium/platform"
	"atrium/platform/core"
)

// A dashboard that shows findings as they come and go has types for them, and needs no JSON.
func TestEventsAboutFindingsAreTyped(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		w.ask(`mutation($org: UID!) { updateFindings(input: {within: $org, where: {vulnerabilityIds: ["GHSA-1"]}, state: ACCEPTED, note: "known"}) { updatedCount } }`, "org", w.org)
		w.ask(`mutation($org: UID!) { setDuePolicy(input: {within: $org, criticalDays: 7}) { policy { criticalDays } } }`, "org", w.org)
		w.ask(`mutation($org: UID!) { createGroup(input: {parent: $org, name: "other"}) { group { uid } } }`, "org", w.org)
		const log = `query($kinds: [EventKind!]) { auditLog(kinds: $kinds, first: 1) { nodes { subject body detail {
			__typename
			... on FindingChange { repoUid repoName digest count counts { rating knownExploited count } findings {
				uid vulnerabilityId package fixedVersions state note decidedBy severity { rating } newInRepo finding { uid state repo { name } } } }
			... on FindingTriage { withinUid within { id } count rules { vulnerabilityId state note createTime author } }
			... on DuePolicy { withinUid criticalDays highDays }
		} } } }`
		const one = "auditLog.nodes.0."
		got := w.ask(log, "kinds", []string{"VULNERABILITIES_FINDING_CHANGED"})
		got.expect(one+"detail.__typename", "FindingChange").expect(one+"detail.repoUid", got.value(one+"subject")).expect(one+"detail.count", got.value(one+"body.count")).
			expect(one+"detail.digest", got.value(one+"body.digest")).expect(one+"detail.findings.0.state", "ACCEPTED").expect(one+"detail.findings.0.note", "known").
			expect(one+"detail.findings.0.finding.uid", got.value(one+"detail.findings.0.uid")).expect(one+"detail.findings.0.finding.state", "ACCEPTED").
			expect(one+"detail.counts.0.count", got.value(one+"body.counts.0.count"))
		w.ask(log, "kinds", []string{"VULNERABILITIES_FINDING_TRIAGED"}).expect(one+"detail.__typename", "FindingTriage").expect(one+"detail.withinUid", string(w.org)).
			expect(one+"detail.rules.0.vulnerabilityId", "GHSA-1").expect(one+"detail.rules.0.state", "ACCEPTED").expect(one+"detail.rules.0.author", string(w.owner))
		w.ask(log, "kinds", []string{"VULNERABILITIES_FINDING_DUE_POLICY_SET"}).expect(one+"detail", map[string]any{"__typename": "DuePolicy", "withinUid": string(w.org), "criticalDays": 7.0, "highDays": nil})
		w.ask(`{ auditLog(kinds: [VULNERABILITIES_FINDING_TRIAGED], first: 1) { nodes { detail { __typename } } } }`).expect(one+"detail.__typename", "FindingTriage") // also without the body
		w.ask(log, "kinds", []string{"IAM_GROUP_CREATED"}).expect(one+"detail", nil).expect(one+"body.name", "other")
	})
}

func TestEveryBodyOfEventsAboutFindingsHasAType(t *testing.T) {
	t.Parallel()
	types, typed := platform.AllEventTypes(), map[string]bool{}
	for _, name := range types.All() {
		if body := types.BodyOf(&core.Event{Type: name}); strings.HasPrefix(name, core.EventPrefix+"vulnerabilities.finding.") {
			if typed[body] = true; eventDetails[body] == nil {
				t.Errorf("the body %s of %s has no type", body, name)
			}
		}
	}
	if members := graph.Schema().Types["EventDetail"].Types; len(typed) != len(members) || len(typed) != len(eventDetails) {
		t.Errorf("EventDetail is %v, and events have the bodies %v", members, typed)
	}
}

// Live feeds share answers. Whoever may not see the repo gets no name of it.
func TestALiveFeedTypesEventsAboutFindings(t *testing.T) {
	eachShop(t, func(t *testing.T, w *shop) {
		w.member(w.org, "ann", w.role(w.org, "findings", core.CapFindingsList, core.CapTagList))
		handler, newest := w.serveFeeds(), w.ask(`{ auditLog(first: 1) { nodes { id } } }`).text("auditLog.nodes.0.id")
		feed := `subscription { events(after: "` + newest + `", kinds: [VULNERABILITIES_FINDING_CHANGED]) {
			detail { ... on FindingChange { repoName findings { state finding { state repo { name } } } } } } }`
		feeds := []func() string{w.listen(handler, theOwner, feed), w.listen(handler, "ann", feed), w.listen(handler, theOwner, feed)}
		one := w.ask(`{ findings(where: {vulnerabilityIds: ["CVE-3"]}) { nodes { uid repo { name } } } }`)
		w.ask(`mutation($one: UID!) { updateFindings(input: {uids: [$one], state: IN_TRIAGE}) { updatedCount } }`, "one", one.value("findings.nodes.0.uid"))
		name := `"` + one.text("findings.nodes.0.repo.name") + `"`
		for i, want := range []string{
			`{"detail":{"repoName":` + name + `,"findings":[{"state":"IN_TRIAGE","finding":{"state":"IN_TRIAGE","repo":{"name":` + name + `}}}]}}`,
			`{"detail":{"repoName":null,"findings":[{"state":"IN_TRIAGE","finding":{"state":"IN_TRIAGE","repo":null}}]}}`,
			`{"detail":{"repoName":` + name + `,"findings":[{"state":"IN_TRIAGE","finding":{"state":"IN_TRIAGE","repo":{"name":` + name + `}}}]}}`,
		} {
			if got := feeds[i](); !strings.Contains(got, `"data":{"events":`+want+`}`) {
				t.Errorf("feed %d got %s, want %s", i, got, want)
			}
		}
	})
}
