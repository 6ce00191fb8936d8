package main

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"strings"

	packageurl "github.com/package-url/packageurl-go"

	"atrium/internal/ingest"
	"atrium/internal/sbom"
	"atrium/platform/affected"
	"atrium/platform/inventory"
)

// A key names one match. Two packages of a document with one purl are the same.
type key struct{ purl, vulnerability string }

// A match is one of ours. The reason says why osv-scanner may not have it.
type match struct{ ecosystem, reason string }

// name is the normal name of a package, and its ecosystem without a release.
type name struct{ ecosystem, name string }

func nameOf(ecosystem, text string) name {
	base, _, _ := strings.Cut(ecosystem, ":")
	return name{base, (&inventory.Advisory{ArtifactName: text, ArtifactType: ecosystem}).NormalName()}
}

// An advisory is one that is not withdrawn, with what it affects.
type advisory struct {
	*inventory.Advisory
	gitFirst bool // whether the record has a range of commits before others
}

// records are the OSV records of the feeds, and their advisories.
type records struct {
	documents  [][]byte
	advisories map[name][]advisory
}

func readFeeds(ctx context.Context, feeds []string) (*records, error) {
	r := &records{advisories: map[name][]advisory{}}
	o := ingest.Options{ReportProblem: func(at ingest.Place, reason error) { fmt.Fprintf(os.Stderr, "%s: %v\n", at, reason) }}
	return r, ingest.ReadOSV(ctx, feeds, o, func(document []byte, advisories []*inventory.Advisory) error {
		r.add(document, advisories)
		return nil
	})
}

func (r *records) add(document []byte, advisories []*inventory.Advisory) {
	r.documents = append(r.documents, document)
	for _, a := range advisories {
		if a.DeleteTime.IsZero() {
			n := nameOf(a.ArtifactType, a.ArtifactName)
			r.advisories[n] = append(r.advisories[n], advisory{a, hasGitFirst(document)})
		}
	}
}

// hasGitFirst reports whether a record has a range of commits before another range.
func hasGitFirst(document []byte) bool {
	var record struct {
		Affected []struct {
			Ranges []struct {
				Type string `json:"type"`
			} `json:"ranges"`
		} `json:"affected"`
	}
	if json.Unmarshal(document, &record) != nil {
		return false
	}
	for _, a := range record.Affected {
		if len(a.Ranges) > 1 && a.Ranges[0].Type == "GIT" {
			return true
		}
	}
	return false
}

// match finds the advisories of the packages of a document.
func (r *records) match(d document) map[key]match {
	found := map[key]match{}
	for _, p := range d.Packages {
		r.matchName(found, p, p.Name, p.Version, "")
		if p.SourceName != "" {
			r.matchName(found, p, p.SourceName, p.SourceVersion, "the advisory is of the source package")
		}
	}
	return found
}

func (r *records) matchName(found map[key]match, p sbom.Package, called, version, reason string) {
	for _, a := range r.advisories[nameOf(p.Ecosystem, called)] {
		k := key{purlKey(p.PURL), a.AdvisoryID}
		_, known := found[k]
		if known || !affected.SameEcosystem(a.ArtifactType, p.Ecosystem) || !a.Affected.Affects(p.Ecosystem, version) {
			continue
		}
		why := reason
		switch {
		case why != "":
		case isRPM(p):
			why = "osv-scanner does not know the ecosystem of packages of RPM in documents"
		case hasCapitals(p, a.ArtifactName):
			why = "osv-scanner does not find modules of Go with capitals, because package URLs have none"
		case a.gitFirst:
			why = "osv-scanner leaves out ranges after one of commits"
		}
		found[k] = match{p.Ecosystem, why}
	}
}

func isRPM(p sbom.Package) bool { return strings.HasPrefix(p.PURL, "pkg:rpm/") }

// hasCapitals reports whether a module of Go has capitals in the advisory or in the document.
func hasCapitals(p sbom.Package, called string) bool {
	return strings.HasPrefix(p.PURL, "pkg:golang/") && (called+p.Name != strings.ToLower(called+p.Name))
}

// whyNot says why we have no match that osv-scanner has, or "".
func (d document) whyNot(k key) string {
	for _, p := range d.Packages {
		if purlKey(p.PURL) != k.purl {
			continue
		}
		if _, err := affected.Compare(p.Ecosystem, p.Version, "1"); err != nil {
			return fmt.Sprintf("the version is none: %v", err)
		}
	}
	return ""
}

// purlKey returns a package URL without qualifiers and subpath.
func purlKey(text string) string {
	p, err := packageurl.FromString(text)
	if err != nil {
		return text
	}
	return packageurl.NewPackageURL(p.Type, p.Namespace, p.Name, p.Version, nil, "").ToString()
}
