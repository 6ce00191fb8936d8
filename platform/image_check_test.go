package platform_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/feeds"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// rateAdvisory returns an advisory with a score.
func rateAdvisory(score string, a *inventory.Advisory) *inventory.Advisory {
	a.Severities = []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: score}}
	if score == "" {
		a.Severities = nil
	}
	return a
}

const (
	badVector  = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:N/A:N"
	mildVector = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:L/I:N/A:N"
)

// verdictOf describes what came of a check: the verdict, what is open, what fails, and the upgrades.
func verdictOf(c *reports.ImageCheck, err error) string {
	if err != nil {
		if code := core.AsError(err).Code; code != core.CodeInvalidArgument {
			return code.String()
		}
		return "INVALID_ARGUMENT " + violationFields(err)
	}
	text := strings.TrimPrefix(string(c.Verdict), "CHECK_VERDICT_")
	if c.Verdict == reports.CheckNotKnown {
		return text + ": " + c.Reason
	}
	text += fmt.Sprintf(" %d of %d open", c.Failing.Total, c.Open.Total)
	if c.Accepted+c.NotAffected > 0 {
		text += fmt.Sprintf(", %d accepted, %d not affected", c.Accepted, c.NotAffected)
	}
	for _, f := range c.Findings {
		text += " " + f.VulnerabilityID
	}
	for _, u := range c.Upgrades {
		text += fmt.Sprintf("; %s %s to %s for %d", u.Package, u.From, u.To, u.Findings)
	}
	return text
}

func (w *world) check(ctx context.Context, image string, policy reports.CheckPolicy) string {
	w.Helper()
	return verdictOf(w.p.ImageChecks.Check(ctx, reports.CheckRequest{Image: image, CheckPolicy: policy}))
}

// checkSBOM checks an SBOM in a group, and compares all tables with what they held before.
func (w *world) checkSBOM(ctx context.Context, req reports.CheckRequest, packages ...string) string {
	w.Helper()
	before := w.allRows()
	defer func() {
		w.Helper()
		w.expect("what is stored after a check", w.allRows(), before)
	}()
	accepted, err := w.p.ImageChecks.AcceptSBOM(ctx, req)
	if err != nil {
		return verdictOf(nil, err)
	}
	given := &reports.CheckedSBOM{}
	for _, p := range packages {
		name, version, _ := strings.Cut(p, "@")
		given.Packages = append(given.Packages, inventory.InstalledPackage{Name: name, Version: version, Ecosystem: "npm", PURL: "pkg:npm/" + p})
	}
	return verdictOf(accepted.Run(ctx, given))
}

// allRows counts the rows of what an import of an SBOM writes.
func (w *world) allRows() (text string) {
	w.Helper()
	for _, table := range []string{"repo", "tag", "image", "sbom", "component", "package", "package_version", "package_use", "image_status", "finding", "finding_task", "triage_rule", "event"} {
		text += fmt.Sprintf("%s %d\n", table, w.count(table))
	}
	return text
}

func TestAnImagePassesAPolicyOrNot(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.namedRepo(acme.uid, "checkout")
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0", "c@1.0.0")
		w.point(repo, "1", digest(1))
		unfixed := rateAdvisory("", fixedIn("CVE-4", "c", ""))
		unfixed.Affected.Ranges[0].Events = unfixed.Affected.Ranges[0].Events[:1]
		w.advise(acme.uid, fixedIn("CVE-1", "a", "1.1.0"), rateAdvisory(badVector, fixedIn("CVE-2", "a", "1.10.0")), rateAdvisory(mildVector, fixedIn("CVE-3", "b", "2.0.0")), unfixed)
		w.importExploitations(feeds.KnownExploited, "1 0 0 0", newKnown("CVE-3", 0))
		w.settle()
		for _, x := range []struct {
			name   string
			policy reports.CheckPolicy
			want   string
		}{
			{"no condition", reports.CheckPolicy{}, "FAILED 4 of 4 open CVE-1 CVE-2 CVE-3 CVE-4; a 1.0.0 to 1.10.0 for 2; b 1.0.0 to 2.0.0 for 1"},
			{"a threshold", reports.CheckPolicy{FailOn: core.SeverityHigh}, "FAILED 2 of 4 open CVE-1 CVE-2; a 1.0.0 to 1.10.0 for 2"},
			{"the worst", reports.CheckPolicy{FailOn: core.SeverityCritical}, "FAILED 1 of 4 open CVE-1; a 1.0.0 to 1.1.0 for 1"},
			{"fixable ones", reports.CheckPolicy{FixableOnly: true}, "FAILED 3 of 4 open CVE-1 CVE-2 CVE-3; a 1.0.0 to 1.10.0 for 2; b 1.0.0 to 2.0.0 for 1"},
			{"exploited ones", reports.CheckPolicy{KnownExploitedOnly: true}, "FAILED 1 of 4 open CVE-3; b 1.0.0 to 2.0.0 for 1"},
			{"both", reports.CheckPolicy{KnownExploitedOnly: true, FailOn: core.SeverityHigh}, "PASSED 0 of 4 open"},
			{"no severity", reports.CheckPolicy{FailOn: "SEVERITY_RATING_ODD"}, "INVALID_ARGUMENT failOn"},
			{"an empty tag", reports.CheckPolicy{NewSince: new(string)}, "INVALID_ARGUMENT newSince"},
			{"a tag that is not there", reports.CheckPolicy{NewSince: new("none")}, "NOT_FOUND"},
		} {
			w.expect(x.name, w.check(acme.owner, "acme/checkout:1", x.policy), x.want)
		}
		w.triage(acme.owner, inventory.FindingUpdate{Within: repo, Where: vulnerabilities("CVE-1")}, `{"state": "FINDING_STATE_ACCEPTED", "note": "n"}`)
		w.triage(acme.owner, inventory.FindingUpdate{Within: acme.uid, Where: vulnerabilities("CVE-2")}, `{"state": "FINDING_STATE_NOT_AFFECTED", "justification": "component_not_present"}`)
		w.settle()
		w.expect("decided ones", w.check(acme.owner, "acme/checkout:1", reports.CheckPolicy{FailOn: core.SeverityHigh}), "PASSED 0 of 2 open, 1 accepted, 1 not affected")
		w.sbom(repo, digest(1), "a@1.0.0", "a@0.9.0")
		w.expect("before the findings of new packages are there", w.check(acme.owner, "acme/checkout:1", reports.CheckPolicy{}), "PASSED 0 of 0 open, 2 accepted, 2 not affected")
	})
}

