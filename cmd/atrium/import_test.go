package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/internal/ingest"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// data is a folder next to the clone. It may not exist.
const data = "../../../shared/data/"

func requireFile(t *testing.T, path string) {
	t.Helper()
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		t.Skip(path + " is not there")
	}
}

// bootstrap creates an organization and returns its UID.
func bootstrap(t *testing.T, url string) string {
	t.Helper()
	var made map[string]core.UID
	if err := json.Unmarshal([]byte(mustRun(t, url, "admin", "bootstrap", "--org", "acme", "--issuer", "https://issuer.example", "--subject", "me")), &made); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"group", "identity", "roleBinding"} {
		if !made[name].Valid() {
			t.Fatalf("bootstrap printed %v", made)
		}
	}
	return string(made["group"])
}

var spaces = regexp.MustCompile(` +`)

// expectSummary expects these lines in a summary.
func expectSummary(t *testing.T, out string, want ...string) {
	t.Helper()
	var got []string
	for line := range strings.Lines(out) {
		got = append(got, strings.TrimSpace(spaces.ReplaceAllString(line, " ")))
	}
	if want = append([]string{"added updated unchanged failed"}, want...); !slices.Equal(got, want) {
		t.Errorf("summary\n%s\nwant\n%s", out, strings.Join(want, "\n"))
	}
}

func TestRealDataIsImportedOnceAndServed(t *testing.T) {
	t.Parallel()
	requireFile(t, data)
	demonstration.EachURL(t, func(t *testing.T, url string) {
		if slowSQLite && strings.HasPrefix(url, "sqlite:") {
			t.Skip("the race detector makes SQLite too slow for so much")
		}
		server := start(t, url, "--dev") // Imports work while a server runs.
		acme := demoUID(t, server)
		expectSummary(t, mustRun(t, url, "import", "osv", "--group", acme, data+"osv-go.tar.gz"), "6060 0 0 0 advisories", "4291 0 0 0 vulnerability metadata")
		expectSummary(t, mustRun(t, url, "import", "registry", "--group", acme, data+"registry.jsonl.gz"), "144 0 0 0 repos", "9849 0 0 0 tags", "2057 0 0 0 images")
		expectSummary(t, mustRun(t, url, "import", "osv", "--group", acme, data+"osv-go.tar.gz"), "0 0 6060 0 advisories", "0 0 4291 0 vulnerability metadata")
		expectSummary(t, mustRun(t, url, "import", "registry", "--group", acme, data+"registry.jsonl.gz"), "0 0 144 0 repos", "0 0 9849 0 tags", "0 0 2057 0 images")

		token := strings.TrimSpace(mustRun(t, url, "token"))
		_, body := server.get(token, "/registry/v2/repos?uidp.descendants_of="+acme+"&page_size=3&order_by=name")
		if names, total := repoNames(t, body); !slices.Equal(names, []string{"adminer", "aerospike", "almalinux"}) || total != "156" {
			t.Errorf("the list starts with %v of %s, want 156", names, total)
		}
		_, body = server.get(token, "/registry/v2/repos?uidp.descendants_of="+acme+"&name=golang")
		if names, total := repoNames(t, body); !slices.Equal(names, []string{"golang"}) || total != "1" {
			t.Errorf("golang is %v of %s, want 1", names, total)
		}
		checkCursors(t, server, token, acme)
		var counted struct{ Advisories struct{ TotalCount int } }
		if server.query(token, `{ advisories(where: {artifactNames: ["stdlib"]}) { totalCount } }`, "", &counted); counted.Advisories.TotalCount != 168 { // One is of the demonstration.
			t.Errorf("%d advisories of stdlib through GraphQL, want 168", counted.Advisories.TotalCount)
		}
		if _, body = server.get(token, "/vulnerabilities/v2/advisories?artifact_names=stdlib&page_size=1"); !strings.Contains(body, `"totalCount":"168"`) {
			t.Errorf("advisories of stdlib: %.300s, want it to contain %q", body, `"totalCount":"168"`)
		}
		if out := mustRun(t, url, "admin", "recount"); !strings.HasPrefix(out, "0 ") {
			t.Errorf("recount: %s, want it to begin with '0 '", out)
		}
	})
}

