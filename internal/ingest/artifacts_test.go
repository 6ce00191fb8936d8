package ingest

import (
	"fmt"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/libraries"
)

func importArtifactLines(t *testing.T, c *fakeCore, lines ...string) (Summary, reports) {
	t.Helper()
	var r reports
	file := write(t, filepath.Join(t.TempDir(), "a.jsonl"), strings.Join(lines, "\n"))
	sum, err := importArtifacts(t.Context(), c.destination(), file, r.options())
	if err != nil {
		t.Fatal(err)
	}
	for i := range r {
		r[i] = strings.TrimPrefix(r[i], file)
	}
	return sum, r
}

func TestALineIsAnArtifactWithItsVersions(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	sum, r := importArtifactLines(t, c,
		"\ufeff"+`{"ecosystem": "PYTHON", "name": "torch", "description": "d", "remediated": true, "cudaVersion": "12.1", "unknown": 1, "versions": [{"version": "2.1.0+cu121", "sizeBytes": 7, "time": "2026-03-27T14:55:00+01:00"}, {"version": "2.2.0"}]}`,
		``,
		`{"ecosystem": "ECOSYSTEM_JAVA", "name": "a:b"}`)
	r.check(t)
	checkKinds(t, sum, KindCounts{Name: "artifacts", Added: 2}, KindCounts{Name: "versions", Added: 2})
	want := &libraries.ImportedArtifact{
		Artifact: libraries.Artifact{Ecosystem: libraries.EcosystemPython, Name: "torch", Description: "d", Remediated: true, CudaVersion: "12.1"},
		Versions: []*libraries.ArtifactVersion{
			{Version: "2.1.0+cu121", SizeBytes: 7, CreateTime: core.At(time.Date(2026, 3, 27, 13, 55, 0, 0, time.UTC))}, {Version: "2.2.0"},
		},
	}
	if got := c.artifacts["ECOSYSTEM_PYTHON torch"]; !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
	if c.artifacts["ECOSYSTEM_JAVA a:b"] == nil {
		t.Errorf("there are %v", keysOf(c.artifacts))
	}
}

func TestBadLinesOfArtifactsAreReportedWithTheirPlace(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	c.rejected = "ECOSYSTEM_JAVA bad"
	sum, r := importArtifactLines(t, c,
		`{"ecosystem": "JAVA", "name": "a"}`, `nonsense`, `{"ecosystem": "JAVA", "name": "bad"}`, `{"ecosystem": "JAVA", "name": "a", "description": "again"}`,
		`{"ecosystem": "JAVA", "name": "b", "versions": [{"version": 1}]}`, `{"ecosystem": "JAVA", "name": "b", "versions": [{"version": "1", "time": "yesterday"}]}`, `{"name": "\u0000"}`)
	checkKinds(t, sum, KindCounts{Name: "artifacts", Added: 1, Updated: 1, Failed: 1}, KindCounts{Name: "versions"})
	if sum.Unreadable != 4 || sum.Failed() != 5 || len(r) != 5 {
		t.Errorf("%+v: %q, want 5 of them", sum, r)
	}
	for i, at := range []string{":2: ", ":3: ", ":5: ", ":6: ", ":7: "} {
		found := false
		for _, report := range r {
			found = found || strings.HasPrefix(report, at)
		}
		if !found {
			t.Errorf("report %d: nothing at %q in %q", i, at, r)
		}
	}
}

func TestABatchOfArtifactsHoldsNoMoreVersionsThanOthersHoldRecords(t *testing.T) {
	t.Parallel()
	c := newFakeCore()
	var lines []string
	for i := range 30 {
		var versions []string
		for v := range 100 {
			versions = append(versions, fmt.Sprintf(`{"version": "1.%d"}`, v))
		}
		lines = append(lines, fmt.Sprintf(`{"ecosystem": "JAVA", "name": "a%d", "versions": [%s]}`, i, strings.Join(versions, ", ")))
	}
	sum, r := importArtifactLines(t, c, lines...)
	r.check(t)
	checkKinds(t, sum, KindCounts{Name: "artifacts", Added: 30}, KindCounts{Name: "versions", Added: 3000})
	if fmt.Sprint(c.batches) != "[10 10 10]" {
		t.Errorf("batches of %v", c.batches)
	}
}
