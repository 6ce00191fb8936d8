package sbom

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
)

// publicDocuments are SBOMs as other tools wrote them. The archives beside a clone have more, and are read if they are there.
var publicDocuments = []string{"testdata/public.tar.gz", "../../../shared/data/sbom-public.tar.gz", "../../../shared/data/sbom.tar.gz"}

// eachDocument calls visit for each file of an archive, and reports whether the archive is there.
func eachDocument(t *testing.T, archive string, visit func(name string, text []byte)) bool {
	t.Helper()
	file, err := os.Open(archive)
	if errors.Is(err, fs.ErrNotExist) {
		return false
	} else if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		t.Fatal(err)
	}
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return true
		} else if err != nil {
			t.Fatal(err)
		}
		text, err := io.ReadAll(entries)
		if err != nil {
			t.Fatal(err)
		}
		if entry.Typeflag == tar.TypeReg {
			visit(entry.Name, text)
		}
	}
}

// writers are those of all formats.
var writers = map[string]func(io.Writer, Description) Writer{"CycloneDX 1.6": NewCycloneDXWriter, "SPDX 2.3": NewSPDXWriter}

// describeAll describes a document with packages.
func describeAll(packages []Package) Description {
	d := Description{
		Image: Image{Name: "shop/checkout", Digest: "sha256:" + hex}, Architecture: "arm64", Base: Image{Name: "docker.io/library/debian:12", Digest: "sha256:" + strings.Repeat("2", 64)},
		Created: time.Date(2026, 3, 27, 13, 55, 0, 0, time.UTC), Program: "atrium", Version: "1.0", Packages: make([]string, len(packages)),
	}
	copy(d.Identity[:], "0123456789abcdef")
	for i, p := range packages {
		if d.Packages[i] = fmt.Sprintf("p%d", i); !slices.Contains(d.Ecosystems, p.Ecosystem) {
			d.Ecosystems = append(d.Ecosystems, p.Ecosystem)
		}
	}
	return d
}

