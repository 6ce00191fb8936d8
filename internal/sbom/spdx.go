package sbom

import (
	"encoding/json"
	"fmt"
	"strings"
)

// These are the parts of SPDX 2.2 and 2.3 that Atrium reads. The library of the SPDX project
// reads all of a document into memory, with its thousands of files and relationships, and
// panics if a package is null.
type (
	spdxDocument struct {
		Name          string             `json:"name"`
		Packages      []spdxPackage      `json:"packages"`
		Describes     []string           `json:"documentDescribes"`
		Relationships []spdxRelationship `json:"relationships"`
		Files         []struct{}         `json:"files"`
	}
	spdxPackage struct {
		ID               string `json:"SPDXID"`
		Name             string `json:"name"`
		Version          string `json:"versionInfo"`
		Purpose          string `json:"primaryPackagePurpose"`
		LicenseConcluded string `json:"licenseConcluded"`
		LicenseDeclared  string `json:"licenseDeclared"`
		Checksums        []struct {
			Algorithm string `json:"algorithm"`
			Value     string `json:"checksumValue"`
		} `json:"checksums"`
		ExternalRefs []struct {
			Type    string `json:"referenceType"`
			Locator string `json:"referenceLocator"`
		} `json:"externalRefs"`
	}
	spdxRelationship struct {
		From string `json:"spdxElementId"`
		To   string `json:"relatedSpdxElement"`
		Type string `json:"relationshipType"`
	}
)

// spdxRoot is the id of a document in its relationships.
const spdxRoot = "SPDXRef-DOCUMENT"

// parseSPDX reads a document of SPDX in JSON.
func parseSPDX(text []byte, version string) (*Document, error) {
	if version != "SPDX-2.2" && version != "SPDX-2.3" {
		return nil, invalid("spdxVersion", "is %q; SPDX-2.2 and SPDX-2.3 are supported", version)
	}
	var doc spdxDocument
	if err := json.Unmarshal(text, &doc); err != nil {
		return nil, invalid("", "the document is no SPDX: %v", err)
	}
	d := &Document{Format: strings.Replace(version, "-", " ", 1), Subject: Subject{Name: doc.Name}, Skipped: len(doc.Files)}
	described := doc.listDescribed()
	for i := range doc.Packages {
		if err := d.addSPDX(&doc.Packages[i], described, fmt.Sprintf("packages[%d]", i)); err != nil {
			return nil, err
		}
	}
	return d, nil
}

// listDescribed returns the ids of the elements that a document is about.
func (doc *spdxDocument) listDescribed() map[string]bool {
	described := map[string]bool{}
	for _, id := range doc.Describes {
		described[id] = true
	}
	for _, r := range doc.Relationships {
		switch {
		case r.Type == "DESCRIBES" && r.From == spdxRoot:
			described[r.To] = true
		case r.Type == "DESCRIBED_BY" && r.To == spdxRoot:
			described[r.From] = true
		}
	}
	return described
}

// addSPDX adds a package. A package that is the image itself becomes the subject.
func (d *Document) addSPDX(p *spdxPackage, described map[string]bool, place string) error {
	if p.Name == "" {
		return invalid(place+".name", "is missing")
	}
	added, hasPURL := Package{Name: p.Name, Version: p.Version}, false
	for i, reference := range p.ExternalRefs {
		if reference.Type != "purl" {
			continue
		}
		purl, err := parsePURL(reference.Locator)
		switch {
		case err != nil:
			return invalid(fmt.Sprintf("%s.externalRefs[%d]", place, i), "%v", err)
		case purl.isImage():
			d.describe(p, purl.version)
			return nil
		case !hasPURL:
			added.applyPURL(purl, "")
			hasPURL = true
		}
	}
	switch {
	case !hasPURL && (p.Purpose == "CONTAINER" || described[p.ID]):
		d.describe(p, p.Version)
		return nil
	case p.Purpose == "OPERATING-SYSTEM" || p.Purpose == "FILE":
		d.Skipped++
		return nil
	}
	added.addLicense(p.LicenseConcluded)
	added.addLicense(p.LicenseDeclared)
	return d.add(added, place)
}

// describe keeps what a package says of the image.
func (d *Document) describe(p *spdxPackage, version string) {
	d.Skipped++
	d.Subject.Name = p.Name
	if isDigest(version) {
		d.Subject.Digests = append(d.Subject.Digests, version)
	} else if version != "" && !strings.Contains(p.Name, ":") {
		d.Subject.Name += ":" + version
	}
	for _, sum := range p.Checksums {
		if sum.Algorithm == "SHA256" {
			d.Subject.Digests = append(d.Subject.Digests, "sha256:"+strings.ToLower(sum.Value))
		}
	}
}
