package sbom

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// These are the parts of CycloneDX that Atrium reads. The library of the CycloneDX project refuses a document for one value
// of a wrong type anywhere, and each version that is newer than itself.
type (
	cdxDocument struct {
		SpecVersion string `json:"specVersion"`
		Metadata    struct {
			Component *cdxComponent `json:"component"`
		} `json:"metadata"`
		Components      []cdxComponent `json:"components"`
		Vulnerabilities []struct{}     `json:"vulnerabilities"`
		Dependencies    []struct {
			Ref       string   `json:"ref"`
			DependsOn []string `json:"dependsOn"`
		} `json:"dependencies"`
	}
	cdxComponent struct {
		Ref       string `json:"bom-ref"`
		Type      string `json:"type"`
		Group     string `json:"group"`
		Name      string `json:"name"`
		Version   string `json:"version"`
		PURL      string `json:"purl"`
		Scope     string `json:"scope"`
		Publisher string `json:"publisher"`
		Supplier  struct {
			Name string `json:"name"`
		} `json:"supplier"`
		Licenses []struct {
			Expression string `json:"expression"`
			License    struct {
				ID   string `json:"id"`
				Name string `json:"name"`
			} `json:"license"`
		} `json:"licenses"`
		Hashes []struct {
			Algorithm string `json:"alg"`
			Value     string `json:"content"`
		} `json:"hashes"`
		Properties []cdxProperty  `json:"properties"`
		Tags       []string       `json:"tags"`
		Components []cdxComponent `json:"components"`
	}
	cdxProperty struct {
		Name  string `json:"name"`
		Value string `json:"value"`
	}
)

// The minor versions of CycloneDX 1 that are known.
const firstCycloneDX, lastCycloneDX = 2, 7

// parseCycloneDX reads a document of CycloneDX in JSON.
func parseCycloneDX(text []byte, format string) (*Document, error) {
	const name = "CycloneDX"
	if !strings.EqualFold(format, name) {
		return nil, invalid("bomFormat", "is %q, want %q", format, name)
	}
	var bom cdxDocument
	err := json.Unmarshal(text, &bom)
	r := newReader(name + " " + bom.SpecVersion)
	if err = r.checkTypes(err, name, len(bom.Components) > 0); err != nil {
		return nil, err
	}
	minor, found := strings.CutPrefix(bom.SpecVersion, "1.")
	switch number, err := strconv.Atoi(minor); {
	case !found || err != nil || number < firstCycloneDX:
		return nil, invalid("specVersion", "is %.100q; versions 1.%d to 1.%d are supported", bom.SpecVersion, firstCycloneDX, lastCycloneDX)
	case number > lastCycloneDX:
		r.remark("specVersion", "is %s, which is newer than 1.%d; additions of that version are ignored", bom.SpecVersion, lastCycloneDX)
	}
	if len(bom.Components) == 0 && len(bom.Vulnerabilities) > 0 {
		return nil, invalid("components", "is empty: the document is a VEX document, not an SBOM")
	}
	for _, d := range bom.Dependencies {
		for _, to := range d.DependsOn {
			r.dependencies = append(r.dependencies, dependency{from: d.Ref, to: to})
		}
	}
	if c := bom.Metadata.Component; c != nil {
		if r.Subject = subjectOf(c); c.Type != "container" {
			r.project = c.Ref
		}
		const place = "metadata.component"
		if c.PURL != "" || c.Type == "operating-system" { // an application is in the image that its document describes
			err = r.addComponent(c, place)
		}
		if err == nil {
			err = r.addComponents(c.Components, place+".components")
		}
	}
	if err == nil {
		err = r.addComponents(bom.Components, "components")
	}
	if err != nil {
		return nil, err
	}
	return r.finish()
}