// The samples of the guide give findings, which the catalogs describe.
func TestTheSamplesOfTheGuideHaveFindings(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		const samples = "../../docs/samples/"
		acme := bootstrap(t, url)
		imported := func(command string, args ...string) string {
			t.Helper()
			return mustRun(t, url, append(importWords(command), args...)...)
		}
		expectSummary(t, imported("osv", "--group", acme, samples+"advisories.json"), "1 0 0 0 advisories", "1 0 0 0 vulnerability metadata")
		expectSummary(t, imported("registry", "--group", acme, samples+"registry.jsonl"), "1 0 0 0 repos", "2 0 0 0 tags", "1 0 0 0 images")
		expectSummary(t, imported("sbom", "--group", acme, samples+"sbom.json"), "1 0 0 0 SBOMs")
		expectSummary(t, imported("kev", samples+"kev.json"), "1 0 0 0 known exploited vulnerabilities")
		expectSummary(t, imported("epss", samples+"epss.csv"), "1 0 0 0 scores")
		expectSummary(t, imported("sbom", "--image", "acme/sample-api@sha256:"+strings.Repeat("1", 64), samples+"sbom.json"), "0 0 1 0 SBOMs")
		const untagged = "images without a tag: 1;"
		if tagged, other := imported("sbom", "--group", acme, samples+"sbom.json"), imported("sbom", "--image", "acme/sample-api@sha256:"+strings.Repeat("7", 64), samples+"sbom.json"); strings.Contains(tagged, untagged) || !strings.Contains(other, untagged) {
			t.Errorf("the imports of an SBOM of an image with a tag, and without one, say\n%s%s", tagged, other)
		}
		p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{})
		if err != nil {
			t.Fatal(err)
		}
		operator := core.WithActor(t.Context(), core.NewOperator("test"))
		page, err := p.Findings.List(operator, core.ListRequest[*inventory.FindingFilter]{UIDP: core.UIDFilter{DescendantsOf: core.UID(acme)}})
		if err != nil || len(page.Items) != 1 {
			t.Fatalf("%d findings (%v), want 1", len(page.Items), err)
		}
		f := page.Items[0]
		if f.Basis != inventory.BasisVersion || f.InstalledVersion != "v1.4.0" || !slices.Equal(f.FixedVersions, []string{"1.4.2"}) || !f.KnownExploited || f.EPSS == nil || *f.EPSS != 0.42137 {
			t.Errorf("the finding is %+v", f)
		}
		for args, want := range map[string]string{
			"sbom x.json": "group", "sbom --image acme/sample-api x.json": "image", "sbom --group " + acme + " --image a@sha256:1 x.json": "64 hex",
			"sbom --image acme/none@sha256:" + strings.Repeat("1", 64) + " x.json": "Not found",
			"oci --sboms some --group " + acme + " x.example":                      "sboms",
		} {
			_, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, append(importWords(strings.Fields(args)[0]), strings.Fields(args)[1:]...)...)
			if err == nil || !strings.Contains(errOut+err.Error(), want) {
				t.Errorf("%s: %v %s, want %s", args, err, errOut, want)
			}
		}
	})
}

// checkCursors uses a GraphQL cursor in REST, and a REST token in GraphQL.
func checkCursors(t *testing.T, server *running, token, acme string) {
	t.Helper()
	const page = `query Page($in: UID!, $after: String) { repos(within: $in, orderBy: {field: NAME}, first: 3, after: $after) { nodes { name } pageInfo { endCursor } } }`
	var got struct {
		Repos struct {
			Nodes    []struct{ Name string }
			PageInfo struct{ EndCursor string }
		}
	}
	list := "/registry/v2/repos?uidp.descendants_of=" + acme + "&page_size=3&order_by=name&page_token="
	server.query(token, page, `{"in": "`+acme+`"}`, &got)
	_, body := server.get(token, list+got.Repos.PageInfo.EndCursor)
	second, _ := repoNames(t, body)
	var rest struct{ NextPageToken string }
	if err := json.Unmarshal([]byte(body), &rest); err != nil {
		t.Fatal(err)
	}
	server.query(token, page, `{"in": "`+acme+`", "after": "`+rest.NextPageToken+`"}`, &got)
	third := []string{}
	for _, n := range got.Repos.Nodes {
		third = append(third, n.Name)
	}
	if !slices.Equal(second, []string{"alpine", "alt", "amazoncorretto"}) || !slices.Equal(third, []string{"amazonlinux", "api-firewall", "arangodb"}) {
		t.Errorf("page 2 is %v, page 3 %v, want %v and %v", second, third, []string{"alpine", "alt", "amazoncorretto"}, []string{"amazonlinux", "api-firewall", "arangodb"})
	}
}

