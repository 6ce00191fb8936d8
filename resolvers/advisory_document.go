package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

func (r *reads) documents() *loader[string, *reports.AdvisoryDocument] {
	return loaderOf(r, r.p.AdvisoryDocuments.GetMany)
}

// advisoryDocuments resolves the fields of documents, and documentAdvisories those of what is in them.
type (
	advisoryDocuments  struct{ p *platform.Platform }
	documentAdvisories struct{}
)

func (root) DocumentAdvisory() graph.DocumentAdvisoryResolver { return documentAdvisories{} }

func (documentAdvisories) Vulnerability(ctx context.Context, all []*inventory.Advisory) ([]*inventory.NamedVulnerability, error) {
	return advisories{}.Vulnerability(ctx, all)
}

func (r root) AdvisoryDocument() graph.AdvisoryDocumentResolver { return advisoryDocuments(r) }

func (q queries) AdvisoryDocuments(ctx context.Context, window scalar.Window, where *scalar.AdvisoryDocumentFilter) (*scalar.AdvisoryDocumentConnection, error) {
	given := valueOrZero(where)
	req := request(ctx, core.UIDFilter{}, &reports.DocumentFilter{ID: given.DocumentID, CVEs: given.CVEs}, window)
	req.Without |= core.DocumentAdvisories // their own field reads them, a page at a time
	return newConnection(q.p.AdvisoryDocuments.List(ctx, req))
}

func (r advisoryDocuments) Advisories(ctx context.Context, all []*reports.AdvisoryDocument, window scalar.Window) ([]*scalar.AdvisoryConnection, error) {
	req := request(ctx, core.UIDFilter{}, &inventory.AdvisoryFilter{}, window)
	return newConnections(r.p.AdvisoryDocuments.ListAdvisories(ctx, req, all))
}

func (e entities) FindManyAdvisoryDocumentByDocumentIDs(ctx context.Context, reps []*graph.AdvisoryDocumentByDocumentIDsInput) ([]*reports.AdvisoryDocument, error) {
	return readRepresentations(ctx, readsOf(ctx).documents(), mapEach(reps, func(r *graph.AdvisoryDocumentByDocumentIDsInput) string { return r.DocumentID }))
}
