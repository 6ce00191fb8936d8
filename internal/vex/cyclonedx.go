package vex

import (
	"bytes"
	"cmp"
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	cdx "github.com/CycloneDX/cyclonedx-go"

	"atrium/internal/sbom"
)

// Properties that say what analyses cannot.
const (
	propertyState         = "atrium:state"
	propertyJustification = "atrium:justification"
	propertyExpireTime    = "atrium:expireTime"
)

// analysisStates has the states of analyses. What is resolved is not affected any more, and a false positive never was.
var analysisStates = map[cdx.ImpactAnalysisState]string{
	cdx.IASExploitable: Open, cdx.IASInTriage: InTriage, cdx.IASNotAffected: NotAffected, cdx.IASFalsePositive: NotAffected,
	cdx.IASResolved: NotAffected, cdx.IASResolvedWithPedigree: NotAffected,
}

// analysisJustifications has the justifications of OpenVEX for those of CycloneDX.
var analysisJustifications = map[cdx.ImpactAnalysisJustification]string{
	cdx.IAJCodeNotPresent: "vulnerable_code_not_present", cdx.IAJCodeNotReachable: "vulnerable_code_not_in_execute_path",
	cdx.IAJRequiresConfiguration: "vulnerable_code_cannot_be_controlled_by_adversary", cdx.IAJRequiresDependency: "component_not_present",
	cdx.IAJRequiresEnvironment: "vulnerable_code_cannot_be_controlled_by_adversary", cdx.IAJProtectedByCompiler: "inline_mitigations_already_exist",
	cdx.IAJProtectedAtRuntime: "inline_mitigations_already_exist", cdx.IAJProtectedAtPerimeter: "inline_mitigations_already_exist",
	cdx.IAJProtectedByMitigatingControl: "inline_mitigations_already_exist",
}

// writtenJustifications has those of CycloneDX that are closest to the ones of OpenVEX.
var writtenJustifications = map[string]cdx.ImpactAnalysisJustification{
	"component_not_present": cdx.IAJRequiresDependency, "vulnerable_code_not_present": cdx.IAJCodeNotPresent,
	"vulnerable_code_not_in_execute_path": cdx.IAJCodeNotReachable, "vulnerable_code_cannot_be_controlled_by_adversary": cdx.IAJRequiresConfiguration,
	"inline_mitigations_already_exist": cdx.IAJProtectedByMitigatingControl,
}

func parseCycloneDX(text []byte, format string) (*Document, error) {
	if !strings.EqualFold(format, cdx.BOMFormat) {
		return nil, &Error{"bomFormat", fmt.Sprintf("is %.100q, want %q", format, cdx.BOMFormat)}
	}
	var bom cdx.BOM
	if err := cdx.NewBOMDecoder(bytes.NewReader(text), cdx.BOMFileFormatJSON).Decode(&bom); err != nil {
		return nil, fmt.Errorf("the document is not valid CycloneDX: %w", err)
	}
	all := valueOf(bom.Vulnerabilities)
	d := &Document{IsBOM: len(all) == 0, components: map[string]Target{}}
	own := d.readComponents(&bom)
	documentTime := ""
	if bom.Metadata != nil {
		documentTime = bom.Metadata.Timestamp
	}
	for i := range all {
		d.readVulnerability(&all[i], fmt.Sprintf("vulnerabilities[%d]", i), own, documentTime)
	}
	return d, nil
}

// readComponents returns the components of a document by their references, and notes those that others can refer to.
func (d *Document) readComponents(bom *cdx.BOM) map[string]Target {
	own := map[string]Target{}
	var add func(all []cdx.Component, inside Target)
	add = func(all []cdx.Component, inside Target) {
		for i := range all {
			target := componentTarget(&all[i])
			if part, err := target.partOf(inside); err == nil {
				target = part
			}
			if ref := all[i].BOMRef; ref != "" {
				own[ref] = target
				if bom.SerialNumber != "" {
					d.components[fmt.Sprintf("urn:cdx:%s/%d#%s", strings.TrimPrefix(bom.SerialNumber, "urn:uuid:"), bom.Version, ref)] = target
				}
			}
			holder := inside
			if target.Digest+target.Image != "" || all[i].PackageURL != "" && inside.Name == "" { // images hold no files and no groups of components
				holder = target
			}
			add(valueOf(all[i].Components), holder)
		}
	}
	if bom.Metadata != nil && bom.Metadata.Component != nil {
		add([]cdx.Component{*bom.Metadata.Component}, Target{})
	}
	add(valueOf(bom.Components), Target{})
	return own
}

// componentTarget returns what a component is: a package, or an image.
func componentTarget(c *cdx.Component) Target {
	target, err := targetOf(c.PackageURL)
	if err == nil && target.Image == "" {
		return target
	}
	if c.Type == cdx.ComponentTypeContainer {
		if imageDigest.MatchString(c.Version) {
			return Target{Digest: c.Version}
		}
		for _, hash := range valueOf(c.Hashes) {
			if hash.Algorithm == cdx.HashAlgoSHA256 {
				return Target{Digest: "sha256:" + strings.ToLower(hash.Value)}
			}
		}
	}
	if err == nil {
		return target
	}
	name := c.Name
	if c.Group != "" {
		name = c.Group + "/" + c.Name
	}
	return Target{Package: Package{Name: name, Version: c.Version}}
}

