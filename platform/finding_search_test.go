package platform_test

import (
	"testing"

	"atrium/platform"
)

// A search of an organisation has a plan of its own. It finds what a search of the only repo finds.
func TestASearchOfAnOrganisationFindsWhatOneOfItsRepoFinds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(w.group(acme.uid))
		w.sbom(repo, digest(1), "left-pad@1.0.0", "pad-right@1.0.0", "express@1.0.0")
		w.point(repo, "latest", digest(1))
		w.advise(acme.uid, fixedIn("CVE-2026-1", "left-pad", "2.0.0"), fixedIn("CVE-2026-2", "pad-right", "2.0.0"), fixedIn("CVE-2026-3", "express", "2.0.0"), fixedIn("GHSA-PAD", "express", "2.0.0"))
		w.triage(acme.owner, platform.FindingUpdate{Within: repo, Where: vulnerabilities("CVE-2026-2")}, accepted)
		const left, right, express, pad = "CVE-2026-1 left-pad@1.0.0 OPEN fixed in 2.0.0", "CVE-2026-2 pad-right@1.0.0 ACCEPTED fixed in 2.0.0", "CVE-2026-3 express@1.0.0 OPEN fixed in 2.0.0", "GHSA-PAD express@1.0.0 OPEN fixed in 2.0.0"
		open := []platform.FindingState{platform.FindingOpen, platform.FindingInTriage}
		for _, c := range []struct {
			what   string
			filter platform.FindingFilter
			want   string
		}{
			{"a package or a vulnerability", platform.FindingFilter{Query: "pad"}, left + "; " + right + "; " + pad},
			{"two words, in any case", platform.FindingFilter{Query: "cve PAD"}, left + "; " + right},
			{"a word of both columns", platform.FindingFilter{Query: "1 left"}, left},
			{"nothing", platform.FindingFilter{Query: "1%left"}, ""},
			{"open ones", platform.FindingFilter{Query: "cve", States: open}, left + "; " + express},
			{"those with a fix", platform.FindingFilter{Query: "express", States: open, Fixable: new(true), KnownExploited: new(false)}, express + "; " + pad},
			{"those without a fix", platform.FindingFilter{Query: "express", Fixable: new(false)}, ""},
			{"a rating that none has", platform.FindingFilter{Query: "express", Severities: []platform.SeverityRating{platform.SeverityLow}}, ""},
			{"images without a tag, too", platform.FindingFilter{Query: "left", WithoutLiveTags: true}, left},
			{"resolved ones", platform.FindingFilter{Query: "left", States: []platform.FindingState{platform.FindingResolved}}, ""},
		} {
			w.expect(c.what, w.findings(acme.uid, &c.filter), c.want)
			w.expect(c.what+" in the repo", w.findings(repo, &c.filter), c.want)
		}
	})
}
