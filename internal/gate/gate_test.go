package gate

import (
	"compress/gzip"
	"encoding/json"
	"encoding/xml"
	"os"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

const failing = `{"verdict": "CHECK_VERDICT_FAILED", "packages": 3, "open": {"total": 200, "high": 150, "unknown": 50}, "failing": {"total": 150, "high": 150}, "findings": [
	{"vulnerabilityId": "CVE-1", "package": "left-pad", "ecosystem": "npm", "installedVersion": "1.3.0", "fixedVersions": ["1.3.1"], "severity": {"rating": "SEVERITY_RATING_HIGH", "score": 7.5}, "knownExploited": true},
	{"vulnerabilityId": "CVE-1", "package": "a|b<script>\n::error::x", "severity": {}}], "upgrades": [{"package": "left-pad", "from": "1.3.0", "to": "1.3.1", "findings": 1}]}`

// results are a failing, a passing and an undecided image, and one that could not be asked about.
func results(t *testing.T) (all []Result) {
	t.Helper()
	for i, raw := range []string{failing, `{"verdict": "CHECK_VERDICT_PASSED", "open": {"total": 2}}`, `{"verdict": "CHECK_VERDICT_NOT_KNOWN", "reason": "no SBOM"}`} {
		r, err := NewResult([]string{"acme/bad:1", "acme/good:1", "acme/odd:1"}[i], []byte(raw))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	return append(all, Result{Image: "acme/none:1", Error: "Permission denied"})
}

func write(t *testing.T, format Format) string {
	t.Helper()
	var b strings.Builder
	if err := Write(&b, format, results(t)); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func TestEveryFormatNamesTheFindingAndTheFix(t *testing.T) {
	t.Parallel()
	for format := range writers {
		text := write(t, format)
		for _, want := range []string{"CVE-1", "left-pad", "1.3.0", "1.3.1", "acme/bad:1", "acme/none:1", "Permission denied", "no SBOM"} {
			if format == SARIF && want == "acme/bad:1" {
				want = "./acme/bad:1"
			}
			if !strings.Contains(strings.NewReplacer(`\-`, "-", "%3A", ":").Replace(text), want) {
				t.Errorf("%s has no %s:\n%s", format, want, text)
			}
		}
	}
}

// What a package is called comes from whoever has made the image.
func TestNamesOfPackagesAreNotInterpreted(t *testing.T) {
	t.Parallel()
	for _, line := range strings.Split(strings.TrimSpace(write(t, GitHub)), "\n") {
		if !strings.HasPrefix(line, "::error title=") && !strings.HasPrefix(line, "::notice title=") {
			t.Errorf("the line %q is a command of a package", line)
		}
	}
	text := write(t, Markdown)
	if strings.Contains(text, "<script>") || !strings.Contains(text, `a\|b&lt;script&gt; ::error::x`) {
		t.Errorf("a name is not escaped:\n%s", text)
	}
	if text := write(t, Table); strings.Contains(text, "\n::error") {
		t.Errorf("a name breaks a line:\n%s", text)
	}
}

func TestSARIFOfChecksIsValid(t *testing.T) {
	t.Parallel()
	packed, err := os.Open("../export/testdata/sarif-schema-2.1.0.json.gz")
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
	if err := compiler.AddResource("sarif.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("sarif.json")
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"images": write(t, SARIF), "none": func() string { var b strings.Builder; _ = Write(&b, SARIF, nil); return b.String() }()} {
		value, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := schema.Validate(value); err != nil {
			t.Errorf("%s: %v\n%s", name, err, text)
		}
	}
}

func TestJUnitCountsWhatItHas(t *testing.T) {
	t.Parallel()
	var all junitSuites
	if err := xml.Unmarshal([]byte(write(t, JUnit)), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all.Suites {
		failures, errors := 0, 0
		for _, c := range s.Cases {
			if c.Failure != nil {
				failures++
			}
			if c.Error != nil {
				errors++
			}
		}
		if s.Tests != len(s.Cases) || s.Failures != failures || s.Errors != errors || s.Tests == 0 {
			t.Errorf("%+v has %d failures and %d errors", s, failures, errors)
		}
	}
	if len(all.Suites) != 4 || all.Suites[0].Failures != 3 {
		t.Errorf("%+v", all.Suites)
	}
}

func TestJSONKeepsTheAnswer(t *testing.T) {
	t.Parallel()
	var file struct{ Results []Result }
	if err := json.Unmarshal([]byte(write(t, JSON)), &file); err != nil || len(file.Results) != 4 || !strings.Contains(string(file.Results[0].Answer), `"ecosystem": "npm"`) {
		t.Errorf("%v %+v", err, file.Results)
	}
}

func TestAnotherAnswerIsNoVerdict(t *testing.T) {
	t.Parallel()
	for _, raw := range []string{"", "<html>", "{}", `{"verdict": ""}`, "[]"} {
		if r, err := NewResult("x:1", []byte(raw)); err == nil {
			t.Errorf("%q is taken for %+v", raw, r)
		}
	}
}
