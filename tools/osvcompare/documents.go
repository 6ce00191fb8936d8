package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	packageurl "github.com/package-url/packageurl-go"
	"golang.org/x/mod/modfile"

	"atrium/internal/sbom"
)

// A document is an SBOM, as text and as we read it.
type document struct {
	name string
	text []byte
	*sbom.Document
}

// extension returns the ending by which osv-scanner knows the format of a document.
func (d document) extension() string {
	if strings.HasPrefix(d.Format, "SPDX") {
		return ".spdx.json"
	}
	return ".cdx.json"
}

// readDocuments reads the SBOMs of folders, files and archives. Other files are left out.
func readDocuments(paths []string) (documents []document, err error) {
	add := func(name string, r io.Reader) error {
		text, err := io.ReadAll(r)
		if err != nil || !strings.HasSuffix(name, ".json") {
			return err
		}
		d, err := sbom.Parse(text)
		if err != nil || len(d.Packages) == 0 {
			fmt.Fprintf(os.Stderr, "%s is left out: %v\n", name, cmp.Or(err, errors.New("it has no packages")))
			return nil
		}
		documents = append(documents, document{name, text, d})
		return nil
	}
	for _, path := range paths {
		err = errors.Join(err, filepath.WalkDir(path, func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			file, err := os.Open(name)
			if err != nil {
				return err
			}
			defer file.Close()
			if strings.HasSuffix(name, ".tar.gz") {
				return readArchive(file, add)
			}
			return add(name, file)
		}))
	}
	return documents, err
}

func readArchive(file io.Reader, add func(string, io.Reader) error) error {
	unzipped, err := gzip.NewReader(file)
	if err != nil {
		return err
	}
	for entries := tar.NewReader(unzipped); ; {
		entry, err := entries.Next()
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err == nil {
			err = add(entry.Name, entries)
		}
		if err != nil {
			return err
		}
	}
}

// documentsOfModules makes a CycloneDX document of the requirements of each of so many modules, those that require most, of
// the module cache.
func documentsOfModules(count int) (documents []document, err error) {
	if count == 0 {
		return nil, nil
	}
	cache, err := exec.Command("go", "env", "GOMODCACHE").Output()
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(strings.TrimSpace(string(cache)), "cache", "download")
	var modules []*modfile.File
	err = filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || filepath.Ext(path) != ".mod" {
			return err
		}
		text, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if f, err := modfile.ParseLax(strings.TrimPrefix(path, folder+"/"), text, nil); err == nil && f.Module != nil {
			modules = append(modules, f)
		}
		return nil
	})
	slices.SortStableFunc(modules, func(a, b *modfile.File) int { return cmp.Compare(len(b.Require), len(a.Require)) })
	for _, m := range modules[:min(count, len(modules))] {
		d, err := documentOfModule(m)
		if err != nil {
			return nil, err
		}
		documents = append(documents, d)
	}
	return documents, err
}

func documentOfModule(m *modfile.File) (document, error) {
	var components []map[string]string
	add := func(path, version string) {
		namespace, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			namespace, name = path[:i], path[i+1:]
		}
		purl := packageurl.NewPackageURL("golang", namespace, name, version, nil, "").ToString()
		components = append(components, map[string]string{"type": "library", "name": path, "version": version, "purl": purl})
	}
	for _, r := range m.Require {
		add(r.Mod.Path, r.Mod.Version)
	}
	if m.Go != nil {
		add("stdlib", m.Go.Version)
	}
	text, err := json.Marshal(map[string]any{"bomFormat": "CycloneDX", "specVersion": "1.5", "version": 1, "components": components})
	if err != nil {
		return document{}, err
	}
	d, err := sbom.Read(bytes.NewReader(text))
	return document{m.Syntax.Name, text, d}, err
}
