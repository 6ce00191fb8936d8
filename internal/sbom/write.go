package sbom

import (
	"bufio"
	"cmp"
	_ "embed"
	"encoding/json"
	"io"
	"maps"
	"path"
	"slices"
	"strings"
	"sync"
	"time"

	packageurl "github.com/package-url/packageurl-go"
)

// A Description is what a written document says beside its packages.
type Description struct {
	Image        Image  // its name, and its digest
	Architecture string // that the packages are for; "" means all
	Base         Image  // what the image was built on; zero if it is not known
	Ecosystems   []string
	Packages     []string // ids of the packages, in the order in which they are written
	Identity     [16]byte // follows from the content
	Created      time.Time
	Program      string // that writes the document, with its version: atrium and 1.2
	Version      string

	// FirstOnly says that dependencies name only the first package through which one comes. The property of the package has
	// all of them.
	FirstOnly bool
}

// A Writer writes packages of a document, in the order of their ids.
type Writer interface {
	Write(p *Package) error
	Close() error
}

// MaxEdges is how many dependencies a written document should have. A document with more elements cannot be read again.
const MaxEdges = 50_000

// Names of what a document says of a package in properties of CycloneDX, and in annotations of SPDX, because the formats have no
// place for it. A package with an ecosystem is read as it was written: nothing is concluded from its package URL.
const (
	propertyPrefix     = "atrium:"
	ecosystemProperty  = propertyPrefix + "ecosystem"
	directProperty     = propertyPrefix + "direct"       // true or false
	introducedProperty = propertyPrefix + "introducedBy" // ids, separated by spaces
	layerProperty      = propertyPrefix + "layer"
	licenseProperty    = propertyPrefix + "license" // one of several; only in SPDX
	sourceProperty     = "aquasecurity:trivy:SrcName"
	sourceVersion      = "aquasecurity:trivy:SrcVersion"
)

// properties lists what is said of a package in properties.
func (d *Description) properties(p *Package, id func(place int) string) []cdxProperty {
	all := []cdxProperty{{ecosystemProperty, p.Ecosystem}}
	if p.Direct != nil {
		value := "false"
		if *p.Direct {
			value = "true"
		}
		all = append(all, cdxProperty{directProperty, value})
	}
	if p.IntroducedBy != nil {
		ids := make([]string, len(p.IntroducedBy))
		for i, place := range p.IntroducedBy {
			ids[i] = id(place)
		}
		all = append(all, cdxProperty{introducedProperty, strings.Join(ids, " ")})
	}
	if p.Layer != "" {
		all = append(all, cdxProperty{layerProperty, p.Layer})
	}
	if p.SourceName != "" {
		all = append(all, cdxProperty{sourceProperty, p.SourceName}, cdxProperty{sourceVersion, p.SourceVersion})
	}
	return all
}

// setWritten sets what Atrium says of a package.
func (e *entry) setWritten(place, name, value string) {
	if e.written == nil {
		e.written = &writtenPackage{}
	}
	switch name {
	case ecosystemProperty:
		e.written.ecosystem = value
	case directProperty:
		if value != "true" && value != "false" {
			e.addFault(invalid(place, "%s is %.100q, want true or false", name, value))
			return
		}
		e.written.direct = new(value == "true")
	case introducedProperty:
		e.written.introducedBy = append([]string{}, strings.Fields(value)...)
	case layerProperty:
		e.layer = knownText(value)
	case licenseProperty:
		if value = knownText(value); value != "" {
			e.written.licenses = append(e.written.licenses, value)
		}
	}
}

// needs lists the packages that a document says to need a package.
func (d *Description) needs(p *Package) []int {
	if d.FirstOnly {
		return p.IntroducedBy[:min(1, len(p.IntroducedBy))]
	}
	return p.IntroducedBy
}

// A system is a release of a distribution.
type system struct{ name, version string }

// systems lists the distributions of the packages.
func (d *Description) systems() (all []system) {
	for _, ecosystem := range d.Ecosystems {
		if name, release := distributionOf(ecosystem); name != "" && release != "" {
			all = append(all, system{name, release})
		}
	}
	return all
}

