package reports

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"

	"atrium/platform/core"
	"atrium/platform/ecosystem"
	"atrium/platform/fieldmask"
	"atrium/platform/inventory"
)

// An AdvisoryDocument combines the advisories of one artifact that a caller may see. It is a
// view that is computed for each request.
type AdvisoryDocument struct {
	ID         string             `json:"id"` // the artifact's name
	Advisories []DocumentAdvisory `json:"advisories,omitempty"`

	names []string // the ids and aliases that its advisories are restricted to; nil means any
}

// A DocumentAdvisory is an advisory in a document.
type DocumentAdvisory struct {
	ID      string                    `json:"id"` // the advisory id of the source
	Events  []inventory.DocumentEvent `json:"events,omitempty"`
	Aliases []string                  `json:"aliases,omitempty"`
	// PackageNamespace distinguishes artifacts with the same name. It is the
	// ecosystem of the artifact with its release (Debian:12).
	PackageNamespace string `json:"packageNamespace,omitempty"`
}

// AdvisoryDocumentQueries find documents and their advisories.
type AdvisoryDocumentQueries interface {
	// ListDocuments reads one page of documents, without their advisories.
	ListDocuments(ctx context.Context, on core.Conn, q core.Query[*DocumentFilter]) (core.Rows[*AdvisoryDocument], error)

	// FindAdvisories finds the advisories of documents, sorted by artifact name and
	// advisory id. If there are more than the limit, it returns one more than that, and
	// ErrTooMany.
	FindAdvisories(ctx context.Context, on core.Conn, q inventory.FeedQuery) ([]inventory.FeedPlace, error)
}

// AdvisoryDocuments are the operations on advisory documents. Every caller with an identity
// may call them. A document has the advisories that the caller may see, and those of feeds
// for all organizations.
type AdvisoryDocuments struct {
	area       *Area
	lists      *core.Collection[*AdvisoryDocument, *DocumentFilter] // checks requests and makes pages; it has no table
	advisories *core.Collection[*inventory.Advisory, *inventory.AdvisoryFilter]
}

func newAdvisoryDocuments(area *Area) AdvisoryDocuments {
	return AdvisoryDocuments{
		area, core.NewCollection[*AdvisoryDocument, *DocumentFilter](area.Core, &documentKind, nil, nil),
		core.NewCollection(area.Core, &inventory.AdvisoryKind, nil, area.tables.Advisories),
	}
}

// Kind returns what lists of documents have in common with those of kinds.
func (AdvisoryDocuments) Kind() *core.Kind[*AdvisoryDocument] { return &documentKind }

// documentKind has what lists of documents need. Documents are no kind of their own, because
// they are not stored.
var documentKind = core.Kind[*AdvisoryDocument]{
	Name: "AdvisoryDocument", Plural: "documents", Area: core.AreaAdvisory,
	Orders: []core.OrderField[*AdvisoryDocument]{
		{Name: "uid", Spellings: append([]string{"id", "document_id", "documentId", "name"}, core.CreateTimeSpellings...), Value: func(d *AdvisoryDocument) any { return d.ID }},
	},
	DefaultOrder: core.Order{Field: "uid"},
	UID:          func(d *AdvisoryDocument) core.UID { return core.UID(d.ID) },
}

// A page of documents ends early rather than hold more than maxPageAdvisories advisories,
// unless its only document has more. No document with more than maxDocumentAdvisories is read.
const (
	maxPageAdvisories     = 1_000
	maxDocumentAdvisories = 10_000
)

// DocumentFilter restricts a list of documents. All given conditions must match.
type DocumentFilter struct {
	ID   string   `json:",omitempty"` // documents of artifacts of this name, as their ecosystems compare names
	CVEs []string `json:",omitempty"` // documents with an advisory that has one of these as its id, alias or upstream id, and only these advisories

	ids []string // the documents with exactly these ids; nil means any
}

