package main

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Pipelines decide by the exit status: whatever is not known, or cannot be asked, is 3 and never 0.
func TestTheGateEndsWithTheStatusOfItsVerdict(t *testing.T) {
	t.Parallel()
	finding := `{"vulnerabilityId": "CVE-1", "package": "left-pad", "installedVersion": "1.3.0", "fixedVersions": ["1.3.1"], "severity": {"rating": "SEVERITY_RATING_HIGH"}}`
	answers := map[string]string{
		"good:1": `{"verdict": "CHECK_VERDICT_PASSED"}`, "odd:1": `{"verdict": "CHECK_VERDICT_NOT_KNOWN", "reason": "no SBOM"}`,
		"bad:1":  `{"verdict": "CHECK_VERDICT_FAILED", "open": {"total": 3}, "failing": {"total": 1, "high": 1}, "findings": [` + finding + `], "upgrades": [{"package": "left-pad", "from": "1.3.0", "to": "1.3.1", "findings": 1}]}`,
		"html:1": `<html>`, "list:1": `[]`, "new:1": `{"verdict": "MAYBE"}`, "": `{"verdict": "CHECK_VERDICT_PASSED", "packages": 2, "unknownPackages": 1}`,
	}
	var asked []string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		asked = append(asked, fmt.Sprintf("%s %s %s", r.Method, r.URL.RequestURI(), body))
		image := r.URL.Query().Get("image")
		answer, known := answers[image]
		if image != "html:1" {
			w.Header().Set("Content-Type", "application/json")
		}
		if !known {
			w.WriteHeader(http.StatusForbidden)
			answer = `{"code": 7, "message": "Permission denied"}`
		}
		_, _ = io.WriteString(w, answer)
	}))
	t.Cleanup(server.Close)
	document := filepath.Join(t.TempDir(), "sbom.json")
	if err := os.WriteFile(document, []byte("{}"), 0o600); err != nil {
		t.Fatal(err)
	}
	group := strings.Repeat("a", 40)
	for _, x := range []struct {
		args string
		code int
		want string
	}{
		{"good:1", 0, "good:1 passed"}, {"bad:1", 1, "CVE-1  high  left-pad  1.3.0  fixed in 1.3.1"}, {"good:1 bad:1 odd:1", 1, "upgrade left-pad 1.3.0 to 1.3.1"},
		{"odd:1", 3, "not decided: no SBOM"}, {"good:1 odd:1", 3, "good:1 passed"}, {"hidden:1", 3, "Permission denied"}, {"html:1", 3, "answered 200 OK"}, {"list:1", 3, "not the result of a check"}, {"new:1", 3, "not decided"},
		{"", 2, ""}, {"--fail-on worst good:1", 2, ""}, {"--sbom " + document, 2, ""}, {"--sbom x good:1 odd:1", 2, ""}, {"--format odd good:1", 2, ""}, {"--wait 1s --sbom x good:1", 2, ""},
		{"--sbom " + document + " --group " + group, 0, "no advisory can match 1 of 2 packages"}, {"--sbom none.json good:1", 3, "none.json"},
		{"--report junit=" + document + ".xml --report markdown=" + document + ".md bad:1", 1, "upgrade left-pad"}, {"--report junit=/no/folder/x good:1", 3, "good:1 passed"},
		{"--report junit good:1", 2, ""}, {"--report odd=x good:1", 2, ""},
		{"--fail-on high --fixable --known-exploited --new-since main good:1", 0, "passed"}, {"--url http://127.0.0.1:1 good:1", 3, "cannot be reached"},
	} {
		args := strings.Fields("check " + x.args)
		if !strings.Contains(x.args, "--url") {
			args = append(args, "--url", server.URL)
		}
		var out strings.Builder
		p := program{name: "atrium", lookup: func(string) (string, bool) { return "", false }, environ: func() []string { return nil }, stdin: strings.NewReader(""), stdout: &out, stderr: &out}
		err := run(t.Context(), append(args, "--token", "t"), p)
		if got := exitCode(err); got != x.code || !strings.Contains(out.String(), x.want) {
			t.Errorf("%s: exit status %d, want %d, and %q in\n%s%v", x.args, got, x.code, x.want, out.String(), err)
		}
	}
	for ending, want := range map[string]string{".xml": `failures="1"`, ".md": "upgrade left-pad 1.3.0 to 1.3.1"} {
		if text, err := os.ReadFile(document + ending); err != nil || !strings.Contains(string(text), want) {
			t.Errorf("the report %s has no %s: %s (%v)", ending, want, text, err)
		}
	}
	all := strings.Join(asked, "\n")
	for _, want := range []string{"POST /check/sbom?group=" + group + " {}", "GET /vulnerabilities/v2/images:check?failOn=HIGH&fixableOnly=true&image=good%3A1&knownExploitedOnly=true&newSince=main "} {
		if !strings.Contains(all, want) {
			t.Errorf("no request %q among\n%s", want, all)
		}
	}
}
