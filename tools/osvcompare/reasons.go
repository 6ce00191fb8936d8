package main

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/google/osv-scalibr/extractor"
	"github.com/google/osv-scalibr/semantic"
	osv "github.com/ossf/osv-schema/bindings/go/osvschema"
	"google.golang.org/protobuf/proto"

	"atrium/platform/affected"
)

// A difference is a record that only one of the two has found for a package.
type difference struct {
	document *document
	record   *record
	key      string        // package URL
	ours     *foundPackage // what Atrium has of the package; empty if it does not have it
	match    *match        // the finding of Atrium; nil if only osv-scanner has one
	scanned  *scannedPackage
	oracle   *oracle
}

func (d *difference) side() string {
	if d.match != nil {
		return "only Atrium: "
	}
	return "only osv-scanner: "
}

func (d *difference) String() string {
	id := "no record"
	if d.record != nil {
		id = d.record.id
	}
	return fmt.Sprintf("%s: %s: %s", d.document.name, d.key, id)
}

// A reason says why there is a difference, and what proves it for each.
type reason struct {
	text, proof string
	holds       func(*difference) bool
}

// reason returns the first reason that is proven, or "".
func (d *difference) reason() string {
	if d.record == nil || d.record.osv == nil {
		return ""
	}
	reasons := onlyScanner
	if d.match != nil {
		reasons = onlyAtrium
	}
	for _, r := range reasons() {
		if r.holds(d) {
			return r.text + "; proof: " + r.proof
		}
	}
	return ""
}

