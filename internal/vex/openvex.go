package vex

import (
	"bytes"
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"slices"
	"strings"
	"time"

	"atrium/internal/sbom"
)

// An openVEX is a document of OpenVEX (https://github.com/openvex/spec).
type openVEX struct {
	Context    string             `json:"@context"`
	ID         string             `json:"@id"`
	Author     string             `json:"author"`
	Timestamp  *time.Time         `json:"timestamp,omitempty"`
	Updated    *time.Time         `json:"last_updated,omitempty"`
	Version    json.Number        `json:"version"`
	Tooling    string             `json:"tooling,omitempty"`
	Statements []openVEXStatement `json:"statements"`
}

type openVEXStatement struct {
	Vulnerability   openVEXName      `json:"vulnerability"`
	Timestamp       *time.Time       `json:"timestamp,omitempty"`
	Updated         *time.Time       `json:"last_updated,omitempty"`
	Products        []openVEXProduct `json:"products,omitempty"`
	Subcomponents   []openVEXProduct `json:"subcomponents,omitempty"` // of version 0.0.1
	Status          string           `json:"status"`
	StatusNotes     string           `json:"status_notes,omitempty"`
	Justification   string           `json:"justification,omitempty"`
	ImpactStatement string           `json:"impact_statement,omitempty"`
	ActionStatement string           `json:"action_statement,omitempty"`
}

// An openVEXName is a vulnerability: an object, or in version 0.0.1 a text.
type openVEXName struct {
	ID      string   `json:"@id,omitempty"`
	Name    string   `json:"name"`
	Aliases []string `json:"aliases,omitempty"`
}

// UnmarshalJSON reads either form.
func (n *openVEXName) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, &n.Name)
	}
	type object openVEXName
	return json.Unmarshal(b, (*object)(n))
}

// An openVEXProduct is a product or a part of one: an object, or in version 0.0.1 a text.
type openVEXProduct struct {
	ID            string            `json:"@id,omitempty"`
	Identifiers   map[string]string `json:"identifiers,omitempty"`
	Hashes        map[string]string `json:"hashes,omitempty"`
	Subcomponents []openVEXProduct  `json:"subcomponents,omitempty"`
}

// UnmarshalJSON reads either form.
func (p *openVEXProduct) UnmarshalJSON(b []byte) error {
	if bytes.HasPrefix(b, []byte(`"`)) {
		return json.Unmarshal(b, &p.ID)
	}
	type object openVEXProduct
	return json.Unmarshal(b, (*object)(p))
}

const openVEXContext = "https://openvex.dev/ns"

// justifications are those of OpenVEX.
var justifications = []string{
	"component_not_present", "vulnerable_code_not_present", "vulnerable_code_not_in_execute_path",
	"vulnerable_code_cannot_be_controlled_by_adversary", "inline_mitigations_already_exist",
}

// What is written where a form needs a text and nobody has given one.
const (
	noAction = "No action is stated."
	noReason = "No reason is stated."
	isFixed  = "The product has the fix."
)

func parseOpenVEX(text []byte) (*Document, error) {
	var read openVEX
	if err := json.Unmarshal(text, &read); err != nil {
		return nil, fmt.Errorf("the document is not valid OpenVEX: %w", err)
	}
	if !strings.HasPrefix(read.Context, openVEXContext) {
		return nil, &Error{"@context", fmt.Sprintf("is %.100q, want one that begins with %s", read.Context, openVEXContext)}
	}
	d := &Document{}
	for i, from := range read.Statements {
		place := fmt.Sprintf("statements[%d]", i)
		s, problem := from.statement(&read)
		if problem != nil {
			d.refuse(place+"."+problem.Place, "%s", problem.Reason)
			continue
		}
		s.Place = place
		d.addProducts(s, &from)
	}
	if len(read.Statements) == 0 {
		d.refuse("statements", "is empty")
	}
	slices.SortStableFunc(d.Statements, func(a, b Statement) int { return a.Time.Compare(b.Time) }) // a later one replaces those before
	return d, nil
}

