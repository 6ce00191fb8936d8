package ingest

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// An osvRecord has the fields of an OSV record that are imported. Other fields are
// ignored, so records of every version of the schema can be read.
type osvRecord struct {
	ID         string        `json:"id"`
	Modified   string        `json:"modified"`
	Published  string        `json:"published"`
	Withdrawn  string        `json:"withdrawn"`
	Aliases    []string      `json:"aliases"`
	Upstream   []string      `json:"upstream"`
	Related    []string      `json:"related"`
	Summary    string        `json:"summary"`
	Details    string        `json:"details"`
	Severity   []osvSeverity `json:"severity"`
	Affected   []osvAffected `json:"affected"`
	References []struct {
		Type string `json:"type"`
		URL  string `json:"url"`
	} `json:"references"`

	Database lenient[struct {
		ReviewStatus string `json:"review_status"` // Go: REVIEWED, UNREVIEWED
		Reviewed     *bool  `json:"github_reviewed"`
		URL          string `json:"url"`      // Go: the record's own page
		Severity     string `json:"severity"` // GitHub, Bitnami: the feed's own rating
	}] `json:"database_specific"`

	// Before version 0.8 of the schema a record was about one package, given here.
	Package   *osvPackage        `json:"package"`
	Affects   *osvAffected       `json:"affects"`
	Ecosystem ecosystemSpecifics `json:"ecosystem_specific"`

	published, modified, withdrawn core.Time
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
	Package   *osvPackage        `json:"package"`
	Severity  []osvSeverity      `json:"severity"`
	Ranges    []osvRange         `json:"ranges"`
	Versions  []string           `json:"versions"`
	Ecosystem ecosystemSpecifics `json:"ecosystem_specific"`
}

// ecosystemSpecifics are defined by each ecosystem for itself.
type ecosystemSpecifics = lenient[struct {
	// Go: versions in the numbering of the project, if the versions of the
	// module differ.
	Ranges  []osvRange `json:"custom_ranges"`
	Imports []struct {
		Path string `json:"path"` // Go: a package of the module
	} `json:"imports"`
}]

// A lenient reads a part of a record that each database defines for itself. It
// ignores members whose type is not the expected one.
type lenient[T any] struct{ value T }

func (l *lenient[T]) UnmarshalJSON(b []byte) error {
	_ = json.Unmarshal(b, &l.value)
	return nil
}

// remainsAffected reports whether the latest versions of the package are affected, even if
// earlier ones were fixed. Commits count only if the record has no versions.
func (a osvAffected) remainsAffected() bool {
	ranges := a.Ranges
	if own := a.Ecosystem.value.Ranges; len(own) > 0 {
		ranges = own
	}
	isGit := func(r osvRange) bool { return r.Type == "GIT" }
	if versions := slices.DeleteFunc(slices.Clone(ranges), isGit); len(versions) > 0 {
		ranges = versions
	}
	return slices.ContainsFunc(ranges, func(r osvRange) bool { return r.HasNoEnd() })
}

// set returns the versions that the entry affects. Go's custom ranges are not in it, because they
// number versions as the project does, and an installed module has the number of the module.
func (a osvAffected) set() affected.Set {
	s := affected.Set{Versions: a.Versions}
	for _, r := range a.Ranges {
		s.Ranges = append(s.Ranges, r.Range)
	}
	return s
}

// parseOSV reads a record. Its error says why the record cannot be used.
func parseOSV(document []byte) (*osvRecord, error) {
	if containsNUL(document) {
		return nil, errNUL
	}
	if err := checkElements(document); err != nil {
		return nil, err
	}
	var r osvRecord
	if err := json.Unmarshal(document, &r); err != nil {
		return nil, describeJSONError(err)
	}
	if r.ID == "" {
		return nil, errors.New("has no id")
	}
	for _, t := range []struct {
		field, text string
		to          *core.Time
	}{{"published", r.Published, &r.published}, {"modified", r.Modified, &r.modified}, {"withdrawn", r.Withdrawn, &r.withdrawn}} {
		if t.text == "" {
			continue
		}
		var err error
		if *t.to, err = core.ParseTime(t.text); err != nil {
			return nil, fmt.Errorf("%s: %w", t.field, err)
		}
	}
	if err := r.readOldForm(); err != nil {
		return nil, err
	}
	// A record may affect code that is in no package. Its metadata is imported.
	r.Affected = slices.DeleteFunc(r.Affected, func(a osvAffected) bool { return a.Package == nil })
	severities := 0
	for i, a := range r.Affected {
		if a.Package.Name == "" {
			return nil, fmt.Errorf("affected[%d].package has no name", i)
		}
		severities += len(r.severitiesOf(a))
		for _, ranges := range [][]osvRange{a.Ranges, a.Ecosystem.value.Ranges} {
			for n := range ranges {
				ranges[n].normalize(a.Package.Ecosystem)
			}
		}
	}
	if severities > maxElements {
		return nil, errTooManySeverities
	}
	return &r, nil
}

