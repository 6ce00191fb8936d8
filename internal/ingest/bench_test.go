//go:build unix

package ingest

import (
	"archive/tar"
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/registry"
	"atrium/store/storetest"
)

// BenchmarkImportOSV imports 200,000 records into one group. At each mark it reports the
// rate of the last 5,000 records, and the processor time of this process for each of
// them, without that of PostgreSQL. One iteration is enough (-benchtime=1x).
func BenchmarkImportOSV(b *testing.B) {
	const last = 5000
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := platform.New(b.Context(), storetest.Open(b, url(b)), platform.Options{})
				if err != nil {
					b.Fatal(err)
				}
				operator := core.WithActor(b.Context(), core.NewOperator("bench"))
				org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
				if err != nil {
					b.Fatal(err)
				}
				at := 0
				reach := func(n int) (perSecond, microseconds float64) {
					path, records := osvRecords(b, at, n), n-at
					start, used := time.Now(), processorTime()
					sum, err := ImportOSV(operator, p, []string{path}, Options{Group: org.Group.UID})
					if err != nil || sum.Kinds[0].Added != records || sum.Failed() > 0 {
						b.Fatalf("got %+v (%v), want Added %v", sum, err, records)
					}
					at = n
					return float64(records) / time.Since(start).Seconds(), float64((processorTime() - used).Microseconds()) / float64(records)
				}
				report := func(mark int) {
					perSecond, microseconds := reach(mark)
					b.ReportMetric(perSecond, fmt.Sprintf("records/s-to-%dk", mark/1000))
					b.ReportMetric(microseconds, fmt.Sprintf("cpu-us/record-to-%dk", mark/1000))
				}
				report(1000)
				for _, mark := range []int{10_000, 50_000, 100_000, 200_000} {
					reach(mark - last)
					report(mark)
				}
			}
		})
	}
}

// BenchmarkImportSBOM imports SBOMs of 300 packages each, 200 of which most images share. It
// reports the packages that are imported in a second of processor time of this process, without that of
// PostgreSQL. One iteration is enough (-benchtime=1x).
func BenchmarkImportSBOM(b *testing.B) {
	const images, packages, shared = 500, 300, 200
	for name, url := range map[string]func(testing.TB) string{"sqlite": storetest.SQLite, "postgres": storetest.Postgres} {
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				p, err := platform.New(b.Context(), storetest.Open(b, url(b)), platform.Options{})
				if err != nil {
					b.Fatal(err)
				}
				operator := core.WithActor(b.Context(), core.NewOperator("bench"))
				org, err := p.Groups.Bootstrap(operator, "acme", "https://issuer.example.com", "owner")
				if err != nil {
					b.Fatal(err)
				}
				if _, err := p.Registry.ImportRepos(operator, org.Group.UID, []*registry.ImportedRepo{{Repo: inventory.Repo{Name: "shop"}}}, core.ImportOptions{}); err != nil {
					b.Fatal(err)
				}
				path := sbomDocuments(b, images, packages, shared)
				for _, round := range []string{"new", "again"} {
					start, used := time.Now(), processorTime()
					sum, err := ImportSBOM(operator, p, SBOMSource{Paths: []string{path}}, Options{Group: org.Group.UID})
					if err != nil || sum.Failed() > 0 {
						b.Fatalf("got %+v (%v)", sum, err)
					}
					b.ReportMetric(images*packages/time.Since(start).Seconds(), "packages/s-"+round)
					b.ReportMetric(images*packages/(processorTime()-used).Seconds(), "packages/cpu-s-"+round)
				}
			}
		})
	}
}

// sbomDocuments writes an archive of documents about images of a repo.
func sbomDocuments(b *testing.B, images, packages, shared int) string {
	b.Helper()
	var file bytes.Buffer
	archive := tar.NewWriter(&file)
	for i := range images {
		components := make([]string, packages)
		for n := range components {
			name, version := fmt.Sprintf("base-%d", n), i/(images/10+1)
			if n >= shared {
				name, version = fmt.Sprintf("lib-%d", (i*7+n*13)%2000), (i+n)%20
			}
			components[n] = fmt.Sprintf(`{"type": "library", "name": %q, "version": "1.%d.0", "licenses": [{"license": {"id": "MIT"}}], "purl": "pkg:npm/%s@1.%d.0",
				"properties": [{"name": "syft:package:foundBy", "value": "javascript-lock-cataloger"}, {"name": "syft:location:0:path", "value": "/app/package-lock.json"}]}`, name, version, name, version)
		}
		document := fmt.Appendf(nil, `{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": {"type": "container", "name": "registry.example.com/shop:v%d", "version": "sha256:%064x"}},
			"components": [%s]}`, i, i, strings.Join(components, ","))
		if err := archive.WriteHeader(&tar.Header{Name: fmt.Sprintf("%d.json", i), Mode: 0o600, Size: int64(len(document))}); err != nil {
			b.Fatal(err)
		}
		if _, err := archive.Write(document); err != nil {
			b.Fatal(err)
		}
	}
	path := filepath.Join(b.TempDir(), "documents.tar")
	if err := os.WriteFile(path, file.Bytes(), 0o600); err != nil {
		b.Fatal(err)
	}
	return path
}

// processorTime returns the processor time that the process has used.
func processorTime() time.Duration {
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	return time.Duration(usage.Utime.Nano() + usage.Stime.Nano())
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