// purl returns the package URL of the image, or of its base.
func (d *Description) purl(of Image) string {
	name, qualifiers := "image", map[string]string{}
	if of.Name != "" {
		from, tag := of.Name, ""
		if at := strings.LastIndexByte(from, ':'); at > strings.LastIndexByte(from, '/') {
			from, tag = from[:at], from[at+1:]
		}
		name, qualifiers["repository_url"], qualifiers["tag"] = path.Base(from), from, tag
	}
	if of == d.Image {
		qualifiers["arch"] = d.Architecture
	}
	maps.DeleteFunc(qualifiers, func(_, value string) bool { return value == "" })
	return packageurl.NewPackageURL(packageurl.TypeOCI, "", name, of.Digest, packageurl.QualifiersFromMap(qualifiers), "").ToString()
}

// text returns the name of an image, or else its digest.
func (i Image) text() string { return cmp.Or(i.Name, i.Digest) }

// uuid returns the identity of the document as a UUID whose version says that it has a form of its own (RFC 9562).
func (d *Description) uuid() string {
	id := d.Identity
	id[6], id[8] = id[6]&0x0f|0x80, id[8]&0x3f|0x80
	const digits = "0123456789abcdef"
	var text strings.Builder
	for i, b := range id {
		if i == 4 || i == 6 || i == 8 || i == 10 {
			text.WriteByte('-')
		}
		text.WriteByte(digits[b>>4])
		text.WriteByte(digits[b&15])
	}
	return text.String()
}

// time returns the time of creation as both formats write it.
func (d *Description) time() string { return d.Created.UTC().Format("2006-01-02T15:04:05Z") }

// A jsonStream writes an object whose lists are too long to be in memory. Its first error ends it.
type jsonStream struct {
	to   *bufio.Writer
	rows int // of the list
	err  error
}

func newJSONStream(to io.Writer) *jsonStream { return &jsonStream{to: bufio.NewWriter(to)} }

func (s *jsonStream) text(text string) {
	if s.err == nil {
		_, s.err = s.to.WriteString(text)
	}
}

// encode returns a value as JSON.
func (s *jsonStream) encode(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(v); s.err == nil {
		s.err = err
	}
	return strings.TrimSuffix(text.String(), "\n")
}

// open writes the members of an object, and begins with the list that follows them.
func (s *jsonStream) open(members any, list string) {
	s.text(strings.TrimSuffix(s.encode(members), "}"))
	s.list(list)
}

// list begins a list of the object.
func (s *jsonStream) list(name string) {
	s.rows = 0
	s.text(",\n\"" + name + "\":[")
}

// row writes an element of a list.
func (s *jsonStream) row(v any) {
	if s.rows++; s.rows > 1 {
		s.text(",")
	}
	s.text("\n")
	s.text(s.encode(v))
}

// close ends the document.
func (s *jsonStream) close() error {
	s.text("}\n")
	if s.err == nil {
		s.err = s.to.Flush()
	}
	return s.err
}

//go:embed licenses.txt
var licenseList string

// licenseIDs has the ids of licenses and exceptions in the list of SPDX.
var licenseIDs = sync.OnceValue(func() map[string]bool {
	ids := map[string]bool{}
	for _, id := range strings.Fields(licenseList) {
		ids[id] = true
	}
	return ids
})

// isLicenseExpression reports whether a text is an expression of licenses in the list of SPDX, such as (MIT OR Apache-2.0).
func isLicenseExpression(text string) bool {
	open, wantsOperator := 0, false
	for _, word := range strings.Fields(strings.NewReplacer("(", " ( ", ")", " ) ").Replace(text)) {
		switch {
		case word == "(" && !wantsOperator:
			open++
		case word == ")" && wantsOperator && open > 0:
			open--
		case wantsOperator && slices.Contains([]string{"AND", "OR", "WITH"}, word):
			wantsOperator = false
		case !wantsOperator && licenseIDs()[strings.TrimSuffix(word, "+")]:
			wantsOperator = true
		default:
			return false
		}
	}
	return wantsOperator && open == 0
}
