package platform_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/reports"
)

// packagesOf returns a list of advisories as texts: id, ecosystem and artifact.
func packagesOf(all []*inventory.Advisory) string {
	var texts []string
	for _, a := range all {
		texts = append(texts, strings.Join([]string{a.AdvisoryID, a.ArtifactType, a.ArtifactName}, " "))
	}
	slices.Sort(texts)
	return strings.Join(texts, ", ")
}

func TestArtifactsMatchByTheNamesThatTheirEcosystemTakesForTheSame(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		for _, a := range []inventory.Advisory{
			{ArtifactType: "PyPI", ArtifactName: "zope-interface"}, {ArtifactType: "npm", ArtifactName: "zope-interface"}, {ArtifactType: "Go", ArtifactName: "zope-interface"},
			{ArtifactType: "NuGet", ArtifactName: "Newtonsoft.Json"}, {ArtifactType: "Maven", ArtifactName: "Newtonsoft.Json"}, {ArtifactType: "Go", ArtifactName: "newtonsoft.json"},
			{ArtifactType: "npm", ArtifactName: "@Scope/Name"}, {ArtifactType: "Maven", ArtifactName: "com.example:Parser"}, {ArtifactType: "Debian:12", ArtifactName: "zlib"},
			{ArtifactType: "Debian:11", ArtifactName: "zlib"}, {ArtifactName: digest(1)},
			{ArtifactType: "Go", ArtifactName: "github.com/Masterminds/goutils"},
		} {
			a.AdvisoryID = "A"
			done, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{&a})
			expectImported(t, a.ArtifactName, done, err, mustSucceed(1, 0, 0, 0))
		}
		for _, x := range []struct{ name, want string }{
			{"zope-interface", "A Go zope-interface, A PyPI zope-interface, A npm zope-interface"}, {"Zope_Interface", "A PyPI zope-interface"},
			{"zope.-_interface", "A PyPI zope-interface"}, {"ZOPE-interface", "A Go zope-interface, A PyPI zope-interface, A npm zope-interface"}, {"zope interface", ""},
			{"Newtonsoft.Json", "A Go newtonsoft.json, A Maven Newtonsoft.Json, A NuGet Newtonsoft.Json"}, {"newtonsoft.json", "A Go newtonsoft.json, A NuGet Newtonsoft.Json"}, {"newtonsoft-json", ""},
			{"@scope/name", "A npm @Scope/Name"}, {"com.example:parser", ""}, {"com.example:Parser", "A Maven com.example:Parser"},
			{"zlib", "A Debian:11 zlib, A Debian:12 zlib"}, {digest(1), "A  " + digest(1)},
			{"github.com/masterminds/goutils", "A Go github.com/Masterminds/goutils"}, // as package URLs have it
		} {
			page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{Filter: &inventory.AdvisoryFilter{ArtifactNames: []string{x.name}}})
			must(t, err)
			if got := packagesOf(page.Items); got != x.want || page.TotalCount != int64(len(page.Items)) {
				t.Errorf("%q finds %s (total %d), want %s", x.name, got, page.TotalCount, x.want)
			}
			repo := w.repo(acme.uid)
			must(t, importImages(w, &inventory.Image{Repo: repo, Digest: digest(9), Packages: []string{"other", x.name}}))
			tag, err := w.p.Tags.Create(acme.owner, repo, body[*inventory.Tag](`{"name": "latest", "digest": %q}`, digest(9)))
			must(t, err)
			w.settle()
			pages, errs := w.p.Advisories.ListOfImages(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{}, []core.ImageKey{{Repo: repo, Digest: tag.Digest}})
			must(t, errs[0])
			if got := packagesOf(pages[0].Items); got != x.want {
				t.Errorf("an image with %q has %s, want %s", x.name, got, x.want)
			}
		}
		// A document has all advisories about artifacts with exactly its name.
		for name, want := range map[string]string{"Zope_Interface": "zope-interface: A A A", "newtonsoft.json": "Newtonsoft.Json: A A; newtonsoft.json: A", "zlib": "zlib: A A", "ZLIB": "zlib: A A", "com.example:parser": ""} {
			page, err := w.p.AdvisoryDocuments.List(acme.owner, core.ListRequest[*reports.DocumentFilter]{Filter: &reports.DocumentFilter{ID: name}})
			must(t, err)
			if got := describeDocuments(page.Items); got != want || int(page.TotalCount) != len(page.Items) {
				t.Errorf("documents of %q: %s (total %d), want %s", name, got, page.TotalCount, want)
			}
		}
		if d, err := w.documents(acme.owner, reports.DocumentFilter{ID: "zlib"}); err != nil || d[0].Advisories[0].PackageNamespace != "Debian:11" || d[0].Advisories[1].PackageNamespace != "Debian:12" {
			t.Errorf("documents %+v (%v), want those of Debian:11 and Debian:12", d, err)
		}
		both := ecosystem.NameKeys("Zope_Interface", "zope-interface", "ZOPE-INTERFACE")
		if want := []ecosystem.NameKey{{Name: "ZOPE-INTERFACE"}, {Name: "Zope_Interface"}, {Name: "zope-interface"}, {Name: "zope_interface", Rule: "anycase"}}; !slices.Equal(both, want) {
			t.Errorf("keys %v, want %v: a row must have one of them only", both, want)
		}
		again, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{{AdvisoryID: "A", ArtifactType: "PyPI", ArtifactName: "Zope.Interface", Author: "x"}, {AdvisoryID: "A", ArtifactType: "PyPI", ArtifactName: "zope_interface"}})
		expectImported(t, "another spelling", again, err, mustSucceed(0, 1, 0, 1))
	})
}