// Check adds the violations of the conditions.
func (f *DocumentFilter) Check(v *core.Violations) {
	v.CheckFilter("id", f.ID)
	if v.CheckFilter("cves", f.CVEs...); len(f.CVEs) > core.MaxIDs {
		v.Add("cves", "must have at most %d items", core.MaxIDs)
	}
}

// IDs returns the ids of the documents to match; nil matches any.
func (f *DocumentFilter) IDs() []string { return f.ids }

// Artifacts returns the keys of the artifacts to match; nil matches any.
func (f *DocumentFilter) Artifacts() []ecosystem.NameKey {
	if f.ID == "" {
		return nil
	}
	return ecosystem.NameKeys(f.ID)
}

// documentScope returns the advisories that documents show to a caller.
func documentScope(a *core.Actor) core.Scope {
	if a.Operator != "" {
		return core.NewScope(core.Branch{Relation: core.Everything})
	}
	return core.SubtreeScope(append(a.Scopes(core.CapAdvisoriesList), inventory.FeedGroup))
}

// List reads one page of documents, sorted by id. Their advisories are sorted by id, and the
// events by time. A page has fewer documents than requested if they have more than 1,000
// advisories together. List returns INVALID_ARGUMENT if one document has more than 10,000.
func (s AdvisoryDocuments) List(ctx context.Context, req core.ListRequest[*DocumentFilter]) (core.Page[*AdvisoryDocument], error) {
	page, err := s.list(ctx, req)
	return page, core.InArea(core.AreaAdvisory, err)
}

// ListAll reads all documents of List, whatever the page of the request. It returns INVALID_ARGUMENT if they have more
// than 10,000 advisories together.
func (s AdvisoryDocuments) ListAll(ctx context.Context, req core.ListRequest[*DocumentFilter]) ([]*AdvisoryDocument, error) {
	var all []*AdvisoryDocument
	advisories := 0
	for req.PageSize = core.MaxPageSize; ; {
		page, err := s.List(ctx, req)
		if err != nil {
			return nil, err
		}
		for _, d := range page.Items {
			advisories += len(d.Advisories)
		}
		if advisories > maxDocumentAdvisories {
			return nil, core.InArea(core.AreaAdvisory, core.Invalid(fieldmask.Violation{
				Field: "page_size", Description: fmt.Sprintf("is required: all documents together have more than %d advisories", maxDocumentAdvisories),
			}))
		}
		all = append(all, page.Items...)
		if req.PageToken = page.NextPageToken(); req.PageToken == "" {
			return all, nil
		}
	}
}

func (s AdvisoryDocuments) list(ctx context.Context, req core.ListRequest[*DocumentFilter]) (core.Page[*AdvisoryDocument], error) {
	if err := core.RequireIdentity(ctx); err != nil {
		return core.Page[*AdvisoryDocument]{}, err
	}
	q, err := s.lists.BuildQuery(ctx, req)
	if err != nil {
		return core.Page[*AdvisoryDocument]{}, err
	}
	q.Scope = documentScope(core.ActorOf(ctx))
	var rows core.Rows[*AdvisoryDocument]
	if !q.IsEmpty() {
		rows, err = s.area.tables.ListDocuments(ctx, s.area.Store, q)
	}
	if err == nil && !q.Without.HasAny(core.DocumentAdvisories) {
		err = s.addAdvisories(ctx, q, &rows)
	}
	if err != nil {
		return core.Page[*AdvisoryDocument]{}, err
	}
	for _, d := range rows.Items {
		d.names = q.Filter.CVEs
	}
	page := s.lists.NewPage(req, q, rows)
	if id := q.Filter.ID; req.NamedMustExist && id != "" && len(page.Items) == 0 && page.TotalCount == 0 {
		err = s.findNamed(ctx, id)
	}
	return page, err
}

