package main

import (
	"archive/zip"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"

	"github.com/google/osv-scanner/v2/pkg/osvscanner"
)

// A scanner is osv-scanner with databases of its own.
type scanner struct{ folder string }

// newScanner writes the records as databases of their ecosystems, in the form of the service osv.dev. Ecosystems without
// records have an empty one, because osv-scanner wants all that the documents name.
func newScanner(folder string, records *records, documents []document) (*scanner, error) {
	slog.SetDefault(slog.New(slog.DiscardHandler))
	byEcosystem := map[string][][]byte{}
	for _, d := range documents {
		for _, p := range d.Packages {
			byEcosystem[ecosystemOf(p.Ecosystem)] = nil
		}
	}
	for _, name := range []string{"GIT", "Alpine", "Debian", "Ubuntu", "Wolfi", "Chainguard", "GitHub Actions"} {
		byEcosystem[name] = nil
	}
	for _, text := range records.documents {
		for _, name := range ecosystemsOf(text) {
			byEcosystem[name] = append(byEcosystem[name], text)
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

func ecosystemOf(text string) string {
	name, _, _ := strings.Cut(text, ":")
	return name
}

// ecosystemsOf returns the ecosystems of a record, each once.
func ecosystemsOf(text []byte) (names []string) {
	var record struct {
		Affected []struct {
			Package struct {
				Ecosystem string `json:"ecosystem"`
			} `json:"package"`
		} `json:"affected"`
	}
	_ = json.Unmarshal(text, &record) // it was read before
	seen := map[string]bool{}
	for _, a := range record.Affected {
		if name := ecosystemOf(a.Package.Ecosystem); name != "" && !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	return names
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

// scan returns what osv-scanner finds in a document.
func (s *scanner) scan(d document) (map[key]bool, error) {
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
		return nil, err
	}
	found := map[key]bool{}
	for _, source := range results.Results {
		for _, p := range source.Packages {
			for _, v := range p.Vulnerabilities {
				found[key{purlKey(p.Package.Inventory.PURL().String()), v.GetId()}] = true
			}
		}
	}
	return found, nil
}
