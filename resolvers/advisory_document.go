package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform"
)

func (r *reads) documents() *loader[string, *platform.AdvisoryDocument] {
	return loaderOf(r, r.p.AdvisoryDocuments.GetMany)
}

func (q queries) AdvisoryDocuments(ctx context.Context, id *string, cves []string) ([]*platform.AdvisoryDocument, error) {
	return q.p.AdvisoryDocuments.List(ctx, platform.DocumentRequest{ID: valueOrZero(id), CVEs: cves})
}

func (e entities) FindManyAdvisoryDocumentByDocumentIDs(ctx context.Context, reps []*graph.AdvisoryDocumentByDocumentIDsInput) ([]*platform.AdvisoryDocument, error) {
	return readRepresentations(ctx, readsOf(ctx).documents(), mapEach(reps, func(r *graph.AdvisoryDocumentByDocumentIDsInput) string { return r.DocumentID }))
}
