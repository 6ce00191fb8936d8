package vex_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"reflect"
	"strings"
	"testing"
	"time"

	"atrium/internal/vex"
)

const digest = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

// describe writes what a document states, one statement after the other.
func describe(d *vex.Document) string {
	var all []string
	for _, s := range d.Statements {
		in := s.Target.Image + strings.TrimPrefix(s.Target.Digest, "sha256:111111111111111111111111111111111111111111111111111111111")
		if p := s.Target.Product; p != (vex.Package{}) {
			in = fmt.Sprintf("%s %s %s >", p.Name, p.Version, p.Ecosystem)
		}
		all = append(all, strings.TrimSpace(strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %s %s %s (%s)", strings.Join(s.Names(), "="), s.State, s.Justification, in, s.Target.Name, s.Target.Version, s.Target.Ecosystem, s.Note)), " ")))
	}
	for _, err := range d.Problems {
		all = append(all, "! "+err.Error())
	}
	return strings.Join(all, "\n")
}

func TestOpenVEXIsRead(t *testing.T) {
	t.Parallel()
	read, err := vex.Parse([]byte(`{"@context": "https://openvex.dev/ns/v0.2.0", "timestamp": "2026-01-01T00:00:00Z", "version": 1, "statements": [
		{"vulnerability": {"name": "CVE-1"}, "products": [{"@id": "pkg:npm/%40babel/core@7.0.0"}, "pkg:deb/debian/libssl3@3.0-1?distro=debian-12&upstream=openssl"], "status": "not_affected", "justification": "component_not_present", "impact_statement": "left out"},
		{"vulnerability": "CVE-2", "products": [{"@id": "pkg:oci/shop@` + strings.Replace(digest, ":", "%3A", 1) + `", "subcomponents": [{"@id": "pkg:npm/a"}, {"@id": "https://example.com/b"}]}], "status": "affected", "action_statement": "update"},
		{"vulnerability": {"name": "CVE-3"}, "products": [{"@id": "ghcr.io/acme/shop@` + digest + `"}], "status": "under_investigation", "status_notes": "look at it"},
		{"vulnerability": {"name": "CVE-4"}, "products": [{"@id": "x", "hashes": {"sha-256": "` + digest[7:] + `"}}, {"@id": "x", "identifiers": {"purl": "pkg:golang/example.com/a@v1.0.0"}}], "status": "fixed"},
		{"vulnerability": {"name": "CVE-5"}, "status": "affected", "action_statement": "No action is stated.", "status_notes": "[atrium: accepted, ends 2030-01-01T00:00:00Z]"},
		{"vulnerability": {"name": "CVE-6"}, "products": ["pkg:npm/a"], "status": "perhaps"},
		{"vulnerability": {"name": "CVE-7", "aliases": ["GHSA-7", "CVE-7", ""]}, "products": [{"@id": "pkg:npm/a@1.0.0", "subcomponents": ["pkg:npm/b", "pkg:oci/shop"]}, "pkg:oci/shop?repository_url=ghcr.io/acme/shop",
			{"@id": "pkg:oci/shop?repository_url=ghcr.io%2Facme", "subcomponents": ["pkg:npm/b@2"]}, "pkg:docker/library/debian?repository_url=https://docker.io/", "pkg:oci/shop", "pkg:oci/shop?tag=1.0", "pkg:docker/acme/shop@1.0", "cpe:2.3:a:b"], "status": "fixed"},
		{"vulnerability": {}, "status": "fixed"}, {"vulnerability": "CVE-8", "status": "not_affected", "justification": "because"}
	]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `CVE-1 NOT_AFFECTED component_not_present @babel/core 7.0.0 npm (left out)
CVE-1 NOT_AFFECTED component_not_present openssl 3.0-1 Debian:12 (left out)
CVE-2 OPEN 1111111 a npm (update)
CVE-3 IN_TRIAGE 1111111 (look at it)
CVE-4 NOT_AFFECTED 1111111 (The product has the fix.)
CVE-4 NOT_AFFECTED example.com/a v1.0.0 Go (The product has the fix.)
CVE-5 OPEN (No action is stated. [atrium: accepted, ends 2030-01-01T00:00:00Z])
CVE-7=GHSA-7 NOT_AFFECTED a 1.0.0 npm > b npm (The product has the fix.)
CVE-7=GHSA-7 NOT_AFFECTED ghcr.io/acme/shop (The product has the fix.)
CVE-7=GHSA-7 NOT_AFFECTED ghcr.io/acme/shop b 2 npm (The product has the fix.)
CVE-7=GHSA-7 NOT_AFFECTED docker.io/library/debian (The product has the fix.)
CVE-7=GHSA-7 NOT_AFFECTED shop (The product has the fix.)
! statements[1].products[0].subcomponents[1]: "https://example.com/b" is neither a package URL nor the digest of an image
! statements[5].status: "perhaps" is none of not_affected, affected, fixed and under_investigation
! statements[6].products[0].subcomponents[1]: is an image, and the parts of a product must be packages
! statements[6].products[5]: "pkg:oci/shop?tag=1.0" names an image by a tag, which can move: give its digest, or no tag for all images of that name
! statements[6].products[6]: "pkg:docker/acme/shop@1.0" names an image by a tag, which can move: give its digest, or no tag for all images of that name
! statements[6].products[7]: "cpe:2.3:a:b" is neither a package URL nor the digest of an image
! statements[7].vulnerability: has no name
! statements[8].justification: "because" is none of component_not_present, vulnerable_code_not_present, vulnerable_code_not_in_execute_path, vulnerable_code_cannot_be_controlled_by_adversary, inline_mitigations_already_exist`
	if got := describe(read); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if at := read.Statements[0].Time; at.Year() != 2026 {
		t.Errorf("the decision was made at %s", at)
	}
}

func TestDocumentsThatAreNoVEX(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		``: "not a JSON object", `[]`: "not a JSON object", `{}`: "neither @context", `{"@context": "https://spdx.org/x"}`: "@context", `{"@context": "https://openvex.dev/ns", "statements": 1}`: "not valid OpenVEX",
		`{"bomFormat": "x"}`: "bomFormat", `{"bomFormat": "CycloneDX", "specVersion": "1.5", "vulnerabilities": 1}`: "not valid CycloneDX", strings.Repeat(`{"a":`, 200): "deeper",
	} {
		if d, err := vex.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%.60s: got %v %v, want an error with %q", text, d, err, reason)
		}
	}
}

// useCases has the use cases of CISA, as CycloneDX publishes them.
const useCases = "../../../shared/data/sbom.tar.gz"

// readUseCases reads the documents of the use cases, by their names.
func readUseCases(t *testing.T) map[string]*vex.Document {
	t.Helper()
	file, err := os.Open(useCases)
	if errors.Is(err, fs.ErrNotExist) {
		t.Skipf("the real data is not beside this clone, in ../shared/data: %v", err)
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*vex.Document{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return all
		} else if err != nil {
			t.Fatal(err)
		}
		if name := path.Base(header.Name); path.Base(path.Dir(header.Name)) == "vex" && path.Ext(name) == ".json" {
			text, err := io.ReadAll(archive)
			if err != nil {
				t.Fatal(err)
			}
			if all[name], err = vex.Parse(text); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
		}
	}
}

func TestTheUseCasesOfCISAAreRead(t *testing.T) {
	t.Parallel()
	var library vex.Library
	all := readUseCases(t)
	for _, d := range all {
		library.Add(d)
	}
	for name, d := range all {
		resolved := library.Resolve(d)
		if d.Problems != nil || resolved.Problems != nil || !d.IsBOM && len(d.Statements)+len(resolved.Statements) == 0 {
			t.Errorf("%s: %d statements, %v %v", name, len(d.Statements)+len(resolved.Statements), d.Problems, resolved.Problems)
		}
		d.Statements = append(d.Statements, resolved.Statements...)
		for i := range d.Statements {
			d.Statements[i].Note = ""
		}
	}
	for name, want := range map[string]string{
		"Case-1-vex-affected.json":            "CVE-2021-44228 OPEN DEF 1.0 ()",
		"Case-1-vex-fixed.json":               "CVE-2021-44228 NOT_AFFECTED DEF 1.1 ()",
		"Case-1-vex-under_investigation.json": "CVE-2021-44228 IN_TRIAGE GHI 17.4 ()",
		"Case-4-vex.json":                     "CVE-2021-44228 OPEN ABC 2.4 ()\nCVE-2021-44228 OPEN ABC 2.6 ()\nCVE-2021-44228 OPEN ABC vers:generic/>=2.9|<=4.1 ()",
		"VEX-Use-Cases-Case-7-vex.json":       "CVE-2020-25649 NOT_AFFECTED vulnerable_code_not_in_execute_path ()",
		"VEX-vex.json":                        "CVE-2020-25649=SNYK-JAVA-COMFASTERXMLJACKSONCORE-1048302 NOT_AFFECTED vulnerable_code_not_in_execute_path com.fasterxml.jackson.core:jackson-databind 2.10.0 Maven ()",
		"Case-7-bom-1.json":                   "",
	} {
		if got := describe(all[name]); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", name, got, want)
		}
	}
	if states := describe(all["Case-8-vex.json"]); strings.Count(states, "\n") < 20 || !strings.Contains(states, "CVE-2021-45105 OPEN JKL 5.1") {
		t.Errorf("case 8 states\n%s", states)
	}
}

func TestLinksToOtherDocumentsAreResolved(t *testing.T) {
	t.Parallel()
	var library vex.Library
	bom, err := vex.Parse([]byte(`{"bomFormat": "CycloneDX", "specVersion": "1.4", "serialNumber": "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79", "version": 2, "components": [{"type": "library", "bom-ref": "a", "name": "a", "purl": "pkg:npm/a@1.0.0"}]}`))
	if err != nil || !bom.IsBOM || !library.Add(bom) || library.Uses(bom) {
		t.Fatalf("got %+v %v", bom, err)
	}
	read, err := vex.Parse([]byte(`{"bomFormat": "CycloneDX", "specVersion": "1.4", "version": 1, "metadata": {"timestamp": "2026-01-01T00:00:00Z"}, "vulnerabilities": [
		{"id": "CVE-1", "analysis": {"state": "not_affected", "justification": "code_not_reachable", "detail": "d"}, "affects": [{"ref": "urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/2#a", "versions": [{"version": "1.0.0", "status": "unaffected"}, {"range": "vers:npm/>=2.0.0", "status": "affected"}, {"version": "9.0.0", "status": "unknown"}, {}]},
			{"ref": "urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1#a"}, {"ref": "b"}, {"ref": "pkg:pypi/b@2"}]},
		{"id": "CVE-2", "references": [{"id": "GHSA-2", "source": {}}], "analysis": {"state": "resolved"}}, {"id": "CVE-3"}, {"id": "CVE-4", "analysis": {"state": "x"}}, {"analysis": {"state": "exploitable"}}
	]}`))
	if err != nil || !library.Add(read) {
		t.Fatal(err)
	}
	want := `CVE-1 NOT_AFFECTED vulnerable_code_not_in_execute_path b 2 PyPI (d)
CVE-2=GHSA-2 NOT_AFFECTED (The product has the fix.)
! vulnerabilities[0].affects[2].ref: "b" is neither a component of the document nor a package URL
! vulnerabilities[2].analysis: is missing
! vulnerabilities[3].analysis.state: "x" is not known
! vulnerabilities[4].id: is missing
CVE-1 NOT_AFFECTED vulnerable_code_not_in_execute_path a 1.0.0 npm (d)
CVE-1 OPEN a vers:npm/>=2.0.0 npm (d)
CVE-1 IN_TRIAGE a 9.0.0 npm (d)
! vulnerabilities[0].affects[0].versions[3]: has neither a version nor a range
! vulnerabilities[0].affects[1]: "urn:cdx:3e671687-395b-41f5-a30f-a58921a69b79/1#a" is a component of another document, which is not among those that were read`
	if got := describe(read) + "\n" + describe(library.Resolve(read)); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if !library.Uses(bom) {
		t.Error("the document with the components is not used")
	}
}

// Only a document of this package says that a risk is accepted.
func TestAForeignNoteStaysANote(t *testing.T) {
	t.Parallel()
	for _, tooling := range []string{"", "vexctl", "atrium"} {
		for _, note := range []string{"The risk is accepted. by our customers?", "The decision ends at 2030-01-01T00:00:00Z.", "[atrium: accepted, ends 2030-01-01T00:00:00Z]"} {
			read, err := vex.Parse(fmt.Appendf(nil, `{"@context": "https://openvex.dev/ns/v0.2.0", "tooling": %q, "version": 1, "statements": [{"vulnerability": "CVE-1", "status": "affected", "action_statement": "update", "status_notes": %q}]}`, tooling, note))
			if err != nil {
				t.Fatal(err)
			}
			if s := read.Statements[0]; s.State != vex.Open || s.Note != "update\n"+note || !s.ExpireTime.IsZero() {
				t.Errorf("%q by %q gives %+v", note, tooling, s)
			}
		}
	}
}

func TestWhatIsWrittenIsReadAgain(t *testing.T) {
	t.Parallel()
	at := time.Date(2026, 3, 27, 13, 55, 0, 785e6, time.UTC)
	a := vex.Package{Name: "a", Ecosystem: "npm", Version: "1.0.0"}
	all := []vex.Statement{
		{Vulnerability: "CVE-1", Target: vex.Target{Package: a}, State: vex.NotAffected, Justification: "component_not_present", Note: "left out"},
		{Vulnerability: "CVE-2", Target: vex.Target{Digest: digest, Package: vex.Package{Name: "openssl", Ecosystem: "Debian:12", Version: "3.0-1"}}, State: vex.Accepted, Note: "behind a proxy", ExpireTime: at.AddDate(1, 0, 0)},
		{Vulnerability: "CVE-2", Target: vex.Target{Digest: digest, Package: vex.Package{Name: "a", Ecosystem: "npm"}}, State: vex.Accepted},
		{Vulnerability: "CVE-3", Target: vex.Target{Digest: digest}, State: vex.InTriage, Note: "look\nat it", ExpireTime: at.AddDate(2, 0, 0)},
		{Vulnerability: "CVE-4", State: vex.Open, Note: "update"}, {Vulnerability: "CVE-5", State: vex.NotAffected}, {Vulnerability: "CVE-6", State: vex.Open},
		{Vulnerability: "CVE-7", Target: vex.Target{Package: vex.Package{Name: "a", Ecosystem: "npm", Version: "vers:npm/>=1.0.0|<2.0.0"}}, State: vex.NotAffected, Justification: "vulnerable_code_cannot_be_controlled_by_adversary"},
		{Vulnerability: "CVE-8", Target: vex.Target{Package: vex.Package{Name: "checkout", Version: "2.4"}}, State: vex.InTriage},
		{Vulnerability: "CVE-9", Target: vex.Target{Image: "ghcr.io/acme/shop"}, State: vex.InTriage}, {Vulnerability: "CVE-9", Target: vex.Target{Image: "shop", Package: a}, State: vex.NotAffected},
		{Vulnerability: "CVE-9", Target: vex.Target{Product: a, Package: vex.Package{Name: "b", Ecosystem: "npm"}}, State: vex.NotAffected, Note: "b is never called"},
	}
	for _, note := range []string{ // that a writer could take for its own
		"The risk is accepted.", "The risk is accepted. by our customers?", "No action is stated.", "No reason is stated.", "[atrium: accepted]", "[atrium: accepted]\nx", "[atrium: ]\n", "[atrium: no note", "\nx\n", " x ", "[atrium: x] y",
	} {
		for _, s := range []vex.Statement{{State: vex.NotAffected}, {State: vex.NotAffected, Justification: "component_not_present"}, {State: vex.Accepted}, {State: vex.Open}, {State: vex.InTriage}, {State: vex.InTriage, ExpireTime: at.AddDate(1, 0, 0)}} {
			s.Vulnerability, s.Note = fmt.Sprintf("CVE-%d", len(all)), note
			all = append(all, s)
		}
	}
	for i := range all {
		all[i].Time = at.Add(time.Duration(i) * time.Second)
	}
	var open, cyclone bytes.Buffer
	if err := vex.WriteOpenVEX(&open, "acme", "https://example.com/vex", at, all); err != nil {
		t.Fatal(err)
	}
	if err := vex.WriteCycloneDX(&cyclone, "urn:uuid:3e671687-395b-41f5-a30f-a58921a69b79", at, all); err != nil {
		t.Fatal(err)
	}
	for _, text := range []string{open.String(), cyclone.String()} {
		read, err := vex.Parse([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		for i := range read.Statements {
			read.Statements[i].Place = ""
			s := read.Statements[i]
			if i < len(all) && (!s.ExpireTime.Equal(all[i].ExpireTime) || !s.Time.Equal(all[i].Time)) {
				t.Errorf("the times of %+v differ", s)
			}
			read.Statements[i].ExpireTime, read.Statements[i].Time = all[i].ExpireTime, all[i].Time
		}
		if read.Problems != nil || !reflect.DeepEqual(read.Statements, all) {
			t.Errorf("%s\ngives %+v\nwant %+v\n%v", text, read.Statements, all, read.Problems)
		}
	}
}