// statement returns what a statement says of each product.
func (from *openVEXStatement) statement(of *openVEX) (s Statement, problem *Error) {
	s.Vulnerability, s.Aliases = cmp.Or(from.Vulnerability.Name, from.Vulnerability.ID), from.Vulnerability.Aliases
	if s.Vulnerability == "" {
		return s, &Error{"vulnerability", "has no name"}
	}
	for _, at := range []*time.Time{from.Updated, from.Timestamp, of.Updated, of.Timestamp} {
		if at != nil {
			s.Time = *at
			break
		}
	}
	var accepted bool
	if of.Tooling == tooling {
		accepted, s.ExpireTime = from.readMarks()
	}
	note := from.StatusNotes
	switch from.Status {
	case "not_affected":
		s.State, s.Justification, s.Note = NotAffected, from.Justification, joinTexts(from.ImpactStatement, note)
		if s.Justification != "" && !slices.Contains(justifications, s.Justification) {
			return s, &Error{"justification", fmt.Sprintf("%.100q is none of %s", s.Justification, strings.Join(justifications, ", "))}
		}
	case "fixed":
		s.State, s.Note = NotAffected, cmp.Or(note, isFixed)
	case "under_investigation":
		s.State, s.Note = InTriage, note
	case "affected":
		s.State, s.Note = Open, joinTexts(from.ActionStatement, note)
		if accepted {
			s.State = Accepted
		}
	default:
		return s, &Error{"status", fmt.Sprintf("%.100q is none of not_affected, affected, fixed and under_investigation", from.Status)}
	}
	return s, nil
}

// addProducts adds a statement for each product, or one for everything if there is none.
func (d *Document) addProducts(s Statement, from *openVEXStatement) {
	if len(from.Products) == 0 {
		d.Statements = append(d.Statements, s)
		return
	}
	for i, product := range from.Products {
		at := s
		at.Place = fmt.Sprintf("%s.products[%d]", s.Place, i)
		target, err := product.target()
		if err != nil {
			d.refuse(at.Place, "%v", err)
			continue
		}
		at.Target = target
		d.addParts(at, slices.Concat(product.Subcomponents, from.Subcomponents))
	}
}

// addParts adds a statement for each part of a product, or one for the product if there is none.
func (d *Document) addParts(s Statement, parts []openVEXProduct) {
	if len(parts) == 0 {
		d.Statements = append(d.Statements, s)
		return
	}
	for i, part := range parts {
		at := s
		at.Place = fmt.Sprintf("%s.subcomponents[%d]", s.Place, i)
		target, err := part.target()
		if err == nil {
			target, err = target.partOf(s.Target)
		}
		if err != nil {
			d.refuse(at.Place, "%v", err)
			continue
		}
		at.Target = target
		d.Statements = append(d.Statements, at)
	}
}

// imageDigest finds the digest in the name of an image, such as ghcr.io/acme/shop@sha256:...
var imageDigest = regexp.MustCompile(`(?:^|@)(sha256:[0-9a-f]{64})$`)

// target returns what a product is: a package, or an image by its digest or its name.
func (p *openVEXProduct) target() (Target, error) {
	if hash := p.Hashes["sha-256"]; hash != "" {
		if found := imageDigest.FindString("sha256:" + strings.ToLower(hash)); found != "" {
			return Target{Digest: found}, nil
		}
	}
	text := p.ID
	if p.Identifiers["purl"] != "" {
		text = p.Identifiers["purl"]
	}
	if found := imageDigest.FindStringSubmatch(text); found != nil {
		return Target{Digest: found[1]}, nil
	}
	if !strings.HasPrefix(text, "pkg:") {
		return Target{}, fmt.Errorf("%.100q is neither a package URL nor the digest of an image", text)
	}
	return targetOf(text)
}

// targetOf returns what a package URL names.
func targetOf(purl string) (Target, error) {
	p, image, err := sbom.ReadPURL(purl)
	if p.SourceName != "" { // advisories are about source packages
		p.Name, p.Version = p.SourceName, p.SourceVersion
	}
	return Target{Digest: image.Digest, Image: image.Name, Package: Package{p.Name, p.Ecosystem, p.Version}}, err
}

func joinTexts(texts ...string) string {
	return strings.Join(slices.DeleteFunc(texts, func(s string) bool { return s == "" }), "\n")
}

// tooling is that of documents in which marks count. Whoever else writes the same in a note has only written a note.
const tooling = "atrium export vex"