func TestALaterModifiedUpdatesAndBadRecordsFailTheCommand(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		acme := bootstrap(t, url)
		file := filepath.Join(t.TempDir(), "a.json")
		record := func(modified, fixed string) {
			content := `{"id": "GO-1", "modified": "` + modified + `", "affected": [{"package": {"ecosystem": "Go", "name": "p"}, "ranges": [{"events": [{"fixed": "` + fixed + `"}]}]}]}`
			if err := os.WriteFile(file, []byte(content), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		record("2024-02-01T00:00:00Z", "1.0")
		expectSummary(t, mustRun(t, url, "import", "osv", "--group", acme, file), "1 0 0 0 advisories", "1 0 0 0 vulnerability metadata")
		record("2024-01-01T00:00:00Z", "0.9")
		expectSummary(t, mustRun(t, url, "import", "osv", "--group", acme, file), "0 0 1 0 advisories", "0 0 1 0 vulnerability metadata")
		record("2024-03-01T00:00:00Z", "1.1")
		expectSummary(t, mustRun(t, url, "import", "osv", "--group", acme, file), "0 1 0 0 advisories", "0 0 1 0 vulnerability metadata")

		record("never", "1")
		out, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "import", "osv", "--group", acme, file)
		if exitCode(err) != 1 || !strings.Contains(errOut, file+": modified: must be") {
			t.Errorf("got %v\n%s, want exit code 1", err, errOut)
		}
		expectSummary(t, out, "0 0 0 0 advisories", "0 0 0 0 vulnerability metadata", "1 unreadable")
	})
}

func TestAnImportThatStopsSaysHowItGoesOn(t *testing.T) {
	t.Parallel()
	interrupted, interrupt := context.WithCancel(t.Context())
	interrupt()
	at := func(err error) error {
		return &ingest.StoppedError{At: ingest.Place{File: "a.jsonl", Line: 7}, Err: err}
	}
	full := fmt.Errorf("import tags: %w", core.Unavailable("the disk of the database is full; make room", nil))
	const goesOn = "; the imported records stay; run the same command again to import the rest"
	for _, c := range []struct {
		ctx  context.Context //nolint:containedctx // a case
		err  error
		want string
	}{
		{interrupted, at(context.Canceled), "interrupted at a.jsonl:7" + goesOn},
		{interrupted, context.Canceled, "interrupted" + goesOn},
		{t.Context(), at(full), "stopped at a.jsonl:7: import tags: Unavailable: the disk of the database is full; make room" + goesOn},
		{t.Context(), at(&core.Error{Code: core.CodeNotFound, Message: "Not found: Group x"}), "stopped at a.jsonl:7: Not found: Group x"},
		{t.Context(), fs.ErrNotExist, fs.ErrNotExist.Error()},
	} {
		if got := explainStop(c.ctx, c.err); got.Error() != c.want {
			t.Errorf("got  %v\nwant %s", got, c.want)
		}
	}
}

