package inventory

import (
	"context"
	"slices"

	"atrium/platform/affected"
	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/fieldmask"
)

// An Advisory describes one vulnerability in one artifact. Advisories are
// imported and read only.
type Advisory struct {
	UID                  core.UID        `json:"uid"`
	AdvisoryID           string          `json:"advisoryId"`
	CreateTime           core.Time       `json:"createTime,omitzero"`
	UpdateTime           core.Time       `json:"updateTime,omitzero"`
	DeleteTime           core.Time       `json:"deleteTime,omitzero"` // time of its withdrawal
	Author               string          `json:"author,omitempty"`
	ArtifactName         string          `json:"artifactName"`
	ArtifactType         string          `json:"artifactType,omitempty"`
	ArtifactArchitecture string          `json:"artifactArchitecture,omitempty"`
	ComponentName        string          `json:"componentName,omitempty"`
	ComponentLocation    string          `json:"componentLocation,omitempty"`
	ComponentType        string          `json:"componentType,omitempty"`
	Aliases              []string        `json:"aliases,omitempty"`
	Events               []AdvisoryEvent `json:"events,omitempty"`
	LegacyAdvisoryID     string          `json:"legacyAdvisoryId,omitempty"`
	Severities           []Severity      `json:"severities,omitempty"`
	Upstream             []string        `json:"-"` // ids of vulnerabilities of the software that the artifact is made from
	Related              []string        `json:"-"` // ids of similar vulnerabilities
	Origin               string          `json:"-"` // the feed from which it came
	SourceTime           core.Time       `json:"-"` // time of the last change by the feed, if it is known
	Representative       core.UID        `json:"-"` // the advisory that stands for all of the same vulnerability and package
	Affected             *affected.Set   `json:"-"` // the versions that are affected; nil means that the feed does not say it

	// Severity is the resulting severity. The store computes it from Severities
	// and Inherited when it writes the advisory.
	Severity AdvisorySeverity `json:"severity,omitzero"`
	// Inherited are the severities of its vulnerabilities. The writer of an
	// advisory sets them. They are not stored.
	Inherited []Severity `json:"-"`

	// These come from catalogs when findings are looked for, and are not stored here.
	KnownExploited bool     `json:"-"`
	EPSS           *float64 `json:"-"`
}

// An AdvisoryEvent is one step in the history of an advisory. Exactly one of its
// variants is set.
type AdvisoryEvent struct {
	UID         core.UID    `json:"uid,omitempty"`
	CreateTime  core.Time   `json:"createTime,omitzero"`
	Findings    []byte      `json:"findings,omitempty"` // raw report of the finder, which is base64 on the wire
	Author      string      `json:"author,omitempty"`
	Reviewer    string      `json:"reviewer,omitempty"`
	ReviewState ReviewState `json:"reviewState,omitempty"`
	Issue       string      `json:"issue,omitempty"`

	Detection                  *Detection                  `json:"detection,omitempty"`
	Fixed                      *Fixed                      `json:"fixed,omitempty"`
	FalsePositiveDetermination *FalsePositiveDetermination `json:"falsePositiveDetermination,omitempty"`
	AnalysisNotPlanned         *Note                       `json:"analysisNotPlanned,omitempty"`
	FixNotPlanned              *Note                       `json:"fixNotPlanned,omitempty"`
	PendingUpstreamFix         *Note                       `json:"pendingUpstreamFix,omitempty"`
	TruePositiveDetermination  *Note                       `json:"truePositiveDetermination,omitempty"`
	Patched                    *Patched                    `json:"patched,omitempty"`
}

// Detection describes how a vulnerability was found. One of its variants is set.
type Detection struct {
	NVDAPI *NVDAPI   `json:"nvdapi,omitempty"`
	Manual *struct{} `json:"manual,omitempty"`
	ScanV1 *ScanV1   `json:"scanv1,omitempty"`
}

// NVDAPI is a detection by a search in the National Vulnerability Database.
type NVDAPI struct {
	CPESearched string `json:"cpeSearched,omitempty"`
	CPEFound    string `json:"cpeFound,omitempty"`
}

