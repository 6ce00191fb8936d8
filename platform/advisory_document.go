package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
)

// An AdvisoryDocument is what the advisories of one artifact say. It is a view
// of them, made when it is asked for: advisories are feed data, so it is the
// same for every caller, whichever group they were imported into.
type AdvisoryDocument struct {
	ID         string             `json:"id"` // the artifact's name
	Advisories []DocumentAdvisory `json:"advisories,omitempty"`
}

// A DocumentAdvisory is an advisory in a document.
type DocumentAdvisory struct {
	ID      string          `json:"id"` // the advisory's at its source
	Events  []DocumentEvent `json:"events,omitempty"`
	Aliases []string        `json:"aliases,omitempty"`
	// PackageNamespace tells artifacts of one name apart: the ecosystem of
	// the advisory's artifact, without the release that it may name (Debian
	// of Debian:12).
	PackageNamespace string `json:"packageNamespace,omitempty"`
}

// A DocumentEvent is an event of an advisory, as documents show it. One of its
// variants is set.
type DocumentEvent struct {
	Timestamp                  Time                        `json:"timestamp,omitzero"`
	TruePositiveDetermination  *Note                       `json:"truePositiveDetermination,omitempty"`
	FalsePositiveDetermination *FalsePositiveDetermination `json:"falsePositiveDetermination,omitempty"`
	Fixed                      *DocumentFixed              `json:"fixed,omitempty"`
	Detection                  *DocumentDetection          `json:"detection,omitempty"`
	AnalysisNotPlanned         *Note                       `json:"analysisNotPlanned,omitempty"`
	FixNotPlanned              *Note                       `json:"fixNotPlanned,omitempty"`
	PendingUpstreamFix         *Note                       `json:"pendingUpstreamFix,omitempty"`

	Type EventType `json:"-"` // the variant that is set
}

// DocumentFixed says in which version a vulnerability is gone.
type DocumentFixed struct {
	FixedVersion    string `json:"fixedVersion,omitempty"`
	ScannerVersion  string `json:"scannerVersion,omitempty"`
	GrypeDBBuilt    string `json:"grypeDbBuilt,omitempty"`
	GrypeDBChecksum string `json:"grypeDbChecksum,omitempty"`
}

// DocumentDetection says how a vulnerability was found. One of its variants is
// set.
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

// A FeedQuery asks for advisories as feeds give them to everybody: of all
// groups, without those withdrawn. Where several groups have an advisory on an
// artifact, the one that changed last counts. Only this package can make one.
type FeedQuery struct {
	artifacts []string
	names     []string
	fixed     bool
	limit     int
}

// Artifacts are names of artifacts, of which an advisory's must be one; nil:
// any.
func (q FeedQuery) Artifacts() []string { return q.artifacts }

// Names are ids and aliases, of which an advisory must have one; nil: any.
func (q FeedQuery) Names() []string { return q.names }

// Fixed asks for advisories with a fixed event only.
func (q FeedQuery) Fixed() bool { return q.fixed }

// Limit is how many advisories there may be; of fixed ones, out of how many.
// Where there are more, none is answered.
func (q FeedQuery) Limit() int { return q.limit }

// AdvisoryDocuments are the operations on advisory documents. Every caller
// with an identity may read them.
type AdvisoryDocuments struct{ p *Platform }

// The area and kind of what documents answer with.
const (
	advisoryArea     = "advisory"
	advisoryDocument = "AdvisoryDocument"
)

// maxDocumentAdvisories is how many advisories one answer holds: documents
// have no pages.
const maxDocumentAdvisories = 10_000

// A DocumentRequest asks for documents. Of those with an id, it is that one;
// with CVEs, those that hold an advisory with one of them as its id or alias,
// and these advisories only. Both must hold; without any it asks for all.
type DocumentRequest struct {
	ID   string
	CVEs []string // nil: any; empty: none

	Malformed []Violation // what the adapter could not decode
}

// List reads documents, sorted by id, with their advisories sorted by id and
// events by time. INVALID_ARGUMENT where there are more than 10,000
// advisories.
func (s AdvisoryDocuments) List(ctx context.Context, req DocumentRequest) ([]*AdvisoryDocument, error) {
	documents, err := s.list(ctx, req)
	return documents, inArea(advisoryArea, err)
}

