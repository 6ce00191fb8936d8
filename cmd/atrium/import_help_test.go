package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// importWords returns the words of an import, of which some are commands of operators.
func importWords(name string) []string {
	if slices.Contains([]string{"oci", "kev", "epss", "artifacts"}, name) {
		return []string{"admin", "import", name}
	}
	return []string{"import", name}
}

// exampleLines returns the JSON objects that the help of an import shows.
func exampleLines(t *testing.T, command string) string {
	t.Helper()
	help, _, err := atrium(t, nil, append(importWords(command), "--help")...)
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
			{"vex", "v.json", []string{"--group", acme}, []string{"1 0 0 0 decisions", "statements without a matching finding: 1; they apply once an image with such a finding is imported, unless a more specific decision exists"}},
			{"artifacts", "b.jsonl", nil, []string{"1 0 0 0 artifacts", "1 0 0 0 versions"}},
		} {
			file := filepath.Join(t.TempDir(), c.file)
			if err := os.WriteFile(file, []byte(exampleLines(t, c.command)), 0o600); err != nil {
				t.Fatal(err)
			}
			expectSummary(t, mustRun(t, url, slices.Concat(importWords(c.command), c.args, []string{file})...), c.want...)
		}
	})
}

// Each import gets its example with a number of many digits in place of one of the values, and in place of the whole.
func TestImportsDoNotRepeatHugeNumbers(t *testing.T) {
	t.Parallel()
	url := storetest.SQLite(t)
	acme := bootstrap(t, url)
	huge, value := strings.Repeat("7", 300_000), regexp.MustCompile(`(: ?)("[^"]*"|[0-9.]+)`)
	sample := func(name string) string {
		text, err := os.ReadFile("../../docs/samples/" + name)
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	for _, c := range []struct {
		command, example string
		args             []string
		isLines          bool // whether the records of an import are lines of a file
	}{
		{"osv", exampleLines(t, "osv"), []string{"--group", acme}, false},
		{"sbom", sample("sbom.json"), []string{"--group", acme}, false},
		{"sbom", `{"spdxVersion": "SPDX-2.3", "name": "a", "packages": [{"name": "b", "versionInfo": "1", "SPDXID": "SPDXRef-b"}]}`, []string{"--group", acme}, false},
		{"sbom", `{"predicateType": "https://spdx.dev/Document", "subject": [{"name": "a"}], "predicate": {"spdxVersion": "SPDX-2.3"}}`, []string{"--group", acme}, false},
		{"vex", exampleLines(t, "vex"), []string{"--group", acme}, false},
		{"kev", exampleLines(t, "kev"), nil, false},
		{"epss", "#model_version:v2025.03.14,score_date:2026-01-01T00:00:00Z\ncve,epss,percentile\nCVE-2021-44228,0.9,: 0.9\n", nil, false},
		{"registry", exampleLines(t, "registry"), []string{"--group", acme}, true},
		{"artifacts", exampleLines(t, "artifacts"), nil, true},
	} {
		inputs := []string{huge, `"` + huge + `"`, "[" + huge + "]"}
		for _, at := range value.FindAllStringSubmatchIndex(c.example, -1) {
			inputs = append(inputs, c.example[:at[3]]+huge+c.example[at[5]:], c.example[:at[3]]+`"`+huge+`"`+c.example[at[5]:])
		}
		if len(inputs) < 5 {
			t.Fatalf("the example of %s has no values: %s", c.command, c.example)
		}
		if c.isLines {
			inputs = []string{strings.Join(inputs, "\n")}
		}
		folder := t.TempDir()
		for i, input := range inputs {
			file := filepath.Join(folder, fmt.Sprint("a", i, ".json"))
			if err := os.WriteFile(file, []byte(input), 0o600); err != nil {
				t.Fatal(err)
			}
			_, said, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, slices.Concat(importWords(c.command), c.args, []string{file})...)
			if err != nil {
				said += "\n" + explain(err)
			}
			for line := range strings.Lines(said) {
				if len(line) > 5000 {
					t.Errorf("import %s says %d bytes: %.200s ...", c.command, len(line), line)
				}
			}
		}
	}
}
