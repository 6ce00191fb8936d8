package platform_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"atrium/platform"
	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// acceptAll accepts by a pattern, for a year.
func (w *world) acceptAll(ctx context.Context, within core.UID, p inventory.FindingPattern) *inventory.TriageRule {
	w.Helper()
	rule, err := w.p.Findings.AcceptByPattern(ctx, inventory.TriageRule{Scope: within, Pattern: &p, Note: "we live with it", ExpireTime: core.At(w.now().AddDate(1, 0, 0))})
	must(w, err)
	return rule
}

// preview lists the vulnerabilities that a pattern would accept.
func (w *world) preview(ctx context.Context, within core.UID, p inventory.FindingPattern) []string {
	w.Helper()
	page, err := w.p.Findings.ListAcceptable(ctx, within, &p, core.ListRequest[*inventory.FindingFilter]{PageSize: 200, Parts: core.PartItems | core.PartTotal})
	must(w, err)
	if page.TotalCount != int64(len(page.Items)) {
		w.Errorf("the total is %d, and there are %d findings", page.TotalCount, len(page.Items))
	}
	return describeAll(page.Items)
}

func describeAll(all []*inventory.Finding) []string {
	names := make([]string, len(all))
	for i, f := range all {
		names[i] = fmt.Sprintf("%s %s %s", f.Repo, f.VulnerabilityID, f.Package)
	}
	slices.Sort(names)
	return names
}

// acceptedBy lists the findings about which a rule has decided, and checks that nothing else is accepted.
func (w *world) acceptedBy(rule *inventory.TriageRule) []string {
	w.Helper()
	page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{
		UIDP:     core.UIDFilter{DescendantsOf: rule.Scope.Root()},
		Filter:   &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingAccepted}},
		PageSize: 200,
	})
	must(w, err)
	for _, f := range page.Items {
		if f.Decision != string(rule.UID) || f.Note != rule.Note || !f.ExpireTime.Equal(rule.ExpireTime.Time) {
			w.Errorf("%s of %s is accepted by %q, with the note %q, until %s", f.VulnerabilityID, f.Package, f.Decision, f.Note, f.ExpireTime)
		}
	}
	counts, err := w.p.Findings.CountAccepted(w.operator(), []*inventory.TriageRule{rule})
	must(w, err)
	if counts[0] != int64(len(page.Items)) {
		w.Errorf("the rule counts %d findings, and accepts %d", counts[0], len(page.Items))
	}
	return describeAll(page.Items)
}

// lastingFrom returns an advisory about all versions of a package from one on.
func lastingFrom(id, name, score string) *inventory.Advisory {
	a := fixedIn(id, name, "2.0.0")
	a.Affected.Ranges[0].Events = []affected.Event{{Introduced: "0"}}
	if a.Severities = nil; score != "" {
		a.Severities = []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: score}}
	}
	return a
}

