package ingest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/store/storetest"
)

// BenchmarkImportOSV imports 200,000 records into one group and reports the rate of
// the last 5,000 before each mark. The rate must not fall as the group grows. One
// iteration is enough (-benchtime=1x).
func BenchmarkImportOSV(b *testing.B) {
	const last = 5000
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := platform.New(b.Context(), storetest.Open(b, url(b)), platform.Options{})
				if err != nil {
					b.Fatal(err)
				}
				operator := platform.WithActor(b.Context(), platform.Operator("bench"))
				org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
				if err != nil {
					b.Fatal(err)
				}
				at := 0
				reach := func(n int) (perSecond float64) {
					path, records := osvRecords(b, at, n), n-at
					start := time.Now()
					sum, err := OSV(operator, p, []string{path}, Options{Group: org.Group.UID})
					if err != nil || sum.Kinds[0].Added != records || sum.Failed() > 0 {
						b.Fatalf("%+v (%v)", sum, err)
					}
					at = n
					return float64(records) / time.Since(start).Seconds()
				}
				b.ReportMetric(reach(1000), "records/s-to-1k")
				for _, mark := range []int{50_000, 100_000, 200_000} {
					reach(mark - last)
					b.ReportMetric(reach(mark), fmt.Sprintf("records/s-to-%dk", mark/1000))
				}
			}
		})
	}
}

// osvRecords writes an archive of the records numbered from to to-1.
func osvRecords(b *testing.B, from, to int) string {
	b.Helper()
	var file bytes.Buffer
	archive := tar.NewWriter(&file)
	for i := from; i < to; i++ {
		record := fmt.Appendf(nil, `{"id": "GO-2026-%d", "modified": "2026-01-01T00:00:00Z", "aliases": ["CVE-2026-%d"], "summary": "One of many", "details": %q,
			"affected": [{"package": {"ecosystem": "Go", "name": "example.com/m%d"}, "ranges": [{"type": "SEMVER", "events": [{"introduced": "0"}, {"fixed": "1.2.3"}]}]}]}`,
			i, i, strings.Repeat("What it is about. ", 20), i%5000)
		if err := archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.json", i), Mode: 0o600, Size: int64(len(record))}); err != nil {
			b.Fatal(err)
		}
		if _, err := archive.Write(record); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "records.tar")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}
