package ingest

import (
	"archive/tar"
	"compress/gzip"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// bitnamiData is a part of a feed that also states the rating of each record.
const bitnamiData = "../../../shared/data/osv-bitnami.tar.gz"

// feedWords returns the ratings that the feed states, by the ids of its records.
func feedWords(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(bitnamiData)
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unpacked, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	words := map[string]string{}
	for archive := tar.NewReader(unpacked); ; {
		header, err := archive.Next()
		if errors.Is(err, io.EOF) {
			return words
		}
		if err != nil {
			t.Fatal(err)
		}
		if filepath.Ext(header.Name) != ".json" {
			continue
		}
		var record struct {
			ID       string
			Database struct{ Severity string } `json:"database_specific"`
		}
		if err := json.NewDecoder(archive).Decode(&record); err != nil {
			t.Fatal(err)
		}
		words[record.ID] = strings.ToUpper(record.Database.Severity)
	}
}

// The rating computed from a vector must equal the rating that the feed states. Two
// records have no vector, and both ratings are UNKNOWN.
func TestTheComputedRatingIsTheFeedsOwn(t *testing.T) {
	t.Parallel()
	skipWithout(t, bitnamiData)
	p, err := platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	operator := core.WithActor(t.Context(), core.NewOperator("test"))
	org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
	if err != nil {
		t.Fatal(err)
	}
	sum, err := ImportOSV(operator, p, []string{bitnamiData}, Options{Group: org.Group.UID})
	if err != nil || sum.Failed() > 0 {
		t.Fatalf("%+v (%v)", sum, err)
	}
	words, versions, compared := feedWords(t), map[string]int{}, 0
	req := core.ListRequest[*inventory.AdvisoryFilter]{UIDP: core.UIDFilter{DescendantsOf: org.Group.UID}, PageSize: 200, Filter: &inventory.AdvisoryFilter{Withdrawn: true}}
	for {
		page, err := p.Advisories.List(operator, req)
		if err != nil {
			t.Fatal(err)
		}
		for _, a := range page.Items {
			compared++
			versions[a.Severity.Version]++
			got := strings.TrimPrefix(string(a.Severity.Rating), "SEVERITY_RATING_")
			if want := words[a.AdvisoryID]; got != want {
				t.Errorf("%s is rated %s by %s, and by its feed %s", a.AdvisoryID, got, a.Severity.Vector, want)
			}
		}
		if req.PageToken = page.NextPageToken(); req.PageToken == "" {
			break
		}
	}
	t.Logf("%d advisories of %d records by versions of CVSS: %v", compared, len(words), versions)
	if compared < len(words) || len(words) != 1861 {
		t.Errorf("compared %d advisories of %d records, want 1861", compared, len(words))
	}
}
