package platform_test

import (
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/inventory"
)

// where lists the vulnerabilities, and where of them, of the findings that a filter selects.
func (w *world) where(within core.UID, f *inventory.FindingFilter) string {
	w.Helper()
	page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: within}, Filter: f, PageSize: 200})
	must(w, err)
	var all []string
	for _, x := range page.Items {
		all = append(all, x.VulnerabilityID+" "+x.Digest[len(x.Digest)-1:])
	}
	slices.Sort(all)
	return strings.Join(all, ", ")
}

// Whether a package is a direct dependency follows from the documents of the image, whichever comes first: they or the advisory.
func TestFindingsOfDirectDependencies(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		placed := func(name string, direct *bool) inventory.InstalledPackage {
			return inventory.InstalledPackage{Name: name, Version: "1.0.0", Ecosystem: "npm", Placement: inventory.Placement{Direct: direct}}
		}
		built := placed("libd", new(true))
		built.SourceName, built.SourceVersion = "d", "1.0.0"
		w.advise(acme.uid, fixedIn("CVE-1", "a", "2.0.0"))
		w.describe(repo, digest(1), placed("a", new(true)), placed("b", new(false)), placed("c", nil), built)
		w.point(repo, "latest", digest(1))
		w.settle()
		w.advise(acme.uid, fixedIn("CVE-2", "b", "2.0.0"), fixedIn("CVE-3", "c", "2.0.0"), fixedIn("CVE-4", "d", "2.0.0"))
		w.settle()
		w.expect("direct", w.where(repo, &inventory.FindingFilter{Direct: new(true)}), "CVE-1 1, CVE-4 1")
		w.expect("through others", w.where(repo, &inventory.FindingFilter{Direct: new(false)}), "CVE-2 1")
		w.describe(repo, digest(1), placed("a", nil), placed("b", new(true)), placed("c", new(false)), built)
		w.settle()
		w.expect("another document", w.where(repo, &inventory.FindingFilter{Direct: new(true)}), "CVE-2 1, CVE-4 1")
		w.expect("through others", w.where(repo, &inventory.FindingFilter{Direct: new(false)}), "CVE-3 1")
		wrong, err := w.p.Findings.Review(w.operator())
		if err != nil || wrong != 0 {
			t.Errorf("%d findings are not as they must be: %v", wrong, err)
		}
	})
}

// A push brings what no image of the repo with a live tag had before; a feed brings nothing.
func TestFindingsThatAPushBrings(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, other := w.repo(acme.uid), w.repo(acme.uid)
		brought := &inventory.FindingFilter{NewInRepo: new(true)}
		w.advise(acme.uid, fixedIn("CVE-1", "a", "3.0.0"), fixedIn("CVE-2", "b", "3.0.0"), fixedIn("CVE-3", "c", "3.0.0"))
		w.sbom(repo, digest(1), "a@1.0.0")
		w.point(repo, "v1", digest(1))
		w.sbom(other, digest(5), "b@1.0.0")
		w.point(other, "v1", digest(5))
		w.settle()
		w.expect("the first images", w.where(acme.uid, brought), "CVE-1 1, CVE-2 5")
		w.sbom(repo, digest(2), "a@2.0.0", "b@1.0.0")
		w.point(repo, "latest", digest(2))
		w.settle()
		w.expect("another version of one is not new, and what another repo has is", w.where(repo, brought), "CVE-1 1, CVE-2 2")
		w.sbom(repo, digest(3), "a@2.0.0", "b@2.0.0", "c@1.0.0")
		w.point(repo, "latest", digest(3))
		w.settle()
		w.expect("the tag moves, and the image before had it", w.where(repo, brought), "CVE-1 1, CVE-3 3")
		w.advise(acme.uid, fixedIn("CVE-4", "a", "3.0.0"))
		w.settle()
		w.expect("an advisory brings nothing", w.where(repo, brought), "CVE-1 1, CVE-3 3")
		_, err := w.p.Repos.Update(acme.owner, repo, body[*inventory.Repo](`{"labels": {"env": "test"}}`))
		must(t, err)
		w.advise(acme.uid, fixedIn("CVE-5", "a", "3.0.0"))
		w.settle()
		w.expect("nor does one while the images are looked at", w.where(repo, brought), "CVE-1 1, CVE-3 3")
		w.expect("it is there", w.where(repo, &inventory.FindingFilter{VulnerabilityIDs: []string{"CVE-4"}}), "CVE-4 1, CVE-4 3")
		wrong, err := w.p.Findings.Review(w.operator())
		if err != nil || wrong != 0 {
			t.Errorf("%d findings are not as they must be: %v", wrong, err)
		}
	})
}
