package rest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

const (
	crowdImages   = 25
	crowdPackages = 200
)

// crowd fills a repo with findings: each image holds every package, and each package has an advisory.
func (w *world) crowd() (repo core.UID) {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	repo = core.UID(w.create("/registry/v2/repos/"+w.org, `{"name": "crowd"}`))
	advisories := make([]*inventory.Advisory, crowdPackages)
	held := make([]inventory.InstalledPackage, crowdPackages)
	for i := range held {
		name := fmt.Sprintf("package-%d", i)
		held[i] = inventory.InstalledPackage{Name: name, Version: "1.0.0", Ecosystem: "npm", PURL: "pkg:npm/" + name + "@1.0.0"}
		advisories[i] = &inventory.Advisory{AdvisoryID: fmt.Sprintf("CVE-%d", i), ArtifactName: name, ArtifactType: "npm",
			Events: []inventory.AdvisoryEvent{{Fixed: &inventory.Fixed{FixedVersion: "1.0.1"}}}}
	}
	documents := make([]*registry.ImportedSBOM, crowdImages)
	for i := range documents {
		digest := fmt.Sprintf("sha256:%064x", i)
		documents[i] = &registry.ImportedSBOM{Repo: repo, Digest: digest, Format: "CycloneDX 1.5", Packages: held}
		w.create("/registry/v2/tags/"+string(repo), fmt.Sprintf(`{"name": "v%d", "digest": %q}`, i, digest))
	}
	_, err := w.p.Feeds.ImportAdvisories(ctx, core.UID(w.org), advisories)
	if err == nil {
		_, err = w.p.Registry.ImportSBOMs(ctx, documents)
	}
	if err == nil {
		err = w.p.Findings.Settle(ctx)
	}
	if err != nil {
		w.t.Fatal(err)
	}
	return repo
}

// file reads a file, and the error with which it ends.
func (w *world) file(path string, headers ...string) (answer *http.Response, text string, err error) {
	w.t.Helper()
	r, err := http.NewRequestWithContext(w.t.Context(), http.MethodGet, w.server.URL+path, http.NoBody)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("X-Subject", theOwner)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err = w.server.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	body, err := io.ReadAll(answer.Body)
	return answer, string(body), err
}