func TestAFeedForAllIsImportedWithoutAGroup(t *testing.T) {
	t.Parallel()
	demonstration.EachURL(t, func(t *testing.T, url string) {
		server := start(t, url, "--dev")
		token := strings.TrimSpace(mustRun(t, url, "token"))
		file := filepath.Join(t.TempDir(), "a.json")
		record := `{"id": "GO-9999-1", "modified": "2024-02-01T00:00:00Z", "affected": [{"package": {"ecosystem": "Go", "name": "example.com/feed"}}]}`
		if err := os.WriteFile(file, []byte(record), 0o600); err != nil {
			t.Fatal(err)
		}
		expectSummary(t, mustRun(t, url, "import", "osv", file), "1 0 0 0 advisories", "1 0 0 0 vulnerability metadata")
		expectSummary(t, mustRun(t, url, "import", "osv", file), "0 0 1 0 advisories", "0 0 1 0 vulnerability metadata")
		if _, body := server.get(token, "/advisory/v2/documents?id=example.com/feed"); !strings.Contains(body, `"id":"GO-9999-1"`) {
			t.Errorf("the document is %.300s, want it to contain GO-9999-1", body)
		}
		if _, body := server.get(token, "/vulnerabilities/v2/advisories?advisoryIds=GO-9999-1"); !strings.Contains(body, `"totalCount":"0"`) {
			t.Errorf("the advisories of groups are %.300s, want none", body)
		}
		if out := mustRun(t, url, "admin", "recount"); !strings.HasPrefix(out, "0 ") {
			t.Errorf("recount: %s, want it to begin with '0 '", out)
		}
	})
}

func TestTagsMoveAndBadOnesAreNamed(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		acme := bootstrap(t, url)
		file := filepath.Join(t.TempDir(), "a.jsonl")
		imported := func(lines ...string) (string, string, error) {
			if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
				t.Fatal(err)
			}
			return atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "import", "registry", "--no-events", "--group", acme, file)
		}
		tag := func(repo, name, digest string) string {
			return `{"kind": "tag", "repo": "` + repo + `", "name": "` + name + `", "digest": "sha256:` + strings.Repeat(digest, 64) + `"}`
		}
		image := `{"kind": "image", "repo": "r", "digest": "sha256:` + strings.Repeat("0", 64) + `", "architectures": []}`
		out, _, err := imported(tag("r", "1", "0"), `{"kind": "repo", "name": "r"}`, image)
		if err != nil {
			t.Fatal(err)
		}
		expectSummary(t, out, "1 0 0 0 repos", "1 0 0 0 tags", "1 0 0 0 images")
		out, errOut, err := imported(tag("r", "1", "1"), tag("r", "a b", "x"), image, tag("none", "1", "1"), `{"kind": "repo", "name": "R"}`)
		expectSummary(t, out, "0 0 0 1 repos", "0 1 0 2 tags", "0 0 1 0 images")
		if exitCode(err) != 1 || !strings.Contains(err.Error(), "3 records were not imported") {
			t.Errorf("error %v, want an error with '3 records were not imported'", err)
		}
		for _, place := range []string{file + ":2: Invalid argument: name: name must match", "; digest: must match", file + ":4: repo: ", file + ":5: Invalid argument: name"} {
			if !strings.Contains(errOut, place) {
				t.Errorf("no %q in\n%s", place, errOut)
			}
		}
	})
}

// A tag without a repo must not become one of any repo of the group.
func TestTagsAndImagesWithoutARepoAreRejected(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		acme := bootstrap(t, url)
		file := filepath.Join(t.TempDir(), "a.jsonl")
		digest := `"sha256:` + strings.Repeat("0", 64) + `"`
		lines := []string{`{"kind": "repo", "name": "alpine"}`, `{"kind": "tag", "name": "latest", "digest": ` + digest + `}`, `{"kind": "image", "digest": ` + digest + `}`}
		if err := os.WriteFile(file, []byte(strings.Join(lines, "\n")), 0o600); err != nil {
			t.Fatal(err)
		}
		out, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "import", "registry", "--group", acme, file)
		expectSummary(t, out, "1 0 0 0 repos", "0 0 0 1 tags", "0 0 0 1 images")
		if exitCode(err) != 1 || !strings.Contains(errOut, file+":2: repo: is required") || !strings.Contains(errOut, file+":3: repo: is required") {
			t.Errorf("got %v\n%s, want exit code 1 and 'repo: is required' for lines 2 and 3", err, errOut)
		}
	})
}