// readOldForm reads what a record says about its package in the form before version 0.8 of the
// schema. A record can have both forms; then the new one counts if it has the package.
func (r *osvRecord) readOldForm() error {
	hasNewForm := len(r.Affected) > 0
	isSame := func(a osvAffected) bool { return a.Package != nil && *a.Package == *r.Package }
	switch {
	case r.Affects == nil && (hasNewForm || r.Package == nil):
		return nil
	case r.Package == nil:
		return errors.New("affects: needs the field package beside it; or use affected instead")
	case slices.ContainsFunc(r.Affected, isSame):
		return nil
	case r.Affects == nil: // all versions are affected
		r.Affects = &osvAffected{}
	}
	r.Affects.Package = r.Package
	if len(r.Affects.Ecosystem.value.Imports)+len(r.Affects.Ecosystem.value.Ranges) == 0 {
		r.Affects.Ecosystem = r.Ecosystem
	}
	r.Affected = append(r.Affected, *r.Affects)
	return nil
}

var errTooManySeverities = fmt.Errorf("has more than %d severities for all of its packages together; those of the record count for each package that has none", maxElements)

// describeJSONError returns err as a text that names the byte or the field.
func describeJSONError(err error) error {
	var syntax *json.SyntaxError
	var wrongType *json.UnmarshalTypeError
	switch {
	case errors.As(err, &syntax):
		return fmt.Errorf("is not JSON: byte %d: %w", syntax.Offset, err)
	case errors.As(err, &wrongType) && wrongType.Field == "":
		return errors.New("must be a JSON object")
	case errors.As(err, &wrongType):
		return fmt.Errorf("%s: must not be of the type %s", wrongType.Field, wrongType.Value)
	default:
		return err
	}
}

// A packageAdvisory is an advisory that is being made from the entries of a record for one
// package.
type packageAdvisory struct {
	*inventory.Advisory
	parts  []string
	fixes  map[string]bool             // versions that fix it
	scores map[inventory.Severity]bool // its severities
	sets   []affected.Set              // the versions that each entry affects
	open   bool                        // whether its latest versions are affected
}

// advisories returns one advisory for each ecosystem and package. Several entries for the same
// package become one advisory.
func (r *osvRecord) advisories() []*inventory.Advisory {
	var all []*packageAdvisory
	byName := map[inventory.AdvisoryName]*packageAdvisory{}
	for _, entry := range r.Affected {
		a := &packageAdvisory{Advisory: r.newAdvisory(entry.Package), fixes: map[string]bool{}, scores: map[inventory.Severity]bool{}}
		if known := byName[a.Key()]; known != nil {
			a = known
		} else {
			byName[a.Key()], all = a, append(all, a)
		}
		a.sets = append(a.sets, entry.set())
		for _, part := range entry.Ecosystem.value.Imports {
			a.parts = append(a.parts, part.Path)
		}
		r.addFixes(a, entry)
		a.open = a.open || entry.remainsAffected()
		a.addSeverities(r.severitiesOf(entry))
	}
	advisories := make([]*inventory.Advisory, len(all))
	for i, a := range all {
		advisories[i] = a.Advisory
		versions := affected.Merge(a.sets...)
		a.Affected = &versions
		if word := r.Database.value.Severity; word != "" && len(a.Severities) == 0 {
			a.Severities = []inventory.Severity{{Type: "TYPE_UNSPECIFIED", Score: word}}
		}
		setComponents(a.Advisory, a.parts)
		if a.open { // the detection comes after the fixes, because the last event is the state
			a.Events = append(a.Events[1:], a.Events[0])
		}
	}
	return advisories
}

// newAdvisory returns an advisory about a package, with its detection.
func (r *osvRecord) newAdvisory(of *osvPackage) *inventory.Advisory {
	return &inventory.Advisory{
		AdvisoryID: r.ID, CreateTime: r.published, UpdateTime: r.modified, DeleteTime: r.withdrawn,
		Author: osvAuthor, Origin: originName(r.ID), Aliases: r.Aliases, Upstream: r.Upstream, Related: r.Related,
		ArtifactName: of.Name, ArtifactType: of.Ecosystem,
		Events: []inventory.AdvisoryEvent{r.newEvent(inventory.AdvisoryEvent{Detection: &inventory.Detection{Manual: &struct{}{}}})},
	}
}