// marks is the first line of status_notes that says what OpenVEX has no members for, such as
// [atrium: accepted, ends 2027-01-01T00:00:00Z].
var marks = regexp.MustCompile(`^\[atrium:([^\]\n]*)\](?:\n|$)`)

// The marks.
const (
	markAccepted = "accepted"
	markNoNote   = "no note" // the text that the form demands is not a note
	markEnds     = "ends "
)

// readMarks applies the marks of a statement, and removes them from its texts.
func (from *openVEXStatement) readMarks() (accepted bool, ends time.Time) {
	found := marks.FindStringSubmatch(from.StatusNotes)
	if found == nil {
		return false, ends
	}
	from.StatusNotes = from.StatusNotes[len(found[0]):]
	for mark := range strings.SplitSeq(found[1], ",") {
		switch mark = strings.TrimSpace(mark); {
		case mark == markAccepted:
			accepted = true
		case mark == markNoNote:
			from.ImpactStatement, from.ActionStatement = "", ""
		case strings.HasPrefix(mark, markEnds):
			ends, _ = time.Parse(time.RFC3339, mark[len(markEnds):]) // zero if it is no time
		}
	}
	return accepted, ends
}

// writeMarks puts marks before status_notes. A note that begins like marks needs some, even if they say nothing.
func (from *openVEXStatement) writeMarks(s *Statement, isNoted bool) {
	var all []string
	if s.State == Accepted {
		all = append(all, markAccepted)
	}
	if !isNoted {
		all = append(all, markNoNote)
	}
	if !s.ExpireTime.IsZero() {
		all = append(all, markEnds+s.ExpireTime.UTC().Format(time.RFC3339Nano))
	}
	if all == nil && !marks.MatchString(from.StatusNotes) {
		return
	}
	line := "[atrium: " + strings.Join(all, ", ") + "]"
	if from.StatusNotes != "" {
		line += "\n"
	}
	from.StatusNotes = line + from.StatusNotes
}

// WriteOpenVEX writes statements as a document of OpenVEX.
func WriteOpenVEX(to io.Writer, author, id string, now time.Time, all []Statement) error {
	doc := openVEX{Context: openVEXContext + "/v0.2.0", ID: id, Author: author, Timestamp: &now, Version: "1", Tooling: tooling, Statements: []openVEXStatement{}}
	for i := range all {
		doc.Statements = append(doc.Statements, writeStatement(&all[i]))
	}
	encoder := json.NewEncoder(to)
	encoder.SetIndent("", "  ")
	return encoder.Encode(doc)
}

func writeStatement(s *Statement) openVEXStatement {
	is := openVEXStatement{Vulnerability: openVEXName{Name: s.Vulnerability}, Products: s.Target.products()}
	if !s.Time.IsZero() {
		is.Timestamp = &s.Time
	}
	isNoted := true // or the form needs no note
	switch s.State {
	case NotAffected:
		is.Status, is.Justification, is.ImpactStatement = "not_affected", s.Justification, s.Note
		if isNoted = is.Justification != "" || s.Note != ""; !isNoted {
			is.ImpactStatement = noReason
		}
	case InTriage:
		is.Status, is.StatusNotes = "under_investigation", s.Note
	default:
		is.Status, is.ActionStatement, isNoted = "affected", cmp.Or(s.Note, noAction), s.Note != ""
	}
	is.writeMarks(s, isNoted)
	return is
}

// products returns the product of a target, or none if it is everything.
func (t Target) products() []openVEXProduct {
	var all []openVEXProduct // from the innermost one
	for _, p := range []Package{t.Package, t.Product} {
		if p.Name != "" {
			all = append(all, openVEXProduct{ID: p.purl()})
		}
	}
	if t.Digest != "" || t.Image != "" {
		all = append(all, openVEXProduct{ID: t.imagePURL()})
	}
	switch len(all) {
	case 0, 1:
		return all
	default:
		return []openVEXProduct{{ID: all[len(all)-1].ID, Subcomponents: all[:1]}}
	}
}

// purl returns the package URL of a package.
func (p Package) purl() string { return sbom.WritePURL(p.Name, p.Ecosystem, p.Version) }

// imagePURL returns the package URL of the image of a target.
func (t Target) imagePURL() string {
	return sbom.WriteImagePURL(sbom.Image{Digest: t.Digest, Name: t.Image})
}