// A rule accepts what its preview has shown, and what is not known meets no condition: lists and findings are compared with
// the conditions by different code.
func TestAPatternAcceptsWhatItsPreviewShows(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		random := rand.New(rand.NewPCG(7, 7))
		pick := func(values ...string) string { return values[random.IntN(len(values))] }
		acme := w.found("acme")
		shop := w.group(acme.uid)
		ecosystems := []string{"npm", "PyPI", "Debian:12", "Debian:11", "Debian", ""}
		var advisories []*inventory.Advisory
		var exploited, likely []*inventory.Exploitation
		for n := range 60 {
			id, events := fmt.Sprintf("CVE-2026-%04d", n), []affected.Event{{Introduced: "0"}}
			a := &inventory.Advisory{AdvisoryID: id, ArtifactName: pick("a", "b", "c"), ArtifactType: pick(ecosystems...), Affected: &affected.Set{}}
			if score := pick("", "0.0", "2.0", "5.0", "8.0", "9.8"); score != "" {
				a.Severities = []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: score}}
			}
			switch pick("fixed", "lasting", "lasting", "last", "listed", "unknown") {
			case "fixed":
				events = append(events, affected.Event{Fixed: "2.0.0"})
			case "last":
				events = append(events, affected.Event{LastAffected: "1.5.0"})
			case "listed":
				a.Affected.Versions, events = []string{"1.0.0"}, nil
			case "unknown":
				a.Affected, events = nil, nil
			}
			if events != nil {
				a.Affected.Ranges = []affected.Range{{Type: "ECOSYSTEM", Events: events}}
			}
			advisories = append(advisories, a)
			if random.IntN(3) > 0 {
				likely = append(likely, newLikely(id, []float64{0, 0.01, 0.5, 0.9999999, 1}[random.IntN(5)]))
			}
			if random.IntN(5) == 0 {
				exploited = append(exploited, newKnown(id, 1))
			}
		}
		w.advise(acme.uid, advisories...)
		w.importExploitations(feeds.EPSS, fmt.Sprint(len(likely), 0, 0, 0), likely...)
		w.importExploitations(feeds.KnownExploited, fmt.Sprint(len(exploited), 0, 0, 0), exploited...)
		for n, labels := range []string{`{}`, `{"env": "test"}`, `{"env": "test", "team": "shop"}`, `{"env": ""}`} {
			made, err := w.p.Repos.Create(acme.owner, []core.UID{acme.uid, shop}[n%2], body[*inventory.Repo](`{"name": %q, "labels": %s}`, w.name(), labels))
			must(t, err)
			var held []inventory.InstalledPackage
			for _, ecosystem := range ecosystems {
				held = append(held, inventory.InstalledPackage{Name: pick("a", "b", "c"), Version: "1.0.0", Ecosystem: ecosystem, Scope: inventory.PackageScope(pick("", string(inventory.ScopeRequired), string(inventory.ScopeDevelopment)))})
			}
			w.describe(made.UID, digest(n+1), held...)
			w.point(made.UID, "latest", digest(n+1))
		}
		w.settle()
		shown := 0
		for range 40 {
			var p inventory.FindingPattern
			if random.IntN(2) == 0 {
				p.MaxSeverity = core.SeverityRatings()[1+random.IntN(5)]
			}
			if random.IntN(3) == 0 {
				p.EPSSBelow = new([]float64{0.000001, 0.01, 0.6, 1}[random.IntN(4)])
			}
			p.WithoutFix, p.IncludeKnownExploited = random.IntN(2) == 0, random.IntN(3) == 0
			if random.IntN(4) == 0 {
				p.Ecosystems = []string{pick("Debian", "Debian:12", "npm"), "PyPI"}
			}
			if random.IntN(4) == 0 {
				p.Packages = []string{pick("a", "b"), "c"}
			}
			if random.IntN(4) == 0 {
				p.Scopes = []inventory.PackageScope{inventory.ScopeOptional, inventory.ScopeDevelopment}
			}
			if random.IntN(4) == 0 {
				p.Labels = []core.LabelCondition{core.ParseLabelCondition(pick("env", "env=test", "env=", "team=shop"))}
			}
			if text, _ := json.Marshal(p); string(text) == `{}` || string(text) == `{"includeKnownExploited":true}` {
				continue
			}
			within := []core.UID{acme.uid, shop}[random.IntN(2)]
			want := w.preview(acme.owner, within, p)
			rule := w.acceptAll(acme.owner, within, p)
			w.settle()
			if got := w.acceptedBy(rule); !slices.Equal(got, want) {
				t.Errorf("%+v accepts %q, and its preview shows %q", p, got, want)
			}
			if left := w.preview(acme.owner, within, p); len(left) > 0 {
				t.Errorf("%+v: a preview shows what is accepted: %q", p, left)
			}
			shown += len(want)
			w.expectCounters(acme.uid)
			must(t, w.p.Findings.DeletePattern(acme.owner, rule.UID))
			w.settle()
			w.expect("without the rule", strings.Join(w.acceptedBy(rule), ", "), "")
		}
		if shown < 100 {
			t.Errorf("all patterns together have accepted %d findings", shown)
		}
		wrong, err := w.p.Findings.Review(w.operator())
		if err != nil || wrong != 0 {
			t.Errorf("%d findings are not as they must be: %v", wrong, err)
		}
	})
}

