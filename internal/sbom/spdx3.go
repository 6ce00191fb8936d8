package sbom

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"regexp"
	"strings"
)

// An spdx3Element is an element of the graph of SPDX 3, of any type, with the parts that Atrium reads.
type spdx3Element struct {
	ID          string   `json:"spdxId"`
	Type        string   `json:"type"`
	Name        string   `json:"name"`
	Version     string   `json:"software_packageVersion"`
	PURL        string   `json:"software_packageUrl"`
	Purpose     string   `json:"software_primaryPurpose"`
	SourceInfo  string   `json:"software_sourceInfo"`
	Roots       []string `json:"rootElement"`
	License     string   `json:"simplelicensing_licenseExpression"`
	Relation    string   `json:"relationshipType"`
	From        string   `json:"from"`
	To          []string `json:"to"`
	Scope       string   `json:"scope"`
	SuppliedBy  string   `json:"suppliedBy"`
	Subject     string   `json:"subject"`   // of an annotation
	Statement   string   `json:"statement"` // of an annotation
	Identifiers []struct {
		Type       string `json:"externalIdentifierType"`
		Identifier string `json:"identifier"`
	} `json:"externalIdentifier"`
	Hashes []struct {
		Algorithm string `json:"algorithm"`
		Value     string `json:"hashValue"`
	} `json:"verifiedUsing"`
}

// An spdx3Reader collects what the elements of a graph say of each other.
type spdx3Reader struct {
	*reader
	packages []spdx3Element
	places   []string
	roots    map[string][]string // elements that a document, an SBOM or an image is about, by its id
	licenses map[string]string   // expressions by the ids of their elements
	licensed map[string][]string // ids of licenses by the ids of packages
	agents   map[string]string   // names of organizations and people by their ids
	remarked map[string][]string // statements of annotations by the ids of packages
	needed   map[string]Scope    // scopes by the ids of packages that others need

	described int // number of packages that the document is about
}

// spdx3Context matches the context of SPDX 3, with its version.
var spdx3Context = regexp.MustCompile(`spdx\.org/rdf/v?(3\.([0-9]+)[0-9.]*)/`)

// lastSPDX3 is the minor version of SPDX 3 that is known.
const lastSPDX3 = "0"

// parseSPDX3 reads a document of SPDX 3 in JSON-LD.
func parseSPDX3(text, context []byte) (*Document, error) {
	version := spdx3Context.FindSubmatch(context)
	if version == nil {
		return nil, invalid("@context", "is not that of SPDX 3, such as https://spdx.org/rdf/3.0.1/spdx-context.jsonld")
	}
	r := &spdx3Reader{
		reader: newReader("SPDX " + string(version[1])), roots: map[string][]string{}, licenses: map[string]string{}, licensed: map[string][]string{},
		agents: map[string]string{}, remarked: map[string][]string{}, needed: map[string]Scope{},
	}
	if string(version[2]) != lastSPDX3 {
		r.remark("@context", "is of SPDX %s, which is newer than 3.%s; additions of that version are ignored", version[1], lastSPDX3)
	}
	if err := r.readGraph(text); err != nil {
		return nil, err
	}
	described := map[string]bool{}
	r.markDescribed(described, "")
	for _, p := range r.packages {
		if described[p.ID] {
			r.described++
		}
	}
	for i := range r.packages {
		if err := r.addPackage(&r.packages[i], described, r.places[i]); err != nil {
			return nil, err
		}
	}
	return r.finish()
}

// readGraph reads the elements one by one, because a document has thousands of files, which it does not keep.
func (r *spdx3Reader) readGraph(text []byte) error {
	decoder := json.NewDecoder(bytes.NewReader(text))
	if _, err := decoder.Token(); err != nil {
		return invalid("", "the document is not valid SPDX: %v", err)
	}
	for decoder.More() {
		name, err := decoder.Token()
		if err != nil {
			return invalid("", "the document is not valid SPDX: %v", err)
		}
		if name != "@graph" {
			var other json.RawMessage
			if err := decoder.Decode(&other); err != nil {
				return invalid("", "the document is not valid SPDX: %v", err)
			}
			continue
		}
		if start, err := decoder.Token(); err != nil || start != json.Delim('[') {
			return invalid("@graph", "must be a list of elements")
		}
		for i := 0; decoder.More(); i++ {
			var e spdx3Element
			err, place := decoder.Decode(&e), fmt.Sprintf("@graph[%d]", i)
			var wrong *json.UnmarshalTypeError
			switch {
			case errors.As(err, &wrong):
				r.remark(place+"."+wrong.Field, "has the wrong type %s, and is ignored", wrong.Value)
			case err != nil:
				return invalid("", "the document is not valid SPDX: %v", err)
			}
			r.keep(e, place)
		}
		if _, err := decoder.Token(); err != nil {
			return invalid("", "the document is not valid SPDX: %v", err)
		}
	}
	return nil
}