// writeAll writes packages.
func writeAll(t *testing.T, format string, d Description, packages []Package) []byte {
	t.Helper()
	var text bytes.Buffer
	w := writers[format](&text, d)
	for i := range packages {
		if err := w.Write(&packages[i]); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return text.Bytes()
}

// without returns packages without what only a reader knows.
func without(packages []Package) []Package {
	all := slices.Clone(packages)
	for i := range all {
		all[i].entries, all[i].isWritten, all[i].Architecture = nil, false, ""
		if len(all[i].Licenses) == 0 {
			all[i].Licenses = nil
		}
	}
	return all
}

// checkWritten fails if packages are not read again as they were, or a schema refuses their document.
func checkWritten(t *testing.T, name string, packages []Package) {
	t.Helper()
	for format := range writers {
		d := describeAll(packages)
		text := writeAll(t, format, d, packages)
		checkSchema(t, format, name, text)
		read, err := Parse(text)
		if err != nil {
			t.Errorf("%s as %s: %v", name, format, err)
			continue
		}
		if read.Format != format || read.Subject.Name != d.Image.Name || !slices.Contains(read.Subject.Digests, d.Image.Digest) || slices.Contains(read.Subject.Digests, d.Base.Digest) || read.Architecture() != d.Architecture {
			t.Errorf("%s as %s is %s about %+v", name, format, read.Format, read.Subject)
		}
		want, got := without(packages), without(read.Packages)
		if len(got) != len(want) {
			t.Errorf("%s as %s has %d packages, want %d", name, format, len(got), len(want))
			continue
		}
		for i := range want {
			if !reflect.DeepEqual(got[i], want[i]) {
				t.Errorf("%s as %s: package %d is\n%s, want\n%s", name, format, i, spell(got[i]), spell(want[i]))
				break
			}
		}
	}
}

// spell shows a package with the value of its pointer.
func spell(p Package) string {
	direct := "unknown"
	if p.Direct != nil {
		direct = fmt.Sprint(*p.Direct)
	}
	p.Direct = nil
	return fmt.Sprintf("%#v direct %s", p, direct)
}

func TestEveryDocumentIsReadAgainAsItWasWritten(t *testing.T) {
	t.Parallel()
	documents := 0
	for _, archive := range publicDocuments {
		eachDocument(t, archive, func(name string, text []byte) {
			if read, err := Parse(text); err == nil {
				documents++
				checkWritten(t, name, read.Packages)
			}
		})
	}
	if documents < 15 {
		t.Errorf("%d documents were read, want those of %s", documents, publicDocuments[0])
	}
}

// What no format has a place for, and what a reader would conclude otherwise.
func TestOddPackagesAreReadAgainAsTheyWereWritten(t *testing.T) {
	t.Parallel()
	yes, no := true, false
	packages := []Package{
		{Name: "plain"},
		{Name: "a b", Version: "1 2", SourceName: "s t", SourceVersion: "3 4"},
		{Name: "bash", Version: "5", Ecosystem: "Debian", PURL: "pkg:deb/debian/bash@5?arch=amd64"},
		{Name: "libssl3", Version: "3.0.9-1", Ecosystem: "Debian:12", PURL: "pkg:deb/debian/libssl3@3.0.9-1?arch=amd64", SourceName: "openssl", SourceVersion: "1:3.0.9-1", Licenses: []string{"GPL-2", "MIT", "(MIT OR ISC)", "MIT WITH nothing"}},
		{Name: "other", Version: "1", Ecosystem: "npm", PURL: "pkg:npm/wrong@2", Supplier: "Acme (Europe) (mail@acme.example)", Scope: ScopeDevelopment, Direct: &yes, IntroducedBy: []int{}},
		{Name: "needed", Version: "1", Ecosystem: "npm", PURL: "pkg:npm/x@2", Supplier: "Person: Bob", Scope: ScopeOptional, Direct: &no, IntroducedBy: []int{4, 6}, Layer: "sha256:ab = c"},
		{Name: "zzz", Version: "1", Ecosystem: "npm", PURL: "pkg:npm/zzz@1", Scope: ScopeRequired, IntroducedBy: []int{}, Licenses: []string{"Apache-2.0 AND MIT"}},
		{Name: "zzzz", Version: "=\"<&>", Ecosystem: "Red Hat:enterprise_linux:9::appstream", PURL: "pkg:rpm/redhat/zzzz@1", Licenses: []string{"<custom>"}},
	}
	slices.SortStableFunc(packages, comparePackages)
	for i := range packages { // the places were those of names
		for n := range packages[i].IntroducedBy {
			want := []string{"other", "zzz"}[n]
			packages[i].IntroducedBy[n] = slices.IndexFunc(packages, func(p Package) bool { return p.Name == want })
		}
	}
	checkWritten(t, "odd packages", packages)
	checkWritten(t, "no packages", nil)
}

// A document with the most packages, each of which comes through the most others, is written in bounded memory, and can be read again.
func TestTheLargestDocumentCanBeReadAgain(t *testing.T) {
	t.Parallel()
	no, packages := false, make([]Package, MaxPackages)
	for i := range packages {
		name := fmt.Sprintf("package-%05d", i)
		packages[i] = Package{Name: name, Version: "1.0.0", Ecosystem: "npm", PURL: "pkg:npm/" + name + "@1.0.0", Licenses: []string{"MIT"}, Direct: &no, IntroducedBy: make([]int, maxIntroducers)}
		for n := range packages[i].IntroducedBy {
			packages[i].IntroducedBy[n] = (i/100*100 + n + 1 + i%100) % MaxPackages
		}
		slices.Sort(packages[i].IntroducedBy)
	}
	for format := range writers {
		d := describeAll(packages)
		d.FirstOnly = true
		text := writeAll(t, format, d, packages)
		read, err := Parse(text)
		if err != nil {
			t.Errorf("%s with %d bytes: %v", format, len(text), err)
			continue
		}
		if !reflect.DeepEqual(without(read.Packages), packages) {
			t.Errorf("%s has other packages", format)
		}
	}
}

// checkSchema checks a document with the schema of its format.
func checkSchema(t *testing.T, format, name string, text []byte) {
	t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Errorf("%s as %s: %v", name, format, err)
		return
	}
	compiled, err := schemas()
	if err == nil {
		err = compiled[format].Validate(value)
	}
	if err != nil {
		t.Errorf("%s as %s: %.2000v", name, format, err)
	}
}

// schemas compiles those of the formats, by their names.
var schemas = sync.OnceValues(func() (map[string]*jsonschema.Schema, error) {
	compiler := jsonschema.NewCompiler()
	compiler.AssertFormat()
	const base = "http://cyclonedx.org/schema/"
	for _, name := range []string{"spdx.schema", "jsf-0.82.schema", "bom-1.6.schema", "spdx-schema-2.3"} {
		packed, err := os.ReadFile("testdata/" + name + ".json.gz")
		if err != nil {
			return nil, err
		}
		unpacked, err := gzip.NewReader(bytes.NewReader(packed))
		if err != nil {
			return nil, err
		}
		document, err := jsonschema.UnmarshalJSON(unpacked)
		if err == nil {
			err = compiler.AddResource(base+name+".json", document)
		}
		if err != nil {
			return nil, err
		}
	}
	compiled := map[string]*jsonschema.Schema{}
	for format, name := range map[string]string{"CycloneDX 1.6": "bom-1.6.schema", "SPDX 2.3": "spdx-schema-2.3"} {
		schema, err := compiler.Compile(base + name + ".json")
		if err != nil {
			return nil, err
		}
		compiled[format] = schema
	}
	return compiled, nil
})
