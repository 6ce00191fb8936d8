package main

import (
	"compress/gzip"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// A webPackage is a package of npm in a page. internal/web/licenses.mjs writes their lists.
type webPackage struct{ Name, Version, License, Folder string }

// addPages adds the packages of npm in the pages to the list of contents of a program. It runs in the root of the
// repository, after the pages have been built.
func addPages(path string) error {
	list, err := readContents(path)
	if err != nil {
		return err
	}
	packages, err := readWebPackages("internal/web/dist")
	if err != nil {
		return err
	}
	hashes, err := readLock("internal/web/package-lock.json")
	if err != nil {
		return err
	}
	self := list.Metadata.Component
	var refs []string
	for _, p := range packages {
		c := cdx.Component{Type: cdx.ComponentTypeLibrary, Name: p.Name, Version: p.Version, Scope: cdx.ScopeRequired,
			// The @ of a scope is escaped, and its slash separates the parts of a package URL.
			PackageURL: fmt.Sprintf("pkg:npm/%s@%s", strings.Replace(p.Name, "@", "%40", 1), p.Version),
			Licenses:   &cdx.Licenses{license(p.License)}}
		if hash := hashes[p.Folder]; hash != "" {
			c.Hashes = &[]cdx.Hash{{Algorithm: cdx.HashAlgoSHA512, Value: hash}}
		}
		c.BOMRef = c.PackageURL
		if slices.Contains(refs, c.BOMRef) {
			continue // Two pages have it.
		}
		refs = append(refs, c.BOMRef)
		*list.Components = append(*list.Components, c)
	}
	for i, dependency := range *list.Dependencies {
		if dependency.Ref == self.BOMRef {
			*(*list.Dependencies)[i].Dependencies = append(*dependency.Dependencies, refs...)
		}
	}
	return writeContents(path, list)
}

// license returns one license, or an expression such as "(MPL-2.0 OR Apache-2.0)".
func license(name string) cdx.LicenseChoice {
	if strings.Contains(name, " ") {
		return cdx.LicenseChoice{Expression: strings.Trim(name, "()")}
	}
	return cdx.LicenseChoice{License: &cdx.License{ID: name}}
}

func readContents(path string) (*cdx.BOM, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var list cdx.BOM
	if err := cdx.NewBOMDecoder(file, cdx.BOMFileFormatJSON).Decode(&list); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if list.Metadata == nil || list.Metadata.Component == nil || list.Components == nil || list.Dependencies == nil {
		return nil, fmt.Errorf("%s is no list of contents by cyclonedx-gomod", path)
	}
	return &list, nil
}

func writeContents(path string, list *cdx.BOM) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := cdx.NewBOMEncoder(file, cdx.BOMFileFormatJSON).SetPretty(true).SetEscapeHTML(false).Encode(list); err != nil {
		return err
	}
	return file.Close()
}

// readWebPackages reads the lists of all pages. It fails if there are none, because a release contains the pages.
func readWebPackages(folder string) (all []webPackage, err error) {
	lists, _ := filepath.Glob(filepath.Join(folder, "packages.json.gz")) // the pattern is valid
	others, _ := filepath.Glob(filepath.Join(folder, "*", "packages.json.gz"))
	if lists = append(lists, others...); len(lists) == 0 {
		return nil, fmt.Errorf("%s has no lists of packages; run make build", folder)
	}
	for _, name := range lists {
		file, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer file.Close()
		packed, err := gzip.NewReader(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		var packages []webPackage
		if err := json.NewDecoder(packed).Decode(&packages); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		all = append(all, packages...)
	}
	return all, nil
}

// readLock returns the hashes of packages, in hexadecimal form, by folder.
func readLock(path string) (map[string]string, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var lock struct {
		Packages map[string]struct{ Integrity string }
	}
	if err := json.Unmarshal(text, &lock); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	hashes := map[string]string{}
	for folder, p := range lock.Packages {
		if digest, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(p.Integrity, "sha512-")); err == nil && len(digest) == 64 {
			hashes[folder] = hex.EncodeToString(digest)
		}
	}
	return hashes, nil
}