// keep keeps what an element says, if it is of a type that is needed.
func (r *spdx3Reader) keep(e spdx3Element, place string) {
	switch {
	case strings.HasSuffix(e.Type, "Package"): // of software, of a model or of a data set
		r.packages, r.places = append(r.packages, e), append(r.places, place)
	case e.Type == "SpdxDocument" || e.Type == "Sbom" || e.Type == "Bom" || strings.HasSuffix(e.Type, "_Sbom"):
		id := e.ID
		if e.Type == "SpdxDocument" {
			id = ""
			r.Subject.Name = e.Name
		}
		r.roots[id] = append(r.roots[id], e.Roots...)
	case e.License != "":
		r.licenses[e.ID] = e.License
	case e.Relation == "hasDeclaredLicense" || e.Relation == "hasConcludedLicense":
		r.licensed[e.From] = append(r.licensed[e.From], e.To...)
	case spdx3Needs[e.Relation] || e.Relation == "contains":
		r.keepNeeds(e)
	case e.Type == "Organization" || e.Type == "Person" || e.Type == "Agent":
		r.agents[e.ID] = e.Name
	case e.Type == "Annotation" && e.Statement != "":
		r.remarked[e.Subject] = append(r.remarked[e.Subject], e.Statement)
	default:
		if e.Type == "software_File" {
			r.Skipped++
		}
	}
}

// spdx3Needs has the relationships of an element to what it needs.
var spdx3Needs = map[string]bool{
	"dependsOn": true, "hasOptionalDependency": true, "hasProvidedDependency": true, "hasPrerequisite": true, "hasDynamicLink": true, "hasStaticLink": true,
}

// keepNeeds keeps what an element needs or holds.
func (r *spdx3Reader) keepNeeds(e spdx3Element) {
	scope := scopes[e.Scope]
	if e.Relation == "hasOptionalDependency" {
		scope = ScopeOptional
	}
	for _, to := range e.To {
		r.dependencies = append(r.dependencies, dependency{from: e.From, to: to, holds: e.Relation == "contains"})
		if e.Relation == "contains" {
			continue
		}
		if before, isKnown := r.needed[to]; isKnown {
			r.needed[to] = mergeScopes(before, scope)
		} else {
			r.needed[to] = scope
		}
	}
}

// markDescribed marks what the document is about, also by an SBOM in it.
func (r *spdx3Reader) markDescribed(described map[string]bool, id string) {
	for _, root := range r.roots[id] {
		if !described[root] {
			described[root] = true
			r.markDescribed(described, root)
		}
	}
}

// addPackage adds a package. A package that is the image itself becomes the subject.
func (r *spdx3Reader) addPackage(p *spdx3Element, described map[string]bool, place string) error {
	e := entry{
		place: place, id: p.ID, name: p.Name, version: p.Version, source: builtFrom(p.SourceInfo), supplier: knownText(r.agents[p.SuppliedBy]), scope: r.needed[p.ID],
	}
	if p.PURL != "" {
		e.addPURL(place+".software_packageUrl", p.PURL)
	}
	for i, identifier := range p.Identifiers {
		if strings.EqualFold(identifier.Type, "packageUrl") && identifier.Identifier != p.PURL {
			e.addPURL(fmt.Sprintf("%s.externalIdentifier[%d].identifier", place, i), identifier.Identifier)
		}
	}
	for _, u := range e.purls {
		if u.isImage() {
			r.describe(p, u.version)
			return nil
		}
	}
	switch hasPURL := len(e.purls) > 0; {
	case described[p.ID] && isProject(e.purls):
		r.project = p.ID
		r.describe(p, p.Version)
		return nil
	case !hasPURL && e.fault == nil && p.Name != "" && (p.Purpose == "container" || described[p.ID]):
		r.describe(p, p.Version)
		return nil
	case p.Purpose == "operatingSystem":
		r.addSystem(p.Name, p.Version)
		return nil
	case !hasPURL && (p.Type != "software_Package" || isNoPackage[p.Purpose]):
		r.Skipped++
		return nil
	}
	if described[p.ID] && r.described == 1 {
		r.project = p.ID
	}
	for _, statement := range r.remarked[p.ID] {
		e.setLayer(statement)
	}
	for _, id := range r.licensed[p.ID] {
		listed, isListed := strings.CutPrefix(id, "https://spdx.org/licenses/")
		if e.addLicense(r.licenses[id]); isListed {
			e.addLicense(listed)
		}
	}
	return r.add(e)
}

// isNoPackage has the purposes of what is in no image, unless it has a package URL: Yocto lists what it builds from.
var isNoPackage = map[string]bool{
	"source": true, "patch": true, "file": true, "archive": true, "diskImage": true, "filesystemImage": true, "specification": true,
	"configuration": true, "documentation": true, "evidence": true, "manifest": true, "requirement": true, "test": true, "other": true,
}

// describe keeps what a package says of the image.
func (r *spdx3Reader) describe(p *spdx3Element, version string) {
	r.describeImage(p.Name, version)
	for _, hash := range p.Hashes {
		if hash.Algorithm == "sha256" {
			r.Subject.Digests = append(r.Subject.Digests, "sha256:"+strings.ToLower(hash.Value))
		}
	}
}
