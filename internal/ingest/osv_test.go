package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// osvData is the Go vulnerability database. Tests that need it are skipped if it
// does not exist.
const osvData = "../../../shared/data/osv-go.tar.gz"

// pypaData is the database of Python packages.
const pypaData = "../../../shared/data/osv-pypa.tar.gz"

func skipWithout(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, os.ErrNotExist) {
		t.Skip(path + " is not there")
	}
}

func write(t *testing.T, path, content string) string {
	t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

func importOSVFile(t *testing.T, c *fakeCore, paths ...string) (Summary, reports) {
	t.Helper()
	var r reports
	sum, err := importOSV(t.Context(), c.destination(), paths, r.options())
	if err != nil {
		t.Fatal(err)
	}
	return sum, r
}

func parseTime(t *testing.T, s string) core.Time {
	t.Helper()
	at, err := core.ParseTime(s)
	if err != nil {
		t.Fatal(err)
	}
	return at
}

func TestASecondImportOfTheGoVulnerabilityDatabaseChangesNothing(t *testing.T) {
	t.Parallel()
	skipWithout(t, osvData)
	c := newFakeCore()
	sum, r := importOSVFile(t, c, osvData)
	checkKinds(t, sum, KindCounts{Name: "advisories", Added: 6060}, KindCounts{Name: "vulnerability metadata", Added: 4291})
	r.check(t)
	if largest := slices.Max(c.batches); largest > core.ImportBatch {
		t.Errorf("a batch had %d records", largest)
	}
	sum, r = importOSVFile(t, c, osvData)
	checkKinds(t, sum, KindCounts{Name: "advisories", Unchanged: 6060}, KindCounts{Name: "vulnerability metadata", Unchanged: 4291})
	r.check(t)
	stdlib := 0
	for _, a := range c.advisories {
		if a.ArtifactName == "stdlib" {
			stdlib++
		}
	}
	if stdlib != 167 {
		t.Errorf("%d advisories of stdlib, want 167", stdlib)
	}
}

// A bundle is read in a second pass, and a pipe can be read once.
func TestABundleIsReadFromAPipe(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	var r reports
	o := r.options()
	o.Pipe = strings.NewReader(`{"id": "DSA-1", "upstream": ["CVE-1", "CVE-2"], "affected": [{"package": {"ecosystem": "Debian:12", "name": "p"}}]}`)
	sum, err := importOSV(t.Context(), c.destination(), []string{"-"}, o)
	if err != nil {
		t.Fatal(err)
	}
	checkKinds(t, sum, KindCounts{Name: "advisories", Added: 1}, KindCounts{Name: "vulnerability metadata", Added: 1})
	r.check(t)
}

const fullOSV = `{
	"schema_version": "1.7.0", "id": "GHSA-1", "modified": "2024-05-02T00:00:00Z", "published": "2024-05-01T10:00:00.5Z",
	"withdrawn": "2025-01-01T00:00:00Z", "aliases": ["CVE-1"], "related": ["CVE-2"], "upstream": ["X-1"],
	"summary": "Short", "details": "Long", "severity": [{"type": "CVSS_V3", "score": "CVSS:3.1/AV:N"}],
	"affected": [
		{"package": {"ecosystem": "Debian:11", "name": "openssl", "purl": "pkg:deb/x"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "1.1"}]},
			{"type": "GIT", "repo": "https://example.com/y", "events": [{"introduced": "0"}, {"fixed": "c0ffee"}]}],
		 "versions": ["1.0"], "database_specific": {"anything": [1]}},
		{"package": {"ecosystem": "Debian:12", "name": "openssl"}, "severity": [{"type": "CVSS_V4", "score": "CVSS:4.0/AV:N"}, {"type": "Ubuntu", "score": "high"}],
		 "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "2"}, {"fixed": "1.1"}, {"fixed": "2.1"}]}]},
		{"ranges": [{"type": "GIT", "repo": "https://example.com/x", "events": [{"fixed": "abc"}]}]},
		{"package": {"ecosystem": "npm", "name": "other"}}
	],
	"references": [{"type": "FIX", "url": "https://example.com/fix"}, {"type": "GIT", "url": "https://example.com/git"}],
	"credits": [{"name": "Somebody"}], "database_specific": {"github_reviewed": true, "url": "https://example.com/GHSA-1", "review_status": 7}
}`

func TestARecordBecomesMetadataAndOneAdvisoryPerPackage(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	sum, r := importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), fullOSV))
	r.check(t)
	checkKinds(t, sum, KindCounts{Name: "advisories", Added: 3}, KindCounts{Name: "vulnerability metadata", Added: 1})

	published, modified := parseTime(t, "2024-05-01T10:00:00.500Z"), parseTime(t, "2024-05-02T00:00:00Z")
	event := inventory.AdvisoryEvent{CreateTime: published, Author: "OSV", ReviewState: inventory.ReviewStateApproved}
	fixed := func(version, note string) inventory.AdvisoryEvent {
		e := event
		e.Fixed = &inventory.Fixed{FixedVersion: version, Note: note}
		return e
	}
	detected := event
	detected.Detection = &inventory.Detection{Manual: &struct{}{}}
	bookworm := inventory.Advisory{
		AdvisoryID: "GHSA-1", CreateTime: published, UpdateTime: modified, DeleteTime: parseTime(t, "2025-01-01T00:00:00Z"),
		Author: "OSV", Origin: "GitHub", ArtifactName: "openssl", ArtifactType: "Debian:12", Aliases: []string{"CVE-1"},
		Upstream: []string{"X-1"}, Related: []string{"CVE-2"},
		Events:     []inventory.AdvisoryEvent{detected, fixed("1.1", ""), fixed("2.1", "")},
		Severities: []inventory.Severity{{Type: "TYPE_CVSS_V4", Score: "CVSS:4.0/AV:N"}, {Type: "TYPE_UNSPECIFIED", Score: "high"}},
		Affected:   &affected.Set{Ranges: []affected.Range{{Type: "ECOSYSTEM", Events: []affected.Event{{Fixed: "1.1"}, {Introduced: "2"}, {Fixed: "2.1"}}}}},
	}
	bullseye := bookworm
	bullseye.Affected = &affected.Set{Versions: []string{"1.0"}, Ranges: []affected.Range{{Type: "ECOSYSTEM", Events: []affected.Event{{Introduced: "0"}, {Fixed: "1.1"}}}}}
	bullseye.ArtifactType = "Debian:11"
	bullseye.Events = []inventory.AdvisoryEvent{detected, fixed("1.1", ""), fixed("c0ffee", "A commit of https://example.com/y")}
	bullseye.Severities = []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.1/AV:N"}}
	for _, want := range []*inventory.Advisory{&bookworm, &bullseye} {
		if got := c.advisories["GHSA-1 openssl "+want.ArtifactType]; !reflect.DeepEqual(got, want) {
			t.Errorf("advisory\n%+v\nwant\n%+v", got, want)
		}
	}
	wantMetadata := &inventory.Vulnerability{
		ID: "GHSA-1", Summary: "Short", Details: "Long", Aliases: []string{"CVE-1"}, Upstream: []string{"X-1"}, Related: []string{"CVE-2"}, UpdateTime: modified,
		Severities: []inventory.Severity{{Type: "TYPE_CVSS_V3", Score: "CVSS:3.1/AV:N"}},
		References: []inventory.Reference{{Type: "TYPE_FIX", URL: "https://example.com/fix"}, {Type: "TYPE_UNSPECIFIED", URL: "https://example.com/git"},
			{Type: "TYPE_ADVISORY", URL: "https://example.com/GHSA-1"}},
	}
	if got := c.vulnerabilities["GHSA-1"]; !reflect.DeepEqual(got, wantMetadata) {
		t.Errorf("metadata\n%+v\nwant\n%+v", got, wantMetadata)
	}
}

