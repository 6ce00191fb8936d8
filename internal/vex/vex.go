// Package vex reads and writes documents that say whether a vulnerability affects products: OpenVEX, and
// VEX in CycloneDX 1.4 to 1.6, in JSON; it also reads CSAF. It knows nothing of the platform.
//
//	vex.go        statements, and how the form of a document is found
//	openvex.go    OpenVEX
//	cyclonedx.go  CycloneDX
//	csaf.go       CSAF
//
// No form can say that a risk is accepted, nor when a decision ends. OpenVEX has both as a line of status_notes, which
// counts only in documents of this package, and CycloneDX as properties that begin with atrium:.
//
// OpenVEX is decoded here and not by github.com/openvex/go-vex, because that brings protobuf messages of in-toto and
// an archived reader of YAML, and names no place in a document that is not valid.
package vex

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"time"

	"atrium/internal/sbom"
)

// The states of a statement.
const (
	Open        = "OPEN"         // affected, and nothing is decided
	InTriage    = "IN_TRIAGE"    // under investigation
	Accepted    = "ACCEPTED"     // affected, and the risk is accepted
	NotAffected = "NOT_AFFECTED" // not affected, or fixed: a product that has the fix is not affected
)

// A Target is what a statement is about. Each field is empty if it is about any.
type Target struct {
	Digest  string  // of an image
	Image   string  // name of images, such as ghcr.io/acme/shop, if there is no digest
	Product Package // that holds the package; any if the target is in an image
	Package
}

// A Package is a package, or any if it has no name.
type Package struct {
	Name      string
	Ecosystem string // as OSV names it
	Version   string // a version, or a range of VERS
}

// partOf returns the package of a target as a part of another one.
func (t Target) partOf(product Target) (Target, error) {
	if t.Digest != "" || t.Image != "" {
		return t, errors.New("is an image, and the parts of a product must be packages")
	}
	if t.Digest, t.Image = product.Digest, product.Image; t.Digest == "" && t.Image == "" {
		t.Product = product.Package
	}
	return t, nil
}

// A Statement says what is known of a vulnerability in a target.
type Statement struct {
	Place         string   // path in the document
	Vulnerability string   // its first name
	Aliases       []string // its other names
	Target        Target
	State         string
	Justification string // one of OpenVEX, with NotAffected; it may be empty
	Note          string
	Time          time.Time // when it was made; zero if the document does not say it
	ExpireTime    time.Time // when it ends; zero if it does not end

	ref      string          // component of another document that it is about
	versions []statedVersion // versions of that component
}

// A Document is what a document states.
type Document struct {
	Statements []Statement
	Problems   []error // statements that cannot be used, each an *Error

	// IsBOM means that the document describes products for others, and states nothing.
	IsBOM      bool
	pending    []Statement       // statements about components of other documents
	components map[string]Target // components that others can refer to
}

// An Error says which part of a document cannot be used.
type Error struct {
	Place  string // path in the document; empty for the document as a whole
	Reason string
}

func (e *Error) Error() string {
	if e.Place == "" {
		return e.Reason
	}
	return e.Place + ": " + e.Reason
}

// Names lists the names of the vulnerability, each once.
func (s *Statement) Names() []string {
	names := append([]string{s.Vulnerability}, s.Aliases...)
	slices.Sort(names)
	return slices.DeleteFunc(slices.Compact(names), func(name string) bool { return name == "" })
}

// Refers reports whether statements are about components of other documents.
func (d *Document) Refers() bool { return len(d.pending) > 0 }

func (d *Document) refuse(place, format string, arguments ...any) {
	d.Problems = append(d.Problems, &Error{place, fmt.Sprintf(format, arguments...)})
}

// Parse reads a document. Its error is about the document as a whole.
func Parse(text []byte) (*Document, error) {
	if err := sbom.CheckShape(text); err != nil {
		return nil, err
	}
	var is struct {
		BomFormat string          `json:"bomFormat"`
		Context   any             `json:"@context"`
		CSAF      json.RawMessage `json:"document"`
	}
	if err := json.Unmarshal(text, &is); err != nil {
		return nil, fmt.Errorf("the document is not a JSON object: %w", err)
	}
	if is.BomFormat != "" {
		return parseCycloneDX(text, is.BomFormat)
	}
	if is.Context != nil {
		return parseOpenVEX(text)
	}
	if is.CSAF != nil {
		return parseCSAF(text)
	}
	return nil, errors.New("the document has neither @context (OpenVEX), bomFormat (CycloneDX) nor document (CSAF)")
}

// A Library has the components of documents that others refer to.
type Library struct {
	components map[string]Target
	used       map[string]bool // by document
}

// maxComponents limits the components of a library.
const maxComponents = 1_000_000

// Add adds the components of a document, and reports whether there is room for them.
func (l *Library) Add(d *Document) bool {
	if l.components == nil {
		l.components, l.used = map[string]Target{}, map[string]bool{}
	}
	if len(l.components)+len(d.components) > maxComponents {
		return false
	}
	for ref, target := range d.components {
		l.components[ref] = target
	}
	return true
}

// Resolve returns the statements of a document about components of others, once all of these are added.
func (l *Library) Resolve(d *Document) *Document {
	resolved := &Document{}
	for _, s := range d.pending {
		target, found := l.components[s.ref]
		if !found {
			resolved.refuse(s.Place, "%q is a component of another document, which is not among those that were read", s.ref)
			continue
		}
		l.used[documentOf(s.ref)] = true
		resolved.addVersions(s, target, s.versions)
	}
	return resolved
}

// Uses reports whether a resolved statement is about a component of the document.
func (l *Library) Uses(d *Document) bool {
	for ref := range d.components {
		return l.used[documentOf(ref)]
	}
	return false
}
