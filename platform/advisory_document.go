package platform

import (
	"context"
	"errors"
	"fmt"
	"slices"
)

// An AdvisoryDocument combines the advisories of one artifact. It is a view that
// is computed for each request. It is the same for every caller, because
// advisories are feed data, whichever group they were imported into.
type AdvisoryDocument struct {
	ID         string             `json:"id"` // the artifact's name
	Advisories []DocumentAdvisory `json:"advisories,omitempty"`
}

// A DocumentAdvisory is an advisory in a document.
type DocumentAdvisory struct {
	ID      string          `json:"id"` // the advisory id of the source
	Events  []DocumentEvent `json:"events,omitempty"`
	Aliases []string        `json:"aliases,omitempty"`
	// PackageNamespace distinguishes artifacts with the same name. It is the
	// ecosystem of the artifact with its release (Debian:12).
	PackageNamespace string `json:"packageNamespace,omitempty"`
}

// A DocumentEvent is an event of an advisory in a document. One of its variants
// is set.
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

// A FeedQuery asks for advisories of all groups, without withdrawn ones. If
// several groups have an advisory about the same artifact, the one that changed
// last counts. Only this package can make a FeedQuery.
type FeedQuery struct {
	artifacts []ArtifactKey
	names     []string
	fixed     bool
	limit     int
}

// Artifacts returns the keys of artifacts to match; nil matches any.
func (q FeedQuery) Artifacts() []ArtifactKey { return q.artifacts }

// Names returns the advisory ids and aliases to match; nil matches any.
func (q FeedQuery) Names() []string { return q.names }

// Fixed reports whether only advisories with a fixed event match.
func (q FeedQuery) Fixed() bool { return q.fixed }

// Limit returns the maximum number of advisories, counted before Fixed is
// applied. If there are more, the store returns ErrTooMany.
func (q FeedQuery) Limit() int { return q.limit }

// AdvisoryDocuments are the operations on advisory documents. Every caller
// with an identity may read them.
type AdvisoryDocuments struct{ p *Platform }

// advisoryDocument is the kind that errors about documents name.
const advisoryDocument = "AdvisoryDocument"

// maxDocumentAdvisories limits the advisories of one response, because documents
// are not paged.
const maxDocumentAdvisories = 10_000

// A DocumentRequest asks for documents. ID selects one document. CVEs selects the
// advisories with one of these ids or aliases, and their documents. Both
// conditions must match; without any, the request asks for all documents.
type DocumentRequest struct {
	ID   string
	CVEs []string // nil means any; an empty list means none

	Malformed []Violation // violations that the adapter found while decoding
}

// List reads documents sorted by id. Their advisories are sorted by id, and the
// events by time. It returns INVALID_ARGUMENT if there are more than 10,000
// advisories.
func (s AdvisoryDocuments) List(ctx context.Context, req DocumentRequest) ([]*AdvisoryDocument, error) {
	documents, err := s.list(ctx, req)
	return documents, inArea(areaAdvisory, err)
}

func (s AdvisoryDocuments) list(ctx context.Context, req DocumentRequest) ([]*AdvisoryDocument, error) {
	if err := requireIdentity(ctx); err != nil {
		return nil, err
	}
	v := violations(slices.Clone(req.Malformed))
	v.checkFilter("id", req.ID)
	if v.checkFilter("cves", req.CVEs...); len(req.CVEs) > maxIDs {
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
		q.artifacts = ArtifactKeys(req.ID)
	}
	documents, err := s.read(ctx, q)
	if errors.Is(err, ErrTooMany) {
		err = Invalid(req.tooManyViolation())
	}
	return documents, err
}

// tooManyViolation names the filter that the client must narrow.
func (req DocumentRequest) tooManyViolation() Violation {
	switch {
	case req.CVEs != nil:
		return Violation{"cves", fmt.Sprintf("must be fewer: more than %d advisories have one of them", maxDocumentAdvisories)}
	case req.ID != "":
		return Violation{"cves", fmt.Sprintf("is required in addition to id: the document holds more than %d advisories", maxDocumentAdvisories)}
	default:
		return Violation{"id", fmt.Sprintf("is required, or cves: all documents together hold more than %d advisories", maxDocumentAdvisories)}
	}
}

// read makes documents from the advisories that a query finds. It returns
// ErrTooMany if they would hold too many advisories.
func (s AdvisoryDocuments) read(ctx context.Context, q FeedQuery) ([]*AdvisoryDocument, error) {
	q.limit = maxDocumentAdvisories
	rows, err := s.p.store.ListFeed(ctx, q)
	if err != nil {
		return nil, err
	}
	documents := []*AdvisoryDocument{}
	for _, a := range rows { // sorted by artifact
		n := len(documents)
		if n == 0 || documents[n-1].ID != a.ArtifactName {
			documents = append(documents, &AdvisoryDocument{ID: a.ArtifactName})
			n++
		}
		documents[n-1].Advisories = append(documents[n-1].Advisories, a.toDocument())
	}
	return documents, nil
}

// GetMany reads documents by id with one read. The results are in the order of
// ids; each has a document or an error.
func (s AdvisoryDocuments) GetMany(ctx context.Context, ids []string) ([]*AdvisoryDocument, []error) {
	documents, errs := make([]*AdvisoryDocument, len(ids)), make([]error, len(ids))
	err := requireIdentity(ctx)
	byID := map[string]*AdvisoryDocument{}
	if wanted := slices.DeleteFunc(slices.Clone(ids), isUnstorable); err == nil && len(wanted) > 0 {
		var found []*AdvisoryDocument
		if found, err = s.read(ctx, FeedQuery{artifacts: ArtifactKeys(wanted...)}); errors.Is(err, ErrTooMany) {
			err = Invalid(Violation{"id", fmt.Sprintf("must be fewer at once: the documents hold more than %d advisories", maxDocumentAdvisories)})
		}
		for _, d := range found {
			byID[d.ID] = d
		}
	}
	for i, id := range ids {
		if documents[i], errs[i] = byID[id], err; documents[i] == nil && err == nil {
			errs[i] = newNotFound(advisoryDocument, truncateForMessage(id))
		}
		errs[i] = inArea(areaAdvisory, errs[i])
	}
	return documents, errs
}

// toDocument converts an advisory into its form in a document.
func (a *Advisory) toDocument() DocumentAdvisory {
	d := DocumentAdvisory{ID: a.AdvisoryID, Aliases: a.Aliases, PackageNamespace: a.ArtifactType}
	for i := range a.Events {
		if e := &a.Events[i]; e.Patched == nil { // documents have no patched events
			d.Events = append(d.Events, e.toDocument(a.eventTime(e)))
		}
	}
	slices.SortStableFunc(d.Events, func(x, y DocumentEvent) int { return x.Timestamp.Compare(y.Timestamp.Time) })
	return d
}

// eventTime returns the time of an event. If the source did not tell it, this is
// the creation time of the advisory.
func (a *Advisory) eventTime(e *AdvisoryEvent) Time {
	if e.CreateTime.IsZero() {
		return a.CreateTime
	}
	return e.CreateTime
}

// toDocument converts an event into its form in a document.
func (e *AdvisoryEvent) toDocument(at Time) DocumentEvent {
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