func TestExtraFieldsOfTheGoDatabaseAreRead(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	long := strings.Repeat("x", 200)
	importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), `{"id": "GO-1", "aliases": ["CVE-1"], "affected": [
		{"package": {"ecosystem": "Go", "name": "m"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}], "ecosystem_specific": {
			"imports": [{"path": "m/b", "symbols": ["F"]}, {"path": "m/a"}, {"attribute": "x"}], "custom_ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "2.9.12"}]}]}},
		{"package": {"ecosystem": "Go", "name": "m"}, "ecosystem_specific": {"imports": [{"path": "m/b"}]}},
		{"package": {"ecosystem": "Go", "name": "many"}, "ecosystem_specific": {"imports": [{"path": "a`+long+`"}, {"path": "b`+long+`"}]}},
		{"package": {"ecosystem": "PyPI", "name": "odd"}, "ecosystem_specific": {"imports": "all of them"}}],
		"database_specific": {"review_status": "UNREVIEWED", "url": "https://pkg.go.dev/vuln/GO-1"}, "references": [{"type": "WEB", "url": "https://pkg.go.dev/vuln/GO-1"}]}`))
	m := c.advisories["GO-1 m Go"]
	if m == nil || m.ComponentName != "m/a, m/b" || m.ComponentType != "go-package" || len(m.Events) != 2 {
		t.Fatalf("imported %+v, want ComponentName 'm/a, m/b', ComponentType 'go-package' and 2 events", m)
	}
	if e := m.Events[1]; e.Fixed.FixedVersion != "2.9.12" || e.ReviewState != inventory.ReviewStatePending {
		t.Errorf("fixed by %+v, want FixedVersion '2.9.12' and ReviewState %v", e, inventory.ReviewStatePending)
	}
	for _, name := range []string{"many Go", "odd PyPI"} {
		if a := c.advisories["GO-1 "+name]; a == nil || a.ComponentName != "" || a.ComponentType != "" || a.Events[0].Detection == nil {
			t.Errorf("imported %+v, want ComponentName \"\" and ComponentType \"\"", a)
		}
	}
	if v := c.vulnerabilities["GO-1"]; len(v.References) != 1 || v.References[0].Type != "TYPE_WEB" {
		t.Errorf("references %v, want 1 of them", v.References)
	}
}

