package sbom

import (
	"bytes"
	"fmt"
	"strings"

	cdx "github.com/CycloneDX/cyclonedx-go"
)

// parseCycloneDX reads a document of CycloneDX in JSON.
func parseCycloneDX(text []byte, format string) (*Document, error) {
	if !strings.EqualFold(format, cdx.BOMFormat) {
		return nil, invalid("bomFormat", "is %q, want %q", format, cdx.BOMFormat)
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		return nil, invalid("", "the document is no CycloneDX: %v", err)
	}
	if bom.SpecVersion < cdx.SpecVersion1_2 || bom.SpecVersion > cdx.SpecVersion1_6 {
		return nil, invalid("specVersion", "is %s; versions 1.2 to 1.6 are supported", bom.SpecVersion)
	}
	d := &Document{Format: "CycloneDX " + bom.SpecVersion.String()}
	if bom.Metadata != nil && bom.Metadata.Component != nil {
		d.Subject = subjectOf(bom.Metadata.Component)
	}
	components := valueOf(bom.Components)
	if len(components) == 0 && len(valueOf(bom.Vulnerabilities)) > 0 {
		return nil, invalid("components", "there are none: the document says what vulnerabilities mean (VEX), and not what an image holds")
	}
	r := &cycloneDXReader{Document: d, distribution: findDistribution(components)}
	return d, r.addAll(components, "components")
}

// subjectOf returns what the component of the metadata says of the image.
func subjectOf(c *cdx.Component) Subject {
	s := Subject{Name: c.Name}
	if isDigest(c.Version) {
		s.Digests = append(s.Digests, c.Version)
	} else if c.Version != "" && !strings.Contains(c.Name, ":") && c.Type == cdx.ComponentTypeContainer {
		s.Name += ":" + c.Version
	}
	if purl, err := parsePURL(c.PackageURL); err == nil && isDigest(purl.version) {
		s.Digests = append(s.Digests, purl.version)
	}
	for _, hash := range valueOf(c.Hashes) {
		if hash.Algorithm == cdx.HashAlgoSHA256 && c.Type == cdx.ComponentTypeContainer {
			s.Digests = append(s.Digests, "sha256:"+strings.ToLower(hash.Value))
		}
	}
	return s
}

// findDistribution returns the operating system of an image, such as debian-11, or "". Some
// documents have it there only, and not with each package.
func findDistribution(components []cdx.Component) string {
	for _, c := range components {
		if c.Type == cdx.ComponentTypeOS && c.Name != "" && c.Version != "" {
			return strings.ToLower(c.Name) + "-" + c.Version
		}
	}
	return ""
}

type cycloneDXReader struct {
	*Document
	distribution string
}

// addAll adds components, and those that they hold.
func (r *cycloneDXReader) addAll(components []cdx.Component, place string) error {
	for i := range components {
		at := fmt.Sprintf("%s[%d]", place, i)
		if err := r.addComponent(&components[i], at); err != nil {
			return err
		}
		if err := r.addAll(valueOf(components[i].Components), at+".components"); err != nil {
			return err
		}
	}
	return nil
}

func (r *cycloneDXReader) addComponent(c *cdx.Component, place string) error {
	switch c.Type {
	case cdx.ComponentTypeLibrary, cdx.ComponentTypeFramework, cdx.ComponentTypeApplication, cdx.ComponentTypePlatform:
	default:
		r.Skipped++
		return nil
	}
	if c.Name == "" {
		return invalid(place+".name", "is missing")
	}
	p := Package{Name: c.Name, Version: c.Version}
	if c.Group != "" {
		p.Name = c.Group + "/" + c.Name
	}
	if c.PackageURL != "" {
		purl, err := parsePURL(c.PackageURL)
		if err != nil {
			return invalid(place+".purl", "%v", err)
		}
		p.applyPURL(purl, r.distribution)
	}
	for _, choice := range valueOf(c.Licenses) {
		p.addLicense(choice.Expression)
		if choice.License != nil {
			p.addLicense(choice.License.ID)
			p.addLicense(choice.License.Name)
		}
	}
	return r.add(p, place)
}

// valueOf returns the list that a pointer of CycloneDX leads to.
func valueOf[T ~[]E, E any](list *T) T {
	if list == nil {
		return nil
	}
	return *list
}
