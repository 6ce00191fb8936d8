package sbom

import (
	"cmp"
	"encoding/json"
	"errors"
	"maps"
	"slices"
	"strings"

	packageurl "github.com/package-url/packageurl-go"
)

// maxRemarks limits how many entries with a fault a document names. The others are counted.
const maxRemarks = 20

// An entry is a package as a document writes it.
type entry struct {
	place         string // such as components[3]
	id            string // in the document; "" if it has none
	name, version string
	purls         []purl
	source        source
	licenses      []string
	supplier      string
	scope         Scope
	layer         string
	fault         *Error // the first one

	written *writtenPackage // what Atrium says of the package, in documents that it has written
}

// A writtenPackage is what Atrium has written of a package beside what the format has a place for.
type writtenPackage struct {
	ecosystem    string
	purl         string
	licenses     []string
	direct       *bool
	introducedBy []string // ids; nil if it is not known
}

// A source is what a document says of a source package beside package URLs.
type source struct{ name, version, release, epoch string }

// fullVersion returns the version as package managers write it.
func (s source) fullVersion() string {
	text := s.version
	if s.release != "" && text != "" {
		text += "-" + s.release
	}
	if s.epoch != "" && s.epoch != "0" && text != "" && !strings.Contains(text, ":") {
		text = s.epoch + ":" + text
	}
	return text
}

// addPURL adds a package URL.
func (e *entry) addPURL(place, text string) {
	u, err := parsePURL(text)
	if err != nil {
		e.addFault(invalid(place, "%v", err))
		return
	}
	e.purls = append(e.purls, u)
}

func (e *entry) addFault(fault *Error) {
	if e.fault == nil {
		e.fault = fault
	}
}

// addLicense adds a license or an expression of licenses, unless it says that nothing is known.
func (e *entry) addLicense(text string) {
	p := Package{Licenses: e.licenses}
	p.addLicense(text)
	e.licenses = p.Licenses
}

// packages returns the packages that an entry is: one for each of its package URLs.
func (e *entry) packages(distribution string) []Package {
	named := Package{Name: e.name, Version: e.version, Licenses: slices.Clip(e.licenses), Supplier: e.supplier, Scope: e.scope, Layer: e.layer}
	if w := e.written; w != nil {
		named.Ecosystem, named.PURL, named.SourceName, named.SourceVersion, named.isWritten = w.ecosystem, w.purl, e.source.name, e.source.version, true
		return []Package{named}
	}
	if len(e.purls) == 0 {
		return []Package{named}
	}
	all := make([]Package, len(e.purls))
	for i, u := range e.purls {
		all[i] = named
		all[i].applyPURL(u, distribution)
		if u.isOfDistribution() && u.qualifiers["upstream"] == "" {
			all[i].setSource(u, e.source.name, e.source.fullVersion())
		}
	}
	return all
}

// A reader collects the entries of a document, of whatever form it is.
type reader struct {
	*Document
	entries []entry
	size    int      // number of packages that the entries are
	systems []string // operating systems that the document names, such as debian-12.5

	dependencies []dependency
	project      string // id of what the document is about, if that is a project and no image
	namesSources bool   // whether source packages are entries of their own, or the packages have the names of their sources
}

func newReader(format string) *reader { return &reader{Document: &Document{Format: format}} }

// remark says something about the document as a whole, or about a place in it.
func (r *reader) remark(place, format string, arguments ...any) {
	r.Remarks = append(r.Remarks, invalid(place, format, arguments...))
}

// checkTypes says where a document has a value of a wrong type, which is then not read. Another error, or no list of
// packages, is returned: nothing of the document can be read.
func (r *reader) checkTypes(err error, form string, canRead bool) error {
	var wrong *json.UnmarshalTypeError
	switch {
	case err == nil:
		return nil
	case !errors.As(err, &wrong) || !canRead:
		return invalid("", "the document is not valid %s: %v", form, err)
	}
	r.remark(wrong.Field, "has the wrong type %s at byte %d; it is ignored, and so are other values of a wrong type", wrong.Value, wrong.Offset)
	return nil
}

// add adds an entry.
func (r *reader) add(e entry) error {
	if r.size += max(1, len(e.purls)); r.size > MaxPackages {
		return invalid(e.place, "the document has more than %d packages", MaxPackages)
	}
	r.entries = append(r.entries, e)
	return nil
}

// addSystem adds an operating system, as a document names it.
func (r *reader) addSystem(name, version string) {
	r.Skipped++
	if name != "" && version != "" {
		r.systems = append(r.systems, strings.ToLower(name)+"-"+version)
	}
}