// The reasons why only Atrium has a finding. Each is proven by what osv-scanner's own matcher says of the same package without the
// cause, or by the oracle.
func onlyAtrium() []reason {
	return []reason{
		{"the document does not say the version, and the finding says so (basis NAME); osv-scanner leaves out packages without a version", "its matcher, asked about the package, finds it", func(d *difference) bool {
			return d.match.Basis == "NAME" && d.match.InstalledVersion == "" && slices.ContainsFunc(d.scanned.packages, func(p *extractor.Package) bool { return affects(d.record.osv, p) })
		}},
		{"the version is none that can be compared, such as (devel), and the finding says so (basis NAME); osv-scanner compares it all the same", "the oracle cannot compare it either", func(d *difference) bool {
			_, err := affected.Compare(d.match.Ecosystem, d.match.InstalledVersion, d.match.InstalledVersion)
			_, isKnown := d.oracle.affects(d.record, d.match.Ecosystem, d.match.Package, d.match.InstalledVersion)
			return d.match.Basis == "NAME" && d.match.InstalledVersion != "" && err != nil && !isKnown
		}},
		{"the record names no versions, and the finding says so (basis NAME); osv-scanner leaves such records out", "the record has neither versions nor ranges other than of commits", func(d *difference) bool {
			return d.match.Basis == "NAME" && !d.record.namesVersions()
		}},
		{"osv-scanner does not read the component that the document is about (metadata.component)", "its matcher finds it for the same package URL in a component, and the package URL is nowhere else", func(d *difference) bool {
			return d.isUnread() && d.isAt("metadata.") && d.isFoundElsewhere()
		}},
		{"osv-scanner reads only one of several package URLs of a package in SPDX", "its matcher finds it for the package URL alone", func(d *difference) bool {
			return d.isUnread() && d.isOneOfSeveral() && d.isFoundElsewhere()
		}},
		{"osv-scanner reads only one of several packages of SPDX that have one SPDXID", "its matcher finds it for the package URL alone", func(d *difference) bool {
			return d.isUnread() && d.sharesID() && d.isFoundElsewhere()
		}},
		{"osv-scanner knows no package URLs of this type", "its reader refuses the package URL, and the oracle expects the finding", func(d *difference) bool {
			return d.isUnread() && inSBOM(d.ours.PURL) == nil && d.isExpected()
		}},
		{"osv-scanner knows no ecosystem of such package URLs in SBOMs", "its matcher finds it for the same package as it is read in the image itself", func(d *difference) bool {
			return d.hasNoEcosystem() && d.isFoundInImage()
		}},
		{"osv-scanner knows no order of the versions of this ecosystem", "its comparator refuses the ecosystem, and the oracle expects the finding", func(d *difference) bool {
			_, err := semantic.Parse(d.match.InstalledVersion, withoutRelease(d.match.Ecosystem))
			return errors.Is(err, semantic.ErrUnsupportedEcosystem) && d.isExpected()
		}},
		{"osv-scanner knows no ecosystem of such package URLs anywhere", "the package has none in its result, and the oracle expects the finding", func(d *difference) bool {
			return d.hasNoEcosystem() && d.isExpected()
		}},
		{"the record is about the source package, which osv-scanner does not read in SBOMs", "its matcher finds it for the same package as it is read in the image itself", func(d *difference) bool {
			return d.match.source && d.isFoundInImage()
		}},
		{"osv-scanner takes a point release of the distribution, such as Debian 12.5, for another release", "its matcher finds it for the same package URL with the release", func(d *difference) bool {
			_, release, _ := strings.Cut(d.ours.Ecosystem, ":")
			return release != "" && d.isFoundAs(func(p *extractor.Package) *extractor.Package {
				if p.Ecosystem().Suffix == "" || p.Ecosystem().Suffix == release {
					return p
				}
				return withDistribution(p, strings.ToLower(withoutRelease(d.ours.Ecosystem))+"-"+strings.TrimPrefix(release, "v"))
			})
		}},
		{"osv-scanner takes the name or the version beside the package URL, which differs", "its matcher finds it for a component that has only the package URL", func(d *difference) bool {
			return d.isFoundAs(func(p *extractor.Package) *extractor.Package { return cmp.Or(inSBOM(p.PURL().String()), p) })
		}},
		{"osv-scanner does not read the epoch that the package URL has as a qualifier", "its matcher finds it for the version with the epoch", func(d *difference) bool {
			return strings.Contains(d.ours.PURL, "epoch=") && d.isFoundAs(func(p *extractor.Package) *extractor.Package { return withVersion(p, d.match.InstalledVersion) })
		}},
		{"osv-scanner adds the major version in the subpath to the name of the component, which has it already", "its matcher finds it for a module with the name of the component", func(d *difference) bool {
			return strings.Contains(d.key, "#") && !d.isUnread() && d.isFoundInImage() && !slices.ContainsFunc(d.scanned.packages, func(p *extractor.Package) bool { return affects(d.record.osv, p) })
		}},
		{"package URLs of Go have no capitals, so osv-scanner does not find modules that do", "its matcher finds it for a module with the name of the record", func(d *difference) bool {
			return strings.HasPrefix(d.key, "pkg:golang/") && d.recordName() != strings.ToLower(d.recordName()) && d.isFoundInImage()
		}},
		{"osv-scanner compares the normal names of packages of PyPI with the names of records, which are not", "its matcher finds it for the record with normal names", func(d *difference) bool {
			return withoutRelease(d.match.Ecosystem) == "PyPI" && d.isFoundAfter(func(r *osv.Vulnerability) {
				for _, a := range r.GetAffected() {
					if p := a.GetPackage(); p != nil {
						p.Name = nameOf("PyPI", p.Name).name
					}
				}
			})
		}},
		{"osv-scanner leaves out the ranges of versions after one of commits", "its matcher finds it if the record has no ranges of commits", func(d *difference) bool {
			return d.isFoundAfter(func(r *osv.Vulnerability) {
				for _, a := range r.GetAffected() {
					a.Ranges = slices.DeleteFunc(a.Ranges, func(r *osv.Range) bool { return r.GetType() == osv.Range_GIT })
				}
			})
		}},
	}
}

// The reasons why only osv-scanner has a finding.
func onlyScanner() []reason {
	return []reason{
		{"osv-scanner takes versions of Go's standard library that begin with go, such as go1.20.12, for earlier than all others", "its matcher does not find it for the same version without go", func(d *difference) bool {
			return d.isGoneAs(func(p *extractor.Package) *extractor.Package {
				return withVersion(p, strings.TrimPrefix(p.Version, "go"))
			})
		}},
		{"osv-scanner takes any v and number in the subpath for the major version of the module", "its matcher does not find it for a module with the name of the component", func(d *difference) bool {
			return strings.Contains(d.key, "#") && d.ours.Name != "" && strings.Contains(string(d.document.text), `"`+d.ours.Name+`"`) && !d.affectsOurs()
		}},
		{"osv-scanner takes the name or the version beside the package URL, which differs", "its matcher does not find it for a component that has only the package URL", func(d *difference) bool {
			return d.isGoneAs(func(p *extractor.Package) *extractor.Package { return cmp.Or(inSBOM(p.PURL().String()), p) })
		}},
		{"the source package has the name of the package and another version, which counts, because advisories have it", "its matcher does not find it for the version of the source", func(d *difference) bool {
			source := d.document.sources()[d.key]
			return source != "" && d.isGoneAs(func(p *extractor.Package) *extractor.Package { return withVersion(p, source) })
		}},
		{"osv-scanner does not read the epoch that the package URL has as a qualifier", "its matcher does not find it for the version with the epoch", func(d *difference) bool {
			return strings.Contains(d.ours.PURL, "epoch=") && d.isGoneAs(func(p *extractor.Package) *extractor.Package { return withVersion(p, d.ours.Version) })
		}},
	}
}

