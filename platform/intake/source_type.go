package intake

import (
	"net/url"
	"slices"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A SourceType says what a source has, by its wire name.
type SourceType string

// The types.
const (
	OSV  SourceType = "SOURCE_TYPE_OSV"  // OSV records
	KEV  SourceType = "SOURCE_TYPE_KEV"  // the catalog of known exploited vulnerabilities
	EPSS SourceType = "SOURCE_TYPE_EPSS" // the scores of the exploit prediction scoring system
	OCI  SourceType = "SOURCE_TYPE_OCI"  // a registry
	VEX  SourceType = "SOURCE_TYPE_VEX"  // VEX documents
	SBOM SourceType = "SOURCE_TYPE_SBOM" // SBOM documents
)

var sourceTypes = []SourceType{OSV, KEV, EPSS, OCI, VEX, SBOM}

// UnmarshalJSON reads the name or the number of a type.
func (t *SourceType) UnmarshalJSON(b []byte) error { return fieldmask.UnmarshalEnum(b, t, sourceTypes) }

// Values lists the constants.
func (SourceType) Values() []string { return fieldmask.Texts(sourceTypes) }

// Short returns the name of the type for people, such as osv.
func (t SourceType) Short() string {
	return strings.ToLower(strings.TrimPrefix(string(t), "SOURCE_TYPE_"))
}

// A nature is what is particular about a type.
type nature struct {
	url      string        // where a source without a URL reads; "" means that it must have one
	interval time.Duration // of a source without one
	// forOrganizations and forAll say whether a source of the type can be of an organization, and of the operator.
	forOrganizations, forAll bool
	ecosystems, patterns     bool              // whether a source of the type can have these
	imports                  []core.Capability // that importing what it has into a group needs
}

var natures = map[SourceType]nature{
	OSV:  {url: "https://osv-vulnerabilities.storage.googleapis.com/", interval: time.Hour, forOrganizations: true, forAll: true, ecosystems: true, imports: []core.Capability{core.CapAdvisoriesImport}},
	KEV:  {url: "https://www.cisa.gov/sites/default/files/feeds/known_exploited_vulnerabilities.json", interval: 6 * time.Hour, forAll: true},
	EPSS: {url: "https://epss.empiricalsecurity.com/epss_scores-current.csv.gz", interval: 24 * time.Hour, forAll: true},
	OCI:  {interval: time.Hour, forOrganizations: true, patterns: true, imports: []core.Capability{core.CapRegistryImport, core.CapSBOMsImport}},
	VEX:  {interval: 6 * time.Hour, forOrganizations: true, imports: []core.Capability{core.CapVEXImport}},
	SBOM: {interval: time.Hour, forOrganizations: true, imports: []core.Capability{core.CapSBOMsImport}},
}

const (
	minInterval = time.Minute
	maxInterval = 30 * 24 * time.Hour
	// maxEcosystems and maxPatterns limit the lists of a source.
	maxEcosystems, maxPatterns = 50, 100
)

// checkReading adds the violations of the fields that together say what is read.
func (s *Source) checkReading(v *core.Violations) {
	n, known := natures[s.Type]
	switch {
	case s.Type == "":
		v.Add("type", "is required")
		return
	case !known:
		core.CheckOneOf(v, "type", s.Type, sourceTypes)
		return
	}
	if s.URL == "" {
		v.Add("url", "is required")
	}
	if !n.ecosystems && len(s.Ecosystems) > 0 {
		v.Add("ecosystems", "must be empty, because only a source of OSV records has ecosystems")
	}
	if n.ecosystems && len(s.Ecosystems) > 0 && !s.isFolder() {
		v.Add("ecosystems", "must be empty, because the url names an archive or a document")
	}
	if !n.patterns && len(s.Patterns) > 0 {
		v.Add("patterns", "must be empty, because only a registry has repos")
	}
	if !n.patterns && s.Prune {
		v.Add("prune", "must be false, because only a registry has tags")
	}
}

// isFolder reports whether the URL of OSV records is that of a folder as osv.dev has it, and not of one document or archive.
func (s *Source) isFolder() bool {
	at, err := url.Parse(s.URL)
	return err == nil && at.RawQuery == "" && !hasDocumentName(at.Path)
}

// Folder returns the folder of OSV records without a slash at its end, or "" if the URL is that of one document or archive.
func (s *Source) Folder() string {
	if !s.isFolder() {
		return ""
	}
	return strings.TrimSuffix(s.URL, "/")
}

// hasDocumentName reports whether a path is that of one document or archive.
func hasDocumentName(path string) bool {
	return slices.ContainsFunc([]string{".zip", ".tar", ".tgz", ".gz", ".json", ".yaml", ".yml"}, func(end string) bool { return strings.HasSuffix(strings.ToLower(path), end) })
}