func TestRecordsAreFoundAndRatedByTheirUpstreamVulnerabilities(t *testing.T) {
	const critical, low = "CVSS:3.1/AV:N/AC:L/PR:N/UI:N/S:U/C:H/I:H/A:H", "CVSS:3.1/AV:P/AC:H/PR:H/UI:R/S:U/C:L/I:N/A:N"
	rated := func(id, vector string, aliases ...string) *inventory.Vulnerability {
		return &inventory.Vulnerability{ID: id, Aliases: aliases, Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: vector}}}
	}
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		vulnerabilities := func(all ...*inventory.Vulnerability) {
			_, err := w.p.Feeds.ImportVulnerabilities(w.operator(), all)
			must(t, err)
		}
		vulnerabilities(rated("CVE-1", critical), rated("CVE-3", low), &inventory.Vulnerability{ID: "DSA-1", Upstream: []string{"CVE-1"}, Related: []string{"CVE-8"}})
		done, err := w.p.Feeds.ImportAdvisories(w.operator(), acme.uid, []*inventory.Advisory{
			{AdvisoryID: "DSA-1", ArtifactName: "a", Upstream: []string{"CVE-1"}, Related: []string{"CVE-8"}}, {AdvisoryID: "DSA-2", ArtifactName: "a", Upstream: []string{"CVE-2"}},
			{AdvisoryID: "DSA-3", ArtifactName: "a", Aliases: []string{"CVE-3"}, Upstream: []string{"CVE-1"}},
			{AdvisoryID: "DSA-4", ArtifactName: "a", Upstream: []string{"CVE-1"}, Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: low}}}, {AdvisoryID: "DSA-5", ArtifactName: "a", Related: []string{"CVE-1"}},
		})
		expectImported(t, "advisories", done, err, mustSucceed(5, 0, 0, 0))
		vulnerabilities(rated("GHSA-2", critical, "CVE-2")) // after the advisory
		list := func(f inventory.AdvisoryFilter) string {
			page, err := w.p.Advisories.List(acme.owner, core.ListRequest[*inventory.AdvisoryFilter]{Filter: &f, OrderBy: "advisory_id"})
			must(t, err)
			var found []string
			for _, a := range page.Items {
				found = append(found, fmt.Sprint(a.AdvisoryID, " ", strings.TrimPrefix(string(a.Severity.Rating), "SEVERITY_RATING_")))
			}
			return strings.Join(found, ", ")
		}
		for _, x := range []struct {
			filter inventory.AdvisoryFilter
			want   string
		}{
			{inventory.AdvisoryFilter{}, "DSA-1 CRITICAL, DSA-2 CRITICAL, DSA-3 LOW, DSA-4 LOW, DSA-5 UNKNOWN"},
			{inventory.AdvisoryFilter{Aliases: []string{"CVE-1"}}, "DSA-1 CRITICAL, DSA-3 LOW, DSA-4 LOW"}, {inventory.AdvisoryFilter{Aliases: []string{"CVE-8"}}, ""},
			{inventory.AdvisoryFilter{Query: "cve-8"}, "DSA-1 CRITICAL"}, {inventory.AdvisoryFilter{Query: "cve-2"}, "DSA-2 CRITICAL"},
		} {
			if got := list(x.filter); got != x.want {
				t.Errorf("%+v finds %s, want %s", x.filter, got, x.want)
			}
		}
		documents, err := w.documents(acme.owner, reports.DocumentFilter{CVEs: []string{"CVE-2"}})
		must(t, err)
		if len(documents) != 1 || len(documents[0].Advisories) != 1 || documents[0].Advisories[0].ID != "DSA-2" {
			t.Errorf("documents of CVE-2: %+v, want DSA-2", documents)
		}
		found, err := w.p.Vulnerabilities.List(acme.owner, core.ListRequest[*inventory.VulnerabilityFilter]{Filter: &inventory.VulnerabilityFilter{ID: "CVE-1"}})
		must(t, err)
		if len(found.Items) != 2 || found.Items[0].ID != "CVE-1" || found.Items[1].ID != "DSA-1" {
			t.Errorf("metadata of CVE-1: %+v, want CVE-1 and DSA-1", found.Items)
		}
		one, err := w.p.Vulnerabilities.Get(acme.owner, "CVE-1")
		if err != nil || one.ID != "CVE-1" {
			t.Errorf("CVE-1 is %+v (%v)", one, err)
		}
		again, err := w.p.Feeds.ImportVulnerabilities(w.operator(), []*inventory.Vulnerability{{ID: "DSA-1", Upstream: []string{"CVE-1"}, Related: []string{"CVE-9"}}, rated("CVE-1", critical)})
		expectImported(t, "metadata with another related id", again, err, mustSucceed(0, 1, 1, 0))
	})
}