// What is only there to build or to test can be accepted until a document says that the image needs it, or says nothing of it any more.
func TestAPatternAcceptsWhatIsThereToDevelop(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"), fixedIn("CVE-3", "c", "2.0.0"))
		w.acceptAll(acme.owner, acme.uid, inventory.FindingPattern{Scopes: []inventory.PackageScope{inventory.ScopeDevelopment}})
		installed := func(name string, scope inventory.PackageScope) inventory.InstalledPackage {
			return inventory.InstalledPackage{Name: name, Version: "1.0.0", Ecosystem: "npm", Scope: scope}
		}
		w.describe(repo, digest(1), installed("a", inventory.ScopeDevelopment), installed("b", inventory.ScopeRequired), installed("c", ""))
		w.point(repo, "latest", digest(1))
		w.expect("what is there to develop", w.findings(repo, nil), "CVE-1 a@1.0.0 ACCEPTED fixed in 2.0.0; CVE-2 b@1.0.0 OPEN fixed in 2.0.0; CVE-3 c@1.0.0 OPEN fixed in 2.0.0")
		w.expect("a filter", w.findings(repo, &inventory.FindingFilter{Scopes: []inventory.PackageScope{inventory.ScopeRequired, inventory.ScopeOptional}}), "CVE-2 b@1.0.0 OPEN fixed in 2.0.0")
		w.describe(repo, digest(1), installed("a", inventory.ScopeRequired), installed("b", inventory.ScopeDevelopment), installed("c", ""))
		w.expect("it is needed", w.findings(repo, nil), "CVE-1 a@1.0.0 OPEN fixed in 2.0.0; CVE-2 b@1.0.0 ACCEPTED fixed in 2.0.0; CVE-3 c@1.0.0 OPEN fixed in 2.0.0")
		w.describe(repo, digest(1), installed("a", ""), installed("b", ""), installed("c", ""))
		w.expect("it is not known", w.findings(repo, &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingAccepted}}), "")
		w.expectCounters(acme.uid)
	})
}

func TestWhatIsNotKnownMeetsNoPattern(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		listed, last := lastingFrom("CVE-LISTED", "listed", "2.0"), lastingFrom("CVE-LAST", "last", "2.0")
		listed.Affected = &affected.Set{Versions: []string{"1.0.0"}}
		last.Affected.Ranges[0].Events = append(last.Affected.Ranges[0].Events, affected.Event{LastAffected: "1.0.0"})
		unknown := lastingFrom("CVE-UNKNOWN", "unknown", "2.0")
		unknown.Affected = nil
		w.advise(acme.uid, lastingFrom("CVE-LOW", "low", "2.0"), lastingFrom("CVE-UNRATED", "unrated", ""), listed, last, unknown)
		// Of two records about the same vulnerability, one knows no fix and the other one does not know.
		other := lastingFrom("GHSA-HALF", "half", "2.0")
		other.Aliases = []string{"CVE-HALF"}
		half := lastingFrom("CVE-HALF", "half", "2.0")
		half.Affected = &affected.Set{Versions: []string{"1.0.0"}}
		w.advise(acme.uid, half, other)
		w.sbom(repo, digest(1), "low@1.0.0", "unrated@1.0.0", "listed@1.0.0", "last@1.0.0", "unknown@1.0.0", "half@1.0.0")
		w.point(repo, "latest", digest(1))
		w.importExploitations(feeds.EPSS, "2 0 0 0", newLikely("CVE-UNRATED", 0.001), newLikely("CVE-LAST", 0.001))
		w.settle()
		for _, c := range []struct {
			pattern inventory.FindingPattern
			want    string
		}{
			{inventory.FindingPattern{MaxSeverity: core.SeverityCritical}, "CVE-HALF CVE-LAST CVE-LISTED CVE-LOW CVE-UNKNOWN"},
			{inventory.FindingPattern{WithoutFix: true}, "CVE-LOW CVE-UNRATED"},
			{inventory.FindingPattern{EPSSBelow: new(float64(1))}, "CVE-LAST CVE-UNRATED"},
			{inventory.FindingPattern{EPSSBelow: new(float64(1)), MaxSeverity: core.SeverityCritical}, "CVE-LAST"},
		} {
			rule := w.acceptAll(acme.owner, repo, c.pattern)
			w.settle()
			var ids []string
			for _, name := range w.acceptedBy(rule) {
				ids = append(ids, strings.Fields(name)[1])
			}
			w.expect(fmt.Sprintf("%+v", c.pattern), strings.Join(ids, " "), c.want)
			must(t, w.p.Findings.DeletePattern(acme.owner, rule.UID))
		}
	})
}

