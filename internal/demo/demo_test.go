package demo

import (
	"compress/gzip"
	"io"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestTheDemonstrationDiffersFromRealData(t *testing.T) {
	t.Parallel()
	for _, s := range services {
		if s.name < "b" {
			t.Errorf("%s comes before the official images", s.name)
		}
	}
	found, vulnerabilities := newAdvisories()
	for i, a := range found {
		hasName := func(s service) bool { return s.name == a.ArtifactName }
		isOfRepo := a.ArtifactType == "oci" // The others are about packages.
		if isOfRepo != slices.ContainsFunc(services, hasName) || vulnerabilities[i].ID != a.AdvisoryID || !strings.HasPrefix(a.AdvisoryID, "ACME-") {
			t.Errorf("%s is of no repo, without metadata, or has the name of a real one", a.AdvisoryID)
		}
	}
	var official []string
	content, err := os.Open("../../../shared/data/registry.jsonl.gz")
	if err != nil {
		t.Skipf("the real data is not beside this clone, in ../shared/data: %v", err)
	}
	defer content.Close()
	plain, err := gzip.NewReader(content)
	if err != nil {
		t.Fatal(err)
	}
	lines, err := io.ReadAll(plain)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range regexp.MustCompile(`"kind": "repo", "name": "([^"]+)"`).FindAllStringSubmatch(string(lines), -1) {
		official = append(official, name[1])
	}
	for _, s := range services {
		if len(official) != 144 || slices.Contains(official, s.name) {
			t.Errorf("%s is an official image, of %d, want 144", s.name, len(official))
		}
	}
}
