package sbom

import (
	"io"
)

// These are the parts of CycloneDX 1.6 that Atrium writes.
type (
	cdxHead struct {
		Schema       string      `json:"$schema"`
		BomFormat    string      `json:"bomFormat"`
		SpecVersion  string      `json:"specVersion"`
		SerialNumber string      `json:"serialNumber"`
		Version      int         `json:"version"`
		Metadata     cdxMetadata `json:"metadata"`
	}
	cdxMetadata struct {
		Timestamp string `json:"timestamp"`
		Tools     struct {
			Components []cdxWritten `json:"components"`
		} `json:"tools"`
		Component cdxWritten `json:"component"`
	}
	cdxWritten struct {
		Type       string        `json:"type"`
		Ref        string        `json:"bom-ref,omitempty"`
		Supplier   *cdxName      `json:"supplier,omitempty"`
		Name       string        `json:"name"`
		Version    string        `json:"version,omitempty"`
		Scope      string        `json:"scope,omitempty"`
		Licenses   []cdxLicense  `json:"licenses,omitempty"`
		PURL       string        `json:"purl,omitempty"`
		Pedigree   *cdxPedigree  `json:"pedigree,omitempty"`
		Properties []cdxProperty `json:"properties,omitempty"`
	}
	cdxName struct {
		Name string `json:"name"`
	}
	cdxPedigree struct {
		Ancestors []cdxWritten `json:"ancestors"`
	}
	cdxLicense struct {
		License    *cdxNamedLicense `json:"license,omitempty"`
		Expression string           `json:"expression,omitempty"`
	}
	cdxNamedLicense struct {
		ID   string `json:"id,omitempty"`
		Name string `json:"name,omitempty"`
	}
	cdxDependency struct {
		Ref       string   `json:"ref"`
		DependsOn []string `json:"dependsOn"`
	}
)

// writtenScopes has the scopes of packages as CycloneDX names them.
var writtenScopes = map[Scope]string{ScopeRequired: "required", ScopeOptional: "optional", ScopeDevelopment: "excluded"}

// imageRef is the id of the image in a document of CycloneDX.
const imageRef = "image"

// A cycloneDXWriter writes CycloneDX 1.6 in JSON.
type cycloneDXWriter struct {
	Description
	out     *jsonStream
	place   int
	through [][]int // by places: the packages that come through one
	direct  []int
}

// NewCycloneDXWriter returns a writer of a document of CycloneDX 1.6.
func NewCycloneDXWriter(to io.Writer, d Description) Writer {
	w := &cycloneDXWriter{Description: d, out: newJSONStream(to), through: make([][]int, len(d.Packages))}
	head := cdxHead{Schema: "http://cyclonedx.org/schema/bom-1.6.schema.json", BomFormat: "CycloneDX", SpecVersion: "1.6", SerialNumber: "urn:uuid:" + d.uuid(), Version: 1}
	head.Metadata.Timestamp = d.time()
	head.Metadata.Tools.Components = []cdxWritten{{Type: "application", Name: d.Program, Version: d.Version}}
	head.Metadata.Component = cdxWritten{Type: "container", Ref: imageRef, Name: d.Image.Name, Version: d.Image.Digest, PURL: d.purl(d.Image)}
	if d.Base != (Image{}) {
		head.Metadata.Component.Pedigree = &cdxPedigree{Ancestors: []cdxWritten{{Type: "container", Name: d.Base.text(), Version: d.Base.Digest, PURL: d.purl(d.Base)}}}
	}
	w.out.open(head, "components")
	for _, s := range d.systems() {
		w.out.row(cdxWritten{Type: "operating-system", Name: s.name, Version: s.version})
	}
	return w
}

func (w *cycloneDXWriter) Write(p *Package) error {
	c := cdxWritten{
		Type: "library", Ref: w.Packages[w.place], Name: p.Name, Version: p.Version, PURL: p.PURL, Scope: writtenScopes[p.Scope], Licenses: writeLicenses(p.Licenses),
		Properties: w.properties(p, func(place int) string { return w.Packages[place] }),
	}
	if p.Supplier != "" {
		c.Supplier = &cdxName{p.Supplier}
	}
	for _, by := range w.needs(p) {
		w.through[by] = append(w.through[by], w.place)
	}
	if p.Direct != nil && *p.Direct {
		w.direct = append(w.direct, w.place)
	}
	w.place++
	w.out.row(c)
	return w.out.err
}

// writeLicenses returns licenses in the form of CycloneDX: one expression, or a list without any.
func writeLicenses(texts []string) []cdxLicense {
	if len(texts) == 1 && !licenseIDs()[texts[0]] && isLicenseExpression(texts[0]) {
		return []cdxLicense{{Expression: texts[0]}}
	}
	all := make([]cdxLicense, len(texts))
	for i, text := range texts {
		if all[i].License = (&cdxNamedLicense{Name: text}); licenseIDs()[text] {
			all[i].License = &cdxNamedLicense{ID: text}
		}
	}
	return all
}

func (w *cycloneDXWriter) Close() error {
	w.out.text("\n]")
	w.out.list("dependencies")
	depend := func(ref string, on []int) {
		if len(on) == 0 {
			return
		}
		refs := make([]string, len(on))
		for i, place := range on {
			refs[i] = w.Packages[place]
		}
		w.out.row(cdxDependency{ref, refs})
	}
	depend(imageRef, w.direct)
	for place, on := range w.through {
		depend(w.Packages[place], on)
	}
	w.out.text("\n]")
	return w.out.close()
}