// A range without an end after a fix means that the latest versions are affected.
func TestAnAdvisoryWhoseLatestVersionsAreAffectedIsOpen(t *testing.T) {
	t.Parallel()
	const cut = `{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.2"}]}`
	for name, c := range map[string]struct {
		affected string // ranges of one or several entries of the same package
		want     inventory.AdvisoryState
	}{
		"fixed":                       {`"ranges": [` + cut + `]`, inventory.AdvisoryFixed},
		"introduced again":            {`"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.2"}, {"introduced": "2.0"}]}]`, inventory.AdvisoryOpen},
		"another range without end":   {`"ranges": [` + cut + `, {"type": "SEMVER", "events": [{"introduced": "2.0"}]}]`, inventory.AdvisoryOpen},
		"another range that ends":     {`"ranges": [` + cut + `, {"type": "SEMVER", "events": [{"introduced": "2.0"}, {"last_affected": "2.1"}]}]`, inventory.AdvisoryFixed},
		"another entry without fix":   {`"ranges": [` + cut + `]}, {"package": {"ecosystem": "Debian:11", "name": "p"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]`, inventory.AdvisoryOpen},
		"another release without fix": {`"ranges": [` + cut + `]}, {"package": {"ecosystem": "Debian:12", "name": "p"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]`, inventory.AdvisoryFixed},
		"the fix is given first":      {`"ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "2.4.1"}, {"introduced": "0"}]}]`, inventory.AdvisoryFixed},
		"both in one event":           {`"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0", "fixed": "2.4.1"}]}]`, inventory.AdvisoryFixed},
		"versions by their order":     {`"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1.10-1"}, {"fixed": "1.10-2"}, {"introduced": "0"}, {"fixed": "1.9-1"}]}]`, inventory.AdvisoryFixed},
		"introduced again, unsorted":  {`"ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "1.10-1"}, {"introduced": "0"}, {"fixed": "1.9-1"}]}]`, inventory.AdvisoryOpen},
		"one version only":            {`"ranges": [` + cut + `, {"type": "SEMVER", "events": [{"last_affected": "2.0"}, {"introduced": "2.0"}]}]`, inventory.AdvisoryFixed},
		"a limit":                     {`"ranges": [` + cut + `, {"type": "SEMVER", "events": [{"limit": "3.0"}, {"introduced": "2.0"}]}]`, inventory.AdvisoryFixed},
		"no limit":                    {`"ranges": [` + cut + `, {"type": "SEMVER", "events": [{"introduced": "2.0"}, {"limit": "*"}]}]`, inventory.AdvisoryOpen},
		"commits in any order":        {`"ranges": [{"type": "GIT", "events": [{"fixed": "abc"}, {"introduced": "0"}]}]`, inventory.AdvisoryFixed},
		"custom ranges decide":        {`"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}], "ecosystem_specific": {"custom_ranges": [` + cut + `]}`, inventory.AdvisoryFixed},
		"a custom range without end":  {`"ranges": [` + cut + `], "ecosystem_specific": {"custom_ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "1"}, {"introduced": "2"}]}]}`, inventory.AdvisoryOpen},
		"commits do not decide":       {`"ranges": [` + cut + `, {"type": "GIT", "events": [{"introduced": "c0ffee"}]}]`, inventory.AdvisoryFixed},
		"commits only":                {`"ranges": [{"type": "GIT", "events": [{"introduced": "0"}, {"fixed": "abc"}, {"introduced": "c0ffee"}]}]`, inventory.AdvisoryOpen},
		"never fixed":                 {`"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}]`, inventory.AdvisoryOpen},
	} {
		core := newFakeCore()
		importOSVFile(t, core, write(t, filepath.Join(t.TempDir(), "a.json"), `{"id": "A-1", "published": "2026-01-01T00:00:00Z", "affected": [{"package": {"ecosystem": "Debian:11", "name": "p"}, `+c.affected+`}]}`))
		if a := core.advisories["A-1 p Debian:11"]; a == nil || a.State() != c.want {
			t.Errorf("%s: imported %+v, want the state %s", name, a, c.want)
		}
	}
}

