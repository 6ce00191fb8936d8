package ingest

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"atrium/platform/inventory"
)

// pysec is a record in the form of the Python advisory database.
const pysec = `id: PYSEC-2021-1
modified: 2021-04-15T20:15:00.5Z # a time without quotes
published: '2021-04-01T00:00:00Z'
aliases: [CVE-2021-1]
summary: >-
  A text that is
  folded
affected:
- package: &package
    ecosystem: PyPI
    name: pillow
  ranges:
  - type: ECOSYSTEM
    events:
    - introduced: "0"
    - fixed: 1.10
- package: *package
  ranges:
  - {type: ECOSYSTEM, events: [{introduced: 2}, {fixed: 2.0.1}]}
database_specific:
  github_reviewed: true
withdrawn:
`

func TestRecordsInYAMLAreReadAsThoseInJSON(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, filepath.Join(dir, "folder", "1.yaml"), pysec)
	write(t, filepath.Join(dir, "folder", "2.YML"), "\ufeff{id: PYSEC-2, \"aliases\": []}")
	paths := []string{
		filepath.Join(dir, "folder"),
		write(t, filepath.Join(dir, "a.tgz"), gzipOf(t, tarOf(t, [][2]string{{"1.yaml", pysec}, {"2.yml", "id: PYSEC-2"}}))),
		write(t, filepath.Join(dir, "a.zip"), zipOf(t, [][2]string{{"1.yaml", pysec}, {"2.yml", "id: PYSEC-2"}})),
	}
	for _, path := range paths {
		c := newFakeCore()
		sum, r := importOSVFile(t, c, path)
		r.check(t)
		checkKinds(t, sum, KindCounts{Name: "advisories", Added: 1}, KindCounts{Name: "vulnerability metadata", Added: 2})
		a := c.advisories["PYSEC-2021-1 pillow PyPI"]
		if a == nil {
			t.Fatalf("%s: imported %v", path, keysOf(c.advisories))
		}
		var fixed []string
		for _, e := range a.Events {
			if e.Fixed != nil {
				fixed = append(fixed, e.Fixed.FixedVersion)
			}
		}
		if a.UpdateTime != parseTime(t, "2021-04-15T20:15:00.5Z") || a.CreateTime != parseTime(t, "2021-04-01T00:00:00Z") || !a.DeleteTime.IsZero() ||
			!slices.Equal(fixed, []string{"1.10", "2.0.1"}) || !slices.Equal(a.Aliases, []string{"CVE-2021-1"}) || a.Events[0].ReviewState != inventory.ReviewStateApproved {
			t.Errorf("%s: %+v, fixed in %q, want %v, Aliases %v and ReviewState %v", path, a, fixed, []string{"1.10", "2.0.1"}, []string{"CVE-2021-1"}, inventory.ReviewStateApproved)
		}
		if v := c.vulnerabilities["PYSEC-2021-1"]; v.Summary != "A text that is folded" {
			t.Errorf("%s: %+v, want Summary 'A text that is folded'", path, v)
		}
	}
}

func TestYAMLThatCannotBeARecordIsReportedWithItsReason(t *testing.T) {
	t.Parallel()
	bomb := "a0: &a0 [" + strings.Repeat("x,", 1000) + "]\n"
	for i := range 8 {
		bomb += fmt.Sprintf("a%d: &a%d [%s]\n", i+1, i+1, strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*a%d,", i), 50), ","))
	}
	long := "id: &id " + strings.Repeat("x", 1<<20) + "\naliases: [" + strings.Repeat("*id,", 1000) + "]"
	for document, want := range map[string]string{
		"":                             "contains no YAML document",
		"# a comment":                  "contains no YAML document",
		"a: [":                         "is not YAML: yaml: line 2",
		"id: A\n---\nid: B":            "contains several YAML documents; write each record to its own file",
		"text":                         "must be a JSON object",
		"- id: A":                      "must be a JSON object",
		"summary: x":                   "has no id",
		"id: A\nid: B":                 `line 2: the field "id" is repeated`,
		"id: A\n<<: {summary: x}":      "line 2: << (merge) is not supported; write the fields out",
		"id: A\n[1]: x":                "line 2: the name of a field must be a string",
		"id: !!binary aGVsbG8=":        "line 1: contains binary data, which no field of a record accepts",
		"id: [A]":                      "id: must not be of the type array",
		`id: "A\0"`:                    errNUL.Error(),
		"id: &a [*a]":                  "is nested more than 100 deep",
		strings.Repeat("[", 20000):     "is not YAML: yaml: ",
		bomb:                           errTooLarge.Error(),
		long:                           errTooLarge.Error(),
		strings.Repeat("#", maxYAML):   "contains no YAML document",
		strings.Repeat("x", maxYAML+1): "is larger than 4 MiB",
	} {
		c := newFakeCore()
		path := write(t, filepath.Join(t.TempDir(), "1.yaml"), document)
		sum, r := importOSVFile(t, c, path)
		if len(r) != 1 || !strings.HasPrefix(r[0], path+": ") || !strings.Contains(r[0], want) || sum.Failed() != 1 || len(c.vulnerabilities) != 0 {
			t.Errorf("%.60q: reported %.200q, want %q", document, []string(r), want)
		}
	}
}

func TestAPathWithoutRecordsIsAClearFailure(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	good := write(t, filepath.Join(dir, "good.json"), `{"id": "A-1"}`)
	write(t, filepath.Join(dir, "folder", "record.toml"), `id = "A-2"`)
	empty := []string{
		filepath.Join(dir, "folder"),
		write(t, filepath.Join(dir, "a.tar"), tarOf(t, [][2]string{{"README", "text"}})),
		write(t, filepath.Join(dir, "a.zip"), zipOf(t, nil)),
	}
	c := newFakeCore()
	sum, r := importOSVFile(t, c, append(empty, good)...)
	const looked = ": contains no records: looked for .json, .yaml and .yml files, in folders and in .zip, .tar, .tar.gz and .tgz archives"
	r.check(t, empty[0]+looked, empty[1]+looked, empty[2]+looked)
	if sum.Failed() != 3 || c.vulnerabilities["A-1"] == nil {
		t.Errorf("got %+v, want Failed 3", sum)
	}
}

func TestAFileWithoutLinesIsAClearFailure(t *testing.T) {
	t.Parallel()
	for _, content := range []string{"", "\n \n", gzipOf(t, "")} {
		file := write(t, filepath.Join(t.TempDir(), "lines.jsonl"), content)
		sum, r := importRegistryFile(t, newFakeCore(), file)
		r.check(t, file+": contains no records: looked for one on each line")
		if sum.Failed() != 1 {
			t.Errorf("got %+v, want Failed 1", sum)
		}
	}
}