func (s AdvisoryDocuments) list(ctx context.Context, req DocumentRequest) ([]*AdvisoryDocument, error) {
	if err := identified(ctx); err != nil {
		return nil, err
	}
	v := violations(slices.Clone(req.Malformed))
	v.filter("id", req.ID)
	if v.filter("cves", req.CVEs...); len(req.CVEs) > maxIDs {
		v.add("cves", "must be at most %d", maxIDs)
	}
	if err := v.err(); err != nil {
		return nil, err
	}
	if req.CVEs != nil && len(req.CVEs) == 0 {
		return []*AdvisoryDocument{}, nil
	}
	q := FeedQuery{names: req.CVEs}
	if req.ID != "" {
		q.artifacts = []string{req.ID}
	}
	documents, err := s.read(ctx, q)
	if errors.Is(err, ErrTooMany) {
		err = Invalid(req.narrower())
	}
	return documents, err
}

// narrower names the filter that would make an answer small enough.
func (req DocumentRequest) narrower() Violation {
	switch {
	case req.CVEs != nil:
		return Violation{"cves", fmt.Sprintf("must be fewer: more than %d advisories have one of them", maxDocumentAdvisories)}
	case req.ID != "":
		return Violation{"cves", fmt.Sprintf("is needed beside id: the document holds more than %d advisories", maxDocumentAdvisories)}
	default:
		return Violation{"id", fmt.Sprintf("is needed, or cves: all documents together hold more than %d advisories", maxDocumentAdvisories)}
	}
}

// read makes documents of what feeds say. It returns ErrTooMany where they would
// hold too many advisories.
func (s AdvisoryDocuments) read(ctx context.Context, q FeedQuery) ([]*AdvisoryDocument, error) {
	q.limit = maxDocumentAdvisories
	rows, err := s.p.store.Feed(ctx, q)
	if err != nil {
		return nil, err
	}
	documents := []*AdvisoryDocument{}
	for _, a := range rows { // in the order of artifacts
		n := len(documents)
		if n == 0 || documents[n-1].ID != a.ArtifactName {
			documents = append(documents, &AdvisoryDocument{ID: a.ArtifactName})
			n++
		}
		documents[n-1].Advisories = append(documents[n-1].Advisories, a.inDocument())
	}
	return documents, nil
}

// GetMany reads documents by id, in the order of ids, with one read. Each
// place holds one or the error.
func (s AdvisoryDocuments) GetMany(ctx context.Context, ids []string) ([]*AdvisoryDocument, []error) {
	documents, errs := make([]*AdvisoryDocument, len(ids)), make([]error, len(ids))
	err := identified(ctx)
	byID := map[string]*AdvisoryDocument{}
	if wanted := slices.DeleteFunc(slices.Clone(ids), unstorable); err == nil && len(wanted) > 0 {
		var found []*AdvisoryDocument
		if found, err = s.read(ctx, FeedQuery{artifacts: wanted}); errors.Is(err, ErrTooMany) {
			err = Invalid(Violation{"id", fmt.Sprintf("must be fewer at once: the documents hold more than %d advisories", maxDocumentAdvisories)})
		}
		for _, d := range found {
			byID[d.ID] = d
		}
	}
	for i, id := range ids {
		if documents[i], errs[i] = byID[id], err; documents[i] == nil && err == nil {
			errs[i] = missing(advisoryDocument, UID(shown(id)))
		}
		errs[i] = inArea(advisoryArea, errs[i])
	}
	return documents, errs
}

// inDocument is an advisory as documents show it.
func (a *Advisory) inDocument() DocumentAdvisory {
	namespace, _, _ := strings.Cut(a.ArtifactType, ":")
	d := DocumentAdvisory{ID: a.AdvisoryID, Aliases: a.Aliases, PackageNamespace: namespace}
	for i := range a.Events {
		if e := &a.Events[i]; e.Patched == nil { // documents do not tell of patches
			d.Events = append(d.Events, e.inDocument(a.known(e)))
		}
	}
	slices.SortStableFunc(d.Events, func(x, y DocumentEvent) int { return x.Timestamp.Compare(y.Timestamp.Time) })
	return d
}

// known is when an event of the advisory became known. One whose source does
// not tell is as old as the advisory.
func (a *Advisory) known(e *AdvisoryEvent) Time {
	if e.CreateTime.IsZero() {
		return a.CreateTime
	}
	return e.CreateTime
}

func (e *AdvisoryEvent) inDocument(at Time) DocumentEvent {
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