// ScanV1 is a detection by a scanner.
type ScanV1 struct {
	Scanner           string `json:"scanner,omitempty"`
	Subpackage        string `json:"subpackage,omitempty"`
	ComponentID       string `json:"componentId,omitempty"`
	Component         string `json:"component,omitempty"`
	ComponentVersion  string `json:"componentVersion,omitempty"`
	ComponentType     string `json:"componentType,omitempty"`
	ComponentLocation string `json:"componentLocation,omitempty"`
	ArtifactVersion   string `json:"artifactVersion,omitempty"`
	ScannerVersion    string `json:"scannerVersion,omitempty"`
	GrypeDBBuilt      string `json:"grypeDbBuilt,omitempty"`
	GrypeDBChecksum   string `json:"grypeDbChecksum,omitempty"`
}

// Fixed names the version that fixes a vulnerability.
type Fixed struct {
	FixedVersion    string `json:"fixedVersion,omitempty"`
	Note            string `json:"note,omitempty"`
	ScannerVersion  string `json:"scannerVersion,omitempty"`
	GrypeDBBuilt    string `json:"grypeDbBuilt,omitempty"`
	GrypeDBChecksum string `json:"grypeDbChecksum,omitempty"`
}

// FalsePositiveDetermination explains why a vulnerability does not affect the
// artifact.
type FalsePositiveDetermination struct {
	Type string `json:"type,omitempty"`
	Note string `json:"note,omitempty"`
}

// Note is a variant that holds only a note.
type Note struct {
	Note string `json:"note,omitempty"`
}

// Patched lists the versions that contain a patch.
type Patched struct {
	PatchedVersions []string `json:"patchedVersions,omitempty"`
	Note            string   `json:"note,omitempty"`
}

// Severity is one score of a vulnerability.
type Severity struct {
	Type  string `json:"type,omitempty"` // TYPE_CVSS_V2, TYPE_CVSS_V3 or TYPE_CVSS_V4
	Score string `json:"score,omitempty"`
}

var severityTypes = []string{"TYPE_UNSPECIFIED", "TYPE_CVSS_V2", "TYPE_CVSS_V3", "TYPE_CVSS_V4"}

var falsePositiveTypes = []string{
	"TYPE_UNSPECIFIED", "TYPE_VULNERABILITY_RECORD_ANALYSIS_CONTESTED", "TYPE_COMPONENT_VULNERABILITY_MISMATCH",
	"TYPE_VULNERABLE_CODE_VERSION_NOT_USED", "TYPE_VULNERABLE_CODE_NOT_INCLUDED_IN_PACKAGE", "TYPE_VULNERABLE_CODE_NOT_IN_EXECUTION_PATH",
	"TYPE_VULNERABLE_CODE_CANNOT_BE_CONTROLLED_BY_ADVERSARY", "TYPE_INLINE_MITIGATIONS_EXIST",
}

// FieldValues lists the values of the field type of a severity.
func (Severity) FieldValues(field string) []string { return valuesOfType(field, severityTypes) }

// FieldValues lists the values of the field type of a determination.
func (FalsePositiveDetermination) FieldValues(field string) []string {
	return valuesOfType(field, falsePositiveTypes)
}

// valuesOfType returns values if the field is named type, and nil otherwise.
func valuesOfType(field string, values []string) []string {
	if field != "type" {
		return nil
	}
	return slices.Clone(values)
}

// ReviewState is the result of the review of an event.
type ReviewState string

// The review states.
const (
	ReviewStatePending        ReviewState = "REVIEW_STATE_PENDING"
	ReviewStateApproved       ReviewState = "REVIEW_STATE_APPROVED"
	ReviewStateRequestChanges ReviewState = "REVIEW_STATE_REQUEST_CHANGES"
	ReviewStateRejected       ReviewState = "REVIEW_STATE_REJECTED"
)

var reviewStates = []ReviewState{ReviewStatePending, ReviewStateApproved, ReviewStateRequestChanges, ReviewStateRejected}

// Values lists the states.
func (ReviewState) Values() []string { return fieldmask.Texts(reviewStates) }

// EventType is the variant of an advisory event.
type EventType string