// readVulnerability adds the statements of a vulnerability.
func (d *Document) readVulnerability(v *cdx.Vulnerability, place string, own map[string]Target, documentTime string) {
	s := Statement{Place: place, Vulnerability: v.ID}
	for _, same := range valueOf(v.References) { // they are equivalent
		s.Aliases = append(s.Aliases, same.ID)
	}
	if v.ID == "" {
		d.refuse(place+".id", "is missing")
		return
	}
	if v.Analysis == nil {
		d.refuse(place+".analysis", "is missing")
		return
	}
	if problem := s.readAnalysis(v, documentTime); problem != nil {
		d.refuse(place+"."+problem.Place, "%s", problem.Reason)
		return
	}
	if v.Affects == nil {
		d.Statements = append(d.Statements, s)
		return
	}
	for i, affects := range *v.Affects {
		at := s
		at.Place = fmt.Sprintf("%s.affects[%d]", place, i)
		d.addAffected(at, affects, own)
	}
}

// readAnalysis reads the state of a vulnerability.
func (s *Statement) readAnalysis(v *cdx.Vulnerability, documentTime string) *Error {
	var known bool
	if s.State, known = analysisStates[v.Analysis.State]; !known {
		return &Error{"analysis.state", fmt.Sprintf("%.100q is not known", v.Analysis.State)}
	}
	if v.Analysis.Justification != "" && s.State == NotAffected {
		if s.Justification, known = analysisJustifications[v.Analysis.Justification]; !known {
			return &Error{"analysis.justification", fmt.Sprintf("%.100q is not known", v.Analysis.Justification)}
		}
	}
	if s.Note = v.Analysis.Detail; s.Note == "" && strings.HasPrefix(string(v.Analysis.State), "resolved") {
		s.Note = isFixed
	}
	for _, text := range []string{v.Analysis.LastUpdated, v.Analysis.FirstIssued, v.Updated, documentTime} {
		if at, err := time.Parse(time.RFC3339, text); err == nil {
			s.Time = at
			break
		}
	}
	for _, p := range valueOf(v.Properties) {
		switch p.Name {
		case propertyState:
			if s.State == Open && p.Value == Accepted {
				s.State = Accepted
			}
		case propertyJustification:
			if s.State == NotAffected && slices.Contains(justifications, p.Value) {
				s.Justification = p.Value
			}
		case propertyExpireTime:
			s.ExpireTime, _ = time.Parse(time.RFC3339, p.Value) // zero if it is no time
		}
	}
	return nil
}

// A statedVersion is a version, or a range of VERS, of a component.
type statedVersion struct {
	version string
	status  cdx.VulnerabilityStatus
}

// addAffected adds the statements about a component.
func (d *Document) addAffected(s Statement, affects cdx.Affects, own map[string]Target) {
	for _, v := range valueOf(affects.Range) {
		s.versions = append(s.versions, statedVersion{cmp.Or(v.Version, v.Range), v.Status})
	}
	_, fragment, isLink := strings.Cut(affects.Ref, "#")
	isLink = isLink && strings.HasPrefix(affects.Ref, "urn:cdx:")
	purl := affects.Ref
	if isLink {
		purl = fragment
	}
	target, known := own[affects.Ref]
	switch {
	case known:
	case strings.HasPrefix(purl, "pkg:"):
		var err error
		if target, err = targetOf(purl); err != nil {
			d.refuse(s.Place+".ref", "%v", err)
			return
		}
	case isLink:
		s.ref = affects.Ref
		d.pending = append(d.pending, s)
		return
	default:
		d.refuse(s.Place+".ref", "%.100q is neither a component of the document nor a package URL", affects.Ref)
		return
	}
	d.addVersions(s, target, s.versions)
}

// addVersions adds a statement for each version of a component. A version whose status contradicts the analysis has the
// state of its status.
func (d *Document) addVersions(s Statement, target Target, versions []statedVersion) {
	s.Target, s.versions, s.ref = target, nil, ""
	if len(versions) == 0 {
		d.Statements = append(d.Statements, s)
		return
	}
	for i, v := range versions {
		at := s
		at.Place, at.Target.Version = fmt.Sprintf("%s.versions[%d]", s.Place, i), v.version
		switch {
		case v.version == "":
			d.refuse(at.Place, "has neither a version nor a range")
			continue
		case v.status == cdx.VulnerabilityStatusNotAffected && at.State != NotAffected:
			at.State = NotAffected
		case v.status == cdx.VulnerabilityStatusAffected && at.State == NotAffected:
			at.State, at.Justification = Open, ""
		case v.status == cdx.VulnerabilityStatusUnknown:
			at.State, at.Justification = InTriage, ""
		}
		d.Statements = append(d.Statements, at)
	}
}

// documentOf returns the document of a link to a component.
func documentOf(ref string) string {
	document, _, _ := strings.Cut(ref, "#")
	return document
}