// findNamed returns NOT_FOUND if the caller can see no document of an artifact.
func (s AdvisoryDocuments) findNamed(ctx context.Context, id string) error {
	found, err := s.area.tables.ListDocuments(ctx, s.area.Store, core.Query[*DocumentFilter]{
		Scope: documentScope(core.ActorOf(ctx)), Filter: &DocumentFilter{ID: id}, Order: documentKind.DefaultOrder, Limit: 1, Parts: core.PartItems,
	})
	if err == nil && len(found.Items) == 0 {
		err = core.NewNamedNotFound("id", documentKind.Ref(), fieldmask.TruncateForMessage(id))
	}
	return err
}

// addAdvisories reads the advisories of the documents of a page, and removes the documents
// that do not fit on it.
func (s AdvisoryDocuments) addAdvisories(ctx context.Context, q core.Query[*DocumentFilter], rows *core.Rows[*AdvisoryDocument]) error {
	if len(rows.Items) == 0 {
		return nil
	}
	feed := inventory.FeedQuery{Scope: q.Scope, Documents: documentIDs(rows.Items), Names: q.Filter.CVEs, Desc: q.Order.Desc != q.Backward, Limit: maxPageAdvisories}
	places, err := s.area.tables.FindAdvisories(ctx, s.area.Store, feed)
	if errors.Is(err, core.ErrTooMany) {
		places, err = s.findFitting(ctx, feed, places)
	}
	if err != nil {
		return err
	}
	found, err := s.readAdvisories(ctx, places)
	advisories := map[string][]DocumentAdvisory{}
	for _, a := range found {
		advisories[a.ArtifactName] = append(advisories[a.ArtifactName], documentAdvisory(a))
	}
	requested := len(rows.Items)
	rows.Items = slices.DeleteFunc(rows.Items, func(d *AdvisoryDocument) bool {
		d.Advisories = advisories[d.ID]
		return len(d.Advisories) == 0
	})
	rows.More = rows.More || len(rows.Items) < requested
	return err
}

// findFitting returns the advisories of the documents that fit on a page: those of which all
// were found, or else the first one, whatever its size.
func (s AdvisoryDocuments) findFitting(ctx context.Context, feed inventory.FeedQuery, found []inventory.FeedPlace) ([]inventory.FeedPlace, error) {
	last := found[len(found)-1].Artifact // it may have more than were found
	if complete := slices.IndexFunc(found, func(p inventory.FeedPlace) bool { return p.Artifact == last }); complete > 0 {
		return found[:complete], nil
	}
	feed.Documents, feed.Limit = []string{last}, maxDocumentAdvisories
	found, err := s.area.tables.FindAdvisories(ctx, s.area.Store, feed)
	if errors.Is(err, core.ErrTooMany) {
		err = core.Invalid(tooManyViolation(feed, last))
	}
	return found, err
}

// readAdvisories reads advisories, sorted by advisory id and ecosystem.
func (s AdvisoryDocuments) readAdvisories(ctx context.Context, places []inventory.FeedPlace) ([]*inventory.Advisory, error) {
	if len(places) == 0 {
		return nil, nil
	}
	var keys core.Keys
	for _, place := range places {
		keys.UIDs = append(keys.UIDs, place.UID)
	}
	found, err := s.area.tables.Advisories.Get(ctx, s.area.Store, keys)
	slices.SortFunc(found, func(x, y *inventory.Advisory) int {
		return cmp.Or(cmp.Compare(x.AdvisoryID, y.AdvisoryID), cmp.Compare(x.ArtifactType, y.ArtifactType), cmp.Compare(x.ArtifactName, y.ArtifactName))
	})
	return found, err
}

// listFixed reads the advisories of documents that the caller may see about artifacts, and that have a fix. If there are
// more than limit, the error is ErrTooMany.
func (s AdvisoryDocuments) listFixed(ctx context.Context, artifacts []ecosystem.NameKey, limit int) ([]*inventory.Advisory, error) {
	places, err := s.area.tables.FindAdvisories(ctx, s.area.Store, inventory.FeedQuery{Scope: documentScope(core.ActorOf(ctx)), Artifacts: artifacts, Fixed: true, Limit: limit})
	if err != nil {
		return nil, err
	}
	return s.readAdvisories(ctx, places)
}

