package inventory

import (
	"slices"

	"atrium/platform/core"
)

// A DocumentEvent is an event of an advisory in a document. One of its variants
// is set.
type DocumentEvent struct {
	Timestamp                  core.Time                   `json:"timestamp,omitzero"`
	TruePositiveDetermination  *Note                       `json:"truePositiveDetermination,omitempty"`
	FalsePositiveDetermination *FalsePositiveDetermination `json:"falsePositiveDetermination,omitempty"`
	Fixed                      *DocumentFixed              `json:"fixed,omitempty"`
	Detection                  *DocumentDetection          `json:"detection,omitempty"`
	AnalysisNotPlanned         *Note                       `json:"analysisNotPlanned,omitempty"`
	FixNotPlanned              *Note                       `json:"fixNotPlanned,omitempty"`
	PendingUpstreamFix         *Note                       `json:"pendingUpstreamFix,omitempty"`

	Type EventType `json:"-"` // the variant that is set
}

// DocumentFixed names the version that fixes a vulnerability.
type DocumentFixed struct {
	FixedVersion    string `json:"fixedVersion,omitempty"`
	ScannerVersion  string `json:"scannerVersion,omitempty"`
	GrypeDBBuilt    string `json:"grypeDbBuilt,omitempty"`
	GrypeDBChecksum string `json:"grypeDbChecksum,omitempty"`
}

// DocumentDetection describes how a vulnerability was found. One of its variants
// is set.
type DocumentDetection struct {
	NVDAPI *NVDAPI         `json:"nvdapi,omitempty"`
	Manual *struct{}       `json:"manual,omitempty"`
	ScanV1 *DocumentScanV1 `json:"scanv1,omitempty"`
}

// DocumentScanV1 is a detection by a scanner.
type DocumentScanV1 struct {
	Scanner           string `json:"scanner,omitempty"`
	SubpackageName    string `json:"subpackageName,omitempty"`
	ComponentID       string `json:"componentId,omitempty"`
	ComponentName     string `json:"componentName,omitempty"`
	ComponentVersion  string `json:"componentVersion,omitempty"`
	ComponentType     string `json:"componentType,omitempty"`
	ComponentLocation string `json:"componentLocation,omitempty"`
	ArtifactVersion   string `json:"artifactVersion,omitempty"`
	ScannerVersion    string `json:"scannerVersion,omitempty"`
	GrypeDBBuilt      string `json:"grypeDbBuilt,omitempty"`
	GrypeDBChecksum   string `json:"grypeDbChecksum,omitempty"`
}

// DocumentEvents returns the events of an advisory as documents show them, sorted by time.
func (a *Advisory) DocumentEvents() []DocumentEvent {
	var events []DocumentEvent
	for i := range a.Events {
		if e := &a.Events[i]; e.Patched == nil { // documents have no patched events
			events = append(events, e.toDocument(a.EventTime(e)))
		}
	}
	slices.SortStableFunc(events, func(x, y DocumentEvent) int { return x.Timestamp.Compare(y.Timestamp.Time) })
	return events
}

// EventTime returns the time of an event. If the source did not tell it, this is
// the creation time of the advisory.
func (a *Advisory) EventTime(e *AdvisoryEvent) core.Time {
	if e.CreateTime.IsZero() {
		return a.CreateTime
	}
	return e.CreateTime
}

// toDocument converts an event into its form in a document.
func (e *AdvisoryEvent) toDocument(at core.Time) DocumentEvent {
	d := DocumentEvent{
		Timestamp: at, Type: e.Type(),
		TruePositiveDetermination: e.TruePositiveDetermination, FalsePositiveDetermination: e.FalsePositiveDetermination,
		AnalysisNotPlanned: e.AnalysisNotPlanned, FixNotPlanned: e.FixNotPlanned, PendingUpstreamFix: e.PendingUpstreamFix,
	}
	if f := e.Fixed; f != nil {
		d.Fixed = &DocumentFixed{f.FixedVersion, f.ScannerVersion, f.GrypeDBBuilt, f.GrypeDBChecksum}
	}
	if found := e.Detection; found != nil {
		d.Detection = &DocumentDetection{NVDAPI: found.NVDAPI, Manual: found.Manual}
		if s := found.ScanV1; s != nil {
			d.Detection.ScanV1 = &DocumentScanV1{
				s.Scanner, s.Subpackage, s.ComponentID, s.Component, s.ComponentVersion, s.ComponentType, s.ComponentLocation,
				s.ArtifactVersion, s.ScannerVersion, s.GrypeDBBuilt, s.GrypeDBChecksum,
			}
		}
	}
	return d
}
