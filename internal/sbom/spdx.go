package sbom

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strconv"
	"strings"

	packageurl "github.com/package-url/packageurl-go"
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
		SourceInfo       string `json:"sourceInfo"`
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

// The minor versions of SPDX 2 that are known.
const firstSPDX, lastSPDX = 2, 3

// parseSPDX reads a document of SPDX in JSON.
func parseSPDX(text []byte, version string) (*Document, error) {
	minor, found := strings.CutPrefix(version, "SPDX-2.")
	number, err := strconv.Atoi(minor)
	if !found || err != nil || number < firstSPDX {
		return nil, invalid("spdxVersion", "is %.100q; SPDX-2.%d and SPDX-2.%d are supported", version, firstSPDX, lastSPDX)
	}
	var doc spdxDocument
	err = json.Unmarshal(text, &doc)
	r := newReader(strings.Replace(version, "-", " ", 1))
	if number > lastSPDX {
		r.remark("spdxVersion", "is %s, which is newer than SPDX-2.%d; what that version adds is not read", version, lastSPDX)
	}
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
		if reference.Type == "purl" || strings.HasSuffix(reference.Type, "/purl") { // http://spdx.org/rdf/references/purl
			e.addPURL(fmt.Sprintf("%s.externalRefs[%d]", place, i), reference.Locator)
		}
	}
	for _, u := range e.purls {
		if u.isImage() {
			r.describe(p, u.version)
			return nil
		}
	}
	switch hasPURL := len(e.purls) > 0; {
	case described[p.ID] && isProject(e.purls), !hasPURL && e.fault == nil && p.Name != "" && (p.Purpose == "CONTAINER" || described[p.ID]):
		r.describe(p, p.Version)
		return nil
	case p.Purpose == "OPERATING-SYSTEM" || strings.HasPrefix(p.ID, "SPDXRef-OperatingSystem-"): // older versions of Trivy write no purpose
		r.addSystem(p.Name, p.Version)
		return nil
	case !hasPURL && (p.Purpose == "FILE" || p.Purpose == "SOURCE" || isTrivyTarget(p)):
		r.Skipped++
		return nil
	}
	e.source = builtFrom(p.SourceInfo)
	e.addLicense(p.LicenseConcluded)
	e.addLicense(p.LicenseDeclared)
	return r.add(e)
}

// isProject reports whether package URLs name what a document is about without being a package: GitHub writes the repository,
// and sbom-tool of Microsoft a software identification tag.
func isProject(purls []purl) bool {
	return len(purls) == 1 && (purls[0].kind == packageurl.TypeGithub || purls[0].kind == packageurl.TypeSWID)
}

// isTrivyTarget reports whether a package is a file, or a kind of files, in which Trivy has found packages.
func isTrivyTarget(p *spdxPackage) bool {
	return p.Version == "" && strings.HasPrefix(p.ID, "SPDXRef-Application-")
}

// sourceInfo matches how Trivy and others name the source package.
var sourceInfo = regexp.MustCompile(`^built package from: (\S+) (\S+)`)

// builtFrom returns the source package that the information about the origin of a package names.
func builtFrom(text string) source {
	if parts := sourceInfo.FindStringSubmatch(text); parts != nil {
		return source{name: parts[1], version: parts[2]}
	}
	return source{}
}

// describe keeps what a package says of the image.
func (r *reader) describe(p *spdxPackage, version string) {
	r.describeImage(p.Name, version)
	for _, sum := range p.Checksums {
		if sum.Algorithm == "SHA256" {
			r.Subject.Digests = append(r.Subject.Digests, "sha256:"+strings.ToLower(sum.Value))
		}
	}
}