func TestListsAreExportedAsFiles(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.crowd()
	const all = crowdImages * crowdPackages
	for _, c := range []struct {
		path, accept, media, name string
		lines                     int
	}{
		{"/export/findings", "", "application/x-ndjson", "findings.ndjson", all},
		{"/export/findings?within=" + w.org, "*/*", "application/x-ndjson", "findings.ndjson", all},
		{"/export/findings?within=" + string(repo), "text/csv", "text/csv", "findings.csv", 1 + all},
		{"/export/findings?format=csv&packages=package-1&packages=package-2", "application/json", "text/csv", "findings.csv", 1 + 2*crowdImages},
		{"/export/findings?vulnerability_ids=CVE-7&orderBy=epss%20desc", "text/html, application/json;q=0.5, text/csv;q=0.1", "application/json", "findings.json", crowdImages + 1},
		{"/export/findings?severities=SEVERITY_RATING_LOW", "text/*", "text/csv", "findings.csv", 1},
		{"/export/findings?knownExploited=true&min_epss=0.5&first_seen_since=2020-01-01T00:00:00Z&updatedSince=2020-01-01T00:00:00Z&fixable=true", "", "application/x-ndjson", "findings.ndjson", 0},
		{"/export/packages", "", "application/x-ndjson", "packages.ndjson", crowdPackages},
		{"/export/packages?names=package-1&format=csv", "", "text/csv", "packages.csv", 2},
	} {
		answer, text, err := w.file(c.path, "Accept", c.accept)
		if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != c.media || answer.Header.Get("Content-Disposition") != `attachment; filename="`+c.name+`"` {
			t.Fatalf("%s: %v %d %v %.300s", c.path, err, answer.StatusCode, answer.Header, text)
		}
		if got := strings.Count(text, "\n"); got != c.lines || answer.Header.Get("Cache-Control") != "no-store" {
			t.Errorf("%s: %d lines, want %d: %.300s", c.path, got, c.lines, text)
		}
	}
	if _, text, err := w.file("/export/findings?packages=package-1"); err != nil || strings.Count(text, `"link":"https://atrium.example.com/console/acme/~advisories?id=CVE-1"`) != crowdImages {
		t.Errorf("the links do not lead to the console: %v %.600s", err, text)
	}
	answer, text, err := w.file("/export/findings", "Accept", "application/sarif+json")
	if err != nil || answer.Header.Get("Content-Disposition") != `attachment; filename="findings.sarif"` || !json.Valid([]byte(text)) || strings.Count(text, `"ruleIndex"`) != all {
		t.Errorf("SARIF: %v %v %.300s", err, answer.Header, text)
	}
	if head := w.do(http.MethodHead, "/export/findings?format=csv", ""); head.status != http.StatusOK || head.header.Get("Content-Type") != "text/csv" {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
}

// The SBOM of an image is a file in two formats, and for another organization the image is not there.
func TestTheSBOMOfAnImageIsAFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	repo := w.crowd()
	digest := fmt.Sprintf("sha256:%064x", 1)
	for _, c := range []struct{ query, accept, media, name, want string }{
		{"image=acme/crowd@" + digest, "", "application/vnd.cyclonedx+json", "sbom.cdx.json", `"specVersion":"1.6"`},
		{"image=acme/crowd:v1&format=spdx", "", "application/spdx+json", "sbom.spdx.json", `"spdxVersion":"SPDX-2.3"`},
		{"image=" + string(repo) + ":v1&architecture=all", "application/spdx+json", "application/spdx+json", "sbom.spdx.json", `"spdxVersion":"SPDX-2.3"`},
	} {
		answer, text, err := w.file("/export/sbom?"+c.query, "Accept", c.accept)
		if err != nil || answer.StatusCode != http.StatusOK || answer.Header.Get("Content-Type") != c.media || answer.Header.Get("Content-Disposition") != `attachment; filename="`+c.name+`"` ||
			!json.Valid([]byte(text)) || !strings.Contains(text, c.want) || strings.Count(text, `"pkg:npm/package-`) != crowdPackages {
			t.Errorf("%s: %v %d %v %.500s", c.query, err, answer.StatusCode, answer.Header, text)
		}
	}
	if head := w.do(http.MethodHead, "/export/sbom?image=acme/crowd:v1", ""); head.status != http.StatusOK || head.header.Get("Content-Type") != "application/vnd.cyclonedx+json" {
		t.Errorf("HEAD: %d %v", head.status, head.header)
	}
	for _, c := range []struct {
		subject, query string
		status         int
		violations     string
	}{
		{theOwner, "", 400, "image"},
		{theOwner, "image=acme/crowd&format=json&limit=1", 400, "limit format image"},
		{theOwner, "image=acme/crowd:v1&image=acme/crowd:v2", 400, "image"},
		{theOwner, "image=acme/crowd:v1&architecture=arm64", 404, ""},
		{theOwner, "image=acme/crowd:v99", 404, ""},
		{theOwner, "image=acme/nothing:v1", 404, ""},
		{nobody, "image=acme/crowd:v1", 401, ""},
	} {
		got := w.sendAs(c.subject, http.MethodGet, "/export/sbom?"+c.query, "")
		if got.status != c.status || got.violations() != c.violations || got.header.Get("Content-Disposition") != "" || got.text("message") == "" {
			t.Errorf("%s for %s: %d %q, want %d %q: %s", c.query, c.subject, got.status, got.violations(), c.status, c.violations, got.raw)
		}
	}
}

// A value can be copied from a file into the query.
func TestAnExportTakesEnumsAsItsFilesHaveThem(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.crowd()
	for query, lines := range map[string]int{
		"states=OPEN&severities=CRITICAL&severities=UNKNOWN&basis=VERSION": crowdImages * crowdPackages, "states=ACCEPTED&states=NOT_AFFECTED": 0,
	} {
		if _, text, err := w.file("/export/findings?" + query); err != nil || strings.Count(text, "\n") != lines {
			t.Errorf("%s: %v, %d lines, want %d: %.300s", query, err, strings.Count(text, "\n"), lines, text)
		}
	}
	enums := 0
	for _, r := range exportRoutes(w.p, Options{}) {
		for _, p := range r.query {
			enum, isEnum := reflect.Zero(p.valueType).Interface().(interface{ Values() []string })
			if !isEnum {
				continue
			}
			enums++
			for _, value := range enum.Values() {
				last := strings.TrimPrefix(value, fieldmask.EnumPrefix(enum.Values()))
				for _, spelled := range []string{last, value} {
					if answer, text, err := w.file(r.pattern + "?packages=none&" + p.name + "=" + spelled); err != nil || answer.StatusCode != http.StatusOK {
						t.Errorf("%s=%s: %v %d %.300s", p.name, spelled, err, answer.StatusCode, text)
					}
				}
			}
		}
	}
	if enums == 0 {
		t.Error("no parameter of an export is an enum")
	}
}