// An advisory says which versions of its own package are affected, whatever the form of the record.
func TestAnAdvisoryHasTheAffectedVersionsOfItsPackage(t *testing.T) {
	t.Parallel()
	npm := func(rest string) string {
		return `{"affected": [{"package": {"ecosystem": "npm", "name": "p"}, ` + rest + `}`
	}
	for form, want := range map[string]string{
		npm(`"versions": ["2.0", "1.0"], "ranges": [{"type": "SEMVER", "events": [{"fixed": "1.10"}, {"introduced": "1.9"}]}]}, {"package": {"ecosystem": "npm", "name": "p"}, "versions": ["3.0", "2.0"], "ranges": [{"type": "SEMVER", "events": [{"introduced": "3"}]}, {"type": "GIT", "events": [{"introduced": "0"}]}]`) + `]`: `{"ranges":[{"type":"SEMVER","events":[{"introduced":"1.9"},{"fixed":"1.10"}]},{"type":"SEMVER","events":[{"introduced":"3"}]}],"versions":["1.0","2.0","3.0"]}`,
		npm(`"versions": ["1.0"]`) + `, {"package": {"ecosystem": "PyPI", "name": "p"}, "versions": ["9.0"]}, {"package": {"ecosystem": "npm", "name": "q"}, "versions": ["8.0"]}]`:                                                                                                                                                  `{"versions":["1.0"]}`,
		npm(`"ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}], "ecosystem_specific": {"custom_ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "2"}]}]}`) + `]`:                                                                                                                                              `{"ranges":[{"type":"SEMVER","events":[{"introduced":"0"}]}]}`,
		`{"package": {"ecosystem": "npm", "name": "p"}, "affects": {"versions": ["1.1"], "ranges": [{"type": "SEMVER", "introduced": "1.0", "fixed": "1.2"}, {"type": "SEMVER", "fixed": "0.9"}]}`:                                                                                                                                   `{"ranges":[{"type":"SEMVER","events":[{"introduced":"1.0"},{"fixed":"1.2"}]},{"type":"SEMVER","events":[{"introduced":"0"},{"fixed":"0.9"}]}],"versions":["1.1"]}`,
		npm(`"ranges": [{"type": "GIT", "events": [{"introduced": "0"}]}]`) + `]`: `{}`,
		`{"package": {"ecosystem": "npm", "name": "p"}`:                           `{}`,
	} {
		c := newFakeCore()
		_, r := importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), form+`, "id": "A-1"}`))
		r.check(t)
		got, err := json.Marshal(c.advisories["A-1 p npm"].Affected)
		if err != nil || string(got) != want {
			t.Errorf("%s\naffects %s, %v, want %s", form, got, err, want)
		}
	}
}

