// Package sbom reads documents that say what a container image holds: SPDX 2.2, 2.3 and 3.0, and
// CycloneDX 1.2 to 1.7, in JSON, also inside of in-toto statements and DSSE envelopes. It writes SPDX 2.3 and
// CycloneDX 1.6, which it reads again as they were. It knows nothing of the platform.
//
//	sbom.go        a document, and how its form is found
//	reader.go      makes packages of the entries of a document, in whatever form they are, and names what is wrong with them
//	origin.go      finds out which packages are direct dependencies, and through whom others come
//	cyclonedx.go   reads CycloneDX
//	spdx.go        reads SPDX 2; spdx3.go reads SPDX 3
//	envelope.go    opens statements and envelopes
//	purl.go        reads package URLs, and names the ecosystem of a package as OSV does
//	write.go       what written documents say, whatever their form; cyclonedx_write.go and spdx_write.go write them
package sbom

import (
	"bytes"
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"
)

// The limits of a document.
const (
	// MaxBytes is the size of a document.
	MaxBytes = 64 << 20
	// MaxPackages is the number of packages of a document.
	MaxPackages = 50_000
	// maxDepth is how deep objects and lists lie in each other. Components of CycloneDX can
	// hold others, and envelopes statements.
	maxDepth = 100
	// maxElements is the number of elements of all lists together, without those of the list files
	// of SPDX, which are not read. An element can take a hundred times the memory of its text.
	maxElements = 500_000
	// maxFilesDepth is how deep the list files lies: in a document, which can be the predicate of a statement.
	maxFilesDepth = 3
)

// A Document is what an SBOM says.
type Document struct {
	Format   string // such as "CycloneDX 1.5" or "SPDX 2.3"
	Subject  Subject
	Packages []Package // sorted by PURL, then by name and version; no two are equal
	Skipped  int       // number of entries that are no packages, such as files and operating systems
	Remarks  []*Error  // which entries could not be read, with their places, and what the document does not say
}

// Architecture returns the architecture of the image that the document is about, or else the one that all packages have that
// name one, or "".
func (d *Document) Architecture() string {
	if d.Subject.Architecture != "" {
		return d.Subject.Architecture
	}
	found := ""
	for _, p := range d.Packages {
		switch {
		case p.Architecture == "" || p.Architecture == found:
		case found != "":
			return ""
		default:
			found = p.Architecture
		}
	}
	return found
}

// A Subject is what a document says of the image that it describes. Each field is empty if
// the document does not say it.
type Subject struct {
	Name         string   // such as docker.io/library/debian:12
	Digests      []string // such as sha256:9b0e30...
	Architecture string   // such as amd64
}

// A Package is an installed package of an image.
type Package struct {
	Name          string // as its ecosystem spells it, such as @babel/core or org.slf4j:slf4j-api
	Version       string // empty if the document does not say it
	Ecosystem     string // as OSV names it, such as npm or Debian:12; empty if it is not known
	PURL          string // in canonical form without the qualifiers that only say where it was found; empty if there is none
	Licenses      []string
	Architecture  string // as the package says it; empty if it is for all
	SourceName    string // of the source package that it was built of, if that has another name; Debian, Alpine and others publish advisories for it
	SourceVersion string // of the source package; the version of the package if the document does not say it
	Supplier      string // who distributes or publishes it
	Scope         Scope
	Layer         string // digest of the layer of the image that it was found in, or another id that the document has for it
	Direct        *bool  // whether the project depends on it itself; nil if the document does not say it
	IntroducedBy  []int  // places of the packages through which it comes, sorted by name: direct dependencies if the document says which those are; nil if it is not known

	entries   []int // that it was made of
	isWritten bool  // by Atrium: nothing is concluded from other packages
}

// An Error says which part of a document is not valid.
type Error struct {
	Place  string // path in the document, such as components[3].purl; empty for the document as a whole
	Reason string
}

func (e *Error) Error() string {
	if e.Place == "" {
		return e.Reason
	}
	return e.Place + ": " + e.Reason
}

func invalid(place, format string, arguments ...any) *Error {
	return &Error{place, fmt.Sprintf(format, arguments...)}
}

// Read reads a document of at most MaxBytes. An *Error says what of it is not valid.
func Read(from io.Reader) (*Document, error) {
	text, err := io.ReadAll(io.LimitReader(from, MaxBytes+1))
	if err != nil {
		return nil, err
	}
	if len(text) > MaxBytes {
		return nil, invalid("", "the document is larger than %d bytes", MaxBytes)
	}
	return Parse(text)
}

// Parse reads a document.
func Parse(text []byte) (*Document, error) {
	if err := CheckShape(text); err != nil {
		return nil, err
	}
	return parse(text, maxEnvelopes)
}

// A sniff has the members by which the forms of documents are told apart.
type sniff struct {
	BomFormat     string          `json:"bomFormat"`
	SPDXVersion   string          `json:"spdxVersion"`
	Context       json.RawMessage `json:"@context"`
	PredicateType string          `json:"predicateType"`
	PayloadType   string          `json:"payloadType"`
	Envelope      json.RawMessage `json:"dsseEnvelope"`
	SBOM          json.RawMessage `json:"sbom"` // in what the API of GitHub answers
}

