package vex_test

import (
	"archive/tar"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"strings"
	"testing"

	"atrium/internal/vex"
)

func TestCSAFIsRead(t *testing.T) {
	t.Parallel()
	product := func(id, helper string) string {
		return fmt.Sprintf(`"product": {"product_id": %q, "name": %q, "product_identification_helper": {%s}}`, id, "The "+id, helper)
	}
	read, err := vex.Parse([]byte(`{"document": {"category": "csaf_vex", "csaf_version": "2.0", "title": "t", "tracking": {"current_release_date": "2026-01-01T00:00:00Z"}},
		"product_tree": {
			"branches": [
				{"category": "vendor", "name": "ACME", "branches": [
					{"category": "product_name", "name": "ABC", "branches": [{"category": "product_version", "name": "4.2", ` + product("ABC42", "") + `}, {"category": "product_version_range", "name": "vers:generic/<4.0", ` + product("ABC3", "") + `}]},
					{"category": "product_version", "name": "left-pad", ` + product("PAD", `"purl": "pkg:npm/left-pad@1.3.0"`) + `},
					{"category": "product_name", "name": "shop", ` + product("SHOP", `"purl": "pkg:oci/shop@`+strings.Replace(digest, ":", "%3A", 1)+`"`) + `},
					{"category": "product_name", "name": "tool", ` + product("TOOL", `"purl": "pkg:golang/example.com/tool"`) + `},
					{"category": "product_version", "name": "openssl", ` + product("SSL", `"purl": "pkg:rpm/redhat/openssl@3.0?arch=src"`) + `},
					{"category": "product_version", "name": "bash", "product": {"product_id": "BASH", "name": "bash"}}, {"category": "product_name", "name": "RHEL 8", ` + product("EL8", `"cpe": "cpe:/a:redhat:enterprise_linux:8::appstream"`) + `}, {"category": "product_name", "name": "RHEL 9", ` + product("EL9", `"cpe": "cpe:/o:redhat:enterprise_linux:9"`) + `},
					{"category": "host_name", "name": "x", ` + product("NOBODY", "") + `}, {"category": "product_name", "name": "x", ` + product("BAD", `"purl": "x"`) + `}
				]}],
			"full_product_names": [{"product_id": "TWO", "name": "Two", "product_identification_helper": {"purls": ["pkg:npm/a@1", "pkg:npm/b@2"]}}],
			"product_groups": [{"group_id": "G", "product_ids": ["PAD", "TWO"]}],
			"relationships": [
				{"category": "default_component_of", "product_reference": "SHOP:TOOL", "relates_to_product_reference": "ABC42", "full_product_name": {"product_id": "DEEP", "name": "d"}},
				{"category": "default_component_of", "product_reference": "PAD", "relates_to_product_reference": "SHOP", "full_product_name": {"product_id": "SHOP:PAD", "name": "p in s"}},
				{"category": "default_component_of", "product_reference": "PAD", "relates_to_product_reference": "TOOL", "full_product_name": {"product_id": "TOOL:PAD", "name": "p in t"}},
				{"category": "default_component_of", "product_reference": "SSL", "relates_to_product_reference": "EL8", "full_product_name": {"product_id": "EL8:SSL", "name": "o in 8"}},
				{"category": "default_component_of", "product_reference": "SSL", "relates_to_product_reference": "EL9", "full_product_name": {"product_id": "EL9:SSL", "name": "o in 9"}},
				{"category": "default_component_of", "product_reference": "BASH", "relates_to_product_reference": "EL9", "full_product_name": {"product_id": "EL9:BASH", "name": "b in 9"}},
				{"category": "default_component_of", "product_reference": "BASH", "relates_to_product_reference": "ABC42", "full_product_name": {"product_id": "ABC42:BASH", "name": "b in a"}},
				{"category": "default_component_of", "product_reference": "TOOL", "relates_to_product_reference": "SHOP", "full_product_name": {"product_id": "SHOP:TOOL", "name": "t in s"}}
			]},
		"vulnerabilities": [
			{"cve": "CVE-1", "ids": [{"system_name": "GitHub", "text": "GHSA-1"}, {"system_name": "Red Hat Bugzilla ID", "text": "2158916"}],
				"product_status": {"known_not_affected": ["PAD", "ABC3", "SHOP:PAD", "TOOL:PAD", "EL8:SSL", "TWO"], "known_affected": ["ABC42", "EL9:SSL", "PAD"], "fixed": ["SHOP:TOOL"], "recommended": ["SHOP:TOOL"]},
				"flags": [{"label": "component_not_present", "product_ids": ["ABC3"]}, {"label": "vulnerable_code_not_present", "group_ids": ["G"]}],
				"threats": [{"category": "impact", "details": "never called", "group_ids": ["G"]}, {"category": "exploit_status", "details": "none"}],
				"remediations": [{"category": "vendor_fix", "details": "update", "product_ids": ["ABC42"]}, {"category": "mitigation", "details": "restart"}]},
			{"ids": [{"text": "ACME-2026-1"}], "product_status": {"under_investigation": ["SHOP", "NOBODY", "BAD", "NOTHING"], "last_affected": ["TOOL", "EL9:BASH", "ABC42:BASH"], "perhaps": ["SHOP"]}},
			{"ids": [{"text": "2158916"}], "product_status": {"fixed": ["SHOP"]}}, {"cve": "CVE-3"}
		]}`))
	if err != nil {
		t.Fatal(err)
	}
	want := `CVE-1=GHSA-1 OPEN ABC 4.2 (update restart)
CVE-1=GHSA-1 OPEN openssl 3.0 Red Hat:enterprise_linux:9 (restart)
CVE-1=GHSA-1 OPEN left-pad 1.3.0 npm (restart)
CVE-1=GHSA-1 NOT_AFFECTED component_not_present ABC vers:generic/<4.0 ()
CVE-1=GHSA-1 NOT_AFFECTED 1111111 left-pad 1.3.0 npm ()
CVE-1=GHSA-1 NOT_AFFECTED example.com/tool Go > left-pad 1.3.0 npm ()
CVE-1=GHSA-1 NOT_AFFECTED openssl 3.0 Red Hat:enterprise_linux:8::appstream ()
CVE-1=GHSA-1 NOT_AFFECTED vulnerable_code_not_present a 1 npm (never called)
CVE-1=GHSA-1 NOT_AFFECTED vulnerable_code_not_present b 2 npm (never called)
CVE-1=GHSA-1 NOT_AFFECTED 1111111 example.com/tool Go (The product has the fix.)
ACME-2026-1 OPEN example.com/tool Go ()
ACME-2026-1 OPEN bash Red Hat:enterprise_linux:9 ()
ACME-2026-1 OPEN ABC 4.2 > bash ()
ACME-2026-1 IN_TRIAGE 1111111 ()
! vulnerabilities[1].product_status.under_investigation: 3 of 4 products cannot be identified; the first one: "The NOBODY" has neither a package URL nor a branch with its name
! vulnerabilities[1].product_status: "perhaps" is not known
! vulnerabilities[2]: has neither a cve nor an id of a vulnerability in ids
! vulnerabilities[3].product_status: is missing or empty`
	if got := describe(read); got != want {
		t.Errorf("got\n%s\nwant\n%s", got, want)
	}
	if read.Statements[0].Time.Year() != 2026 {
		t.Errorf("the first statement was made at %s", read.Statements[0].Time)
	}
}