func TestSpellingsOfAPythonPackageAreOneLibrary(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		library := func(e libraries.Ecosystem, name, version string) *libraries.ImportedArtifact {
			return &libraries.ImportedArtifact{Artifact: libraries.Artifact{Ecosystem: e, Name: name}, Versions: []*libraries.ArtifactVersion{{Version: version}}}
		}
		for _, a := range []*libraries.ImportedArtifact{
			library(libraries.EcosystemPython, "Bug_Norm.Lib", "1.0"), library(libraries.EcosystemPython, "bug-norm-lib", "2.0"),
			library(libraries.EcosystemJava, "com.example:Bug_Norm", "1.0"), library(libraries.EcosystemJava, "com.example:bug-norm", "1.0"),
		} {
			_, _, err := w.p.Artifacts.Import(w.operator(), []*libraries.ImportedArtifact{a})
			must(t, err)
		}
		for query, want := range map[string]string{
			"":             "bug-norm-lib 2 2.0, com.example:Bug_Norm 1 1.0, com.example:bug-norm 1 1.0",
			"bug__NORM.li": "bug-norm-lib 2 2.0", "example:bug-norm": "com.example:Bug_Norm 1 1.0, com.example:bug-norm 1 1.0", "bugnorm": "",
		} {
			page, err := w.p.Artifacts.List(acme.owner, core.ListRequest[*libraries.ArtifactFilter]{Filter: &libraries.ArtifactFilter{Ecosystems: []libraries.Ecosystem{libraries.EcosystemJava, libraries.EcosystemPython}, Query: query}})
			must(t, err)
			var found []string
			for _, a := range page.Items {
				found = append(found, fmt.Sprint(a.Name, " ", a.VersionCount, " ", a.LatestVersion))
			}
			if got := strings.Join(found, ", "); got != want {
				t.Errorf("query %q finds %s, want %s", query, got, want)
			}
		}
	})
}