// A finding leaves a pattern in the transaction in which it changes: no transaction leaves one accepted that does not meet it.
func TestAFindingLeavesAPatternWhenItChanges(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		later := func(a *inventory.Advisory) *inventory.Advisory {
			a.UpdateTime = core.At(epoch.AddDate(1, 0, 0))
			return a
		}
		w.advise(acme.uid, lastingFrom("CVE-1", "a", "2.0"), lastingFrom("CVE-2", "b", "2.0"), lastingFrom("CVE-3", "c", "2.0"), lastingFrom("CVE-4", "d", "2.0"))
		w.importExploitations(feeds.EPSS, "4 0 0 0", newLikely("CVE-1", 0.01), newLikely("CVE-2", 0.01), newLikely("CVE-3", 0.01), newLikely("CVE-4", 0.01))
		rule := w.acceptAll(acme.owner, acme.uid, inventory.FindingPattern{MaxSeverity: core.SeverityLow, WithoutFix: true, EPSSBelow: new(0.1), Labels: []core.LabelCondition{{Key: "env", Value: new("test")}}})
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0", "d@1.0.0")
		w.point(repo, "latest", digest(1))
		state := func(what, want string) {
			t.Helper()
			for done := 1; done > 0; {
				var err error
				done, err = w.p.Findings.Reconcile(w.operator())
				must(t, err)
				page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: acme.uid}, Filter: &inventory.FindingFilter{Decided: true}})
				must(t, err)
				for _, f := range page.Items {
					if f.Severity.Rating != core.SeverityLow || f.IsFixable() || f.KnownExploited || *f.EPSS >= 0.1 {
						t.Errorf("%s: %s is accepted: %+v", what, f.VulnerabilityID, f)
					}
				}
			}
			var ids []string
			for _, name := range w.acceptedBy(rule) {
				ids = append(ids, strings.Fields(name)[1])
			}
			w.expect(what, strings.Join(ids, " "), want)
			w.expectCounters(acme.uid)
		}
		label := func(labels string) {
			t.Helper()
			_, err := w.p.Repos.Update(acme.owner, repo, body[*inventory.Repo](`{"labels": %s}`, labels))
			must(t, err)
		}
		state("a repo without labels", "")
		label(`{"env": "test"}`)
		state("a repo with the label", "CVE-1 CVE-2 CVE-3 CVE-4")
		w.advise(acme.uid, later(lastingFrom("CVE-1", "a", "9.8")))
		state("a severity that rises", "CVE-2 CVE-3 CVE-4")
		fixed := fixedIn("CVE-2", "b", "2.0.0")
		fixed.Severities = lastingFrom("", "", "2.0").Severities
		w.advise(acme.uid, later(fixed))
		state("a fix", "CVE-3 CVE-4")
		w.importExploitations(feeds.KnownExploited, "1 0 0 0", newKnown("CVE-3", 1))
		state("known exploitation", "CVE-4")
		w.importExploitations(feeds.EPSS, "0 1 0 0", newLikely("CVE-4", 0.2))
		state("a probability that rises", "")
		w.importExploitations(feeds.EPSS, "0 1 0 0", newLikely("CVE-4", 0.01))
		state("a probability that falls", "CVE-4")
		w.sbom(repo, digest(2), "d@1.1.0")
		w.point(repo, "new", digest(2))
		state("a later finding", "CVE-4 CVE-4")
		label(`{"env": "live"}`)
		state("a label that changes", "")
		resolved := w.findings(acme.uid, &inventory.FindingFilter{States: []inventory.FindingState{inventory.FindingResolved}})
		w.expect("what a rule has accepted is not fixed", resolved, "")
	})
}