func TestDocumentsThatAreNoCSAF(t *testing.T) {
	t.Parallel()
	for text, reason := range map[string]string{
		`{"document": {}}`: "document.csaf_version", `{"document": {"csaf_version": "1.2"}}`: "want 2.0", `{"document": {"csaf_version": "2.0"}, "vulnerabilities": {}}`: "not valid CSAF",
	} {
		if d, err := vex.Parse([]byte(text)); err == nil || !strings.Contains(err.Error(), reason) {
			t.Errorf("%s: got %v %v, want an error with %q", text, d, err, reason)
		}
	}
	if d, err := vex.Parse([]byte(`{"document": {"csaf_version": "2.0"}}`)); err != nil || describe(d) != "! vulnerabilities: is empty" {
		t.Errorf("without vulnerabilities: %v %v", d, err)
	}
}

// Real documents of Red Hat, as trustify publishes them among its test data.
func TestRealCSAFIsRead(t *testing.T) {
	t.Parallel()
	file, err := os.Open("../../../shared/data/sbom-public.tar.gz")
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
	documents, states := 0, map[string]int{}
	for archive := tar.NewReader(unzipped); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		name := path.Base(header.Name)
		if !strings.HasPrefix(name, "trustify__etc_datasets_ds1_csaf_") {
			continue
		}
		text, err := io.ReadAll(archive)
		if err != nil {
			t.Fatal(err)
		}
		d, err := vex.Parse(text)
		if err != nil || len(d.Problems) > 0 || len(d.Statements) == 0 {
			t.Errorf("%s: %v, %d statements, %v", name, err, len(d.Statements), d.Problems)
			continue
		}
		documents++
		for _, s := range d.Statements {
			states[s.State]++
			if s.State == vex.NotAffected && s.Justification == "" && s.Note == "" || !strings.HasPrefix(s.Vulnerability, "CVE-") || s.Target == (vex.Target{}) {
				t.Errorf("%s: %+v", name, s)
			}
		}
	}
	if documents != 15 || states[vex.NotAffected] < 1000 || states[vex.Open] < 100 {
		t.Errorf("%d documents have %v", documents, states)
	}
}
