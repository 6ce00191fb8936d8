package platform_test

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/platform/reports"
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
	done, err := w.p.Registry.ImportSBOMs(w.operator(), []*registry.ImportedSBOM{{Repo: repo, Digest: digest, Format: "CycloneDX 1.7", Packages: packages}})
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

// placedPackage returns a package with what a document says of its origin.
func placedPackage(p inventory.InstalledPackage, direct *bool, by []int, scope inventory.PackageScope, supplier, layer string) inventory.InstalledPackage {
	p.Placement = inventory.Placement{Direct: direct, IntroducedBy: by, Layer: layer}
	p.Scope, p.Supplier = scope, supplier
	return p
}

// describeOrigin describes where a package comes from; ? is what is not known.
func describeOrigin(o inventory.PackageOrigin) string {
	text := "?"
	if o.Direct != nil {
		text = fmt.Sprint(*o.Direct)
	}
	if o.IntroducedBy == nil {
		return text + " ?"
	}
	text += " ["
	for i, by := range o.IntroducedBy {
		if i > 0 {
			text += " "
		}
		text += by.Name + "@" + by.Version
	}
	return text + "]"
}

// saidOf returns what the documents of an image say of a package beside its version.
func (w *world) saidOf(image core.ImageKey, name string) string {
	w.Helper()
	contents, errs := w.p.Images.Contents(w.operator(), []core.ImageKey{image})
	must(w, errs[0])
	for _, p := range contents[0].Packages {
		if p.Name() == name {
			return fmt.Sprint(describeOrigin(p.PackageOrigin), " ", p.Scope, " ", p.Supplier, " ", p.Layer)
		}
	}
	return "no " + name
}

// versionOf returns the version of a package that an image holds.
func (w *world) versionOf(image core.ImageKey, name string) core.UID {
	w.Helper()
	contents, errs := w.p.Images.Contents(w.operator(), []core.ImageKey{image})
	must(w, errs[0])
	for _, p := range contents[0].Packages {
		if p.Name() == name {
			return p.UID
		}
	}
	return ""
}

// facetsOf returns the facets of the packages that images below a group hold.
func (w *world) facetsOf(within core.UID, filter *inventory.PackageFilter) string {
	w.Helper()
	page, err := w.p.Packages.ListHeld(w.operator(), within, core.ListRequest[*inventory.PackageFilter]{Filter: filter})
	must(w, err)
	facets, err := w.p.Packages.Facets(w.operator(), []core.Page[*inventory.Package]{page})
	must(w, err)
	return fmt.Sprint(facets[0].Licenses, facets[0].Ecosystems)
}

// namesUnder lists the packages with one of licenses that images below a group hold.
func (w *world) namesUnder(within core.UID, licenses ...string) string {
	w.Helper()
	page, err := w.p.Packages.ListHeld(w.operator(), within, core.ListRequest[*inventory.PackageFilter]{Filter: &inventory.PackageFilter{Licenses: licenses}})
	must(w, err)
	var names []string
	for _, p := range page.Items {
		names = append(names, p.Name)
	}
	if int(page.TotalCount) != len(names) {
		w.Errorf("%d packages under %v, and a total of %d", len(names), licenses, page.TotalCount)
	}
	return strings.Join(names, " ")
}