func TestAnImportIntoAMissingGroupFails(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	bootstrap(t, url)
	file := filepath.Join(t.TempDir(), "a.jsonl")
	if err := os.WriteFile(file, []byte(`{"kind": "repo", "name": "r"}`), 0o600); err != nil {
		t.Fatal(err)
	}
	_, _, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "import", "registry", "--group", strings.Repeat("0", 40), file)
	if err == nil || !strings.Contains(err.Error(), "Not found: group "+strings.Repeat("0", 40)) {
		t.Errorf("error %v", err)
	}
}

func TestProgressShowsRateAndRemainingTime(t *testing.T) {
	t.Parallel()
	got := progressText(ingest.Progress{Records: 500, Read: 25, Total: 100}, 2*time.Second)
	if got != "500 records, 250/s, 25%, 6s left" {
		t.Errorf("got %q, want %q", got, "500 records, 250/s, 25%, 6s left")
	}
	var out bytes.Buffer
	m := newMeter(&out)
	m.start, m.shown = m.start.Add(-time.Minute), m.shown.Add(-time.Minute)
	m.show(ingest.Progress{Records: 60, Read: 1, Total: 2})
	m.show(ingest.Progress{Records: 61, Read: 1, Total: 2})
	m.print("a bad record")
	m.terminal = true
	m.shown = m.start
	m.show(ingest.Progress{Records: 120})
	m.finish()
	want := regexp.MustCompile(`^60 records, 1/s, 50%, 1m0s left\na bad record\n\r\x1b\[K120 records, 2/s\r\x1b\[K120 records in 1m0[.\d]*s, 2/s\n$`)
	if !want.MatchString(out.String()) {
		t.Errorf("wrote %q", out.String())
	}
	out.Reset()
	one := newMeter(&out)
	one.last.Records = 1
	one.finish()
	if !strings.HasPrefix(out.String(), "1 record in ") {
		t.Errorf("for one record it wrote %q", out.String())
	}
}

func TestArtifactsAreImportedOnceAndBadLinesReported(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		file := filepath.Join(t.TempDir(), "libraries.jsonl")
		lines := `{"ecosystem": "JAVA", "name": "a:b", "versions": [{"version": "1.10"}, {"version": "1.9"}]}` + "\n" + `{"ecosystem": "PYTHON", "name": "c"}` + "\n"
		if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
			t.Fatal(err)
		}
		expectSummary(t, mustRun(t, url, "admin", "import", "artifacts", file), "2 0 0 0 artifacts", "2 0 0 0 versions")
		expectSummary(t, mustRun(t, url, "admin", "import", "artifacts", file), "0 0 2 0 artifacts", "0 0 2 0 versions")
	})
}

// The server of this machine has the address already. An import that shares its settings must not fail.
func TestAnImportBesideAServerDoesWithoutMetrics(t *testing.T) {
	t.Parallel()
	taken, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer taken.Close()
	url, address := storetest.SQLite(t), taken.Addr().String()
	libraries := writeFile(t, "libraries.jsonl", `{"ecosystem": "JAVA", "name": "com.example:parser", "versions": []}`+"\n")
	settings := writeFile(t, "c.yaml", "metrics-addr: "+address)
	const used = "another program already uses this address"
	for from, env := range map[string]map[string]string{
		"$ATRIUM_METRICS_ADDR": {"ATRIUM_DATABASE_URL": url, "ATRIUM_METRICS_ADDR": address},
		settings:               {"ATRIUM_DATABASE_URL": url, "ATRIUM_CONFIG": settings},
	} {
		_, said, err := atrium(t, env, "admin", "import", "artifacts", libraries)
		if err != nil || !strings.Contains(said, "the import serves no metrics: cannot listen on --metrics-addr "+address+": "+used) || !strings.Contains(said, "(the address is from "+from+")") {
			t.Errorf("with the address from %s: %v\n%s, want a warning that names the source", from, err, said)
		}
	}
	_, _, err = atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, "admin", "import", "artifacts", "--metrics-addr", address, libraries)
	if exitCode(err) != 1 || !strings.Contains(err.Error(), "--metrics-addr "+address+": "+used) {
		t.Errorf("with the flag: %v, want an error that names it", err)
	}
}
