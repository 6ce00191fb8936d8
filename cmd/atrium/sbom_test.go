package main

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/store/storetest"
)

// publicSBOMs are documents as other tools wrote them.
const publicSBOMs = "../../internal/sbom/testdata/public.tar.gz"

// sbomTimes matches the time at which a database got a document, which is not a part of its content.
var sbomTimes = regexp.MustCompile(`"(timestamp|created|annotationDate)":"[^"]*"`)

// writePublicSBOMs writes the documents into a folder, each in a file of its own, and lists the files.
func writePublicSBOMs(t *testing.T, folder string) (files []string) {
	t.Helper()
	packed, err := os.Open(publicSBOMs)
	if err != nil {
		t.Fatal(err)
	}
	defer packed.Close()
	unpacked, err := gzip.NewReader(packed)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(unpacked); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		if entry.Typeflag != tar.TypeReg {
			continue
		}
		text, err := io.ReadAll(entries)
		file := filepath.Join(folder, path.Base(entry.Name))
		if err := errors.Join(err, os.WriteFile(file, text, 0o600)); err != nil {
			t.Fatal(err)
		}
		files = append(files, file)
	}
}

// writeAdvisories writes records of OSV about every second package that images hold, by its ecosystem, as a file of each.
func writeAdvisories(t *testing.T, folder, url, org string) {
	t.Helper()
	known := map[string]bool{}
	i := 0
	for line := range strings.Lines(mustRun(t, url, "export", "packages", "--group", org)) {
		var p struct{ Package, Ecosystem string }
		if err := json.Unmarshal([]byte(line), &p); err != nil {
			t.Fatal(err)
		}
		i++
		if key := p.Ecosystem + " " + p.Package; i%2 == 1 && p.Ecosystem != "" && !known[key] {
			known[key] = true
			record := fmt.Sprintf(`{"id": "TEST-%d", "modified": "2026-01-01T00:00:00Z", "affected": [{"package": {"ecosystem": %q, "name": %q}, "ranges": [{"type": "ECOSYSTEM", "events": [{"introduced": "0"}]}]}]}`, len(known), p.Ecosystem, p.Package)
			if err := os.WriteFile(filepath.Join(folder, fmt.Sprintf("%d.json", len(known))), []byte(record), 0o600); err != nil {
				t.Fatal(err)
			}
		}
	}
}

// listFindings lists the findings of an organization, without what a database gives them.
func listFindings(t *testing.T, url, org string) []string {
	t.Helper()
	var all []string
	for line := range strings.Lines(mustRun(t, url, "export", "findings", "--group", org)) {
		var finding map[string]any
		if err := json.Unmarshal([]byte(line), &finding); err != nil {
			t.Fatal(err)
		}
		for _, own := range []string{"uid", "repo", "advisory", "packageVersion", "firstSeenTime", "updateTime", "advisoryUid"} {
			delete(finding, own)
		}
		text, _ := json.Marshal(finding) // what was read can be written
		all = append(all, string(text))
	}
	slices.Sort(all)
	return all
}

func TestAnExportedSBOMGivesTheSameImageElsewhere(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		documents := writePublicSBOMs(t, t.TempDir())
		advisories := t.TempDir()
		begin := func(url string) (org string) {
			mustRun(t, url, "admin", "migrate", "up")
			org = bootstrap(t, url)
			lines := `{"kind": "repo", "name": "checkout"}` + "\n"
			for i := range documents {
				lines += fmt.Sprintf(`{"kind": "tag", "repo": "checkout", "name": "t%d", "digest": %q}`, i, vexDigest(i)) + "\n"
			}
			file := filepath.Join(t.TempDir(), "registry.jsonl")
			if err := os.WriteFile(file, []byte(lines), 0o600); err != nil {
				t.Fatal(err)
			}
			mustRun(t, url, "import", "registry", "--group", org, file)
			return org
		}
		org := begin(url)
		images := make([]string, len(documents))
		for i, file := range documents {
			images[i] = "acme/checkout@" + vexDigest(i)
			mustRun(t, url, "import", "sbom", "--image", images[i], file)
		}
		writeAdvisories(t, advisories, url, org)
		mustRun(t, url, "import", "osv", "--group", org, advisories)
		want := listFindings(t, url, org)
		if len(want) < 100 {
			t.Fatalf("there are %d findings", len(want))
		}
		for _, format := range []string{"cyclonedx", "spdx"} {
			elsewhere := "sqlite:" + filepath.Join(t.TempDir(), "elsewhere.db")
			other := begin(elsewhere)
			written := map[string]string{}
			for i, image := range images {
				written[image] = mustRun(t, url, "export", "sbom", "--image", fmt.Sprintf("acme/checkout:t%d", i), "--format", format)
				if again := mustRun(t, url, "export", "sbom", "--image", image, "--format", format); again != written[image] {
					t.Errorf("%s as %s is not the same twice", documents[i], format)
				}
				file := filepath.Join(t.TempDir(), "sbom.json")
				if err := os.WriteFile(file, []byte(written[image]), 0o600); err != nil {
					t.Fatal(err)
				}
				mustRun(t, elsewhere, "import", "sbom", "--group", other, file) // it names its image
			}
			for i, image := range images {
				again := mustRun(t, elsewhere, "export", "sbom", "--image", image, "--format", format)
				if sbomTimes.ReplaceAllString(again, "") != sbomTimes.ReplaceAllString(written[image], "") {
					t.Errorf("%s as %s is elsewhere\n%.3000s\nwant\n%.3000s", documents[i], format, again, written[image])
				}
			}
			mustRun(t, elsewhere, "import", "osv", "--group", other, advisories)
			if got := listFindings(t, elsewhere, other); !slices.Equal(got, want) {
				t.Errorf("%s gives %d findings elsewhere, want the same %d", format, len(got), len(want))
				for _, text := range got {
					if !slices.Contains(want, text) {
						t.Errorf("%s is not there", text)
						break
					}
				}
			}
		}
	})
}

func TestExportSBOMSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	url := "sqlite:" + filepath.Join(t.TempDir(), "a.db")
	mustRun(t, url, "admin", "migrate", "up")
	for want, args := range map[string][]string{
		"--image":                               {"--format", "spdx"},
		"must be a repo with a digest or a tag": {"--image", "acme/checkout"},
		"image acme/checkout:1 does not exist":  {"--image", "acme/checkout:1"},
		"--format":                              {"--image", "acme/checkout:1", "--format", "xml"},
	} {
		out, errOut, err := atrium(t, map[string]string{"ATRIUM_DATABASE_URL": url}, append([]string{"export", "sbom"}, args...)...)
		if err == nil || out != "" || !strings.Contains(errOut+err.Error(), want) {
			t.Errorf("%v: %v %s", args, err, errOut)
		}
	}
}