// A team that says that libssl3 comes from nothing, or that it is free of a license, would blind the others.
func TestNoDocumentChangesWhatIsSaidOfAnImage(t *testing.T) {
	yes, no := true, false
	curl := inventory.InstalledPackage{Name: "curl", Version: "7", Ecosystem: "Debian:12", Licenses: []string{"curl"}}
	said := [][]inventory.InstalledPackage{
		{libssl("")}, {placedPackage(libssl("nothing", "MIT"), &yes, []int{}, inventory.ScopeRequired, "Acme", "sha256:1"), curl},
		{placedPackage(libssl("openssl", "Apache-2.0"), &no, []int{1}, "", "Acme", "sha256:2"), curl}, {placedPackage(libssl("openssl", "GPL-3.0-only OR MIT"), nil, []int{1}, inventory.ScopeDevelopment, "", ""), curl},
	}
	const finding = "CVE-1 openssl@3.0.9-1 OPEN fixed in 3.0.11-1"
	want := []struct{ findings, licenses, origin, facets, permissive string }{
		{"", "", "? ?   ", "[{NONE 1}] [{Debian:12 1}]", ""},
		{"", "MIT", "true [] PACKAGE_SCOPE_REQUIRED Acme sha256:1", "[{MIT 1} {curl 1}] [{Debian:12 3}]", "libssl3"},
		{finding, "Apache-2.0", "false [curl@7]  Acme sha256:2", "[{Apache-2.0 1} {curl 1}] [{Debian:12 3}]", ""},
		{finding, "GPL-3.0-only OR MIT", "? [curl@7] PACKAGE_SCOPE_DEVELOPMENT  ", "[{GPL-3.0-only 1} {MIT 1} {curl 1}] [{Debian:12 3}]", "libssl3"},
	}
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.advise(acme.uid, fixedInRelease("CVE-1", "Debian:12", "openssl", "3.0.11-1"))
		groups, repos := make([]core.UID, len(said)), make([][]core.UID, len(said))
		for round := range 3 {
			for _, i := range rand.Perm(len(said)) {
				if groups[i] == "" {
					groups[i] = w.group(acme.uid)
				}
				repo := w.repo(groups[i])
				w.describe(repo, digest(i), said[i]...)
				w.point(repo, "latest", digest(i))
				repos[i] = append(repos[i], repo)
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
			w.expect(fmt.Sprint("licenses of document ", i), strings.Join(licenses[0], " "), want[i].licenses)
			for _, repo := range repos[i] {
				w.expect(fmt.Sprint("origin in document ", i), w.saidOf(core.ImageKey{Repo: repo, Digest: digest(i)}, "libssl3"), want[i].origin)
			}
			w.expect(fmt.Sprint("facets of document ", i), w.facetsOf(group, nil), want[i].facets)
			w.expect(fmt.Sprint("MIT of document ", i), w.namesUnder(group, "mit"), want[i].permissive)
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
			w.expect("licenses", fmt.Sprint(contents[i].Packages[0].Licenses), want)
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
		everyVersion := &inventory.Advisory{AdvisoryID: "A-3", ArtifactName: "requests"}
		w.advise(acme.uid, fixedInRelease("A-1", "PyPI", "requests", "2.31.0"), fixedInRelease("A-2", "AlmaLinux:9", "bash", "5.1"), everyVersion, fixedInRelease("A-6", "", "requests", "100"))
		w.describe(repo, digest(1), inventory.InstalledPackage{Name: "requests", Version: "99.0"}, inventory.InstalledPackage{Name: "bash", Version: "4.2.46-31"})
		w.point(repo, "latest", digest(1))
		const want = "A-3 requests@99.0 OPEN by name"
		w.expect("an image after its advisories", w.findings(repo, nil), want)
		w.advise(acme.uid, fixedInRelease("A-4", "PyPI", "requests", "100"), fixedInRelease("A-5", "npm", "bash", "100"))
		w.expect("advisories after the image", w.findings(repo, nil), want)
		w.expectCounters(acme.uid)
	})
}

