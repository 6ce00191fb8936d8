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
	err := json.Unmarshal(text, &doc)
	r := newReader(strings.Replace(version, "-", " ", 1))
	if err = r.checkTypes(err, "SPDX", len(doc.Packages) > 0); err != nil {
		return nil, err
	}
	r.Subject.Name, r.Skipped = doc.Name, len(doc.Files)
	described := doc.listDescribed()
	for i := range doc.Packages {
		if err := r.addSPDX(&doc.Packages[i], described, fmt.Sprintf("packages[%d]", i)); err != nil {
			return nil, err
		}
	}
	return r.finish()
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
func (r *reader) addSPDX(p *spdxPackage, described map[string]bool, place string) error {
	e := entry{place: place, name: p.Name, version: p.Version}
	for i, reference := range p.ExternalRefs {
		if reference.Type == "purl" {
			e.addPURL(fmt.Sprintf("%s.externalRefs[%d]", place, i), reference.Locator)
		}
	}
	for _, u := range e.purls {
		if u.isImage() {
			r.describe(p, u.version)
			return nil
		}
	}
	switch {
	case len(e.purls) == 0 && e.fault == nil && p.Name != "" && (p.Purpose == "CONTAINER" || described[p.ID]):
		r.describe(p, p.Version)
		return nil
	case p.Purpose == "OPERATING-SYSTEM":
		r.addSystem(p.Name, p.Version)
		return nil
	case p.Purpose == "FILE" && len(e.purls) == 0:
		r.Skipped++
		return nil
	}
	e.addLicense(p.LicenseConcluded)
	e.addLicense(p.LicenseDeclared)
	return r.add(e)
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
