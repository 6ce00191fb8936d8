package platform_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// libssl returns a binary package of Debian 12, as a document describes it.
func libssl(source string, licenses ...string) inventory.InstalledPackage {
	p := inventory.InstalledPackage{
		Name: "libssl3", Version: "3.0.9-1+b1", Ecosystem: "Debian:12", SourceName: source, Licenses: licenses,
		PURL: "pkg:deb/debian/libssl3@3.0.9-1%2Bb1?distro=debian-12",
	}
	if source != "" {
		p.SourceVersion, p.PURL = "3.0.9-1", p.PURL+"&upstream="+source
	}
	return p
}

// describe imports an SBOM of an image.
func (w *world) describe(repo core.UID, digest string, packages ...inventory.InstalledPackage) {
	w.Helper()
	done, err := w.p.Images.ImportSBOMs(w.operator(), []*inventory.ImportedSBOM{{Repo: repo, Digest: digest, Format: "CycloneDX 1.7", Packages: packages}})
	must(w, err)
	for _, err := range done.Rejected {
		must(w, err)
	}
}

// fixedInRelease returns an advisory about a package of a distribution before the fix.
func fixedInRelease(id, ecosystem, name, version string) *inventory.Advisory {
	return &inventory.Advisory{
		AdvisoryID: id, ArtifactName: name, ArtifactType: ecosystem, Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "9.8"}},
		Affected: &affected.Set{Ranges: []affected.Range{{Type: "ECOSYSTEM", Events: []affected.Event{{Introduced: "0"}, {Fixed: version}}}}},
	}
}

// A team that says that libssl3 comes from nothing, or that it is free of a licence, would blind the others.
func TestNoDocumentChangesWhatIsSaidOfAnImage(t *testing.T) {
	said := []inventory.InstalledPackage{libssl(""), libssl("nothing", "MIT"), libssl("openssl", "Apache-2.0"), libssl("openssl", "GPL-3.0-only")}
	want := []struct{ findings, licenses string }{
		{"", ""}, {"", "MIT"}, {"CVE-1 openssl@3.0.9-1 OPEN fixed in 3.0.11-1", "Apache-2.0"}, {"CVE-1 openssl@3.0.9-1 OPEN fixed in 3.0.11-1", "GPL-3.0-only"},
	}
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.advise(acme.uid, fixedInRelease("CVE-1", "Debian:12", "openssl", "3.0.11-1"))
		groups := make([]core.UID, len(said))
		for round := range 3 {
			for _, i := range rand.Perm(len(said)) {
				if groups[i] == "" {
					groups[i] = w.group(acme.uid)
				}
				repo := w.repo(groups[i])
				w.describe(repo, digest(i), said[i])
				w.point(repo, "latest", digest(i))
				if round == 1 {
					w.advise(acme.uid, fixedInRelease(fmt.Sprint("CVE-2", i), "Debian:12", "zlib", "1"))
				}
			}
		}
		for i, group := range groups {
			for _, f := range strings.Split(w.findings(group, nil), "; ") {
				w.expect(fmt.Sprint("findings of document ", i), f, want[i].findings)
			}
			held, err := w.p.Packages.ListHeld(w.operator(), group, core.ListRequest[*inventory.PackageFilter]{Filter: &inventory.PackageFilter{Names: []string{"libssl3"}}})
			must(t, err)
			pages, errs := w.p.PackageVersions.ListOfPackages(w.operator(), core.ListRequest[*inventory.PackageVersionFilter]{}, held.Items)
			must(t, errs[0])
			licenses, err := w.p.PackageVersions.Licenses(w.operator(), pages[0].Items)
			must(t, err)
			w.expect(fmt.Sprint("licences of document ", i), strings.Join(licenses[0], " "), want[i].licenses)
			if pages[0].TotalCount != 1 {
				t.Errorf("document %d has %d versions of libssl3, want 1", i, pages[0].TotalCount)
			}
		}
		w.expectCounters(acme.uid)
	})
}