// What affects a package is not known if its ecosystem is not, or has no records. Such packages count apart, while the image counts.
func TestPackagesOfWhichNothingIsKnownAreCounted(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		group := w.group(acme.uid)
		repo, other := w.repo(group), w.repo(acme.uid)
		named := func(name, ecosystem string) inventory.InstalledPackage {
			return inventory.InstalledPackage{Name: name, Version: "1.0", Ecosystem: ecosystem}
		}
		expect := func(what string, want ...int64) {
			w.Helper()
			w.settle()
			for i, within := range []core.UID{acme.uid, group, repo} {
				summary, err := w.p.Findings.Summarize(w.operator(), within)
				must(w, err)
				if summary.UnknownPackages != want[i] {
					w.Errorf("%s: %d packages of %d are unknown, want %d", what, summary.UnknownPackages, i, want[i])
				}
			}
			images, errs := w.p.Findings.SummarizeImages(w.operator(), []core.ImageKey{{Repo: repo, Digest: digest(1)}})
			must(w, errs[0])
			if images[0].UnknownPackages != want[3] {
				w.Errorf("%s: %d packages of the image are unknown, want %d", what, images[0].UnknownPackages, want[3])
			}
			w.expectCounters(acme.uid)
		}
		w.describe(repo, digest(1), named("a", ""), named("b", "Fedora:40"), named("c", "npm"), named("d", "Amazon Linux:2"), named("e", "Debian:12"))
		w.describe(other, digest(2), named("a", ""), named("a", "npm"))
		expect("no tag", 0, 0, 0, 0)
		tag := w.point(repo, "latest", digest(1))
		w.point(repo, "1", digest(1))
		w.point(other, "latest", digest(2))
		expect("two images", 4, 3, 3, 3)
		w.describe(repo, digest(1), named("a", ""), named("b", "npm"))
		expect("another document", 2, 1, 1, 1)
		w.advise(acme.uid, fixedIn("CVE-1", "b", "2.0"))
		expect("an advisory", 2, 1, 1, 1)
		w.point(repo, "1", digest(3))
		must(t, w.p.Tags.Delete(w.operator(), tag))
		expect("its tags are gone", 1, 0, 0, 0)
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

// Where a package comes from is what the documents of its image say of it, each about one architecture.
func TestAnImageComesToItsPackagesAsItsDocumentsSay(t *testing.T) {
	yes, no := true, false
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		repo := w.repo(acme.uid)
		npm := func(name string) inventory.InstalledPackage {
			return inventory.InstalledPackage{Name: name, Version: "1", Ecosystem: "npm", PURL: "pkg:npm/" + name + "@1"}
		}
		image := core.ImageKey{Repo: repo, Digest: digest(1)}
		describe := func(architecture string, packages ...inventory.InstalledPackage) int {
			done, err := w.p.Registry.ImportSBOMs(w.operator(), []*registry.ImportedSBOM{{Repo: repo, Digest: digest(1), Architecture: architecture, Format: "CycloneDX 1.7", Packages: packages}})
			must(w, err)
			for _, err := range done.Rejected {
				must(w, err)
			}
			return done.Unchanged
		}
		amd64 := []inventory.InstalledPackage{
			placedPackage(npm("express"), &yes, []int{}, inventory.ScopeRequired, "", ""), placedPackage(npm("qs"), &no, []int{0, 2}, inventory.ScopeOptional, "", "sha256:1"), placedPackage(npm("body"), &yes, []int{}, "", "", ""), npm("alone"),
		}
		describe("amd64", amd64...)
		if unchanged := describe("amd64", amd64...); unchanged != 1 {
			t.Errorf("of a document that is imported again, %d are unchanged, want 1", unchanged)
		}
		w.point(repo, "latest", digest(1))
		w.expect("one document", w.saidOf(image, "qs"), "false [body@1 express@1] PACKAGE_SCOPE_OPTIONAL  sha256:1")
		w.expect("nothing said", w.saidOf(image, "alone"), "? ?   ")
		amd64[1].IntroducedBy = []int{0}
		if unchanged := describe("amd64", amd64...); unchanged != 0 {
			t.Error("a document that says something else of the origin of a package is not imported")
		}
		w.expect("a document that says something else", w.saidOf(image, "qs"), "false [express@1] PACKAGE_SCOPE_OPTIONAL  sha256:1")
		describe("arm64", placedPackage(npm("qs"), nil, []int{1}, "", "", "sha256:2"), npm("alone"))
		w.expect("a second document that does not know it", w.saidOf(image, "qs"), "? [alone@1 express@1]   sha256:1")
		describe("arm64", npm("qs"))
		w.expect("a second document that says nothing", w.saidOf(image, "qs"), "? [express@1]   sha256:1")
		origin, errs := w.p.PackageOrigins.Read(w.operator(), []reports.HeldVersion{{ImageKey: image, Version: w.versionOf(image, "qs")}})
		must(t, errs[0])
		w.expect("the origin of a finding then", describeOrigin(origin[0]), "? [express@1]")
		describe("arm64", placedPackage(npm("qs"), &yes, []int{}, inventory.ScopeRequired, "", ""))
		w.expect("a second document with a direct dependency", w.saidOf(image, "qs"), "true [express@1] PACKAGE_SCOPE_REQUIRED  sha256:1")

		w.advise(acme.uid, fixedInRelease("CVE-1", "npm", "qs", "2"), fixedInRelease("CVE-2", "npm", "alone", "2"), fixedInRelease("CVE-3", "npm", "express", "2"))
		w.settle()
		page, err := w.p.Findings.List(w.operator(), core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: repo}})
		must(t, err)
		var of []reports.HeldVersion
		for _, f := range page.Items {
			of = append(of, reports.HeldVersion{ImageKey: f.Image(), Version: f.PackageVersion})
		}
		origins, errs := w.p.PackageOrigins.Read(w.operator(), of)
		got := map[string]string{}
		for i, f := range page.Items {
			must(t, errs[i])
			got[f.Package] = describeOrigin(origins[i])
		}
		if want := map[string]string{"qs": "true [express@1]", "alone": "? ?", "express": "true []"}; !maps.Equal(got, want) {
			t.Errorf("findings come from %v, want %v", got, want)
		}

		filter := func(f inventory.ImagePackageFilter) string {
			pages, errs := w.p.Images.ListPackages(w.operator(), core.ListRequest[*inventory.ImagePackageFilter]{Filter: &f}, []core.ImageKey{image})
			must(w, errs[0])
			var names []string
			for _, p := range pages[0].Items {
				names = append(names, p.Name())
			}
			return strings.Join(names, " ")
		}
		w.expect("direct", filter(inventory.ImagePackageFilter{Direct: &yes}), "body express qs")
		w.expect("transitive", filter(inventory.ImagePackageFilter{Direct: &no}), "")
		w.expect("a scope", filter(inventory.ImagePackageFilter{Scopes: []inventory.PackageScope{inventory.ScopeRequired}}), "express qs")
	})
}