// parse reads a document. At most depth envelopes may be around it.
func parse(text []byte, depth int) (*Document, error) {
	var is sniff
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, invalid("", "the document is not a JSON object: %v", err)
	}
	switch {
	case is.BomFormat != "":
		return parseCycloneDX(text, is.BomFormat)
	case is.SPDXVersion != "":
		return parseSPDX(text, is.SPDXVersion)
	case is.Context != nil && is.PredicateType == "":
		return parseSPDX3(text, is.Context)
	case depth == 0:
		return nil, invalid("", "the document lies in more than %d envelopes", maxEnvelopes)
	case is.Envelope != nil:
		return parse(is.Envelope, depth-1)
	case is.SBOM != nil:
		return parse(is.SBOM, depth-1)
	case is.PayloadType != "":
		return parseEnvelope(text, is.PayloadType, depth)
	case is.PredicateType != "":
		return parseStatement(text, is.PredicateType, depth)
	default:
		return nil, invalid("", "the document has neither bomFormat (CycloneDX) nor spdxVersion or @context (SPDX), and is not an in-toto statement, a DSSE envelope or a Sigstore bundle")
	}
}

// sortPackages sorts packages, and merges those that differ only in their licenses, or of which one names its source.
func sortPackages(packages []Package) []Package {
	slices.SortStableFunc(packages, comparePackages)
	distinct := packages[:0]
	for _, p := range packages {
		if last := len(distinct) - 1; last >= 0 && comparePackages(distinct[last], p) == 0 {
			if distinct[last].SourceName == "" {
				distinct[last].SourceName, distinct[last].SourceVersion = p.SourceName, p.SourceVersion
			}
			for _, license := range p.Licenses {
				if !slices.Contains(distinct[last].Licenses, license) {
					distinct[last].Licenses = append(distinct[last].Licenses, license)
				}
			}
			distinct[last].Scope = mergeScopes(distinct[last].Scope, p.Scope)
			distinct[last].Supplier, distinct[last].Layer = cmp.Or(distinct[last].Supplier, p.Supplier), cmp.Or(distinct[last].Layer, p.Layer)
			distinct[last].entries = append(distinct[last].entries, p.entries...)
			continue
		}
		distinct = append(distinct, p)
	}
	return distinct
}

func comparePackages(a, b Package) int {
	return cmp.Or(
		strings.Compare(a.PURL, b.PURL), strings.Compare(a.Name, b.Name), strings.Compare(a.Version, b.Version),
		strings.Compare(a.Ecosystem, b.Ecosystem), strings.Compare(a.Architecture, b.Architecture),
	)
}

// CheckShape fails if a document is too deep or has too many elements. It reads only the tokens, so
// that no decoder has to follow such a document.
func CheckShape(text []byte) error {
	var lists [maxDepth + 1]bool // whether a list is open at a depth, or else an object
	depth, elements, unread := 0, 0, maxDepth+1
	for at := 0; at < len(text); at++ {
		switch c := text[at]; c {
		case '"':
			at = endOfText(text, at)
		case '{', '[':
			if depth++; depth > maxDepth {
				return invalid("", "the document is nested deeper than %d levels", maxDepth)
			}
			if lists[depth] = c == '['; lists[depth] && depth <= maxFilesDepth && bytes.HasSuffix(bytes.TrimRight(text[:at], " \t\r\n:"), []byte(`"files"`)) {
				unread = depth
			}
		case '}', ']':
			depth = max(depth-1, 0)
			if depth < unread {
				unread = maxDepth + 1
			}
		case ',':
			if lists[depth] && depth < unread {
				elements++
			}
		}
		if elements > maxElements {
			return invalid("", "the document has more than %d elements in its lists", maxElements)
		}
	}
	return nil
}

// endOfText returns the place of the quotation mark that ends the text at a place.
func endOfText(text []byte, at int) int {
	for at++; at < len(text) && text[at] != '"'; at++ {
		if text[at] == '\\' {
			at++
		}
	}
	return at
}

// maxName and maxText limit names, and versions, package URLs and licenses, in bytes. They are those of the platform, which
// does not know the place of a text in its document.
const (
	maxName = 255
	maxText = 512
)

// check checks the texts of a package.
func (p Package) check(place string) *Error {
	switch {
	case p.Name == "":
		return invalid(place+".name", "is missing")
	case len(p.Name) > maxName:
		return invalid(place+".name", "is longer than %d bytes", maxName)
	}
	for _, text := range []struct{ field, value string }{
		{"name", p.Name}, {"version", p.Version}, {"purl", p.PURL}, {"arch", p.Architecture}, {"upstream", p.SourceName}, {"upstream", p.SourceVersion},
	} {
		if len(text.value) > maxText {
			return invalid(place+"."+text.field, "is longer than %d bytes", maxText)
		}
		if strings.ContainsFunc(text.value, unicode.IsControl) {
			return invalid(place+"."+text.field, "contains a control character")
		}
		if !utf8.ValidString(text.value) { // a package URL can have any bytes
			return invalid(place+"."+text.field, "is not UTF-8")
		}
	}
	return nil
}

// addLicense adds a license or an expression of licenses, unless it says that nothing is
// known.
func (p *Package) addLicense(text string) {
	if text = knownText(text); text != "" && !slices.Contains(p.Licenses, text) {
		p.Licenses = append(p.Licenses, text)
	}
}

// knownText returns a text without spaces around it, or "" if it says that nothing is known, or cannot be kept.
func knownText(text string) string {
	text = strings.TrimSpace(text)
	if text == "NONE" || text == "NOASSERTION" || len(text) > maxText || strings.ContainsFunc(text, unicode.IsControl) {
		return ""
	}
	return text
}

// IsInvalid reports whether an error says that a document is not valid.
func IsInvalid(err error) bool {
	var e *Error
	return errors.As(err, &e)
}