// An image says something else when its document is replaced, and what others say stays.
func TestAReplacedDocumentReplacesWhatItSaid(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo, other := w.repo(acme.uid), w.repo(acme.uid)
		w.advise(acme.uid, fixedInRelease("CVE-1", "Debian:12", "openssl", "3.0.11-1"), fixedInRelease("CVE-2", "Debian:12", "libssl3", "3.0.10-1"))
		for i, of := range []core.UID{repo, repo, other} {
			w.describe(of, digest(i), libssl("openssl", "MIT"))
			w.point(of, fmt.Sprint("v", i), digest(i))
		}
		both := "CVE-1 openssl@3.0.9-1 OPEN fixed in 3.0.11-1; CVE-2 libssl3@3.0.9-1+b1 OPEN fixed in 3.0.10-1"
		w.expect("a package is met by its own name and by that of its source", w.findings(other, nil), both)
		w.describe(repo, digest(0), libssl("", "GPL-3.0-only"))
		w.expect("one image without its source", w.findings(repo, nil), "CVE-1 openssl@3.0.9-1 OPEN fixed in 3.0.11-1; CVE-2 libssl3@3.0.9-1+b1 OPEN fixed in 3.0.10-1; CVE-2 libssl3@3.0.9-1+b1 OPEN fixed in 3.0.10-1")
		w.expect("the other repo", w.findings(other, nil), both)
		contents, errs := w.p.Images.Contents(w.operator(), []core.ImageKey{{Repo: repo, Digest: digest(0)}, {Repo: repo, Digest: digest(1)}})
		for i, want := range []string{"[GPL-3.0-only]", "[MIT]"} {
			must(t, errs[i])
			w.expect("licences", fmt.Sprint(contents[i].Packages[0].Licenses), want)
		}
		w.expectCounters(acme.uid)
	})
}

func TestAFindingOfASourceNamesWhatWasBuiltOfIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		openssl := libssl("openssl")
		openssl.Name = "openssl"
		w.describe(repo, digest(1), libssl("openssl"), openssl)
		w.point(repo, "latest", digest(1))
		look := func(what string) {
			w.Helper()
			w.settle()
			page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: repo}})
			must(w, err)
			var got []string
			for _, f := range page.Items {
				got = append(got, fmt.Sprint(f.VulnerabilityID, " ", f.Package, "@", f.InstalledVersion, " ", f.BinaryPackages))
			}
			slices.Sort(got)
			w.expect(what, strings.Join(got, "; "), "CVE-1 openssl@3.0.9-1 [{libssl3 3.0.9-1+b1} {openssl 3.0.9-1+b1}]")
		}
		w.advise(acme.uid, fixedInRelease("CVE-1", "Debian:12", "openssl", "3.0.11-1"))
		look("an advisory that comes after the image")
		w.describe(repo, digest(2), openssl)
		must(t, w.p.Findings.Settle(w.operator()))
		if wrong, err := w.p.Findings.Review(w.operator()); err != nil || wrong != 0 {
			t.Errorf("looked at again, %d findings differ (%v)", wrong, err)
		}
		look("an image that is looked at again")
	})
}

// A name alone says nothing of a package whose version is known.
func TestAPackageWithoutAnEcosystemIsNotGuessed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		w.advise(acme.uid, fixedInRelease("A-1", "PyPI", "requests", "2.31.0"), fixedInRelease("A-2", "AlmaLinux:9", "bash", "5.1"), fixedInRelease("A-3", "", "requests", ""))
		w.describe(repo, digest(1), inventory.InstalledPackage{Name: "requests", Version: "99.0"}, inventory.InstalledPackage{Name: "bash", Version: "4.2.46-31"})
		w.point(repo, "latest", digest(1))
		const want = "A-3 requests@99.0 OPEN by name"
		w.expect("an image after its advisories", w.findings(repo, nil), want)
		w.advise(acme.uid, fixedInRelease("A-4", "PyPI", "requests", "100"), fixedInRelease("A-5", "npm", "bash", "100"))
		w.expect("advisories after the image", w.findings(repo, nil), want)
		w.expectCounters(acme.uid)
	})
}

// VEX documents name what is installed. What is decided about a part of it is not yet decided about all.
func TestADecisionAboutBinaryPackagesReachesTheFindingOfTheirSource(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		openssl := libssl("openssl")
		openssl.Name = "openssl-tools"
		w.advise(acme.uid, fixedInRelease("CVE-1", "Debian:12", "openssl", "3.0.11-1"))
		w.describe(repo, digest(1), libssl("openssl"), openssl)
		w.point(repo, "latest", digest(1))
		decide := func(want, name, version string) {
			w.Helper()
			done, err := w.p.Findings.ImportRules(w.operator(), acme.uid, []*inventory.TriageRule{{
				VulnerabilityID: "CVE-1", Package: name, Ecosystem: "Debian:12", Version: version, State: inventory.FindingNotAffected, Justification: "vulnerable_code_not_present",
			}})
			must(w, err)
			for _, err := range done.Rejected {
				must(w, err)
			}
			w.expect("a decision about "+name+" "+version, w.findings(repo, nil), "CVE-1 openssl@3.0.9-1 "+want+" fixed in 3.0.11-1")
		}
		decide("OPEN", "libssl3", "3.0.9-1")
		decide("OPEN", "libssl3", "3.0.9-1+b1")
		decide("OPEN", "zlib", "")
		decide("NOT_AFFECTED", "openssl-tools", "")
		w.expectCounters(acme.uid)
	})
}
