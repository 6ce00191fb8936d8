package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// exampleLines returns the JSON objects that the help of an import shows.
func exampleLines(t *testing.T, command string) string {
	t.Helper()
	help, _, err := atrium(t, nil, "import", command, "--help")
	if err != nil {
		t.Fatal(err)
	}
	var found []string
	for line := range strings.Lines(help) {
		if line = strings.TrimSpace(line); strings.HasPrefix(line, "{") {
			found = append(found, line)
		}
	}
	return strings.Join(found, "\n")
}

func TestTheExamplesInTheHelpOfImportsCanBeImported(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		acme := bootstrap(t, url)
		for _, c := range []struct {
			command, file string
			args          []string
			want          []string
		}{
			{"osv", "a.json", []string{"--group", acme}, []string{"1 0 0 0 advisories", "1 0 0 0 vulnerability metadata"}},
			{"registry", "a.jsonl", []string{"--group", acme}, []string{"1 0 0 0 repos", "1 0 0 0 tags", "1 0 0 0 images", "1 0 0 0 SBOMs"}},
			{"kev", "k.json", nil, []string{"1 0 0 0 known exploited vulnerabilities"}},
			{"vex", "v.json", []string{"--group", acme}, []string{"1 0 0 0 decisions"}},
			{"artifacts", "b.jsonl", nil, []string{"1 0 0 0 artifacts", "1 0 0 0 versions"}},
		} {
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(exampleLines(t, c.command)), 0o600); err != nil {
				t.Fatal(err)
			}
			expectSummary(t, mustRun(t, url, append(append([]string{"import", c.command}, c.args...), file)...), c.want...)
		}
	})
}