// A decision about a finding counts more than rules, one that names the vulnerability more than a pattern wherever it was made, and
// of patterns that of the closest group.
func TestAPatternDecidesWhereNothingElseHas(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo := w.repo(shop)
		w.advise(acme.uid, lastingFrom("CVE-1", "a", "2.0"), lastingFrom("CVE-2", "b", "2.0"), lastingFrom("CVE-3", "c", "2.0"))
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0")
		w.point(repo, "latest", digest(1))
		all := w.listFindings(acme.uid)
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}, `{"state": "FINDING_STATE_IN_TRIAGE"}`)
		w.triage(acme.owner, inventory.FindingUpdate{Within: acme.uid, Where: vulnerabilities("CVE-2")}, notAffected)
		low := inventory.FindingPattern{MaxSeverity: core.SeverityLow}
		own := w.acceptAll(acme.owner, repo, low)
		decided := func(what, want string) {
			t.Helper()
			var states []string
			for _, f := range w.listFindings(acme.uid) {
				states = append(states, strings.TrimPrefix(string(f.State), "FINDING_STATE_"))
			}
			w.expect(what, strings.Join(states, " "), want)
			w.expectCounters(acme.uid)
		}
		decided("a pattern of the repo", "IN_TRIAGE NOT_AFFECTED ACCEPTED")
		above := w.acceptAll(acme.owner, acme.uid, low)
		if f := w.listFindings(acme.uid)[2]; f.Decision != string(own.UID) {
			t.Errorf("the rule %s counts, and not that of the repo %s", f.Decision, own.UID)
		}
		must(t, w.p.Findings.DeletePattern(acme.owner, own.UID))
		if f := w.listFindings(acme.uid)[2]; f.Decision != string(above.UID) {
			t.Errorf("without the rule of the repo, that of the organization does not count: %s", f.Decision)
		}
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: []core.UID{all[0].UID}}, open)
		decided("a finding that is opened stays open", "OPEN NOT_AFFECTED ACCEPTED")
		w.triage(acme.owner, inventory.FindingUpdate{Within: shop, Where: vulnerabilities("CVE-3")}, open)
		decided("a vulnerability that is opened in a group below", "OPEN NOT_AFFECTED OPEN")
		w.sbom(repo, digest(2), "c@1.1.0")
		w.point(repo, "latest", digest(2))
		w.expect("a later finding of it", w.findings(repo, &inventory.FindingFilter{VulnerabilityIDs: []string{"CVE-3"}}), "CVE-3 c@1.1.0 OPEN")
		other := w.repo(acme.uid)
		w.sbom(other, digest(3), "b@1.0.0", "c@1.1.0")
		w.point(other, "latest", digest(3))
		w.expect("elsewhere", w.findings(other, nil), "CVE-2 b@1.0.0 NOT_AFFECTED; CVE-3 c@1.1.0 ACCEPTED")
		again := w.acceptAll(acme.owner, acme.uid, low)
		w.expect("the same pattern again", string(again.UID), string(above.UID))
		if f := w.listFindings(other)[1]; !f.ExpireTime.Equal(again.ExpireTime.Time) || again.ExpireTime.Equal(above.ExpireTime.Time) {
			t.Errorf("a rule that replaces another one ends at %s, and what it accepts at %s", again.ExpireTime, f.ExpireTime)
		}
		// VEX has no patterns: what one has accepted is told one by one.
		told, err := w.p.Findings.Decisions(core.WithActor(t.Context(), core.NewOperator("export vex")), acme.uid, "")
		must(t, err)
		accepted := 0
		for _, f := range told.Findings {
			accepted += map[bool]int{true: 1}[f.State == inventory.FindingAccepted]
		}
		if accepted != 1 || slices.ContainsFunc(told.Rules, func(r *inventory.TriageRule) bool { return r.Pattern != nil || r.VulnerabilityID == "" }) {
			t.Errorf("a document says of %d findings that they are accepted, and has the rules %+v", accepted, told.Rules)
		}
		log := w.events()
		at := slices.IndexFunc(log, func(e event) bool {
			return e.kind == "vulnerabilities.finding.triaged" && strings.Contains(e.body, "maxSeverity")
		})
		if at < 0 || log[at].subject != repo || log[at].actor.Subject != string(acme.Identity.UID) || !strings.Contains(log[at].body, `"note": "we live with it"`) && !strings.Contains(log[at].body, `"note":"we live with it"`) {
			t.Errorf("the audit log does not have the rule: %d", at)
		}
	})
}

