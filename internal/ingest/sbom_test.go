package ingest

import (
	"archive/tar"
	"archive/zip"
	"bytes"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"atrium/internal/sbom"
	"atrium/platform/inventory"
	"atrium/platform/registry"
)

// digestOf returns the digest of an image with a number.
func digestOf(n int) string { return fmt.Sprintf("sha256:%064x", n) }

// bom returns a document of CycloneDX about an image of a repo, with packages of npm such as "a@1".
func bom(image string, digest int, packages ...string) string {
	components := make([]string, len(packages))
	for i, p := range packages {
		components[i] = fmt.Sprintf(`{"type": "library", "name": "x", "purl": "pkg:npm/%s"}`, p)
	}
	return fmt.Sprintf(`{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": {"type": "container", "name": %q, "version": %q}}, "components": [%s]}`,
		image, digestOf(digest), strings.Join(components, ", "))
}

// shopCore is a core whose group has the repo shop.
func shopCore() *fakeCore {
	c := newFakeCore()
	c.repos["shop"] = &registry.ImportedRepo{Repo: inventory.Repo{Name: "shop", UID: "uid of shop"}}
	return c
}

func writeDocument(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// held describes the packages of each SBOM.
func (c *fakeCore) held() string {
	var all []string
	for _, key := range keysOf(c.sboms) {
		var packages []string
		for _, p := range c.sboms[key].Packages {
			packages = append(packages, p.Name+"@"+p.Version)
		}
		all = append(all, key+": "+strings.Join(packages, " "))
	}
	return strings.Join(all, "; ")
}

func importSBOMs(t *testing.T, c *fakeCore, source SBOMSource) (reports, Summary) {
	t.Helper()
	return importPipe(t, c, source, "")
}

// importPipe imports SBOMs, and has the content of the pipe.
func importPipe(t *testing.T, c *fakeCore, source SBOMSource, pipe string) (reports, Summary) {
	t.Helper()
	var r reports
	o := r.options()
	o.Pipe = strings.NewReader(pipe)
	sum, err := importSBOM(t.Context(), c.destination(), source, o)
	if err != nil {
		t.Fatal(err)
	}
	return r, sum
}

func TestSBOMsAreReadFromEverySource(t *testing.T) {
	t.Parallel()
	document := bom("registry.example.com/shop:1", 1, "a@1", "b@2")
	var plain, tarred, zipped bytes.Buffer
	compressed := gzip.NewWriter(&tarred)
	archive := tar.NewWriter(io.MultiWriter(compressed, &plain))
	if err := archive.WriteHeader(&tar.Header{Name: "x/bom.json", Mode: 0o600, Size: int64(len(document))}); err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(archive, document); err != nil {
		t.Fatal(err)
	}
	if err := archive.Close(); err != nil {
		t.Fatal(err)
	}
	if err := compressed.Close(); err != nil {
		t.Fatal(err)
	}
	members := zip.NewWriter(&zipped)
	member, err := members.Create("bom.json")
	if err != nil {
		t.Fatal(err)
	}
	if _, err := fmt.Fprint(member, document); err != nil {
		t.Fatal(err)
	}
	if err := members.Close(); err != nil {
		t.Fatal(err)
	}
	file := writeDocument(t, "bom.json", document)
	want := "uid of shop@" + digestOf(1) + ": a@1 b@2"
	var squeezed bytes.Buffer
	squeezer := gzip.NewWriter(&squeezed)
	if _, err := fmt.Fprint(squeezer, document); err != nil {
		t.Fatal(err)
	}
	if err := squeezer.Close(); err != nil {
		t.Fatal(err)
	}
	pipe := []string{"-"}
	for name, from := range map[string]struct {
		SBOMSource
		pipe string
	}{
		"a file":                 {SBOMSource: SBOMSource{Paths: []string{file}}},
		"a folder":               {SBOMSource: SBOMSource{Paths: []string{filepath.Dir(file)}}},
		"a tar archive":          {SBOMSource: SBOMSource{Paths: []string{writeDocument(t, "x.tar.gz", tarred.String())}}},
		"a zip archive":          {SBOMSource: SBOMSource{Paths: []string{writeDocument(t, "x.zip", zipped.String())}}},
		"a pipe":                 {SBOMSource{Paths: pipe}, document},
		"a pipe of a tar":        {SBOMSource{Paths: pipe}, tarred.String()},
		"a pipe of a plain tar":  {SBOMSource{Paths: pipe}, plain.String()},
		"a pipe of a zip":        {SBOMSource{Paths: pipe}, zipped.String()},
		"a pipe of gzip":         {SBOMSource{Paths: pipe}, squeezed.String()},
		"a pipe larger than RAM": {SBOMSource{Paths: pipe}, document + strings.Repeat(" ", maxInMemory)},
		"an image by names":      {SBOMSource: SBOMSource{Paths: []string{writeDocument(t, "x.json", bom("other", 2, "a@1", "b@2"))}, Image: ImagePlace{Repo: "uid of shop", Digest: digestOf(1)}}},
	} {
		c := shopCore()
		r, sum := importPipe(t, c, from.SBOMSource, from.pipe)
		r.check(t)
		checkKinds(t, sum, KindCounts{Name: "SBOMs", Added: 1})
		if got := c.held(); got != want {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	c := shopCore()
	_, _ = importSBOMs(t, c, SBOMSource{Paths: []string{file}, Architecture: "x86_64"})
	if c.sboms["uid of shop@"+digestOf(1)+" amd64"] == nil {
		t.Errorf("with an architecture: %s, want amd64", c.held())
	}
}

// Whatever is first, the largest document is stored, and nothing before it. The others are named.
func TestOfSeveralSBOMsTheLargestIsImported(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	for name, document := range map[string]string{
		"1.json": bom("shop", 1, "a@1"), "2.json": bom("shop", 1, "a@1", "b@2"), "3.json": bom("shop", 1, "c@1"), "4.json": bom("shop", 2, "c@1"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(document), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	c := shopCore()
	r, sum := importSBOMs(t, c, SBOMSource{Paths: []string{folder}})
	at := func(name string) string { return filepath.Join(folder, name) }
	const text = ": is left out: it has 1 packages, and %s has 2 for the same image and architecture"
	r.check(t, at("1.json")+fmt.Sprintf(text, at("2.json")), at("3.json")+fmt.Sprintf(text, at("2.json")))
	checkKinds(t, sum, KindCounts{Name: "SBOMs", Added: 2})
	if got, want := c.held(), "uid of shop@"+digestOf(1)+": a@1 b@2; uid of shop@"+digestOf(2)+": c@1"; got != want {
		t.Errorf("stored %s, want %s", got, want)
	}
	if r, sum = importSBOMs(t, c, SBOMSource{Paths: []string{folder}}); len(r) != 2 {
		t.Errorf("the second time, %d problems", len(r))
	}
	checkKinds(t, sum, KindCounts{Name: "SBOMs", Unchanged: 2})
}

// A document that cannot be used is named with its place, and the others are imported.
func TestInvalidSBOMsAreNamedAndTheOthersImported(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ document, want string }{
		"only bad purls":  {`{"bomFormat": "CycloneDX", "specVersion": "1.5", "components": [{"type": "library", "name": "b", "purl": "npm/b"}]}`, "components[0].purl: "},
		"no digest":       {`{"bomFormat": "CycloneDX", "specVersion": "1.5", "metadata": {"component": {"name": "shop"}}}`, "names no digest of its image"},
		"no name":         {bom("", 1, "a@1"), "does not name its image"},
		"an unknown repo": {bom("other", 1, "a@1"), `describes "other"`},
		"another kind":    {`{"a": 1}`, "neither bomFormat"},
		"depth":           {strings.Repeat(`{"a":`, 1000), "nested deeper"},
		"size":            {strings.Repeat(" ", sbom.MaxBytes+1), "is larger than 64 MiB"},
	} {
		core, folder := shopCore(), t.TempDir()
		for file, document := range map[string]string{"1.json": c.document, "2.json": bom("shop", 1, "a@1")} {
			if err := os.WriteFile(filepath.Join(folder, file), []byte(document), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r, sum := importSBOMs(t, core, SBOMSource{Paths: []string{folder}})
		if len(r) != 1 || !strings.HasPrefix(r[0], filepath.Join(folder, "1.json")+": ") || !strings.Contains(r[0], c.want) {
			t.Errorf("%s: reported %q, want the file and %q", name, r, c.want)
		}
		if sum.Failed() != 1 || sum.Kinds[0].Added != 1 || len(core.sboms) != 1 {
			t.Errorf("%s: got %+v", name, sum)
		}
	}
	var r reports
	if _, err := importSBOM(t.Context(), shopCore().destination(), SBOMSource{Paths: []string{"-", "-"}}, r.options()); err == nil {
		t.Error("the pipe is read twice")
	}
	r, _ = importPipe(t, shopCore(), SBOMSource{Paths: []string{"-"}}, "{")
	if len(r) != 1 || !strings.HasPrefix(r[0], "-: ") {
		t.Errorf("a pipe with half a document: %q", r)
	}
}

// cosign writes the attestations of an image one after the other. Those about something else do not fail the import.
func TestSBOMsAreReadFromJSONLines(t *testing.T) {
	t.Parallel()
	pretty := strings.ReplaceAll(bom("shop", 2, "b@2"), ", ", ",\n")
	lines := statement(bom("shop", 1, "a@1")) + "\n\n" + pretty + "\n" + `{"predicateType": "https://slsa.dev/provenance/v1", "predicate": {}}` + "\n"
	at := 4 + strings.Count(pretty, "\n")
	const want = ":%d: is left out: predicateType: is \"https://slsa.dev/provenance/v1\", which is not an SBOM"
	file := writeDocument(t, "x.intoto.jsonl", lines)
	for _, name := range []string{file, "-"} {
		c := shopCore()
		r, sum := importPipe(t, c, SBOMSource{Paths: []string{name}}, lines)
		r.check(t, name+fmt.Sprintf(want, at))
		checkKinds(t, sum, KindCounts{Name: "SBOMs", Added: 2})
		if got, want := c.held(), "uid of shop@"+digestOf(1)+": a@1; uid of shop@"+digestOf(2)+": b@2"; got != want {
			t.Errorf("%s: stored %s, want %s", name, got, want)
		}
	}
	file = writeDocument(t, "x.jsonl", bom("shop", 1, "a@1")+"\n"+`{"bomFormat": `+"\n")
	c := shopCore()
	r, sum := importSBOMs(t, c, SBOMSource{Paths: []string{file}})
	if len(r) != 1 || !strings.HasPrefix(r[0], file+":2: ") || sum.Failed() != 1 || len(c.sboms) != 1 {
		t.Errorf("half a document: %q %+v", r, sum)
	}
}

// An SBOM is imported without the entries that cannot be read, and the import names each of them.
func TestAnSBOMIsImportedWithoutItsFaultyEntries(t *testing.T) {
	t.Parallel()
	path := writeDocument(t, "x.json", strings.Replace(bom("shop", 1, "a@1"), `"components": [`, `"components": [{"type": "library"}, `, 1))
	c := shopCore()
	r, sum := importSBOMs(t, c, SBOMSource{Paths: []string{path}})
	r.check(t, path+": components[0].name: is missing; the package is left out")
	checkKinds(t, sum, KindCounts{Name: "SBOMs", Added: 1})
	if got, want := c.held(), "uid of shop@"+digestOf(1)+": a@1"; got != want {
		t.Errorf("stored %s, want %s", got, want)
	}
}

func TestTheNameOfAnImageFindsItsRepo(t *testing.T) {
	t.Parallel()
	for image, repo := range map[string]string{
		"docker.io/library/debian:12": "debian", "debian:12": "debian", "docker.io/library/alpine": "library/alpine", "ghcr.io/acme/api:1@" + digestOf(1): "acme/api",
		"registry.example.com:5000/shop": "registry.example.com:5000/shop", "My Shop": "My Shop",
	} {
		c := newFakeCore()
		c.repos[repo] = &registry.ImportedRepo{}
		r, _ := importSBOMs(t, c, SBOMSource{Paths: []string{writeDocument(t, "x.json", strings.Replace(bom("x", 1, "a@1"), `"name": "x"`, fmt.Sprintf(`"name": %q`, image), 1))}})
		if r.check(t); c.sboms["uid of "+repo+"@"+digestOf(1)] == nil {
			t.Errorf("%s: %s, want an SBOM of %s", image, c.held(), repo)
		}
	}
}
