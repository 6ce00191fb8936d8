package sbom

import (
	"fmt"
	"io"
	"strings"
)

// These are the parts of SPDX 2.3 that Atrium writes.
type (
	spdxHead struct {
		ID       string `json:"SPDXID"`
		Version  string `json:"spdxVersion"`
		Creation struct {
			Created  string   `json:"created"`
			Creators []string `json:"creators"`
		} `json:"creationInfo"`
		Name        string   `json:"name"`
		DataLicense string   `json:"dataLicense"`
		Describes   []string `json:"documentDescribes"`
		Namespace   string   `json:"documentNamespace"`
	}
	spdxWritten struct {
		ID          string           `json:"SPDXID"`
		Name        string           `json:"name"`
		Version     string           `json:"versionInfo,omitempty"`
		Purpose     string           `json:"primaryPackagePurpose,omitempty"`
		Supplier    string           `json:"supplier,omitempty"`
		Location    string           `json:"downloadLocation"`
		IsAnalyzed  bool             `json:"filesAnalyzed"`
		SourceInfo  string           `json:"sourceInfo,omitempty"`
		Declared    string           `json:"licenseDeclared,omitempty"`
		Checksums   []spdxChecksum   `json:"checksums,omitempty"`
		References  []spdxReference  `json:"externalRefs,omitempty"`
		Annotations []spdxAnnotation `json:"annotations,omitempty"`
	}
	spdxChecksum struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"checksumValue"`
	}
	spdxReference struct {
		Category string `json:"referenceCategory"`
		Type     string `json:"referenceType"`
		Locator  string `json:"referenceLocator"`
	}
	spdxAnnotation struct {
		Date      string `json:"annotationDate"`
		Type      string `json:"annotationType"`
		Annotator string `json:"annotator"`
		Comment   string `json:"comment"`
	}
	spdxLicense struct {
		ID   string `json:"licenseId"`
		Text string `json:"extractedText"`
		Name string `json:"name"`
	}
)

const (
	spdxIDPrefix = "SPDXRef-"
	spdxImage    = spdxIDPrefix + "Image"
	noAssertion  = "NOASSERTION"
)

// scopeRelationships has the relationships of packages to an image that say what it needs them for.
var scopeRelationships = map[Scope]string{ScopeRequired: "RUNTIME_DEPENDENCY_OF", ScopeOptional: "OPTIONAL_DEPENDENCY_OF", ScopeDevelopment: "DEV_DEPENDENCY_OF"}

// maxLicenseTexts is how many licenses that are not in the list of SPDX a document names by a text. Of the others, only the annotations
// of their packages have the names.
const maxLicenseTexts = 10_000

// An spdxWriter writes SPDX 2.3 in JSON.
type spdxWriter struct {
	Description
	out           *jsonStream
	place         int
	relationships []writtenRelationship
	licenses      map[string]int // texts of licenses that are not in the list of SPDX, and their numbers
	texts         []string
}

// A writtenRelationship is one of two packages, by their places, or of a package and the image.
type writtenRelationship struct {
	from, to int // or -1 for the image
	kind     string
}

// NewSPDXWriter returns a writer of a document of SPDX 2.3.
func NewSPDXWriter(to io.Writer, d Description) Writer {
	w := &spdxWriter{Description: d, out: newJSONStream(to), licenses: map[string]int{}}
	head := spdxHead{ID: spdxRoot, Version: "SPDX-2.3", Name: d.Image.Name, DataLicense: "CC0-1.0", Describes: []string{spdxImage}, Namespace: "https://spdx.org/spdxdocs/" + d.Program + "-" + d.uuid()}
	head.Creation.Created, head.Creation.Creators = d.time(), []string{w.tool()}
	w.out.open(head, "packages")
	w.image(spdxImage, d.Image)
	if d.Base != (Image{}) {
		w.image(spdxIDPrefix+"Base", d.Base)
	}
	for i, s := range d.systems() {
		w.out.row(spdxWritten{ID: fmt.Sprintf("%sOperatingSystem-%d", spdxIDPrefix, i), Name: s.name, Version: s.version, Purpose: "OPERATING_SYSTEM", Location: noAssertion})
	}
	return w
}

func (w *spdxWriter) tool() string {
	return "Tool: " + strings.TrimSuffix(w.Program+"-"+w.Version, "-")
}

// image writes the package of an image.
func (w *spdxWriter) image(id string, of Image) {
	p := spdxWritten{ID: id, Name: of.text(), Version: of.Digest, Purpose: "CONTAINER", Location: noAssertion, References: []spdxReference{{"PACKAGE-MANAGER", "purl", w.purl(of)}}}
	if hex, isSHA := strings.CutPrefix(of.Digest, "sha256:"); isSHA {
		p.Checksums = []spdxChecksum{{"SHA256", hex}}
	}
	w.out.row(p)
}

func (w *spdxWriter) Write(p *Package) error {
	written := spdxWritten{ID: w.id(w.place), Name: p.Name, Version: p.Version, Location: noAssertion, Declared: w.declare(p.Licenses)}
	if p.Supplier != "" {
		written.Supplier = "Organization: " + p.Supplier
		if strings.Contains(p.Supplier, " (") {
			written.Supplier += " ()"
		}
	}
	if p.PURL != "" {
		written.References = []spdxReference{{"PACKAGE-MANAGER", "purl", p.PURL}}
	}
	if p.SourceName != "" {
		written.SourceInfo = "built package from: " + p.SourceName + " " + p.SourceVersion
	}
	var lines []string
	for _, property := range w.properties(p, w.id) {
		lines = append(lines, property.Name+"="+property.Value)
	}
	for _, license := range p.Licenses {
		lines = append(lines, licenseProperty+"="+license)
	}
	written.Annotations = []spdxAnnotation{{w.time(), "OTHER", w.tool(), strings.Join(lines, "\n")}}
	w.relate(p)
	w.place++
	w.out.row(written)
	return w.out.err
}

// relate keeps what a package has to do with others.
func (w *spdxWriter) relate(p *Package) {
	kind, isDirect := scopeRelationships[p.Scope], p.Direct != nil && *p.Direct
	switch {
	case kind != "":
		w.relationships = append(w.relationships, writtenRelationship{w.place, -1, kind})
	case !isDirect:
		w.relationships = append(w.relationships, writtenRelationship{-1, w.place, "CONTAINS"})
	}
	if isDirect {
		w.relationships = append(w.relationships, writtenRelationship{-1, w.place, "DEPENDS_ON"})
	}
	for _, by := range w.needs(p) {
		w.relationships = append(w.relationships, writtenRelationship{by, w.place, "DEPENDS_ON"})
	}
}

// id returns the id of the package at a place.
func (w *spdxWriter) id(place int) string { return spdxIDPrefix + w.Packages[place] }

// declare returns licenses as one expression, in which a license that is not in the list of SPDX has a reference.
func (w *spdxWriter) declare(texts []string) string {
	all := make([]string, len(texts))
	for i, text := range texts {
		if all[i] = text; isLicenseExpression(text) {
			if strings.Contains(text, " ") && len(texts) > 1 {
				all[i] = "(" + text + ")"
			}
			continue
		}
		number, known := w.licenses[text]
		if !known && len(w.texts) == maxLicenseTexts {
			return noAssertion
		}
		if !known {
			number = len(w.texts) + 1
			w.licenses[text], w.texts = number, append(w.texts, text)
		}
		all[i] = licenseReference(number)
	}
	return strings.Join(all, " AND ")
}

func licenseReference(number int) string { return fmt.Sprintf("LicenseRef-%d", number) }

func (w *spdxWriter) Close() error {
	w.out.text("\n]")
	if len(w.texts) > 0 {
		w.out.list("hasExtractedLicensingInfos")
		for i, text := range w.texts {
			w.out.row(spdxLicense{licenseReference(i + 1), text, text})
		}
		w.out.text("\n]")
	}
	w.out.list("relationships")
	w.out.row(spdxRelationship{spdxRoot, spdxImage, "DESCRIBES"})
	if w.Base != (Image{}) {
		w.out.row(spdxRelationship{spdxImage, spdxIDPrefix + "Base", "DESCENDANT_OF"})
	}
	element := func(place int) string {
		if place < 0 {
			return spdxImage
		}
		return w.id(place)
	}
	for _, r := range w.relationships {
		w.out.row(spdxRelationship{element(r.from), element(r.to), r.kind})
	}
	w.out.text("\n]")
	return w.out.close()
}