func TestAnExportThatCannotBeginIsAStructuredError(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, c := range []struct {
		subject, method, path, accept string
		status                        int
		violations                    string
	}{
		{theOwner, "GET", "/export/findings?severities=BAD&format=xml&within=x&limit=3&minScore=a&fixable=maybe", "", 400, "limit minScore fixable format within severities"},
		{theOwner, "GET", "/export/packages?format=sarif", "", 400, "format"},
		{theOwner, "GET", "/export/findings?order_by=nothing", "", 400, "order_by"},
		{theOwner, "GET", "/export/findings?format=csv&format=json", "", 400, "format"},
		{theOwner, "GET", "/export/findings", "image/png", 406, "Accept"},
		{theOwner, "GET", "/export/findings", "text/csv;q=0", 406, "Accept"},
		{theOwner, "GET", "/export/findings?within=" + w.org + "/0000000000000001", "", 404, ""},
		{theOwner, "GET", "/export/findings?within=" + strings.Repeat("a", 40), "", 403, ""},
		{theOwner, "POST", "/export/findings", "", 405, ""},
		{theOwner, "GET", "/export/nothing", "", 404, ""},
		{"nobody at all", "GET", "/export/findings", "", 403, ""},
		{nobody, "GET", "/export/packages", "", 401, ""},
	} {
		got := w.sendAs(c.subject, c.method, c.path, "", "Accept", c.accept)
		if got.status != c.status || got.violations() != c.violations || got.header.Get("Content-Disposition") != "" || got.text("message") == "" {
			t.Errorf("%s for %s: %d %q, want %d %q: %s", c.path, c.subject, got.status, got.violations(), c.status, c.violations, got.raw)
		}
	}
}

// A cutStore fails after some lists of findings.
type cutStore struct {
	platform.Store
	lists int
}

type cutTable struct {
	core.Table[*inventory.Finding, *inventory.FindingFilter]
	store *cutStore
}

func (s *cutStore) Tables() platform.Tables {
	all := s.Store.Tables()
	all.Inventory.Findings = cutTable{all.Inventory.Findings, s}
	return all
}

func (c cutTable) List(ctx context.Context, on core.Conn, q core.Query[*inventory.FindingFilter]) (core.Rows[*inventory.Finding], error) {
	if c.store.lists--; c.store.lists < 0 {
		return core.Rows[*inventory.Finding]{}, errors.New("the disk is broken")
	}
	return c.Table.List(ctx, on, q)
}

func TestAFileThatEndsTooEarlyIsNoWholeFile(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	url := storetest.SQLite(t)
	cut := &cutStore{Store: storetest.Open(t, url), lists: 1 << 30}
	p, err := platform.New(t.Context(), cut, platform.Options{AllowSignup: true, AllowIssuers: true})
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Groups.Bootstrap(t.Context(), "acme", testIssuer, theOwner)
	if err != nil {
		t.Fatal(err)
	}
	w.p, w.org = p, string(made.Group.UID)
	w.server = httptest.NewServer(w.authenticate(New(p, Options{})))
	t.Cleanup(w.server.Close)
	w.crowd()
	for _, format := range []string{"ndjson", "csv", "json", "sarif"} {
		cut.lists = 3
		answer, text, err := w.file("/export/findings?format=" + format)
		if err == nil || answer.StatusCode != http.StatusOK || len(text) < exportBuffer {
			t.Errorf("%s: %v, %d, %d bytes; want an error after the beginning", format, err, answer.StatusCode, len(text))
		}
		if lines := strings.Split(strings.TrimSpace(text), "\n"); format == "ndjson" && (len(lines) != 601 || !strings.HasPrefix(lines[600], `{"error":{"code":13,`) || strings.Contains(lines[600], "disk")) {
			t.Errorf("the last of %d lines is %s", len(lines), lines[len(lines)-1])
		}
		cut.lists = 0
		if answer, text, err = w.file("/export/findings?format=" + format); err != nil || answer.StatusCode != http.StatusInternalServerError || !strings.Contains(text, `"code":13`) {
			t.Errorf("%s: %v, %d, %s; want a structured error before the beginning", format, err, answer.StatusCode, text)
		}
	}
}
