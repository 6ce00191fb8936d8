package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform"
)

// An osvRecord is what is used of an OSV record. Fields that it does not name
// are passed over, so records of every version of the schema can be read.
type osvRecord struct {
	ID         string        `json:"id"`
	Modified   string        `json:"modified"`
	Published  string        `json:"published"`
	Withdrawn  string        `json:"withdrawn"`
	Aliases    []string      `json:"aliases"`
	Summary    string        `json:"summary"`
	Details    string        `json:"details"`
	Severity   []osvSeverity `json:"severity"`
	Affected   []osvAffected `json:"affected"`
	References []struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"references"`

	Database loosely[struct {
		ReviewStatus string `json:"review_status"` // Go: REVIEWED, UNREVIEWED
		Reviewed     *bool  `json:"github_reviewed"`
		URL          string `json:"url"` // Go: the record's own page
	}] `json:"database_specific"`

	// Before version 0.8 a record affected one package and said so here.
	Package *osvPackage `json:"package"`
	Affects osvAffected `json:"affects"`

	published, modified, withdrawn platform.Time
}

type osvSeverity struct {
	Type  string `json:"type"`
	Score string `json:"score"`
}

type osvPackage struct {
	Ecosystem string `json:"ecosystem"`
	Name      string `json:"name"`
}

type osvAffected struct {
	Package   *osvPackage   `json:"package"`
	Severity  []osvSeverity `json:"severity"`
	Ranges    []osvRange    `json:"ranges"`
	Ecosystem loosely[struct {
		// Go: versions in the project's own counting, where the module's do
		// not follow it.
		Ranges  []osvRange `json:"custom_ranges"`
		Imports []struct {
			Path string `json:"path"` // Go: a package of the module
		} `json:"imports"`
	}] `json:"ecosystem_specific"`
}

// loosely reads what each database defines as it likes: a member of another
// type than the one that is known is passed over.
type loosely[T any] struct{ says T }

func (l *loosely[T]) UnmarshalJSON(b []byte) error {
	_ = json.Unmarshal(b, &l.says)
	return nil
}

type osvRange struct {
	Type   string `json:"type"`
	Repo   string `json:"repo"` // of a range of commits
	Events []struct {
		Fixed string `json:"fixed"`
	} `json:"events"`
}

// parseOSV reads a record and tells why it cannot be used.
func parseOSV(document []byte) (*osvRecord, error) {
	if holdsNUL(document) {
		return nil, errNUL
	}
	var r osvRecord
	if err := json.Unmarshal(document, &r); err != nil {
		return nil, jsonFault(err)
	}
	if r.ID == "" {
		return nil, errors.New("has no id")
	}
	for _, t := range []struct {
		field, text string
		to          *platform.Time
	}{{"published", r.Published, &r.published}, {"modified", r.Modified, &r.modified}, {"withdrawn", r.Withdrawn, &r.withdrawn}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.to, err = platform.ParseTime(t.text); err != nil {
			return nil, fmt.Errorf("%s: %w", t.field, err)
		}
	}
	if r.Package != nil && len(r.Affected) == 0 {
		r.Affects.Package = r.Package
		r.Affected = []osvAffected{r.Affects}
	}
	// A record may affect code that no package holds; its metadata still counts.
	r.Affected = slices.DeleteFunc(r.Affected, func(a osvAffected) bool { return a.Package == nil })
	for i, a := range r.Affected {
		if a.Package.Name == "" {
			return nil, fmt.Errorf("affected[%d].package has no name", i)
		}
	}
	return &r, nil
}

// jsonFault says where a document stops being JSON.
func jsonFault(err error) error {
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("is not JSON: byte %d: %w", syntax.Offset, err)
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return errors.New("must be a JSON object")
	case errors.As(err, &wrongType):
		return fmt.Errorf("%s: is of the wrong type, %s", wrongType.Field, wrongType.Value)
	default:
		return err
	}
}

// advisories gives one advisory per package name: what a record says of one
// package in several places is one advisory.
func (r *osvRecord) advisories() []*platform.Advisory {
	var all []*platform.Advisory
	at := map[string]*platform.Advisory{}
	parts := map[string][]string{}
	for _, affected := range r.Affected {
		name := affected.Package.Name
		a := at[name]
		if a == nil {
			a = &platform.Advisory{
				AdvisoryID: r.ID, CreateTime: r.published, UpdateTime: r.modified, DeleteTime: r.withdrawn,
				Author: osvAuthor, Origin: database(r.ID), Aliases: r.Aliases,
				ArtifactName: name, ArtifactType: affected.Package.Ecosystem,
			}
			a.Events = append(a.Events, r.event(platform.AdvisoryEvent{Detection: &platform.Detection{Manual: &struct{}{}}}))
			at[name], all = a, append(all, a)
		}
		a.ArtifactType = commonEcosystem(a.ArtifactType, affected.Package.Ecosystem)
		for _, part := range affected.Ecosystem.says.Imports {
			parts[name] = append(parts[name], part.Path)
		}
		r.addFixes(a, affected)
		addSeverities(a, affected.Severity, r.Severity)
	}
	for _, a := range all {
		nameComponents(a, parts[a.ArtifactName])
	}
	return all
}

// event is one that became known with the record, as far as that is reviewed.
// That a package is affected is one: whoever wrote the record found it.
func (r *osvRecord) event(e platform.AdvisoryEvent) platform.AdvisoryEvent {
	e.Author, e.CreateTime = osvAuthor, r.published
	if e.CreateTime.IsZero() {
		e.CreateTime = r.modified
	}
	reviewed := r.Database.says.Reviewed
	switch {
	case r.Database.says.ReviewStatus == "REVIEWED", reviewed != nil && *reviewed:
		e.ReviewState = platform.ReviewStateApproved
	case r.Database.says.ReviewStatus == "UNREVIEWED", reviewed != nil:
		e.ReviewState = platform.ReviewStatePending
	}
	return e
}

// nameComponents names the parts of a package that are affected. An advisory
// has room for one name, so several stand in it with commas between; a list
// that is too long for a name says nothing and is left out.
func nameComponents(a *platform.Advisory, parts []string) {
	const most = 255
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	slices.Sort(parts)
	if name := strings.Join(slices.Compact(parts), ", "); name != "" && len(name) <= most {
		a.ComponentName, a.ComponentType = name, "go-package"
	}
}

const osvAuthor = "OSV"

// database is where a record was made: ids begin with its name.
func database(id string) string {
	prefix, _, _ := strings.Cut(id, "-")
	names := map[string]string{"GO": "Go", "GHSA": "GitHub", "PYSEC": "PyPI", "RUSTSEC": "RustSec", "OSV": "OSS-Fuzz", "MAL": "OpenSSF"}
	if name, ok := names[prefix]; ok {
		return name
	}
	return prefix
}

// commonEcosystem drops the release behind the colon (Debian:12) where a
// record names a package in several of them.
func commonEcosystem(a, b string) string {
	base, _, _ := strings.Cut(a, ":")
	other, _, _ := strings.Cut(b, ":")
	if a != b && base == other {
		return base
	}
	return a
}

// addFixes adds each version that fixes the package, once.
func (r *osvRecord) addFixes(a *platform.Advisory, affected osvAffected) {
	for _, versions := range slices.Concat(affected.Ranges, affected.Ecosystem.says.Ranges) {
		for _, event := range versions.Events {
			there := func(e platform.AdvisoryEvent) bool { return e.Fixed != nil && e.Fixed.FixedVersion == event.Fixed }
			if event.Fixed == "" || slices.ContainsFunc(a.Events, there) {
				continue
			}
			fixed := &platform.Fixed{FixedVersion: event.Fixed}
			if versions.Type == "GIT" {
				fixed.Note = strings.TrimSpace("A commit of " + versions.Repo)
			}
			a.Events = append(a.Events, r.event(platform.AdvisoryEvent{Fixed: fixed}))
		}
	}
}

// addSeverities adds the scores of the package, or else those of the record.
func addSeverities(a *platform.Advisory, own, general []osvSeverity) {
	if len(own) == 0 {
		own = general
	}
	for _, s := range severities(own) {
		if !slices.Contains(a.Severities, s) {
			a.Severities = append(a.Severities, s)
		}
	}
}

func severities(list []osvSeverity) []platform.Severity {
	var all []platform.Severity
	for _, s := range list {
		all = append(all, platform.Severity{Type: typeNamed(s.Type, "CVSS_V2", "CVSS_V3", "CVSS_V4"), Score: s.Score})
	}
	return all
}

// vulnerability is what the record says beside which packages it affects.
func (r *osvRecord) vulnerability() *platform.Vulnerability {
	v := &platform.Vulnerability{
		ID: r.ID, Summary: r.Summary, Details: r.Details, Aliases: r.Aliases,
		UpdateTime: r.modified, Severities: severities(r.Severity),
	}
	for _, reference := range r.References {
		v.References = append(v.References, platform.Reference{URL: reference.URL, Type: typeNamed(reference.Type,
			"ADVISORY", "ARTICLE", "DETECTION", "DISCUSSION", "REPORT", "FIX", "INTRODUCED", "PACKAGE", "EVIDENCE", "WEB")})
	}
	home := platform.Reference{URL: r.Database.says.URL, Type: "TYPE_ADVISORY"} // the record's own page
	if there := func(x platform.Reference) bool { return x.URL == home.URL }; strings.HasPrefix(home.URL, "https://") && !slices.ContainsFunc(v.References, there) {
		v.References = append(v.References, home)
	}
	return v
}

// typeNamed is the wire's name of a type, of which it has a fixed list.
func typeNamed(name string, known ...string) string {
	if !slices.Contains(known, name) {
		return "TYPE_UNSPECIFIED"
	}
	return "TYPE_" + name
}