// subjectOf returns what the component of the metadata says of the image.
func subjectOf(c *cdxComponent) Subject {
	s := Subject{Name: c.Name}
	isContainer := c.Type == "container"
	if isDigest(c.Version) {
		s.Digests = append(s.Digests, c.Version)
	} else if c.Version != "" && !strings.Contains(c.Name, ":") && isContainer {
		s.Name += ":" + c.Version
	}
	if purl, err := parsePURL(c.PURL); err == nil {
		if isDigest(purl.version) && !slices.Contains(s.Digests, purl.version) {
			s.Digests = append(s.Digests, purl.version)
		}
		if purl.isImage() {
			s.Architecture = purl.qualifiers["arch"]
		}
	}
	for _, hash := range c.Hashes {
		if hash.Algorithm == "SHA-256" && isContainer {
			s.Digests = append(s.Digests, "sha256:"+strings.ToLower(hash.Value))
		}
	}
	return s
}

// addComponents adds components, and those that they hold.
func (r *reader) addComponents(components []cdxComponent, place string) error {
	for i := range components {
		at := fmt.Sprintf("%s[%d]", place, i)
		if err := r.addComponent(&components[i], at); err != nil {
			return err
		}
		if err := r.addComponents(components[i].Components, at+".components"); err != nil {
			return err
		}
	}
	return nil
}

// addComponent adds a component if it is a package: of a type of packages, or of any with a package URL.
func (r *reader) addComponent(c *cdxComponent, place string) error {
	e := entry{
		place: place, id: c.Ref, name: c.Name, version: c.Version, scope: scopes[strings.ToLower(c.Scope)], supplier: cmp.Or(knownText(c.Supplier.Name), knownText(c.Publisher)),
	}
	if c.Group != "" && c.Name != "" {
		e.name = c.Group + "/" + c.Name
	}
	switch c.Type {
	case "operating-system":
		r.addSystem(c.Name, c.Version)
		return nil
	case "library", "framework", "application", "platform":
	default:
		if c.PURL == "" {
			r.Skipped++
			return nil
		}
	}
	if c.PURL != "" {
		e.addPURL(place+".purl", c.PURL)
	}
	isTarget := c.PURL == "" && slices.ContainsFunc(c.Properties, func(p cdxProperty) bool { return p.Name == "aquasecurity:trivy:Class" })
	if isTarget || len(e.purls) == 1 && e.purls[0].isImage() { // a file in which Trivy has found packages
		r.Skipped++
		return nil
	}
	r.namesSources = r.namesSources || slices.Contains(c.Tags, "source") // cdxgen
	for _, property := range c.Properties {
		e.setProperty(place+".properties", property.Name, property.Value)
	}
	for _, choice := range c.Licenses {
		e.addLicense(choice.Expression)
		e.addLicense(choice.License.ID)
		e.addLicense(choice.License.Name)
	}
	if e.written != nil {
		e.written.purl = c.PURL
	}
	return r.add(e)
}

// set sets what a property says of the source package: that of Trivy, or of a version of syft before it wrote qualifiers.
func (s *source) set(property, value string) {
	switch property {
	case "aquasecurity:trivy:SrcName", "syft:metadata:source", "syft:metadata:originPackage", "syft:metadata:sourceRpm":
		s.name = value
	case "aquasecurity:trivy:SrcVersion", "syft:metadata:sourceVersion":
		s.version = value
	case "aquasecurity:trivy:SrcRelease":
		s.release = value
	case "aquasecurity:trivy:SrcEpoch":
		s.epoch = value
	}
}

// developmentProperties are the properties of packages that are there to build or to test, if the value is true.
var developmentProperties = []string{"cdx:npm:package:development", "cdx:composer:package:isDevRequirement", "cdx:maven:package:test"}

// setProperty sets what a property says of where the package lies, and what it is for.
func (e *entry) setProperty(place, name, value string) {
	e.source.set(name, value)
	switch {
	case strings.HasPrefix(name, propertyPrefix):
		e.setWritten(place, name, value)
	case slices.Contains(developmentProperties, name) && value == "true":
		e.scope = ScopeDevelopment
	case name == "syft:location:0:layerID", name == "aquasecurity:trivy:LayerDiffID":
		e.layer = knownText(value)
	case name == "aquasecurity:trivy:LayerDigest":
		e.layer = cmp.Or(e.layer, knownText(value))
	}
}