// What the feeds say of the versions that they name must come out of their ranges. These are the exceptions, all in the data:
// a fix can be affected by another range (GO-2025-3442), by the next part of its own, which begins where the one before ends (BIT-tomcat-2020-13943),
// or because it is listed (PYSEC-2021-114); a part can end where it begins (BIT-discourse-2026-27454); and lists
// have pre-releases, texts that are no versions, and fixes that a new release withdrew (PYSEC-2023-61, PYSEC-2021-121, PYSEC-2023-177).
func TestTheRangesOfRealRecordsContainTheVersionsThatTheyName(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]map[string]int{
		osvData:     {"begins": 0, "fixed": 21, "listed": 0},
		bitnamiData: {"begins": 66, "fixed": 60, "listed": 0},
		pypaData:    {"begins": 2, "fixed": 4, "listed": 11},
	} {
		skipWithout(t, path)
		c := newFakeCore()
		importOSVFile(t, c, path)
		got := map[string]int{"begins": 0, "fixed": 0, "listed": 0}
		for _, a := range c.advisories {
			countNamedVersions(a, got)
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s: %v, want %v", path, got, want)
		}
	}
}

// countNamedVersions counts the versions that begin a range and are not affected, those that fix an advisory and
// are affected by it, and those that are listed and in no range.
func countNamedVersions(a *inventory.Advisory, counts map[string]int) {
	all, ranges := a.Affected.Matcher(a.ArtifactType), affected.Set{Ranges: a.Affected.Ranges}
	for _, r := range ranges.Ranges {
		for _, e := range r.Events {
			if e.Introduced != "" && e.Introduced != "0" && !all.Affects(e.Introduced) {
				counts["begins"]++
			}
			if e.Fixed != "" && all.Affects(e.Fixed) {
				counts["fixed"]++
			}
		}
	}
	for _, v := range a.Affected.Versions {
		if m := ranges.Matcher(a.ArtifactType); len(ranges.Ranges) > 0 && !m.Affects(v) {
			counts["listed"]++
		}
	}
}

// If the time to read a record grew with the square of its length, this test would take minutes.
func TestARecordMayHaveVeryManyFixes(t *testing.T) {
	t.Parallel()
	const fixes = 100_000
	var versions osvRange
	versions.Events = make([]affected.Event, 2*fixes)
	for i := range versions.Events {
		versions.Events[i].Fixed = fmt.Sprint("1.", i/2)
	}
	record := osvRecord{ID: "A-1", Affected: []osvAffected{{Package: &osvPackage{Name: "p"}, Ranges: []osvRange{versions}}}}
	if got := len(record.advisories()[0].Events); got != fixes+1 {
		t.Errorf("%d events, want the detection and %d fixes", got, fixes)
	}
}