// newEvent completes an event of the record with author, time and review state.
// That a package is affected is an event too: its detection.
func (r *osvRecord) newEvent(e inventory.AdvisoryEvent) inventory.AdvisoryEvent {
	e.Author, e.CreateTime = osvAuthor, r.published
	if e.CreateTime.IsZero() {
		e.CreateTime = r.modified
	}
	reviewed := r.Database.value.Reviewed
	switch {
	case r.Database.value.ReviewStatus == "REVIEWED", reviewed != nil && *reviewed:
		e.ReviewState = inventory.ReviewStateApproved
	case r.Database.value.ReviewStatus == "UNREVIEWED", reviewed != nil:
		e.ReviewState = inventory.ReviewStatePending
	}
	return e
}

// setComponents sets the affected parts of a package. An advisory has a single
// name for them, so several parts are joined with commas. A list that is too long
// for a name is left out.
func setComponents(a *inventory.Advisory, parts []string) {
	const maxLength = 255
	parts = slices.DeleteFunc(parts, func(p string) bool { return p == "" })
	slices.Sort(parts)
	if name := strings.Join(slices.Compact(parts), ", "); name != "" && len(name) <= maxLength {
		a.ComponentName, a.ComponentType = name, "go-package"
	}
}

const osvAuthor = "OSV"

// originName returns the name of the database that published a record. The id of a
// record begins with a prefix for it.
func originName(id string) string {
	prefix, _, _ := strings.Cut(id, "-")
	names := map[string]string{"GO": "Go", "GHSA": "GitHub", "PYSEC": "PyPI", "RUSTSEC": "RustSec", "OSV": "OSS-Fuzz", "MAL": "OpenSSF"}
	if name, ok := names[prefix]; ok {
		return name
	}
	return prefix
}

// addFixes adds the versions that fix the package, each once.
func (r *osvRecord) addFixes(a *packageAdvisory, entry osvAffected) {
	for _, versions := range slices.Concat(entry.Ranges, entry.Ecosystem.value.Ranges) {
		for _, event := range versions.Events {
			if event.Fixed == "" || a.fixes[event.Fixed] {
				continue
			}
			a.fixes[event.Fixed] = true
			fixed := &inventory.Fixed{FixedVersion: event.Fixed}
			if versions.Type == "GIT" {
				fixed.Note = strings.TrimSpace("A commit of " + versions.Repo)
			}
			a.Events = append(a.Events, r.newEvent(inventory.AdvisoryEvent{Fixed: fixed}))
		}
	}
}

// severitiesOf returns the scores of a package, or those of the record if the package has none.
func (r *osvRecord) severitiesOf(entry osvAffected) []osvSeverity {
	if len(entry.Severity) == 0 {
		return r.Severity
	}
	return entry.Severity
}

// addSeverities adds the scores of the package, each once.
func (a *packageAdvisory) addSeverities(scores []osvSeverity) {
	for _, s := range toSeverities(scores) {
		if !a.scores[s] {
			a.scores[s] = true
			a.Severities = append(a.Severities, s)
		}
	}
}

func toSeverities(list []osvSeverity) []inventory.Severity {
	var all []inventory.Severity
	for _, s := range list {
		all = append(all, inventory.Severity{Type: wireType(s.Type, "CVSS_V2", "CVSS_V3", "CVSS_V4"), Score: s.Score})
	}
	return all
}

// vulnerability returns the metadata of the record, without the affected packages.
func (r *osvRecord) vulnerability() *inventory.Vulnerability {
	v := &inventory.Vulnerability{
		ID: r.ID, Summary: r.Summary, Details: r.Details, Aliases: r.Aliases, Upstream: r.Upstream, Related: r.Related,
		UpdateTime: r.modified, Severities: toSeverities(r.Severity),
	}
	for _, reference := range r.References {
		v.References = append(v.References, inventory.Reference{URL: reference.URL, Type: wireType(reference.Type,
			"ADVISORY", "ARTICLE", "DETECTION", "DISCUSSION", "REPORT", "FIX", "INTRODUCED", "PACKAGE", "EVIDENCE", "WEB")})
	}
	home := inventory.Reference{URL: r.Database.value.URL, Type: "TYPE_ADVISORY"} // the record's own page
	if isHome := func(x inventory.Reference) bool { return x.URL == home.URL }; strings.HasPrefix(home.URL, "https://") && !slices.ContainsFunc(v.References, isHome) {
		v.References = append(v.References, home)
	}
	return v
}

// wireType returns the wire name of a type. Types that are not known are unspecified.
func wireType(name string, known ...string) string {
	if !slices.Contains(known, name) {
		return "TYPE_UNSPECIFIED"
	}
	return "TYPE_" + name
}