// valueOf returns the list that a pointer of CycloneDX leads to.
func valueOf[T ~[]E, E any](list *T) T {
	if list == nil {
		return nil
	}
	return *list
}

// WriteCycloneDX writes statements as a document of CycloneDX. Packages of an image are components inside it.
func WriteCycloneDX(to io.Writer, serial string, now time.Time, all []Statement) error {
	bom := cdx.NewBOM()
	bom.SpecVersion, bom.SerialNumber = cdx.SpecVersion1_6, serial
	bom.Metadata = &cdx.Metadata{Timestamp: now.UTC().Format(time.RFC3339)}
	w := &componentWriter{parts: map[string]*[]cdx.Component{}, isWritten: map[string]bool{}}
	vulnerabilities := make([]cdx.Vulnerability, len(all))
	for i := range all {
		vulnerabilities[i] = w.vulnerability(&all[i])
	}
	for i := range w.components {
		if parts := w.parts[w.components[i].BOMRef]; parts != nil && len(*parts) > 0 {
			w.components[i].Components = parts
		}
	}
	bom.Components, bom.Vulnerabilities = &w.components, &vulnerabilities
	return cdx.NewBOMEncoder(to, cdx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, cdx.SpecVersion1_6)
}

// A componentWriter collects the components that statements are about, each once.
type componentWriter struct {
	components []cdx.Component
	parts      map[string]*[]cdx.Component // the components of each image, and of each product
	isWritten  map[string]bool
}

// ref returns the reference of a target, or "" if it is everything. Ranges are no part of it.
func (w *componentWriter) ref(t Target) string {
	in, around := &w.components, ""
	switch {
	case t.Digest != "" || t.Image != "":
		around = t.imagePURL()
		in = w.holder(cdx.Component{BOMRef: around, Type: cdx.ComponentTypeContainer, Name: cmp.Or(t.Image, "image"), Version: t.Digest, PackageURL: around})
	case t.Product.Name != "":
		around = t.Product.purl()
		in = w.holder(cdx.Component{BOMRef: around, Type: cdx.ComponentTypeApplication, Name: t.Product.Name, Version: t.Product.Version, PackageURL: around})
	}
	if t.Name == "" {
		return around
	}
	version := t.Version
	if strings.HasPrefix(version, "vers:") {
		version = ""
	}
	purl := sbom.WritePURL(t.Name, t.Ecosystem, version)
	ref := strings.TrimPrefix(around+"/"+purl, "/")
	if !w.isWritten[ref] {
		w.isWritten[ref] = true
		*in = append(*in, cdx.Component{BOMRef: ref, Type: cdx.ComponentTypeLibrary, Name: t.Name, Version: version, PackageURL: purl})
	}
	return ref
}

// holder returns the components inside one that holds others, which it writes once.
func (w *componentWriter) holder(c cdx.Component) *[]cdx.Component {
	if w.parts[c.BOMRef] == nil {
		w.parts[c.BOMRef] = &[]cdx.Component{}
		if !w.isWritten[c.BOMRef] {
			w.isWritten[c.BOMRef] = true
			w.components = append(w.components, c)
		}
	}
	return w.parts[c.BOMRef]
}

// vulnerability writes a statement.
func (w *componentWriter) vulnerability(s *Statement) cdx.Vulnerability {
	v := cdx.Vulnerability{ID: s.Vulnerability, Analysis: &cdx.VulnerabilityAnalysis{Detail: s.Note}}
	if !s.Time.IsZero() {
		v.Analysis.LastUpdated = s.Time.UTC().Format(time.RFC3339Nano)
	}
	var properties []cdx.Property
	status := cdx.VulnerabilityStatusAffected
	switch s.State {
	case NotAffected:
		v.Analysis.State, v.Analysis.Justification, status = cdx.IASNotAffected, writtenJustifications[s.Justification], cdx.VulnerabilityStatusNotAffected
		if s.Justification != "" {
			properties = append(properties, cdx.Property{Name: propertyJustification, Value: s.Justification})
		}
	case InTriage:
		v.Analysis.State, status = cdx.IASInTriage, cdx.VulnerabilityStatusUnknown
	case Accepted:
		v.Analysis.State, v.Analysis.Response = cdx.IASExploitable, &[]cdx.ImpactAnalysisResponse{cdx.IARWillNotFix}
		properties = append(properties, cdx.Property{Name: propertyState, Value: Accepted})
	default:
		v.Analysis.State = cdx.IASExploitable
	}
	if !s.ExpireTime.IsZero() {
		properties = append(properties, cdx.Property{Name: propertyExpireTime, Value: s.ExpireTime.UTC().Format(time.RFC3339Nano)})
	}
	if properties != nil {
		v.Properties = &properties
	}
	if ref := w.ref(s.Target); ref != "" {
		affects := cdx.Affects{Ref: ref}
		if strings.HasPrefix(s.Target.Version, "vers:") {
			affects.Range = &[]cdx.AffectedVersions{{Range: s.Target.Version, Status: status}}
		}
		v.Affects = &[]cdx.Affects{affects}
	}
	return v
}
