package main

import (
	"archive/zip"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/osv-scalibr/enricher/vulnmatch/osvlocal"
	"github.com/google/osv-scalibr/extractor"
	"github.com/google/osv-scalibr/extractor/filesystem"
	apk "github.com/google/osv-scalibr/extractor/filesystem/os/apk/metadata"
	dpkg "github.com/google/osv-scalibr/extractor/filesystem/os/dpkg/metadata"
	rpm "github.com/google/osv-scalibr/extractor/filesystem/os/rpm/metadata"
	"github.com/google/osv-scalibr/extractor/filesystem/sbom/cdx"
	"github.com/google/osv-scalibr/extractor/filesystem/sbom/cdx/metadata"
	"github.com/google/osv-scalibr/extractor/filesystem/sbom/spdx"
	scalibr "github.com/google/osv-scalibr/purl"
	"github.com/google/osv-scanner/v2/pkg/models"
	"github.com/google/osv-scanner/v2/pkg/osvscanner"
	osv "github.com/ossf/osv-schema/bindings/go/osvschema"
	packageurl "github.com/package-url/packageurl-go"
	"google.golang.org/protobuf/proto"
)

// A scanner is osv-scanner with databases of its own.
type scanner struct{ folder string }

// newScanner writes the records as databases of their ecosystems, in the form of the service osv.dev. Ecosystems without
// records have an empty one, because osv-scanner wants all that the documents name.
func newScanner(folder string, records *records, documents []*document) (*scanner, error) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	byEcosystem := map[string][][]byte{}
	for _, d := range documents {
		for _, p := range d.Packages {
			if p.Ecosystem != "" {
				byEcosystem[withoutRelease(p.Ecosystem)] = nil
			}
		}
	}
	for _, name := range []string{"GIT", "Alpine", "Debian", "Ubuntu", "Wolfi", "Chainguard", "GitHub Actions", "SwiftURL", "Docker Hardened Images"} {
		byEcosystem[name] = nil
	}
	for _, r := range records.byID {
		for _, name := range r.ecosystems() {
			byEcosystem[name] = append(byEcosystem[name], r.text)
		}
	}
	s := &scanner{folder}
	for name, texts := range byEcosystem {
		if err := s.writeDatabase(name, texts); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func (s *scanner) writeDatabase(name string, texts [][]byte) error {
	folder := filepath.Join(s.folder, "osv-scalibr", name)
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	file, err := os.Create(filepath.Join(folder, "all.zip"))
	if err != nil {
		return err
	}
	archive := zip.NewWriter(file)
	for i, text := range texts {
		entry, err := archive.Create(fmt.Sprintf("%d.json", i))
		if err == nil {
			_, err = entry.Write(text)
		}
		if err != nil {
			return err
		}
	}
	return errors.Join(archive.Close(), file.Close())
}

// A scanned package is one of osv-scanner's, with the ids of the records that it finds, and with their groups.
type scannedPackage struct {
	packages []*extractor.Package
	ids      map[string]bool
	groups   [][]string
}

// scan returns what osv-scanner finds in a document, by package URL.
func (s *scanner) scan(d *document) (found map[string]*scannedPackage, err error) {
	defer func() {
		if fault := recover(); fault != nil {
			err = fmt.Errorf("it panics: %v", fault)
		}
	}()
	path := filepath.Join(s.folder, "document"+d.extension())
	text := bytes.ReplaceAll(d.text, []byte(`"pkg:alpine/`), []byte(`"pkg:apk/alpine/`)) // osv-scanner does not know what older versions of syft wrote
	if err := os.WriteFile(path, text, 0o600); err != nil {
		return nil, err
	}
	results, err := osvscanner.DoScan(osvscanner.ScannerActions{
		SBOMPaths: []string{path}, CompareOffline: true, LocalDBPath: s.folder, PluginNetworkDisabled: true, ShowAllVulns: true, ShowAllPackages: true, NoIgnore: true,
		ExperimentalScannerActions: osvscanner.ExperimentalScannerActions{
			PluginsNoDefaults: true, PluginsEnabled: []string{"sbom"}, TransitiveScanning: osvscanner.TransitiveScanningActions{Disabled: true},
		},
	})
	if err != nil && !errors.Is(err, osvscanner.ErrVulnerabilitiesFound) && !errors.Is(err, osvscanner.ErrNoPackagesFound) {
		return nil, cmp.Or(whyUnread(path, text), err)
	}
	found = map[string]*scannedPackage{}
	for _, source := range results.Results {
		for _, p := range source.Packages {
			addScanned(found, p)
		}
	}
	return found, nil
}

// whyUnread returns the error of osv-scanner's reader of a document, which its result does not have.
func whyUnread(path string, text []byte) error {
	read := cdx.New
	if strings.HasSuffix(path, ".spdx.json") {
		read = spdx.New
	}
	reader, err := read(nil)
	if err == nil {
		_, err = reader.Extract(context.Background(), &filesystem.ScanInput{Path: filepath.Base(path), Reader: bytes.NewReader(text)})
	}
	return err
}

func addScanned(found map[string]*scannedPackage, p models.PackageVulns) {
	key := "" // a package without a package URL
	if u := p.Package.Inventory.PURL(); u != nil {
		key = purlKey(u.String())
	}
	s := found[key]
	if s == nil {
		s = &scannedPackage{ids: map[string]bool{}}
		found[key] = s
	}
	s.packages = append(s.packages, p.Package.Inventory)
	for _, v := range p.Vulnerabilities {
		s.ids[v.GetId()] = true
	}
	for _, g := range p.Groups {
		s.groups = append(s.groups, g.IDs)
	}
}

// purlKey returns a package URL without qualifiers.
func purlKey(text string) string {
	p, err := packageurl.FromString(text)
	if err != nil {
		return text
	}
	if p.Type == "alpine" {
		p.Type, p.Namespace = "apk", "alpine"
	}
	return packageurl.NewPackageURL(p.Type, p.Namespace, p.Name, p.Version, nil, p.Subpath).ToString()
}

// affects asks the matcher of osv-scanner whether a record affects a package.
func affects(record *osv.Vulnerability, p *extractor.Package) (is bool) {
	defer func() { _ = recover() }() // it panics for versions and ecosystems that it cannot read
	return len(osvlocal.VulnerabilitiesAffectingPackage([]*osv.Vulnerability{proto.CloneOf(record)}, p)) > 0
}

// withVersion returns a package of osv-scanner with another version.
func withVersion(p *extractor.Package, version string) *extractor.Package {
	other := *p
	other.Version = version
	return &other
}

// withDistribution returns a package of a CycloneDX document with another release of its distribution.
func withDistribution(p *extractor.Package, distribution string) *extractor.Package {
	u := p.PURL()
	if u == nil {
		return p
	}
	qualifiers := map[string]string{}
	for _, q := range u.Qualifiers {
		qualifiers[q.Key] = q.Value
	}
	qualifiers["distro"] = distribution
	other, changed := *p, *u
	changed.Qualifiers = scalibr.QualifiersFromMap(qualifiers)
	other.Metadata = &metadata.Metadata{PURL: &changed}
	return &other
}

// inSBOM returns a package as osv-scanner reads it in a CycloneDX component with this package URL; nil if it cannot read that.
func inSBOM(purl string) *extractor.Package {
	u, err := scalibr.FromString(purl)
	if err != nil {
		return nil
	}
	return &extractor.Package{Name: u.Name, Version: u.Version, PURLType: u.Type, Metadata: &metadata.Metadata{PURL: &u}}
}

// purlTypes has the types of package URLs by which osv-scanner knows the ecosystems of packages of languages.
var purlTypes = map[string]string{
	"PyPI": scalibr.TypePyPi, "Maven": scalibr.TypeMaven, "npm": scalibr.TypeNPM, "Go": scalibr.TypeGolang, "opam": scalibr.TypeOpam, "ConanCenter": scalibr.TypeConan, "CRAN": scalibr.TypeCran,
	"RubyGems": scalibr.TypeGem, "NuGet": scalibr.TypeNuget, "Hackage": scalibr.TypeHackage, "Hex": scalibr.TypeHex, "Packagist": scalibr.TypeComposer, "crates.io": scalibr.TypeCargo,
	"Julia": scalibr.TypeJulia, "Pub": scalibr.TypePub, "GitHub Actions": scalibr.TypeGithub, "SwiftURL": scalibr.TypeSwift,
}

// inImage returns a package as osv-scanner reads it in an image itself, where it knows its ecosystem and its source; nil if it
// knows none such.
func inImage(ecosystem, name, version string) *extractor.Package {
	distribution, release, _ := strings.Cut(ecosystem, ":")
	kind := purlTypes[distribution]
	// A package URL without a namespace leaves the name as it is.
	p := &extractor.Package{Name: name, Version: version, PURLType: kind, Metadata: &metadata.Metadata{PURL: &scalibr.PackageURL{Type: kind, Name: name, Version: version}}}
	switch distribution {
	case "Debian", "Ubuntu":
		p.PURLType, p.Metadata = scalibr.TypeDebian, &dpkg.Metadata{SourceName: name, OSID: strings.ToLower(distribution), OSVersionID: strings.TrimPrefix(withSupport(ecosystem), distribution+":")}
	case "Alpine", "Wolfi", "Chainguard", "MinimOS":
		p.PURLType, p.Metadata = scalibr.TypeApk, &apk.Metadata{OriginName: name, OSID: strings.ToLower(distribution), OSVersionID: strings.TrimPrefix(release, "v")}
	case "Red Hat":
		p.PURLType, p.Metadata = scalibr.TypeRPM, &rpm.Metadata{OSID: "rhel", OSCPEName: "cpe:/o:redhat:" + release}
	case "AlmaLinux", "Rocky Linux", "Mageia", "openEuler":
		id := map[string]string{"AlmaLinux": "almalinux", "Rocky Linux": "rocky", "Mageia": "mageia", "openEuler": "openEuler"}[distribution]
		p.PURLType, p.Metadata = scalibr.TypeRPM, &rpm.Metadata{OSID: id, OSVersionID: release}
	}
	if p.PURLType == "" {
		return nil
	}
	return p
}

// ecosystems returns the ecosystems of a record without their releases, each once.
func (r *record) ecosystems() (names []string) {
	var is struct {
		Affected []struct{ Package struct{ Ecosystem string } }
	}
	_ = json.Unmarshal(r.text, &is) // it was read before
	seen := map[string]bool{}
	for _, a := range is.Affected {
		if name := withoutRelease(a.Package.Ecosystem); name != "" && !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	return names
}