// What is not known is never shown as good.
func TestAnImageThatIsNotKnownNeverPasses(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.namedRepo(acme.uid, "checkout")
		at := func(n int) string { return "acme/checkout@" + digest(n) }
		w.advise(acme.uid, fixedIn("CVE-1", "a", "1.1.0"))
		w.point(repo, "bare", digest(1))
		w.sbom(repo, digest(2))
		w.point(repo, "empty", digest(2))
		w.sbom(repo, digest(3), "a@1.0.0")
		w.settle()
		none := reports.CheckPolicy{}
		w.expect("no SBOM", w.check(acme.owner, "acme/checkout:bare", none), "NOT_KNOWN: the image has no SBOM")
		w.expect("a digest that nothing has", w.check(acme.owner, at(9), none), "NOT_KNOWN: the image has no SBOM")
		w.expect("an SBOM without packages", w.check(acme.owner, "acme/checkout:empty", none), "NOT_KNOWN: the SBOM of the image has no packages")
		w.expect("an image without a tag", w.check(acme.owner, at(3), none), "FAILED 1 of 1 open CVE-1; a 1.0.0 to 1.1.0 for 1")
		w.expect("since an image that is not known", w.check(acme.owner, at(3), reports.CheckPolicy{NewSince: new("bare")}), "NOT_KNOWN: the image of the tag in newSince has no usable SBOM: the image has no SBOM")
		w.expect("a tag that is not there", w.check(acme.owner, "acme/checkout:none", none), "NOT_FOUND")
		w.expect("an SBOM without packages that is given", w.checkSBOM(acme.owner, reports.CheckRequest{Group: &acme.uid}), "NOT_KNOWN: the SBOM of the image has no packages")
		accepted, err := w.p.ImageChecks.AcceptSBOM(acme.owner, reports.CheckRequest{Group: &acme.uid})
		must(t, err)
		foreign := &reports.CheckedSBOM{Packages: []inventory.InstalledPackage{{Name: "busybox", Version: "1.36.1"}}}
		w.expect("packages of no ecosystem", verdictOf(accepted.Run(acme.owner, foreign)), "NOT_KNOWN: no advisory covers the ecosystems of its packages")
		// A tag that is deprecated ends the findings, and not the risk.
		w.point(repo, "3", digest(3))
		w.settle()
		w.expect("with a tag", w.check(acme.owner, at(3), none), "FAILED 1 of 1 open CVE-1; a 1.0.0 to 1.1.0 for 1")
	})
}

func TestACheckTellsWhatABuildBrings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.namedRepo(acme.uid, "checkout")
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"), fixedIn("CVE-2", "b", "2.0.0"))
		w.sbom(repo, digest(1), "a@1.0.0")
		w.point(repo, "main", digest(1))
		w.settle()
		w.pass(time.Hour)
		release := w.now().Format(time.RFC3339)
		w.pass(time.Hour)
		w.advise(acme.uid, fixedIn("CVE-3", "a", "2.0.0")) // which no build brings
		w.settle()
		w.sbom(repo, digest(2), "a@1.1.0", "b@1.0.0")
		w.point(repo, "next", digest(2))
		w.settle()
		for _, since := range []string{"main", release} {
			w.expect("since "+since, w.check(acme.owner, "acme/checkout:next", reports.CheckPolicy{NewSince: &since}), "FAILED 1 of 3 open CVE-2; b 1.0.0 to 2.0.0 for 1")
			w.expect("the SBOM since "+since, w.checkSBOM(acme.owner, reports.CheckRequest{Image: "acme/checkout", CheckPolicy: reports.CheckPolicy{NewSince: &since}}, "a@1.1.0", "c@1.0.0"), "PASSED 0 of 2 open")
		}
		later := w.now().Add(time.Hour).Format(time.RFC3339)
		w.expect("since later", w.check(acme.owner, "acme/checkout:next", reports.CheckPolicy{NewSince: &later}), "PASSED 0 of 3 open")
	})
}