func TestEveryFixOfTheGoVulnerabilityDatabaseArrives(t *testing.T) {
	t.Parallel()
	skipWithout(t, osvData)
	c := newFakeCore()
	importOSVFile(t, c, osvData)
	counts := map[string]int{}
	for _, a := range c.advisories {
		if !a.DeleteTime.IsZero() {
			counts["withdrawn"]++
		}
		if a.ComponentName != "" {
			counts["with components"]++
		}
		for _, e := range a.Events {
			counts[string(e.Type())+" "+string(e.ReviewState)]++
		}
	}
	for what, want := range osvCounts {
		if counts[what] != want {
			t.Errorf("%s: %d, want %d", what, counts[what], want)
		}
	}
	if len(counts) != len(osvCounts) {
		t.Errorf("counted %v, want %v of them", counts, len(osvCounts))
	}
}

// osvCounts has counts that other tools made from the data.
var osvCounts = map[string]int{
	"EVENT_TYPE_FILTER_DETECTION REVIEW_STATE_APPROVED": 1419,
	"EVENT_TYPE_FILTER_DETECTION REVIEW_STATE_PENDING":  4641,
	"EVENT_TYPE_FILTER_FIXED REVIEW_STATE_APPROVED":     1731,
	"EVENT_TYPE_FILTER_FIXED REVIEW_STATE_PENDING":      4433,
	"with components": 1088,
	"withdrawn":       19,
}

func TestZeroTimestampsAreAbsent(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), `{"id": "GO-1", "modified": "0001-01-01T00:00:00Z",
		"published": "0001-01-01T00:00:00Z", "affected": [{"package": {"ecosystem": "Go", "name": "p"}, "ranges": [{"events": [{"fixed": "1"}]}]}]}`))
	a := c.advisories["GO-1 p Go"]
	if !a.CreateTime.IsZero() || !a.UpdateTime.IsZero() || !a.DeleteTime.IsZero() || !a.Events[0].CreateTime.IsZero() {
		t.Errorf("advisory has times: %+v", a)
	}
}

func TestTheFirstVersionsOfTheSchemaAreRead(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), `{"id": "GO-2020-1", "package": {"ecosystem": "Go", "name": "p"},
		"affects": {"ranges": [{"type": "SEMVER", "fixed": "1.2", "events": [{"fixed": "1.2"}]}]}, "ecosystem_specific": {"url": "x"}}`))
	if a := c.advisories["GO-2020-1 p Go"]; a == nil || len(a.Events) != 2 || a.Events[1].Fixed.FixedVersion != "1.2" || a.Origin != "Go" || a.ArtifactType != "Go" {
		t.Errorf("imported %+v, want 2 events, FixedVersion '1.2', Origin 'Go' and ArtifactType 'Go'", a)
	}
}

// The oldest records have one event of each kind in a range, and may leave out the introduction.
func TestRangesOfTheOldestFormAreRead(t *testing.T) {
	t.Parallel()
	for affects, want := range map[string]string{
		`{"ranges": [{"type": "ECOSYSTEM", "introduced": "1.0.0", "fixed": "1.2.0"}]}`:                           "1.2.0 ADVISORY_STATE_FIXED",
		`{"ranges": [{"type": "SEMVER", "fixed": "1.2.0"}]}`:                                                     "1.2.0 ADVISORY_STATE_FIXED",
		`{"ranges": [{"type": "SEMVER", "fixed": "1.2.0"}, {"type": "SEMVER", "introduced": "2.0.0"}]}`:          "1.2.0 ADVISORY_STATE_OPEN",
		`{"ranges": [{"type": "GIT", "repo": "r", "introduced": "abc", "fixed": "def"}], "versions": ["1.0"]}`:   "def ADVISORY_STATE_FIXED",
		`{"ranges": [{"type": "SEMVER", "introduced": "1", "events": [{"introduced": "1"}, {"fixed": "1.3"}]}]}`: "1.3 ADVISORY_STATE_FIXED",
	} {
		c := newFakeCore()
		_, r := importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), `{"id": "TSU-1", "modified": "2021-04-01T00:00:00Z", "package": {"ecosystem": "PyPI", "name": "p"}, "affects": `+affects+`}`))
		r.check(t)
		a := c.advisories["TSU-1 p PyPI"]
		if a == nil {
			t.Errorf("%s: imported %v", affects, keysOf(c.advisories))
			continue
		}
		got := ""
		for _, e := range a.Events {
			if e.Fixed != nil {
				got += e.Fixed.FixedVersion + " "
			}
		}
		if got += string(a.State()); got != want {
			t.Errorf("%s: %s, want %s", affects, got, want)
		}
	}
}

