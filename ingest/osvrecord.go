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
	Package  *osvPackage   `json:"package"`
	Severity []osvSeverity `json:"severity"`
	Ranges   []struct {
		Events []struct {
			Fixed string `json:"fixed"`
		} `json:"events"`
	} `json:"ranges"`
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
	for _, affected := range r.Affected {
		name := affected.Package.Name
		a := at[name]
		if a == nil {
			a = &platform.Advisory{
				AdvisoryID: r.ID, CreateTime: r.published, UpdateTime: r.modified, DeleteTime: r.withdrawn,
				Author: osvAuthor, Origin: database(r.ID), Aliases: r.Aliases,
				ArtifactName: name, ArtifactType: affected.Package.Ecosystem,
			}
			at[name], all = a, append(all, a)
		}
		a.ArtifactType = commonEcosystem(a.ArtifactType, affected.Package.Ecosystem)
		r.addFixes(a, affected)
		addSeverities(a, affected.Severity, r.Severity)
	}
	return all
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

// addFixes adds each version that fixes the package, once. It became known
// with the record.
func (r *osvRecord) addFixes(a *platform.Advisory, affected osvAffected) {
	known := r.published
	if known.IsZero() {
		known = r.modified
	}
	for _, versions := range affected.Ranges {
		for _, event := range versions.Events {
			there := func(e platform.AdvisoryEvent) bool { return e.Fixed.FixedVersion == event.Fixed }
			if event.Fixed == "" || slices.ContainsFunc(a.Events, there) {
				continue
			}
			a.Events = append(a.Events, platform.AdvisoryEvent{
				CreateTime: known, Author: osvAuthor, Fixed: &platform.Fixed{FixedVersion: event.Fixed},
			})
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
	return v
}

// typeNamed is the wire's name of a type, of which it has a fixed list.
func typeNamed(name string, known ...string) string {
	if !slices.Contains(known, name) {
		return "TYPE_UNSPECIFIED"
	}
	return "TYPE_" + name
}