// tooManyViolation names the filter that the client must narrow.
func tooManyViolation(q inventory.FeedQuery, id string) fieldmask.Violation {
	if q.Names != nil {
		return fieldmask.Violation{Field: "cves", Description: fmt.Sprintf("must be fewer: more than %d advisories of the document %s have one of them", maxDocumentAdvisories, fieldmask.TruncateForMessage(id))}
	}
	return fieldmask.Violation{Field: "cves", Description: fmt.Sprintf("is required: the document %s holds more than %d advisories", fieldmask.TruncateForMessage(id), maxDocumentAdvisories)}
}

func documentIDs(documents []*AdvisoryDocument) []string {
	ids := make([]string, len(documents))
	for i, d := range documents {
		ids[i] = d.ID
	}
	return ids
}

// GetMany finds documents by id with one read, without their advisories. The results are in
// the order of ids; each has a document or an error.
func (s AdvisoryDocuments) GetMany(ctx context.Context, ids []string) ([]*AdvisoryDocument, []error) {
	documents, errs := make([]*AdvisoryDocument, len(ids)), make([]error, len(ids))
	err := core.RequireIdentity(ctx)
	byID := map[string]*AdvisoryDocument{}
	if wanted := slices.DeleteFunc(slices.Clone(ids), core.IsUnstorable); err == nil && len(wanted) > 0 {
		var found core.Rows[*AdvisoryDocument]
		found, err = s.area.tables.ListDocuments(ctx, s.area.Store, core.Query[*DocumentFilter]{
			Scope: documentScope(core.ActorOf(ctx)), Filter: &DocumentFilter{ids: wanted},
			Order: documentKind.DefaultOrder, Limit: core.NoLimit, Parts: core.PartItems,
		})
		for _, d := range found.Items {
			byID[d.ID] = d
		}
	}
	for i, id := range ids {
		if documents[i], errs[i] = byID[id], err; documents[i] == nil && err == nil {
			errs[i] = core.NewNotFound(documentKind.Ref(), fieldmask.TruncateForMessage(id))
		}
		errs[i] = core.InArea(core.AreaAdvisory, errs[i])
	}
	return documents, errs
}

// ListAdvisories reads, for each document, the same page of its advisories, with one read.
// The documents must be results of one call of List or GetMany for the same caller.
func (s AdvisoryDocuments) ListAdvisories(ctx context.Context, req core.ListRequest[*inventory.AdvisoryFilter], documents []*AdvisoryDocument) ([]core.Page[*inventory.Advisory], []error) {
	if req.OrderBy == "" {
		req.OrderBy = "advisory_id"
	}
	pages, errs := s.advisories.ReadEach(ctx, len(documents), func(i int) (core.ListRequest[*inventory.AdvisoryFilter], core.Query[*inventory.AdvisoryFilter], error) {
		d := documents[i]
		of := req
		of.Filter = &inventory.AdvisoryFilter{ArtifactNames: []string{d.ID}, Aliases: d.names}
		q, err := s.advisories.BuildQuery(ctx, of)
		if err != nil {
			return of, q, err
		}
		scope := documentScope(core.ActorOf(ctx))
		q.Filter = &inventory.AdvisoryFilter{Feed: &inventory.FeedQuery{Scope: scope, Names: d.names}}
		for _, b := range scope.Branches {
			q.Scope.Branches = append(q.Scope.Branches, core.Branch{Relation: core.OfDocument, Name: d.ID, Inside: b.UID})
		}
		return of, q, nil
	})
	for i, err := range errs {
		errs[i] = core.InArea(core.AreaAdvisory, err)
	}
	return pages, errs
}

// documentAdvisory converts an advisory into its form in a document.
func documentAdvisory(a *inventory.Advisory) DocumentAdvisory {
	return DocumentAdvisory{ID: a.AdvisoryID, Aliases: a.Aliases, PackageNamespace: a.ArtifactType, Events: a.DocumentEvents()}
}