// distribution returns the operating system of the image, or "" if the document names none, or several. Some documents
// have it there only, and not with each package.
func (r *reader) distribution() string {
	for _, s := range r.systems {
		if s != r.systems[0] {
			return ""
		}
	}
	return strings.Join(r.systems[:min(1, len(r.systems))], "")
}

// describeImage keeps the name and the version of the package that is the image.
func (r *reader) describeImage(name, version string) {
	r.Skipped++
	r.Subject.Name = name
	if isDigest(version) {
		r.Subject.Digests = append(r.Subject.Digests, version)
	} else if version != "" && !strings.Contains(name, ":") {
		r.Subject.Name += ":" + version
	}
}

// finish makes packages of the entries. An entry that has a fault is left out, or is known by its name only. It fails
// if every entry has one: whoever reads that the image has no packages would take it for good.
func (r *reader) finish() (*Document, error) {
	distribution, faults, first := r.distribution(), 0, (*Error)(nil)
	for i := range r.entries {
		e, before := &r.entries[i], len(r.Packages)
		for _, p := range e.packages(distribution) {
			if fault := p.check(e.place); fault != nil {
				e.addFault(fault)
				continue
			}
			p.entries = []int{i}
			r.Packages = append(r.Packages, p)
		}
		if e.fault == nil {
			continue
		}
		if faults++; first == nil {
			first = e.fault
		}
		if faults <= maxRemarks {
			consequence := "the package is left out"
			if len(r.Packages) > before {
				consequence = "the rest of its entry identifies the package"
			}
			r.remark(e.fault.Place, "%s; %s", e.fault.Reason, consequence)
		}
	}
	switch {
	case faults > 0 && faults == len(r.entries):
		if faults > 1 {
			return nil, invalid(first.Place, "%s; none of the %d packages of the document can be read", first.Reason, faults)
		}
		return nil, first
	case faults > maxRemarks:
		r.remark("", "%d more of its packages cannot be read", faults-maxRemarks)
	case len(r.Packages) == 0:
		r.remark("", "has no packages (and %d entries of other kinds); no advisory will match the image", r.Skipped)
	}
	r.shareReleases()
	r.Packages = sortPackages(r.Packages)
	r.setOrigins()
	r.remarkSources()
	r.remarkEcosystems()
	return r.Document, nil
}

// shareReleases gives packages of a distribution the release that all others of it have, such as keys of Red Hat, whose
// versions do not end with one.
func (r *reader) shareReleases() {
	only := map[string]string{} // ecosystems by distributions; "" for one of several releases
	for _, p := range r.Packages {
		name, _, hasRelease := strings.Cut(p.Ecosystem, ":")
		switch other, found := only[name]; {
		case !hasRelease || p.isWritten:
		case !found:
			only[name] = p.Ecosystem
		case other != p.Ecosystem:
			only[name] = ""
		}
	}
	for i, p := range r.Packages {
		if !p.isWritten {
			r.Packages[i].Ecosystem = cmp.Or(only[p.Ecosystem], p.Ecosystem)
		}
	}
}

// remarkSources says that no source package is known of the packages of a distribution whose advisories name these.
func (r *reader) remarkSources() {
	binaries := 0
	for _, e := range r.entries {
		for _, u := range e.purls {
			if u.kind != packageurl.TypeDebian && u.kind != packageurl.TypeApk {
				continue
			}
			if binaries++; r.namesSources || e.source.name != "" || u.qualifiers["upstream"] != "" || u.qualifiers["os_name"] != "" { // Docker Scout lists sources
				return
			}
		}
	}
	if binaries > 0 {
		r.remark("", "names no source package for any of its %d packages of Debian, Alpine and the like; an advisory about a source package with another name does not match them", binaries)
	}
}

// remarkEcosystems says of which packages the ecosystem or the release of the distribution is not known, or not in OSV.
func (r *reader) remarkEcosystems() {
	counts := map[string]int{}
	for _, p := range r.Packages {
		counts[p.Ecosystem]++
	}
	for _, name := range slices.Sorted(maps.Keys(counts)) {
		distribution, _, hasRelease := strings.Cut(name, ":")
		switch {
		case name == "":
			r.remark("", "%d of its %d packages have no package URL of an OSV ecosystem; no advisory of an ecosystem matches them", counts[name], len(r.Packages))
		case slices.Contains([]string{amazonLinux, centOS, fedora, oracleLinux}, distribution):
			r.remark("", "%d of its packages are of %s, which is not in OSV", counts[name], name)
		case !hasRelease && hasReleases(name):
			r.remark("", "does not name the release of %s for %d of its packages; the advisories of all releases match them", name, counts[name])
		}
	}
}

// hasReleases reports whether OSV has an ecosystem for each release of a distribution.
func hasReleases(name string) bool {
	for _, d := range distributions {
		if d.name == name {
			return d.release != nil
		}
	}
	return false
}
