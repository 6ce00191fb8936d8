package platform_test

import (
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// A search of an organization has a plan of its own. It finds what a search of the only repo finds.
func TestASearchOfAnOrganizationFindsWhatOneOfItsRepoFinds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(w.group(acme.uid))
		w.sbom(repo, digest(1), "left-pad@1.0.0", "pad-right@1.0.0", "express@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-2026-1", "left-pad", "2.0.0"), fixedIn("CVE-2026-2", "pad-right", "2.0.0"), fixedIn("CVE-2026-3", "express", "2.0.0"), fixedIn("GHSA-PAD", "express", "2.0.0"))
		w.triage(acme.owner, inventory.FindingUpdate{Within: repo, Where: vulnerabilities("CVE-2026-2")}, accepted)
		const left, right, express, pad = "CVE-2026-1 left-pad@1.0.0 OPEN fixed in 2.0.0", "CVE-2026-2 pad-right@1.0.0 ACCEPTED fixed in 2.0.0", "CVE-2026-3 express@1.0.0 OPEN fixed in 2.0.0", "GHSA-PAD express@1.0.0 OPEN fixed in 2.0.0"
		open := []inventory.FindingState{inventory.FindingOpen, inventory.FindingInTriage}
		for _, c := range []struct {
			what   string
			filter inventory.FindingFilter
			want   string
		}{
			{"a package or a vulnerability", inventory.FindingFilter{Query: "pad"}, left + "; " + right + "; " + pad},
			{"two words, in any case", inventory.FindingFilter{Query: "cve PAD"}, left + "; " + right},
			{"a word of both columns", inventory.FindingFilter{Query: "1 left"}, left},
			{"nothing", inventory.FindingFilter{Query: "1%left"}, ""},
			{"open ones", inventory.FindingFilter{Query: "cve", States: open}, left + "; " + express},
			{"those with a fix", inventory.FindingFilter{Query: "express", States: open, Fixable: new(true), KnownExploited: new(false)}, express + "; " + pad},
			{"those without a fix", inventory.FindingFilter{Query: "express", Fixable: new(false)}, ""},
			{"a rating that none has", inventory.FindingFilter{Query: "express", Severities: []core.SeverityRating{core.SeverityLow}}, ""},
			{"images without a tag, too", inventory.FindingFilter{Query: "left", WithoutLiveTags: true}, left},
			{"resolved ones", inventory.FindingFilter{Query: "left", States: []inventory.FindingState{inventory.FindingResolved}}, ""},
		} {
			w.expect(c.what, w.findings(acme.uid, &c.filter), c.want)
			w.expect(c.what+" in the repo", w.findings(repo, &c.filter), c.want)
		}
	})
}
