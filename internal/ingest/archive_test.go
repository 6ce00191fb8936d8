package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"crypto/rand"
	"io"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestArchivesAreReadLikeFolders(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	members := [][2]string{{"osv/LICENSE", "text"}, {"osv/1.json", `{"id": "A-1"}`}, {"osv/bad\x1b.json", `{}`}, {"osv/2.json", "\ufeff" + `{"id": "A-2"}`}}
	archives := []string{
		write(t, filepath.Join(dir, "a.tar"), tarOf(t, members)),
		write(t, filepath.Join(dir, "b.tar.gz"), gzipOf(t, tarOf(t, members))),
		write(t, filepath.Join(dir, "c.TGZ"), gzipOf(t, tarOf(t, members))),
		write(t, filepath.Join(dir, "d.zip"), zipOf(t, members)),
	}
	for _, path := range archives {
		c := newFakeCore()
		sum, r := importOSVFile(t, c, path)
		if got := keysOf(c.vulnerabilities); !slices.Equal(got, []string{"A-1", "A-2"}) {
			t.Errorf("%s: imported %v, want %v", path, got, []string{"A-1", "A-2"})
		}
		r.check(t, path+`: "osv/bad\x1b.json": has no id`)
		if sum.Failed() != 1 {
			t.Errorf("%s: %d failed, want 1", path, sum.Failed())
		}
	}
	c := newFakeCore()
	sum, _ := importOSVFile(t, c, dir) // This also imports the archives in a folder. Records that were imported before are unchanged.
	checkKinds(t, sum, KindCounts{Name: "advisories"}, KindCounts{Name: "vulnerability metadata", Added: 2, Unchanged: 6})
}

func TestABrokenArchiveIsReportedAndTheNextOneRead(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	incompressible := make([]byte, 200<<10)
	_, _ = rand.Read(incompressible)
	whole := gzipOf(t, tarOf(t, [][2]string{{"1.json", `{"id": "A-1"}`}, {"2.json", string(incompressible)}}))
	cut := write(t, filepath.Join(dir, "cut.tar.gz"), whole[:len(whole)/2])
	noZip := write(t, filepath.Join(dir, "no.zip"), "PK")
	noGzip := write(t, filepath.Join(dir, "no.tgz"), "\x1f\x8b no gzip")
	good := write(t, filepath.Join(dir, "good.json"), `{"id": "B-1"}`)
	c := newFakeCore()
	sum, r := importOSVFile(t, c, cut, noZip, noGzip, good)
	if len(r) != 3 || sum.Unreadable != 3 {
		t.Errorf("reported %q, want 3 of them", r)
	}
	if c.vulnerabilities["A-1"] == nil || c.vulnerabilities["B-1"] == nil {
		t.Errorf("imported %v", keysOf(c.vulnerabilities))
	}
}

func TestARecordThatUnpacksToTooMuchIsReported(t *testing.T) {
	t.Parallel()
	bomb := `{"id": "` + strings.Repeat("0", MaxRecord) + `"}`
	path := write(t, filepath.Join(t.TempDir(), "bomb.tgz"), gzipOf(t, tarOf(t, [][2]string{{"bomb.json", bomb}, {"1.json", `{"id": "A-1"}`}})))
	c := newFakeCore()
	_, r := importOSVFile(t, c, path)
	r.check(t, path+": bomb.json: is larger than 16 MiB")
	if c.vulnerabilities["A-1"] == nil {
		t.Error("the record behind it was not imported")
	}
}

func tarOf(t *testing.T, members [][2]string) string {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, m := range members {
		if err := w.WriteHeader(&tar.Header{Name: m[0], Mode: 0o600, Size: int64(len(m[1]))}); err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(w, m[1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func gzipOf(t *testing.T, content string) string {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	_, _ = io.WriteString(w, content)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func zipOf(t *testing.T, members [][2]string) string {
	t.Helper()
	var b bytes.Buffer
	w := zip.NewWriter(&b)
	for _, m := range members {
		f, err := w.Create(m[0])
		if err != nil {
			t.Fatal(err)
		}
		_, _ = io.WriteString(f, m[1])
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.String()
}
