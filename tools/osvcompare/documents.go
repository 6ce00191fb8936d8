package main

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	packageurl "github.com/package-url/packageurl-go"
	"golang.org/x/mod/modfile"

	"atrium/internal/sbom"
)

// A document is a file that may be an SBOM, as text and as it is read. The store reads it again; what is read here says which
// records to make.
type document struct {
	name string
	text []byte
	*sbom.Document
}

// digest returns the digest of the image that the document is imported for.
func (d *document) digest() string {
	sum := sha256.Sum256([]byte(d.name))
	return "sha256:" + hex.EncodeToString(sum[:])
}

// extension returns the ending by which osv-scanner knows the format of a document.
func (d *document) extension() string {
	if strings.HasPrefix(d.Format, "SPDX") {
		return ".spdx.json"
	}
	return ".cdx.json"
}

// sources returns the versions of source packages that have the names of their packages, by the package URLs of these.
func (d *document) sources() map[string]string {
	found := map[string]string{}
	for _, p := range d.Packages {
		if p.SourceName == p.Name {
			found[purlKey(p.PURL)] = p.SourceVersion
		}
	}
	return found
}

// addSpellings adds the package URLs of packages that the document has in several spellings, such as ruamel.yaml and ruamel-yaml.
// The store has one of them for each version.
func (d *document) addSpellings(packages []installed) []installed {
	known, keys := map[place]installed{}, map[string]bool{}
	for _, p := range packages {
		known[place{nameOf(p.Ecosystem, p.Name), p.Version}], keys[purlKey(p.PURL)] = p, true
	}
	for _, p := range d.Packages {
		if same, found := known[place{nameOf(p.Ecosystem, p.Name), p.Version}]; found && p.PURL != "" && !keys[purlKey(p.PURL)] {
			same.PURL, keys[purlKey(p.PURL)] = p.PURL, true
			packages = append(packages, same)
		}
	}
	return packages
}

// isEnvelope reports whether the document lies in a statement, an envelope or an answer of an API.
func (d *document) isEnvelope() bool {
	var is struct {
		BOMFormat   string `json:"bomFormat"`
		SPDXVersion string `json:"spdxVersion"`
		Graph       any    `json:"@graph"`
	}
	return json.Unmarshal(d.text, &is) != nil || is.BOMFormat == "" && is.SPDXVersion == "" && is.Graph == nil
}

// readDocuments reads the JSON files of folders, files and archives, each text once.
func readDocuments(paths []string) (documents []*document, err error) {
	seen := map[[sha256.Size]byte]bool{}
	add := func(name string, r io.Reader) error {
		if extension := filepath.Ext(name); extension != ".json" && extension != ".jsonl" {
			return nil
		}
		text, err := io.ReadAll(r)
		if sum := sha256.Sum256(text); err == nil && !seen[sum] {
			seen[sum] = true
			documents = append(documents, newDocument(name, text))
		}
		return err
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

func newDocument(name string, text []byte) *document {
	d, err := sbom.Parse(text)
	if err != nil {
		d = &sbom.Document{}
	}
	return &document{name, text, d}
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
func documentsOfModules(count int) (documents []*document, err error) {
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

func documentOfModule(m *modfile.File) (*document, error) {
	var components []map[string]any
	add := func(path, version string) {
		namespace, name := "", path
		if i := strings.LastIndexByte(path, '/'); i >= 0 {
			namespace, name = path[:i], path[i+1:]
		}
		purl := packageurl.NewPackageURL("golang", namespace, name, version, nil, "").ToString()
		components = append(components, map[string]any{"type": "library", "name": path, "version": version, "purl": purl})
	}
	for _, r := range m.Require {
		add(r.Mod.Path, r.Mod.Version)
	}
	if m.Go != nil {
		add("stdlib", m.Go.Version)
	}
	text, err := writeCycloneDX("osvcompare", components)
	return newDocument(m.Syntax.Name+".json", text), err
}

// writeCycloneDX writes components as a document of a generator.
func writeCycloneDX(generator string, components []map[string]any) ([]byte, error) {
	var text bytes.Buffer
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	err := encoder.Encode(map[string]any{
		"bomFormat": "CycloneDX", "specVersion": "1.6", "version": 1, "components": components,
		"metadata": map[string]any{"tools": map[string]any{"components": []any{map[string]string{"type": "application", "name": generator}}}},
	})
	return text.Bytes(), err
}

// generators has what the names of generators contain, as documents write them. Names of other programs, such as tests, do not
// count.
var generators = []struct{ contains, name string }{
	{"syft", "syft"}, {"trivy", "Trivy"}, {"cdxgen", "cdxgen"}, {"cyclonedx-gomod", "cyclonedx-gomod"}, {"maven plugin", "cyclonedx-maven-plugin"},
	{"cyclonedx-maven-plugin", "cyclonedx-maven-plugin"}, {"node.js module", "cyclonedx-node-module"}, {"cyclonedx-npm", "cyclonedx-npm"}, {"cyclonedx-php", "cyclonedx-php-composer"},
	{"cyclonedx-bom", "cyclonedx-python"}, {"sbomer", "SBOMer of Red Hat"}, {"scalibr", "osv-scalibr"}, {"rpm-manifest-generator", "rpm-manifest-generator of Red Hat"},
	{"domino", "Domino of Quarkus"}, {"microsoft.sbomtool", "sbom-tool of Microsoft"}, {"dependency-graph", "dependency graph of GitHub"}, {"apko", "apko"}, {"melange", "melange"},
	{"k8s.io/bom", "bom of Kubernetes"}, {"bom-devel", "bom of Kubernetes"}, {"ko 0", "ko"}, {"tern", "tern"}, {"spdx-maven", "spdx-maven-plugin"}, {"black duck", "Black Duck"},
	{"xray", "Xray of JFrog"}, {"dependency-track", "Dependency-Track"}, {"grype", "grype"}, {"osvcompare", "modules of the cache (made)"},
	{"source auditor", "Source Auditor"},
}

var (
	toolsOfSPDX      = regexp.MustCompile(`"Tool: ?([^"]+)"`)
	toolsOfCycloneDX = regexp.MustCompile(`(?s)"tools"\s*:\s*(\[.*?\]|\{.*?\]\s*\})`)
)

// generator returns the program that wrote a document, or "" if the document does not name one that is known.
func (d *document) generator() string {
	text := d.text[:min(len(d.text), 1<<20)]
	named := bytes.Join([][]byte{toolsOfCycloneDX.Find(text), bytes.Join(toolsOfSPDX.FindAll(d.text, 3), nil)}, nil)
	if strings.Contains(string(d.text), `"createdUsing"`) && strings.HasPrefix(d.Format, "SPDX 3") {
		named = d.text
	}
	lower := strings.ToLower(string(named))
	for _, g := range generators {
		if strings.Contains(lower, g.contains) {
			return g.name
		}
	}
	return ""
}