// No rule of a group touches another one, and nobody makes, deletes or counts what they may not.
func TestAPatternStaysInItsGroup(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		shop, bank := w.group(acme.uid), w.group(acme.uid)
		repos := map[core.UID]core.UID{}
		for n, group := range []core.UID{shop, bank, other.uid} {
			repos[group] = w.repo(group)
			w.sbom(repos[group], digest(n+1), "a@1.0.0")
			w.point(repos[group], "latest", digest(n+1))
		}
		w.advise("", lastingFrom("CVE-1", "a", "2.0"))
		low := inventory.FindingPattern{MaxSeverity: core.SeverityLow}
		rule := w.acceptAll(acme.owner, shop, low)
		check := func(what string) {
			t.Helper()
			for group, want := range map[core.UID]string{shop: "ACCEPTED", bank: "OPEN", other.uid: "OPEN"} {
				w.expect(what, w.findings(group, nil), "CVE-1 a@1.0.0 "+want)
			}
			w.expectCounters(acme.uid)
		}
		check("a pattern of a group")
		// A decision about findings of both groups reads the rules of both.
		all := w.listFindings(acme.uid)
		both := inventory.FindingUpdate{UIDs: []core.UID{all[0].UID, all[1].UID}}
		w.triage(acme.owner, both, notAffected)
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: both.UIDs}, open)
		for _, f := range w.listFindings(acme.uid) {
			if f.State != inventory.FindingOpen {
				t.Errorf("a finding of %s is %s", f.Repo, f.State)
			}
		}
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: both.UIDs}, fmt.Sprintf(`{"state": "FINDING_STATE_ACCEPTED", "note": "we live with it", "expireTime": %q}`, rule.ExpireTime.Format(time.RFC3339Nano)))
		for _, f := range w.listFindings(acme.uid) {
			if isOfRule := f.Decision == string(rule.UID); isOfRule != f.Repo.Within(shop) {
				t.Errorf("the decision about a finding of %s is %s", f.Repo, f.Decision)
			}
		}
		editor := func(home core.UID) context.Context {
			return w.memberWith(w.role(acme.uid, core.CapFindingsUpdate, core.CapFindingsList, core.CapTagList), home, acme.uid)
		}
		reader := w.memberWith(w.role(acme.uid, core.CapFindingsList, core.CapTagList), acme.uid, acme.uid)
		for what, c := range map[string]struct {
			ctx     context.Context
			within  core.UID
			pattern inventory.FindingPattern
			code    core.Code
		}{
			"another organization": {other.owner, shop, low, core.CodePermissionDenied}, "the group beside it": {editor(bank), shop, low, core.CodePermissionDenied},
			"the group above": {editor(shop), acme.uid, low, core.CodePermissionDenied}, "a reader": {reader, shop, low, core.CodePermissionDenied},
			"labels of repos that cannot be listed": {editor(shop), shop, inventory.FindingPattern{Labels: []core.LabelCondition{{Key: "env"}}}, core.CodePermissionDenied},
			"a group that is not there":             {acme.owner, missingBelow(acme.uid), low, core.CodeNotFound},
		} {
			_, err := w.p.Findings.AcceptByPattern(c.ctx, inventory.TriageRule{Scope: c.within, Pattern: &c.pattern, Note: "x", ExpireTime: rule.ExpireTime})
			expectRefused(t, "a rule by "+what, err, c.code)
			_, err = w.p.Findings.ListAcceptable(c.ctx, c.within, &c.pattern, core.ListRequest[*inventory.FindingFilter]{})
			expectRefused(t, "a preview by "+what, err, c.code)
		}
		for what, ctx := range map[string]context.Context{"another organization": other.owner, "the group beside it": editor(bank), "a reader": reader} {
			expectRefused(t, "a deletion by "+what, w.p.Findings.DeletePattern(ctx, rule.UID), core.CodePermissionDenied)
		}
		expectRefused(t, "a rule that is not there", w.p.Findings.DeletePattern(acme.owner, missingBelow(shop)), core.CodeNotFound)
		_, err := w.p.Findings.Patterns(editor(bank), shop)
		expectRefused(t, "rules of the group beside it", err, core.CodePermissionDenied)
		// Who sees a part of what a rule accepts counts that part.
		must(t, w.p.Findings.DeletePattern(acme.owner, rule.UID))
		whole := w.acceptAll(acme.owner, acme.uid, inventory.FindingPattern{WithoutFix: true})
		w.triage(acme.owner, inventory.FindingUpdate{UIDs: both.UIDs}, fmt.Sprintf(`{"state": "FINDING_STATE_ACCEPTED", "note": "we live with it", "expireTime": %q}`, whole.ExpireTime.Format(time.RFC3339Nano)))
		w.settle()
		for home, want := range map[core.UID]int64{shop: 1, bank: 1} {
			rules, err := w.p.Findings.Patterns(editor(home), repos[home])
			must(t, err)
			counts, err := w.p.Findings.CountAccepted(editor(home), rules)
			must(t, err)
			if len(rules) != 1 || rules[0].UID != whole.UID || counts[0] != want {
				t.Errorf("%s has the rules %+v, which accept %d", home, rules, counts)
			}
		}
		w.expect("the other organization", w.findings(other.uid, nil), "CVE-1 a@1.0.0 OPEN")
		if rules, err := w.p.Findings.Patterns(other.owner, other.uid); err != nil || len(rules) != 0 {
			t.Errorf("another organization has the rules %+v: %v", rules, err)
		}
	})
}

