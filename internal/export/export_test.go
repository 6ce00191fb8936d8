package export

import (
	"bytes"
	"compress/gzip"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

const image = "sha256:1111111111111111111111111111111111111111111111111111111111111111"

func finding(n int, change func(*reports.ExportedFinding)) *reports.ExportedFinding {
	score, epss := 9.8, 0.5
	f := &reports.ExportedFinding{Finding: &inventory.Finding{
		UID: core.UID(fmt.Sprintf("%040x/%016x/%016x", 1, 2, n)), Repo: core.UID(fmt.Sprintf("%040x/%016x", 1, 2)), Digest: image,
		VulnerabilityID: fmt.Sprintf("CVE-2026-%d", n), Package: "openssl", Ecosystem: "Debian:12", InstalledVersion: "3.0.1", FixedVersions: []string{"3.0.2"},
		Severity: inventory.AdvisorySeverity{Rating: core.SeverityCritical, Score: &score}, EPSS: &epss, KnownExploited: true,
		Basis: inventory.BasisVersion, State: inventory.FindingOpen, FirstSeenTime: core.At(time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)),
	}, RepoName: "shop/api", RepoPath: "acme/shop/api", GroupNames: []string{"acme"}, Tags: []string{"1.0", "latest"}, Aliases: []string{"GHSA-1", "GO-1"}, Link: "https://example.com/advisory", Summary: "Reads too far, \"very\" far\n<b>"}
	if change != nil {
		change(f)
	}
	return f
}