// A record in both forms names its package in both, but nothing makes it do so.
func TestBothFormsOfARecordAreRead(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	for _, record := range []string{
		`{"id": "A-1", "package": {"ecosystem": "PyPI", "name": "old"}, "affects": {"ranges": [{"type": "ECOSYSTEM", "fixed": "1.2"}]},
			"affected": [{"package": {"ecosystem": "npm", "name": "new"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}]}]}]}`,
		`{"id": "A-2", "package": {"ecosystem": "PyPI", "name": "p"}, "affects": {"ranges": [{"type": "ECOSYSTEM", "fixed": "1.2"}]},
			"affected": [{"package": {"ecosystem": "PyPI", "name": "p"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"fixed": "1.3"}]}]}]}`,
	} {
		_, r := importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), record))
		r.check(t)
	}
	if got := strings.Join(keysOf(c.advisories), ", "); got != "A-1 new npm, A-1 old PyPI, A-2 p PyPI" {
		t.Fatalf("imported %s", got)
	}
	if events := c.advisories["A-2 p PyPI"].Events; len(events) != 2 || events[1].Fixed.FixedVersion != "1.3" {
		t.Errorf("A-2 has %+v, want what the new form says, 1.3", events)
	}
}

func TestPackagesOfOneNameInSeveralEcosystemsHaveAdvisoriesOfTheirOwn(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	_, r := importOSVFile(t, c, write(t, filepath.Join(t.TempDir(), "a.json"), `{"id": "A-1", "affected": [
		{"package": {"ecosystem": "npm", "name": "p"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "3.4.1"}]}]},
		{"package": {"ecosystem": "NuGet", "name": "P"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]},
		{"package": {"ecosystem": "NuGet", "name": "p"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "9"}]}]},
		{"package": {"ecosystem": "Maven", "name": "p"}}, {"package": {"ecosystem": "Maven", "name": "P"}},
		{"package": {"ecosystem": "RubyGems", "name": "p"}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}, {"fixed": "4.3.1"}]}]}]}`))
	r.check(t)
	fixes := map[string]string{}
	for name, a := range c.advisories {
		for _, e := range a.Events {
			if e.Fixed != nil {
				fixes[name] += e.Fixed.FixedVersion
			}
		}
		fixes[name] += string(a.LatestEventType())
	}
	want := map[string]string{
		"A-1 p npm": "3.4.1EVENT_TYPE_FILTER_FIXED", "A-1 P NuGet": "9EVENT_TYPE_FILTER_DETECTION", "A-1 p RubyGems": "4.3.1EVENT_TYPE_FILTER_FIXED",
		"A-1 p Maven": "EVENT_TYPE_FILTER_DETECTION", "A-1 P Maven": "EVENT_TYPE_FILTER_DETECTION",
	}
	if !reflect.DeepEqual(fixes, want) {
		t.Errorf("imported %v, want %v", fixes, want)
	}
}