func TestPatternsThatAreRefused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		many := make([]string, 101)
		for i := range many {
			many[i] = fmt.Sprint("p", i)
		}
		for fields, p := range map[string]inventory.FindingPattern{
			"where": {IncludeKnownExploited: true}, "maxSeverity": {MaxSeverity: core.SeverityUnknown}, "epssBelow": {EPSSBelow: new(float64)},
			"packages": {Packages: many}, "ecosystems": {Ecosystems: []string{""}}, "labels": {Labels: []core.LabelCondition{{Key: "a b"}}},
		} {
			rule := inventory.TriageRule{Scope: acme.uid, Pattern: &p, Note: "x", ExpireTime: core.At(w.now().Add(time.Hour))}
			_, err := w.p.Findings.AcceptByPattern(acme.owner, rule)
			w.expect(fmt.Sprintf("a rule with %+v", p), strings.TrimPrefix(violationFields(err), "where."), fields)
			_, err = w.p.Findings.ListAcceptable(acme.owner, acme.uid, &p, core.ListRequest[*inventory.FindingFilter]{})
			w.expect(fmt.Sprintf("a preview of %+v", p), violationFields(err), fields)
		}
		low := &inventory.FindingPattern{MaxSeverity: core.SeverityLow}
		for fields, r := range map[string]inventory.TriageRule{
			"where": {Scope: acme.uid, Pattern: &inventory.FindingPattern{Packages: []string{}}, Note: "x", ExpireTime: core.At(w.now().Add(time.Hour))}, "within": {Scope: "x", Pattern: low, Note: "x", ExpireTime: core.At(w.now().Add(time.Hour))},
			"note": {Scope: acme.uid, Pattern: low, Note: " ", ExpireTime: core.At(w.now().Add(time.Hour))}, "expireTime": {Scope: acme.uid, Pattern: low, Note: "x"},
			"note expireTime": {Scope: acme.uid, Pattern: low, Note: strings.Repeat("x", 9000), ExpireTime: core.At(w.now())},
		} {
			_, err := w.p.Findings.AcceptByPattern(acme.owner, r)
			w.expect("a rule", violationFields(err), fields)
		}
		w.expect("a uid", violationFields(w.p.Findings.DeletePattern(acme.owner, "x")), "uid")
		for n := range 50 {
			w.acceptAll(acme.owner, acme.uid, inventory.FindingPattern{Packages: []string{fmt.Sprint("p", n)}})
		}
		w.acceptAll(acme.owner, acme.uid, inventory.FindingPattern{Packages: []string{"p7"}})
		_, err := w.p.Findings.AcceptByPattern(acme.owner, inventory.TriageRule{Scope: acme.uid, Pattern: low, Note: "x", ExpireTime: core.At(w.now().Add(time.Hour))})
		w.expect("one rule too many", violationFields(err), "within")
	})
}