// An SBOM that is given is decided about as the image is that has it, and nothing of it stays.
func TestAnSBOMIsCheckedAndNotStored(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop := w.group(acme.uid)
		repo := w.namedRepo(shop, "checkout")
		w.advise(acme.uid, fixedIn("CVE-1", "a", "1.1.0"), fixedIn("CVE-2", "b", "1.1.0"), fixedIn("CVE-3", "c", "1.1.0"))
		w.sbom(repo, digest(1), "a@1.0.0", "b@1.0.0")
		w.point(repo, "1", digest(1))
		w.settle()
		w.triage(acme.owner, inventory.FindingUpdate{Within: repo, Where: vulnerabilities("CVE-1")}, `{"state": "FINDING_STATE_ACCEPTED", "note": "n"}`)
		w.settle()
		held := []string{"a@1.0.0", "b@1.0.0", "z@1.0.0"}
		group := func(image string) reports.CheckRequest { return reports.CheckRequest{Group: &shop, Image: image} }
		w.expect("in a group", w.checkSBOM(acme.owner, group(""), held...), "FAILED 2 of 2 open CVE-1 CVE-2; a 1.0.0 to 1.1.0 for 1; b 1.0.0 to 1.1.0 for 1")
		w.expect("of a repo that is not there", w.checkSBOM(acme.owner, group("new:1"), held...), "FAILED 2 of 2 open CVE-1 CVE-2; a 1.0.0 to 1.1.0 for 1; b 1.0.0 to 1.1.0 for 1")
		w.expect("of a repo with decisions", w.checkSBOM(acme.owner, group("checkout"), held...), "FAILED 1 of 1 open, 1 accepted, 0 not affected CVE-2; b 1.0.0 to 1.1.0 for 1")
		w.expect("by path and digest", w.checkSBOM(acme.owner, reports.CheckRequest{Image: string(repo) + "@" + digest(1)}, held...), "FAILED 1 of 1 open, 1 accepted, 0 not affected CVE-2; b 1.0.0 to 1.1.0 for 1")
		w.expect("what has none", w.checkSBOM(acme.owner, group("checkout"), "z@1.0.0"), "PASSED 0 of 0 open")
		w.expect("neither group nor image", w.checkSBOM(acme.owner, reports.CheckRequest{}), "INVALID_ARGUMENT group")
		w.expect("a path that is not there", w.checkSBOM(acme.owner, reports.CheckRequest{Image: "acme/none"}), "NOT_FOUND")
		w.expect("a group that is not there", w.checkSBOM(w.operator(), reports.CheckRequest{Group: new(acme.uid + "/0123456789abcdef")}), "NOT_FOUND")
		w.expect("what is new in no repo", w.checkSBOM(acme.owner, reports.CheckRequest{Group: &shop, CheckPolicy: reports.CheckPolicy{NewSince: new("1")}}), "INVALID_ARGUMENT image")
	})
}

// A check needs what the findings of a repo need, and says nothing to others.
func TestACheckNeedsTheRightsOfFindings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		repo := w.namedRepo(acme.uid, "checkout")
		w.sbom(repo, digest(1), "a@1.0.0")
		w.point(repo, "1", digest(1))
		w.settle()
		byUID, byPath := string(repo)+":1", "acme/checkout:1"
		with := func(capabilities ...core.Capability) context.Context {
			return w.memberWith(w.role(acme.uid, capabilities...), acme.uid, acme.uid)
		}
		some, all := with(core.CapFindingsList), with(core.CapFindingsList, core.CapTagList)
		viewer := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		none := reports.CheckPolicy{}
		for _, x := range []struct {
			who   string
			ctx   context.Context
			image string
			want  string
		}{
			{"one of the capabilities", some, byUID, "PERMISSION_DENIED"}, {"both", all, byUID, "PASSED 0 of 0 open"}, {"both, by path", all, byPath, "PERMISSION_DENIED"},
			{"a viewer", viewer, byPath, "PASSED 0 of 0 open"}, {"somebody else", other.owner, byUID, "PERMISSION_DENIED"}, {"somebody else, by path", other.owner, byPath, "NOT_FOUND"},
		} {
			w.expect(x.who, w.check(x.ctx, x.image, none), x.want)
		}
		w.expect("an SBOM of somebody else", w.checkSBOM(other.owner, reports.CheckRequest{Group: &acme.uid}, "a@1.0.0"), "PERMISSION_DENIED")
		w.expect("an SBOM of a viewer", w.checkSBOM(viewer, reports.CheckRequest{Group: &acme.uid}, "a@1.0.0"), "PASSED 0 of 0 open")
	})
}