func TestBadRecordsAreReportedWithTheirPlaceAndTheRestIsImported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"a.json":       `{"id": "OK-1"}`,
		"b.json":       `{"id": "X",`,
		"c.json":       `{"summary": "none"}`,
		"c2.json":      `{"id": "X", "affects": {"ranges": [{"type": "SEMVER", "fixed": "1"}]}}`,
		"d.json":       `{"id": "X", "affected": [{"package": {"ecosystem": "Go"}}]}`,
		"e.json":       `{"id": "X", "published": "yesterday"}`,
		"f.json":       `{"id": "X", "summary": "\\\u0000"}`,
		"g.json":       `[1]`,
		"h.json":       `{"id": "X", "aliases": "CVE-1"}`,
		"i/j.json":     `{"id": "OK-2", "summary": "says \\u0000"}`,
		"refused.JSON": `{"id": "REFUSED"}`,
		"LICENSE":      "not JSON",
	} {
		write(t, filepath.Join(dir, name), content)
	}
	c := newFakeCore()
	c.rejected = "REFUSED"
	sum, r := importOSVFile(t, c, dir)
	in := func(name string) string { return filepath.Join(dir, name) + ": " }
	r.check(t,
		in("b.json")+"is not JSON: byte 11: unexpected end of JSON input",
		in("c.json")+"has no id",
		in("c2.json")+"affects: needs the field package beside it; or use affected instead",
		in("d.json")+"affected[0].package has no name",
		in("e.json")+"published: must be an RFC 3339 timestamp such as 2026-03-27T13:55:00.785Z",
		in("f.json")+"contains the character U+0000, which no text may contain",
		in("g.json")+"must be a JSON object",
		in("h.json")+"aliases: must not be of the type string",
		in("refused.JSON")+"is rejected",
	)
	if got := keysOf(c.vulnerabilities); !slices.Equal(got, []string{"OK-1", "OK-2"}) {
		t.Errorf("imported %v, want %v", got, []string{"OK-1", "OK-2"})
	}
	if sum.Unreadable != 8 || sum.Failed() != 9 {
		t.Errorf("%d unreadable, want 8, %d failed, want 9", sum.Unreadable, sum.Failed())
	}
}

func TestPathsThatCannotBeReadAreAllReportedBeforeAnythingIsImported(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := write(t, filepath.Join(dir, "good.json"), `{"id": "B-1"}`)
	text := write(t, filepath.Join(dir, "a.txt"), "text")
	c := newFakeCore()
	_, err := importOSV(t.Context(), c.destination(), []string{good, filepath.Join(dir, "none"), text}, Options{})
	if err == nil || !strings.Contains(err.Error(), "none") || !strings.Contains(err.Error(), "a.txt: must be a folder or") {
		t.Errorf("error %v, want an error with 'none'", err)
	}
	if len(c.vulnerabilities) > 0 {
		t.Error("something was imported")
	}
}

func TestAFailingStoreEndsTheImport(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	c.err = errors.New("is unavailable")
	_, err := importOSV(t.Context(), c.destination(), []string{write(t, filepath.Join(t.TempDir(), "a.json"), fullOSV)}, Options{})
	if !errors.Is(err, c.err) {
		t.Errorf("error %v, want %v", err, c.err)
	}
}

// What is stored of a record tells its time. Of one that names no package nothing is, so the import itself compares the others in its archive with it.
func TestAnOlderRecordAddsNothingToOneThatNamesNoPackage(t *testing.T) {
	t.Parallel()
	folder, c := t.TempDir(), newFakeCore()
	for n, record := range []string{
		`{"id": "A-1", "modified": "2026-01-03T00:00:00Z", "affected": []}`,
		`{"id": "A-1", "modified": "2026-01-01T00:00:00Z", "affected": []}`,
		`{"id": "A-1", "modified": "2026-01-02T00:00:00Z", "affected": [{"package": {"ecosystem": "npm", "name": "p"}}]}`,
		`{"id": "A-2", "modified": "2026-01-01T00:00:00Z", "affected": []}`,
		`{"id": "A-2", "modified": "2026-01-02T00:00:00Z", "affected": [{"package": {"ecosystem": "npm", "name": "p"}}]}`,
	} {
		write(t, filepath.Join(folder, fmt.Sprintf("%d.json", n)), record)
	}
	sum, err := importOSV(t.Context(), c.destination(), []string{folder}, Options{})
	if err != nil || strings.Join(keysOf(c.advisories), ", ") != "A-2 p npm" {
		t.Errorf("imported %v (%v), want A-2 p npm", keysOf(c.advisories), err)
	}
	checkKinds(t, sum, KindCounts{Name: "advisories", Added: 1, Unchanged: 1}, KindCounts{Name: "vulnerability metadata", Added: 2, Updated: 3})
}