// What a pattern has accepted is open again to the millisecond.
func TestAPatternEndsWhenItSays(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		w := &world{TB: t, store: storetest.Open(t, storetest.SQLite(t))}
		p, err := platform.New(t.Context(), sharedClock{w.store, time.Now}, platform.Options{AllowIssuers: true, Clock: time.Now})
		must(t, err)
		w.p = p
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, lastingFrom("CVE-1", "a", "2.0"), lastingFrom("CVE-2", "b", "2.0"))
		w.settle()
		end := time.Now().Add(10*time.Minute + 50*time.Millisecond)
		_, err = p.Findings.AcceptByPattern(acme.owner, inventory.TriageRule{Scope: acme.uid, Pattern: &inventory.FindingPattern{MaxSeverity: core.SeverityLow}, Note: "x", ExpireTime: core.At(end)})
		must(t, err)
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { p.Findings.Follow(ctx) })
		for _, step := range []struct {
			at   time.Time
			open int64
		}{{time.Now().Add(time.Minute), 0}, {end.Add(-time.Millisecond), 0}, {end, 2}} {
			time.Sleep(time.Until(step.at))
			synctest.Wait()
			summary, err := p.Findings.Summarize(acme.owner, acme.uid)
			must(t, err)
			if summary.Open.Total != step.open {
				t.Errorf("at %s %d findings are open, want %d", step.at, summary.Open.Total, step.open)
			}
		}
		if rules, err := p.Findings.Patterns(acme.owner, acme.uid); err != nil || len(rules) != 0 {
			t.Errorf("the rules that have ended are listed: %+v %v", rules, err)
		}
		stop()
		running.Wait()
	})
}