// The variants of events.
const (
	EventTypeDetection                  EventType = "EVENT_TYPE_FILTER_DETECTION"
	EventTypeTruePositiveDetermination  EventType = "EVENT_TYPE_FILTER_TRUE_POSITIVE_DETERMINATION"
	EventTypeFixed                      EventType = "EVENT_TYPE_FILTER_FIXED"
	EventTypeFalsePositiveDetermination EventType = "EVENT_TYPE_FILTER_FALSE_POSITIVE_DETERMINATION"
	EventTypeAnalysisNotPlanned         EventType = "EVENT_TYPE_FILTER_ANALYSIS_NOT_PLANNED"
	EventTypeFixNotPlanned              EventType = "EVENT_TYPE_FILTER_FIX_NOT_PLANNED"
	EventTypePendingUpstreamFix         EventType = "EVENT_TYPE_FILTER_PENDING_UPSTREAM_FIX"
	EventTypePatched                    EventType = "EVENT_TYPE_FILTER_PATCHED"
)

var eventTypes = []EventType{
	EventTypeDetection, EventTypeTruePositiveDetermination, EventTypeFixed, EventTypeFalsePositiveDetermination,
	EventTypeAnalysisNotPlanned, EventTypeFixNotPlanned, EventTypePendingUpstreamFix, EventTypePatched,
}

// Values lists the variants.
func (EventType) Values() []string { return fieldmask.Texts(eventTypes) }

// Type returns the variant that is set, or "" if none is.
func (e *AdvisoryEvent) Type() EventType {
	switch {
	case e.Detection != nil:
		return EventTypeDetection
	case e.Fixed != nil:
		return EventTypeFixed
	case e.FalsePositiveDetermination != nil:
		return EventTypeFalsePositiveDetermination
	case e.AnalysisNotPlanned != nil:
		return EventTypeAnalysisNotPlanned
	case e.FixNotPlanned != nil:
		return EventTypeFixNotPlanned
	case e.PendingUpstreamFix != nil:
		return EventTypePendingUpstreamFix
	case e.TruePositiveDetermination != nil:
		return EventTypeTruePositiveDetermination
	case e.Patched != nil:
		return EventTypePatched
	default:
		return ""
	}
}

// LatestEventType returns the type of the latest event. If several events have
// the same time, the last one in the list counts. It returns "" if there are none.
func (a *Advisory) LatestEventType() EventType {
	if latest := a.latestEvent(); latest != nil {
		return latest.Type()
	}
	return ""
}

// FixTime returns when the advisory was fixed, or the zero time if it is not.
func (a *Advisory) FixTime() core.Time {
	if latest := a.latestEvent(); latest != nil && latest.Type() == EventTypeFixed {
		return latest.CreateTime
	}
	return core.Time{}
}

func (a *Advisory) latestEvent() (latest *AdvisoryEvent) {
	for i := range a.Events {
		if e := &a.Events[i]; latest == nil || !e.CreateTime.Before(latest.CreateTime.Time) {
			latest = e
		}
	}
	return latest
}

// An AdvisoryState summarizes an advisory in one word.
type AdvisoryState string

// The states.
const (
	AdvisoryOpen        AdvisoryState = "ADVISORY_STATE_OPEN"
	AdvisoryFixed       AdvisoryState = "ADVISORY_STATE_FIXED"
	AdvisoryNotAffected AdvisoryState = "ADVISORY_STATE_NOT_AFFECTED"
)

var advisoryStates = []AdvisoryState{AdvisoryOpen, AdvisoryFixed, AdvisoryNotAffected}

// AdvisoryStates lists the states.
func AdvisoryStates() []AdvisoryState { return slices.Clone(advisoryStates) }

// Values lists the states.
func (AdvisoryState) Values() []string { return fieldmask.Texts(advisoryStates) }

// Rank returns the position of a state in the list of all states.
func (s AdvisoryState) Rank() int { return slices.Index(advisoryStates, s) }

// settlingEvents are the types of the latest event of an advisory that is not open.
var settlingEvents = map[AdvisoryState]EventType{AdvisoryFixed: EventTypeFixed, AdvisoryNotAffected: EventTypeFalsePositiveDetermination}

// SettlingEvent returns the type of the latest event of all advisories in a state,
// or "" for the open ones, which have any other type or no event.
func (s AdvisoryState) SettlingEvent() EventType { return settlingEvents[s] }

// State returns the state that follows from the latest event.
func (a *Advisory) State() AdvisoryState {
	latest := a.LatestEventType()
	for state, settling := range settlingEvents {
		if settling == latest {
			return state
		}
	}
	return AdvisoryOpen
}