// isUnread reports whether osv-scanner does not read the package at all.
func (d *difference) isUnread() bool { return len(d.scanned.packages) == 0 }

// hasNoEcosystem reports whether osv-scanner reads the package, and knows no ecosystem of it.
func (d *difference) hasNoEcosystem() bool {
	return !d.isUnread() && !slices.ContainsFunc(d.scanned.packages, func(p *extractor.Package) bool { eco := p.Ecosystem(); return !eco.IsEmpty() })
}

// isFoundInImage reports whether osv-scanner finds the record for the same package in an image itself.
func (d *difference) isFoundInImage() bool {
	p := inImage(d.match.Ecosystem, d.recordName(), d.match.InstalledVersion)
	return p != nil && affects(d.record.osv, p)
}

// isFoundElsewhere reports whether osv-scanner finds the record for the same package URL in a component, or in an image itself.
func (d *difference) isFoundElsewhere() bool {
	p := inSBOM(d.ours.PURL)
	return p != nil && affects(d.record.osv, p) || d.isFoundInImage() || d.isExpected()
}

// isExpected reports whether the oracle expects the finding.
func (d *difference) isExpected() bool {
	is, isKnown := d.oracle.affects(d.record, d.match.Ecosystem, d.match.Package, d.match.InstalledVersion)
	return is && isKnown
}

// isFoundAs reports whether osv-scanner finds the record for one of its packages after a change, and not before.
func (d *difference) isFoundAs(change func(*extractor.Package) *extractor.Package) bool {
	return slices.ContainsFunc(d.scanned.packages, func(p *extractor.Package) bool {
		return p.PURL() != nil && !affects(d.record.osv, p) && affects(d.record.osv, change(p))
	})
}

// isGoneAs reports whether osv-scanner finds the record for some of its packages, and for none of them after a change.
func (d *difference) isGoneAs(change func(*extractor.Package) *extractor.Package) bool {
	found := false
	for _, p := range d.scanned.packages {
		if p.PURL() == nil || !affects(d.record.osv, p) {
			continue
		}
		if found = true; affects(d.record.osv, change(p)) {
			return false
		}
	}
	return found
}

// isFoundAfter reports whether osv-scanner finds the record for one of its packages after a change of the record, and not before.
func (d *difference) isFoundAfter(change func(*osv.Vulnerability)) bool {
	other := proto.CloneOf(d.record.osv)
	change(other)
	return slices.ContainsFunc(d.scanned.packages, func(p *extractor.Package) bool { return !affects(d.record.osv, p) && affects(other, p) })
}

// affectsOurs reports whether osv-scanner finds the record for the package as Atrium names it.
func (d *difference) affectsOurs() bool {
	p := inImage(d.ours.Ecosystem, d.ours.Name, d.ours.Version)
	return p == nil || affects(d.record.osv, p)
}

// recordName returns the name of the package of the finding as the record spells it.
func (d *difference) recordName() string {
	for _, a := range d.record.advisories {
		if nameOf(a.ArtifactType, a.ArtifactName) == nameOf(d.match.Ecosystem, d.match.Package) {
			return a.ArtifactName
		}
	}
	return d.match.Package
}

// namesVersions reports whether a record says which versions are affected.
func (r *record) namesVersions() bool {
	return !slices.ContainsFunc(r.osv.GetAffected(), func(a *osv.Affected) bool {
		return len(a.GetVersions()) == 0 && !slices.ContainsFunc(a.GetRanges(), func(r *osv.Range) bool { return r.GetType() != osv.Range_GIT })
	})
}

