package sbom

import (
	"cmp"
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
		Supplier         string `json:"supplier"`
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
		AttributionTexts []string `json:"attributionTexts"`
		Annotations      []struct {
			Comment string `json:"comment"`
		} `json:"annotations"`
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
		r.remark("spdxVersion", "is %s, which is newer than SPDX-2.%d; additions of that version are ignored", version, lastSPDX)
	}
	if err = r.checkTypes(err, "SPDX", len(doc.Packages) > 0); err != nil {
		return nil, err
	}
	r.Subject.Name, r.Skipped = doc.Name, len(doc.Files)
	described, bases := doc.listDescribed()
	needs := doc.listNeeds(r)
	for i := range doc.Packages {
		if err := r.addSPDX(&doc.Packages[i], described, bases, needs, fmt.Sprintf("packages[%d]", i)); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// listDescribed returns the ids of the elements that a document is about, and those that others were built on.
func (doc *spdxDocument) listDescribed() (described, bases map[string]bool) {
	described, bases = map[string]bool{}, map[string]bool{}
	for _, id := range doc.Describes {
		described[id] = true
	}
	for _, r := range doc.Relationships {
		switch {
		case r.Type == "DESCRIBES" && r.From == spdxRoot:
			described[r.To] = true
		case r.Type == "DESCRIBED_BY" && r.To == spdxRoot:
			described[r.From] = true
		case r.Type == "DESCENDANT_OF":
			bases[r.To] = true
		case r.Type == "ANCESTOR_OF":
			bases[r.From] = true
		}
	}
	return described, bases
}

// addSPDX adds a package. A package that is the image itself becomes the subject.
func (r *reader) addSPDX(p *spdxPackage, described, bases map[string]bool, needs map[string]Scope, place string) error {
	e := entry{place: place, id: p.ID, name: p.Name, version: p.Version, scope: needs[p.ID], supplier: supplierName(p.Supplier)}
	for i, reference := range p.ExternalRefs {
		if reference.Type == "purl" || strings.HasSuffix(reference.Type, "/purl") { // http://spdx.org/rdf/references/purl
			e.addPURL(fmt.Sprintf("%s.externalRefs[%d]", place, i), reference.Locator)
		}
	}
	for _, u := range e.purls {
		switch {
		case !u.isImage():
		case bases[p.ID]:
			r.Skipped++
			return nil
		default:
			r.describe(p, u.version)
			r.Subject.Architecture = cmp.Or(r.Subject.Architecture, u.qualifiers["arch"])
			return nil
		}
	}
	switch hasPURL := len(e.purls) > 0; {
	case described[p.ID] && isProject(e.purls):
		r.project = p.ID
		r.describe(p, p.Version)
		return nil
	case !hasPURL && e.fault == nil && p.Name != "" && (p.Purpose == "CONTAINER" || described[p.ID]):
		r.describe(p, p.Version)
		return nil
	case p.Purpose == "OPERATING-SYSTEM" || p.Purpose == "OPERATING_SYSTEM" || strings.HasPrefix(p.ID, "SPDXRef-OperatingSystem-"): // older versions of Trivy write no purpose
		r.addSystem(p.Name, p.Version)
		return nil
	case !hasPURL && (p.Purpose == "FILE" || p.Purpose == "SOURCE" || isTrivyTarget(p)):
		r.Skipped++
		return nil
	}
	if described[p.ID] && len(described) == 1 {
		r.project = p.ID
	}
	for _, text := range p.AttributionTexts {
		e.setLayer(text)
	}
	e.source = builtFrom(p.SourceInfo)
	for i, annotation := range p.Annotations {
		e.setLayer(annotation.Comment)
		e.setProperties(fmt.Sprintf("%s.annotations[%d]", place, i), annotation.Comment)
	}
	if e.written != nil {
		e.written.purl, e.licenses = p.purl(), e.written.licenses
		return r.add(e)
	}
	e.addLicense(p.LicenseConcluded)
	e.addLicense(p.LicenseDeclared)
	return r.add(e)
}

// purl returns the first package URL of a package, or "".
func (p *spdxPackage) purl() string {
	for _, reference := range p.ExternalRefs {
		if reference.Type == "purl" {
			return reference.Locator
		}
	}
	return ""
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

// supplierName returns the name of a supplier without the kind and the address, such as of Organization: Acme (info@acme.example).
func supplierName(text string) string {
	for _, kind := range []string{"Organization:", "Person:", "Tool:"} {
		text = strings.TrimPrefix(text, kind)
	}
	if at := strings.LastIndex(text, " ("); at >= 0 {
		text = text[:at]
	}
	return knownText(text)
}

// setLayer sets the layer that a remark of Trivy names.
func (e *entry) setLayer(remark string) {
	if id, found := strings.CutPrefix(remark, "LayerDiffID: "); found {
		e.layer = knownText(id)
	} else if digest, found := strings.CutPrefix(remark, "LayerDigest: "); found {
		e.layer = cmp.Or(e.layer, knownText(digest))
	}
}

// setProperties sets what an annotation of Atrium says, a line for each property.
func (e *entry) setProperties(place, comment string) {
	if !strings.HasPrefix(comment, propertyPrefix) {
		return
	}
	for line := range strings.Lines(comment) {
		if name, value, found := strings.Cut(strings.TrimSuffix(line, "\n"), "="); found {
			e.setProperty(place, name, value)
		}
	}
}

// listNeeds adds what the elements of a document need, and returns the scopes that it gives them.
func (doc *spdxDocument) listNeeds(r *reader) map[string]Scope {
	found := map[string]Scope{}
	for _, is := range doc.Relationships {
		d := dependency{from: is.From, to: is.To}
		if scope, kind, _ := strings.Cut(strings.ToLower(is.Type), "_dependency_"); kind == "of" || is.Type == "DEPENDENCY_OF" {
			if before, known := found[is.From]; known {
				found[is.From] = mergeScopes(before, scopes[scope])
			} else {
				found[is.From] = scopes[scope]
			}
			d.from, d.to = is.To, is.From
			r.dependencies = append(r.dependencies, d)
			continue
		}
		switch is.Type {
		case "DEPENDS_ON", "HAS_PREREQUISITE", "DYNAMIC_LINK", "STATIC_LINK":
		case "PREREQUISITE_FOR":
			d.from, d.to = is.To, is.From
		case "CONTAINS":
			d.holds = true
		case "CONTAINED_BY", "PACKAGE_OF":
			d.from, d.to, d.holds = is.To, is.From, true
		default:
			continue
		}
		r.dependencies = append(r.dependencies, d)
	}
	return found
}