// AdvisoryFilter restricts a list of advisories. An advisory must match one
// value of each list; a list that is empty and not nil matches nothing. Each
// condition on events must match some event; different conditions may match
// different events.
type AdvisoryFilter struct {
	core.ChangeFilter

	AdvisoryIDs           []string      `json:",omitempty"`
	LegacyAdvisoryIDs     []string      `json:",omitempty"`
	ArtifactNames         []string      `json:",omitempty"` // names as the ecosystem of the artifact compares them
	ArtifactTypes         []string      `json:",omitempty"`
	ArtifactArchitectures []string      `json:",omitempty"`
	ComponentNames        []string      `json:",omitempty"`
	ComponentTypes        []string      `json:",omitempty"`
	ComponentLocations    []string      `json:",omitempty"`
	Aliases               []string      `json:",omitempty"` // an alias or an upstream id is one of these
	Origin                string        `json:",omitempty"`
	EventReviewStates     []ReviewState `json:",omitempty"`
	EventAuthors          []string      `json:",omitempty"`
	ExcludeEventAuthors   []string      `json:",omitempty" excludes:""` // advisories with an event of one of these authors are left out
	EventReviewers        []string      `json:",omitempty"`
	EventTypes            []EventType   `json:",omitempty"`
	LatestEventType       EventType     `json:",omitempty"`
	Query                 string        `json:",omitempty"` // substring of the artifact or component name, the id, or the id of another vulnerability that the advisory names; case is ignored

	Severities []core.SeverityRating `json:",omitempty"` // the rating is one of these
	States     []AdvisoryState       `json:",omitempty"` // the state is one of these
	MinScore   *float64              `json:",omitempty"` // the score is at least this one
	Withdrawn  bool                  `json:",omitempty"` // whether withdrawn advisories are included

	Affecting core.ImageKey `json:",omitzero"` // it has findings in this repo, or in this image of it

	Names []string `json:",omitempty"` // the id, an alias or an upstream id is one of these

	Feed *FeedQuery `json:"-"` // the advisory belongs to a document; nil means any
}

// A FeedQuery asks for the advisories of documents: those of a scope, without withdrawn
// ones. If several groups of the scope have an advisory about the same artifact, the one
// that changed last counts.
type FeedQuery struct {
	Scope     core.Scope
	Documents []string            // the ids of the documents, which are names of artifacts; nil matches any
	Artifacts []ecosystem.NameKey // the keys of the artifacts; nil matches any
	Names     []string            // the advisory has one of these as its id, an alias or an upstream id; nil matches any
	Fixed     bool                // the advisory has a fixed event
	Desc      bool                // the last artifacts come first
	Limit     int                 // the most advisories
}

// A FeedPlace says which advisory a FeedQuery has found, and the artifact that it is about.
type FeedPlace struct {
	Artifact string
	UID      core.UID
}

// Check adds the violations of the conditions.
func (f *AdvisoryFilter) Check(v *core.Violations) {
	for _, x := range []struct {
		field  string
		values []string
	}{
		{"advisoryIds", f.AdvisoryIDs}, {"legacyAdvisoryIds", f.LegacyAdvisoryIDs}, {"artifactNames", f.ArtifactNames},
		{"artifactTypes", f.ArtifactTypes}, {"artifactArchitectures", f.ArtifactArchitectures}, {"componentNames", f.ComponentNames},
		{"componentTypes", f.ComponentTypes}, {"componentLocations", f.ComponentLocations}, {"aliases", f.Aliases}, {"origin", []string{f.Origin}},
	} {
		if v.CheckFilter(x.field, x.values...); len(x.values) > core.MaxIDs {
			v.Add(x.field, "must have at most %d items", core.MaxIDs)
		}
	}
	v.CheckLines("eventAuthors", f.EventAuthors, core.MaxIDs) // the same check as in an import
	v.CheckLines("excludeEventAuthors", f.ExcludeEventAuthors, core.MaxIDs)
	v.CheckLines("eventReviewers", f.EventReviewers, core.MaxIDs)
	for _, s := range f.EventReviewStates {
		core.CheckOneOf(v, "eventReviewStates", s, reviewStates)
	}
	for _, t := range f.EventTypes {
		core.CheckOneOf(v, "eventTypes", t, eventTypes)
	}
	core.CheckOneOf(v, "latestEventType", f.LatestEventType, eventTypes)
	v.CheckLine("query", f.Query)
	for _, r := range f.Severities {
		core.CheckOneOf(v, "severities", r, core.SeverityRatings())
	}
	for _, s := range f.States {
		core.CheckOneOf(v, "states", s, advisoryStates)
	}
	if f.MinScore != nil && !(*f.MinScore >= 0 && *f.MinScore <= 10) {
		v.Add("minScore", "must be between 0 and 10")
	}
}