// A document of an import can name places that it does not have.
func TestAnOriginThatIsNotInTheDocumentIsRefused(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		repo := w.repo(w.found("acme").uid)
		for want, p := range map[string]inventory.InstalledPackage{
			"packages[0].introducedBy": placedPackage(libssl(""), nil, []int{1}, "", "", ""), "packages[0].scope": placedPackage(libssl(""), nil, nil, "NEW", "", ""),
		} {
			done, err := w.p.Registry.ImportSBOMs(w.operator(), []*registry.ImportedSBOM{{Repo: repo, Digest: digest(1), Format: "SPDX 2.3", Packages: []inventory.InstalledPackage{p}}})
			must(t, err)
			if len(done.Rejected) != 1 || !strings.Contains(fmt.Sprint(done.Rejected), want) {
				t.Errorf("it is refused with %v, want %s", done.Rejected, want)
			}
		}
	})
}

// Licenses are found by their ids, in expressions and in any case, and only where an image in the scope holds them.
func TestPackagesAreFoundByTheirLicenses(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		shop, bank := w.group(acme.uid), w.group(acme.uid)
		npm := func(name, version string, licenses ...string) inventory.InstalledPackage {
			return inventory.InstalledPackage{Name: name, Version: version, Ecosystem: "npm", Licenses: licenses}
		}
		one, two, other := w.repo(shop), w.repo(shop), w.repo(bank)
		w.describe(one, digest(1), npm("a", "1", "MIT OR Apache-2.0"), npm("b", "1", "mit"), npm("c", "1"), npm("d", "1", `The "50%" License_`), npm("e", "1", "GPL-2.0+"))
		w.describe(one, digest(2), npm("a", "2", "(BSD-3-Clause AND MIT-0)"), npm("c", "1", "ISC"))
		w.describe(two, digest(3), npm("a", "1"), npm("b", "1", "MIT"))
		w.describe(other, digest(4), npm("a", "1", "AGPL-3.0-only"), npm("f", "1"))
		for i, repo := range []core.UID{one, one, two, other} {
			w.point(repo, fmt.Sprint("v", i), digest(i+1))
		}
		w.settle()
		for _, c := range []struct {
			within   core.UID
			licenses string
			want     string
		}{
			{shop, "MIT", "a b"}, {shop, "apache-2.0", "a"}, {shop, "MIT OR Apache-2.0", "a"}, {shop, "BSD-3-Clause", "a"}, {shop, "MIT-0", "a"}, {shop, "BSD", ""}, {shop, "ISC", "c"},
			{shop, `the "50%" license_`, "d"}, {shop, "The", ""}, {shop, "GPL-2.0", "e"}, {shop, "gpl-2.0+", "e"}, {shop, "NONE", "a c"}, {shop, "AGPL-3.0-only", ""}, {bank, "AGPL-3.0-only", "a"},
			{bank, "MIT", ""}, {acme.uid, "AGPL-3.0-only", "a"}, {acme.uid, "NONE", "a c f"}, {one, "NONE", "c"}, {two, "NONE", "a"}, {shop, "ISC|apache-2.0", "a c"},
		} {
			w.expect(fmt.Sprint("packages under ", c.licenses), w.namesUnder(c.within, strings.Split(c.licenses, "|")...), c.want)
		}
		w.expect("facets of a group", w.facetsOf(shop, nil), `[{MIT 2} {NONE 2} {Apache-2.0 1} {BSD-3-Clause 1} {GPL-2.0 1} {GPL-2.0+ 1} {ISC 1} {MIT-0 1} {The "50%" License_ 1}] [{npm 5}]`)
		w.expect("facets of a repo", w.facetsOf(other, nil), "[{AGPL-3.0-only 1} {NONE 1}] [{npm 2}]")
		w.expect("facets of some", w.facetsOf(acme.uid, &inventory.PackageFilter{Names: []string{"a"}}), "[{AGPL-3.0-only 1} {Apache-2.0 1} {BSD-3-Clause 1} {MIT 1} {MIT-0 1} {NONE 1}] [{npm 1}]")
		held, err := w.p.Packages.ListHeld(w.operator(), shop, core.ListRequest[*inventory.PackageFilter]{Filter: &inventory.PackageFilter{Names: []string{"a"}}})
		must(t, err)
		for license, want := range map[string]string{"MIT": "1", "MIT-0": "2", "NONE": "1", "AGPL-3.0-only": ""} {
			pages, errs := w.p.PackageVersions.ListOfPackages(w.operator(), core.ListRequest[*inventory.PackageVersionFilter]{Filter: &inventory.PackageVersionFilter{Licenses: []string{license}}}, held.Items)
			must(t, errs[0])
			var versions []string
			for _, v := range pages[0].Items {
				versions = append(versions, v.Version)
			}
			w.expect("versions under "+license, strings.Join(versions, " "), want)
		}
		pages, errs := w.p.Images.ListPackages(w.operator(), core.ListRequest[*inventory.ImagePackageFilter]{
			Filter: &inventory.ImagePackageFilter{PackageFilter: inventory.PackageFilter{Licenses: []string{"mit", "NONE"}}},
		}, []core.ImageKey{{Repo: one, Digest: digest(1)}})
		must(t, errs[0])
		if pages[0].TotalCount != 3 {
			t.Errorf("an image has %d packages under MIT or no license, want 3", pages[0].TotalCount)
		}

		w.describe(one, digest(1), npm("a", "1", "Zlib"))
		w.settle()
		w.expect("after a document was replaced", w.namesUnder(shop, "Apache-2.0", "Zlib"), "a")
		w.expect("what it said before", w.namesUnder(shop, "Apache-2.0"), "")
	})
}