// isAt reports whether every place of a document that has the package URL begins with a text.
func (d *difference) isAt(start string) bool {
	places := d.document.places(d.key)
	return len(places) > 0 && !slices.ContainsFunc(places, func(place string) bool { return !strings.HasPrefix(place, start) })
}

// places returns the places of a document that have a package URL.
func (d *document) places(key string) (places []string) {
	var whole any
	if json.Unmarshal(d.text, &whole) != nil {
		return nil
	}
	var walk func(at string, value any)
	walk = func(at string, value any) {
		switch value := value.(type) {
		case map[string]any:
			for name, member := range value {
				walk(at+"."+name, member)
			}
		case []any:
			for i, element := range value {
				walk(fmt.Sprintf("%s[%d]", at, i), element)
			}
		case string:
			if strings.HasPrefix(value, "pkg:") && (strings.HasSuffix(at, ".purl") || strings.HasSuffix(at, ".referenceLocator")) && purlKey(value) == key {
				places = append(places, strings.TrimPrefix(at, "."))
			}
		}
	}
	walk("", whole)
	return places
}

// An spdxPackage has what tells whether osv-scanner reads a package of SPDX.
type spdxPackage struct {
	ID           string `json:"SPDXID"`
	ExternalRefs []struct {
		Type    string `json:"referenceType"`
		Locator string `json:"referenceLocator"`
	} `json:"externalRefs"`
}

// purls returns the package URLs of a package.
func (p spdxPackage) purls() (keys []string) {
	for _, r := range p.ExternalRefs {
		if strings.HasSuffix(r.Type, "purl") {
			keys = append(keys, purlKey(r.Locator))
		}
	}
	return keys
}

func (d *document) spdxPackages() []spdxPackage {
	var is struct{ Packages []spdxPackage }
	_ = json.Unmarshal(d.text, &is) // it was read before
	return is.Packages
}

// isOneOfSeveral reports whether all packages of SPDX that have the package URL have others.
func (d *difference) isOneOfSeveral() bool {
	found := false
	for _, p := range d.document.spdxPackages() {
		purls := p.purls()
		if !slices.Contains(purls, d.key) {
			continue
		}
		if found = true; len(purls) < 2 {
			return false
		}
	}
	return found
}

// sharesID reports whether a package of SPDX with the package URL has the SPDXID of another.
func (d *difference) sharesID() bool {
	ids := map[string]int{}
	all := d.document.spdxPackages()
	for _, p := range all {
		ids[p.ID]++
	}
	return slices.ContainsFunc(all, func(p spdxPackage) bool { return ids[p.ID] > 1 && slices.Contains(p.purls(), d.key) })
}

// whyGrouped says why Atrium puts records together that osv-scanner does not, or "".
func (all *records) whyGrouped(ids []string) string {
	direct, linked := all.findLinked(ids, false), all.findLinked(ids, true)
	switch {
	case len(ids) < 2 || !areAll(ids, linked) || areAll(ids, direct):
		return ""
	case slices.ContainsFunc(ids, func(id string) bool { return all.byID[id].hasUpstream() }):
		return "osv-scanner reads no upstream ids; proof: without the only upstream id of a record, nothing that osv-scanner has found links the records"
	default:
		return "osv-scanner looks only at records that affect the version; proof: another record links these, and without it nothing does"
	}
}

func areAll(ids []string, in map[string]bool) bool {
	return !slices.ContainsFunc(ids, func(id string) bool { return !in[id] })
}

// findLinked returns the records that share ids with the first one: with its own and those of these records, or, with upstream ids,
// through any record.
func (all *records) findLinked(ids []string, withUpstream bool) map[string]bool {
	found := map[string]bool{}
	for next := ids[:1]; len(next) > 0; {
		r := all.byID[next[0]]
		next = next[1:]
		if found[r.id] {
			continue
		}
		found[r.id] = true
		for _, name := range r.names(withUpstream) {
			for _, id := range all.byLink[name] {
				if (withUpstream || slices.Contains(ids, id) && slices.Contains(all.byID[id].names(false), name)) && !found[id] {
					next = append(slices.Clip(next), id)
				}
			}
		}
	}
	return found
}

// hasUpstream reports whether a record has the id of exactly one other vulnerability from which it comes.
func (r *record) hasUpstream() bool { return len(r.names(true)) > len(r.names(false)) }