// AdvisoryKind has the facts about advisories.
var AdvisoryKind = core.Kind[*Advisory]{
	Name: "Advisory", Plural: "advisories", Area: core.AreaVulnerabilities, Number: 7, Event: "vulnerabilities.advisory", Parent: core.GroupRef, LevelsInside: 1,
	List: core.CapAdvisoriesList, Hidden: core.AdvisoryAffected,
	Orders: []core.OrderField[*Advisory]{
		{Name: "advisory_id", Spellings: []string{"advisoryId", "name"}, Value: func(a *Advisory) any { return a.AdvisoryID }},
		{Name: "artifact_name", Spellings: []string{"artifactName"}, Value: func(a *Advisory) any { return a.ArtifactName }},
		{Name: "create_time", Spellings: core.CreateTimeSpellings, Value: func(a *Advisory) any { return a.CreateTime }},
		{Name: "update_time", Spellings: core.UpdateTimeSpellings, Value: func(a *Advisory) any { return a.UpdateTime }},
		{Name: "uid", Value: func(a *Advisory) any { return string(a.UID) }},
		{Name: "delete_time", Spellings: []string{"deleteTime", "deleted_at"}, Value: func(a *Advisory) any { return a.DeleteTime }},
		{Name: "severity", Value: func(a *Advisory) any { return a.Severity.SortKey() }},
	},
	DefaultOrder: core.Order{Field: "uid"},
	UID:          func(a *Advisory) core.UID { return a.UID },
	Group:        core.ParentOf(func(a *Advisory) core.UID { return a.UID }),
	Stamp:        func(a *Advisory, uid core.UID, now core.Time) { a.UID, a.CreateTime, a.UpdateTime = uid, now, now },
}

// AdvisoryQueries read and write advisories in other ways than a Table does.
type AdvisoryQueries interface {
	// SummarizeAdvisories counts the advisories of each scope, without withdrawn
	// ones, with one statement.
	SummarizeAdvisories(ctx context.Context, on core.Conn, scopes []core.Scope) ([]*AdvisorySummary, error)

	// AdvisoriesOfVulnerabilities reads those of the advisories in a group, above and below it that have one of names, and are not
	// withdrawn: what says which are of the same vulnerability. For FeedGroup, these are of all groups. group can be a repo.
	AdvisoriesOfVulnerabilities(ctx context.Context, tx core.Tx, group core.UID, names []string) ([]*Advisory, error)

	// RepresentedAdvisories reads the advisories that others represent: those that are for one of repos.
	RepresentedAdvisories(ctx context.Context, on core.Conn, representatives, repos []core.UID) ([]*Advisory, error)
}

// Advisories are the operations on advisories.
type Advisories struct {
	core.Resources[*Advisory, *AdvisoryFilter]
	rows *core.Collection[*Advisory, *AdvisoryFilter]
	area *Area
}

// The affected versions of an advisory, as package affected describes them.
type (
	// AffectedVersions are the versions that are affected.
	AffectedVersions = affected.Set
	// AffectedRange is a range of them.
	AffectedRange = affected.Range
	// AffectedEvent is where a range begins or ends.
	AffectedEvent = affected.Event
)

// AffectedVersions reads which versions advisories affect that the caller has read, with one read.
// Those whose feed does not say it are left out.
func (s Advisories) AffectedVersions(ctx context.Context, uids []core.UID) (map[core.UID]*AffectedVersions, error) {
	if _, err := core.RequireCaller(ctx); err != nil {
		return nil, s.rows.Kind.AddArea(err)
	}
	found, err := s.area.tables.Advisories.Get(ctx, s.area.Store, core.Keys{UIDs: uids, Without: core.AdvisoryEvents})
	sets := make(map[core.UID]*AffectedVersions, len(found))
	for _, a := range found {
		sets[a.UID] = a.Affected
	}
	return sets, s.rows.Kind.AddArea(err)
}