// write writes pages of findings.
func write(t *testing.T, format Format, pages ...[]*reports.ExportedFinding) string {
	t.Helper()
	var file bytes.Buffer
	w := Findings.NewWriter(&file, format, "")
	for _, page := range pages {
		if err := w.Write(page); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return file.String()
}

func TestASpreadsheetRunsNoCellOfAFile(t *testing.T) {
	t.Parallel()
	for _, attack := range []string{"=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "\n=1"} {
		file := write(t, CSV, []*reports.ExportedFinding{finding(1, func(f *reports.ExportedFinding) {
			f.Package, f.Note, f.Summary, f.RepoName, f.RepoPath, f.Tags, f.Aliases, f.Link = attack, attack, attack, attack, attack, []string{attack}, []string{attack}, attack
		})})
		rows, err := csv.NewReader(strings.NewReader(file)).ReadAll()
		if err != nil || len(rows) != 2 || rows[0][0] != "vulnerabilityId" || rows[1][0] != "CVE-2026-1" || rows[1][3] != "CRITICAL" {
			t.Fatalf("%q: %v %q", attack, err, rows)
		}
		safe := 0
		for _, cell := range rows[1] {
			if strings.HasPrefix(cell, "'") {
				safe++
			}
			if cell != "" && strings.ContainsAny(cell[:1], "=+-@\t\r\n") {
				t.Errorf("%q: the cell %q is not safe", attack, cell)
			}
		}
		if safe != 8 {
			t.Errorf("%q: %d cells are changed, want 8", attack, safe)
		}
	}
}

func TestAnEmptyFileIsWhole(t *testing.T) {
	t.Parallel()
	for format, want := range map[Format]string{JSON: "[]\n", NDJSON: "", CSV: "vulnerabilityId,aliases,summary,"} {
		if got := write(t, format, nil); got != want && (format != CSV || !strings.HasPrefix(got, want)) {
			t.Errorf("%s: got %q, want %q", format, got, want)
		}
	}
}

func TestEveryFormOfJSONHasTheSameObjects(t *testing.T) {
	t.Parallel()
	pages := [][]*reports.ExportedFinding{{finding(1, nil), finding(2, nil)}, {}, {finding(3, nil)}}
	var array, lines []map[string]any
	if err := json.Unmarshal([]byte(write(t, JSON, pages...)), &array); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(write(t, NDJSON, pages...)) {
		var object map[string]any
		if err := json.Unmarshal([]byte(line), &object); err != nil {
			t.Fatal(err)
		}
		lines = append(lines, object)
	}
	if len(array) != 3 || !reflect.DeepEqual(array, lines) || array[0]["repoName"] != "shop/api" || array[0]["state"] != "FINDING_STATE_OPEN" {
		t.Errorf("the array is %v, and the lines are %v", array, lines)
	}
}

func TestAFileThatIsNotCompleteDoesNotLookComplete(t *testing.T) {
	t.Parallel()
	for _, format := range Findings.Formats {
		var file bytes.Buffer
		w := Findings.NewWriter(&file, format, "")
		for _, err := range []error{w.Write([]*reports.ExportedFinding{finding(1, nil)}), w.Fail(map[string]int{"code": 14})} {
			if err != nil {
				t.Fatal(err)
			}
		}
		lines := strings.Split(strings.TrimSpace(file.String()), "\n")
		switch last := lines[len(lines)-1]; format {
		case NDJSON:
			if last != `{"error":{"code":14}}` {
				t.Errorf("%s ends with %s", format, last)
			}
		case JSON, SARIF:
			if json.Valid(file.Bytes()) {
				t.Errorf("%s is valid: %s", format, file.String())
			}
		}
	}
}

// A sarifFile is what tests read of a file.
type sarifFile struct {
	Runs []struct {
		Tool struct {
			Driver struct {
				Rules []struct {
					ID, HelpURI      string
					ShortDescription struct{ Text string }
					Properties       struct{ Aliases []string }
				}
			}
		}
		Results []struct {
			RuleID              string
			HostedViewerURI     string
			Message             struct{ Text string }
			RuleIndex           int
			Kind, Level         string
			PartialFingerprints map[string]string
			Suppressions        []struct{ Kind, Status, Justification string }
			Locations           []struct {
				PhysicalLocation struct{ ArtifactLocation struct{ URI string } }
			}
		}
	}
}

// readSARIF checks a file with the schema of OASIS, and reads it.
func readSARIF(t *testing.T, text string) (file sarifFile) {
	t.Helper()
	packed, err := os.Open("testdata/sarif-schema-2.1.0.json.gz")
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(unpacked)
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	const name = "sarif.json"
	if err := compiler.AddResource(name, document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile(name)
	if err != nil {
		t.Fatal(err)
	}
	value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	if err := schema.Validate(value); err != nil {
		t.Errorf("%v: %s", err, text)
	}
	if err := json.Unmarshal([]byte(text), &file); err != nil {
		t.Fatal(err)
	}
	return file
}

func TestSARIFIsValidAndSaysWhatFindingsSay(t *testing.T) {
	t.Parallel()
	file := readSARIF(t, write(t, SARIF, []*reports.ExportedFinding{
		finding(1, nil),
		finding(2, func(f *reports.ExportedFinding) {
			f.Severity, f.Summary = inventory.AdvisorySeverity{Rating: core.SeverityLow}, ""
		}),
		finding(1, func(f *reports.ExportedFinding) {
			f.State, f.Justification, f.Note = inventory.FindingNotAffected, "COMPONENT_NOT_PRESENT", "removed"
		}),
		finding(3, func(f *reports.ExportedFinding) { f.State = inventory.FindingResolved }),
		finding(4, func(f *reports.ExportedFinding) {
			f.RepoName, f.RepoPath, f.InstalledVersion, f.Basis, f.Severity.Rating, f.EPSS, f.Aliases, f.Link = "", "", "", inventory.BasisName, core.SeverityMedium, nil, nil, ""
		}),
	}))
	if len(file.Runs) != 1 || len(file.Runs[0].Results) != 5 || len(file.Runs[0].Tool.Driver.Rules) != 4 {
		t.Fatalf("got %+v, want 1 run with 5 results of 4 rules", file)
	}
	results := file.Runs[0].Results
	levels := ""
	for i, r := range results {
		levels += r.Level + " "
		if r.RuleID != file.Runs[0].Tool.Driver.Rules[r.RuleIndex].ID || r.PartialFingerprints["atriumFinding/v1"] == "" {
			t.Errorf("result %d is %+v", i, r)
		}
	}
	if levels != "error note error none warning " {
		t.Errorf("the levels are %s", levels)
	}
	if uri := results[0].Locations[0].PhysicalLocation.ArtifactLocation.URI; uri != "acme/shop/api@"+strings.ReplaceAll(image, ":", "%3A") {
		t.Errorf("the image is %s", uri)
	}
	if s := results[2].Suppressions; len(s) != 1 || s[0].Status != "accepted" || s[0].Justification != "COMPONENT_NOT_PRESENT removed" || results[3].Kind != "pass" {
		t.Errorf("decisions are %+v and %q", s, results[3].Kind)
	}
}

// Names and summaries are those of images and advisories, which anybody may have written.
func TestNoTextOfAFindingIsALink(t *testing.T) {
	t.Parallel()
	const attack = `[click](https://evil.example) \[x](1) <img src=x>`
	file := readSARIF(t, write(t, SARIF, []*reports.ExportedFinding{finding(1, func(f *reports.ExportedFinding) {
		f.Package, f.Summary, f.Aliases, f.FixedVersions, f.Link, f.RepoPath = attack, attack, []string{attack}, []string{attack}, "javascript:alert(1)", attack
	})}))
	rule, result := file.Runs[0].Tool.Driver.Rules[0], file.Runs[0].Results[0]
	for _, text := range []string{rule.ShortDescription.Text, result.Message.Text} {
		if strings.Contains(strings.ReplaceAll(text, `\\`, ""), "[click]") || strings.Contains(text, " [") || !strings.Contains(text, `\[click\](https://evil.example) \\\[x\](1)`) {
			t.Errorf("the text is %s", text)
		}
	}
	if rule.HelpURI != "" || result.HostedViewerURI != "" {
		t.Errorf("a link that is none of the web is %q and %q", rule.HelpURI, result.HostedViewerURI)
	}
}

func TestLinksLeadToTheConsoleOrToTheAdvisory(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		console string
		names   []string
		want    string
	}{
		{"", []string{"acme"}, "https://example.com/advisory"}, {"https://atrium.example.com/console", nil, "https://example.com/advisory"},
		{"https://atrium.example.com/console", []string{"acme"}, "https://atrium.example.com/console/acme/~advisories?id=CVE-2026-1"},
		{"https://atrium.example.com/console", []string{"a b", ".."}, "https://atrium.example.com/console/a%20b/=../~advisories?id=CVE-2026-1"},
	} {
		var text bytes.Buffer
		w := Findings.NewWriter(&text, SARIF, c.console)
		f := finding(1, func(f *reports.ExportedFinding) { f.GroupNames = c.names })
		if len(c.names) > 1 {
			f.Repo = core.UID(fmt.Sprintf("%040x/%016x/%016x", 1, 2, 3))
		}
		if err := errors.Join(w.Write([]*reports.ExportedFinding{f}), w.Close()); err != nil {
			t.Fatal(err)
		}
		run := readSARIF(t, text.String()).Runs[0]
		if got := run.Results[0].HostedViewerURI; got != c.want || run.Tool.Driver.Rules[0].HelpURI != c.want || f.Link != c.want {
			t.Errorf("%s %q: the link is %s, want %s", c.console, c.names, got, c.want)
		}
	}
	f := finding(1, func(f *reports.ExportedFinding) {
		f.Repo, f.GroupNames = core.UID(fmt.Sprintf("%040x/%016x/%016x", 1, 2, 3)), []string{"team"}
	})
	if err := Findings.NewWriter(io.Discard, CSV, "https://a.example/console").Write([]*reports.ExportedFinding{f}); err != nil {
		t.Fatal(err)
	}
	if want := fmt.Sprintf("https://a.example/console/team/~advisories?group=%040x%%2F%016x&id=CVE-2026-1", 1, 2); f.Link != want {
		t.Errorf("who does not see all names has the link %s, want %s", f.Link, want)
	}
	if file := write(t, CSV, []*reports.ExportedFinding{finding(1, nil)}); !strings.Contains(file, "CVE-2026-1,GHSA-1 GO-1,") || !strings.Contains(file, ",shop/api,acme/shop/api,1.0 latest,sha256:") || !strings.Contains(file, ",https://example.com/advisory,") {
		t.Errorf("the file is %s", file)
	}
}

func TestARunOfSARIFHoldsAsManyResultsAsToolsRead(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]int{0: 1, 1: 1, 2: 1, 3: 2, 4: 2, 5: 3} {
		var text bytes.Buffer
		w := newSARIFWriter(&text)
		w.most = 2
		for i := range n {
			if err := w.Write([]*reports.ExportedFinding{finding(i, nil)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		file, results := readSARIF(t, text.String()), 0
		for _, run := range file.Runs {
			results += len(run.Results)
			if len(run.Results) > 2 || len(run.Tool.Driver.Rules) != len(run.Results) {
				t.Errorf("a run of %d has %d results and %d rules", n, len(run.Results), len(run.Tool.Driver.Rules))
			}
		}
		if len(file.Runs) != want || results != n {
			t.Errorf("%d findings are %d results in %d runs, want %d", n, results, len(file.Runs), want)
		}
	}
}
