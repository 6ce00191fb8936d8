package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
)

func (r *reads) terms() *loader[platform.TermsKey, *platform.TermsAcceptance] {
	return loaderOf(r, r.p.Terms.GetMany)
}

func (q queries) TermsAcceptances(ctx context.Context, window scalar.Window, group platform.UID) (*scalar.TermsAcceptanceConnection, error) {
	req := request(ctx, platform.UIDFilter{}, &platform.TermsFilter{}, window)
	return newConnection(q.p.Terms.ListOf(ctx, group, req))
}

func (m mutations) AcceptTerms(ctx context.Context, input graph.AcceptTermsInput) (*platform.AcceptedTerms, error) {
	return m.p.Terms.Accept(ctx, input.Group, input.DocumentIds)
}

func (e entities) FindManyTermsAcceptanceByOrgUIDAndDocIDs(ctx context.Context, reps []*graph.TermsAcceptanceByOrgUIDAndDocIDsInput) ([]*platform.TermsAcceptance, error) {
	return readRepresentations(ctx, readsOf(ctx).terms(), mapEach(reps, func(r *graph.TermsAcceptanceByOrgUIDAndDocIDsInput) platform.TermsKey {
		return platform.TermsKey{Group: r.OrgUID, DocID: r.DocID}
	}))
}

func (terms) Group(ctx context.Context, all []*platform.TermsAcceptance) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(t *platform.TermsAcceptance) platform.UID { return t.OrgUID })
}

func (acceptedTerms) Group(ctx context.Context, all []*platform.AcceptedTerms) ([]*platform.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(a *platform.AcceptedTerms) platform.UID { return a.Group })
}
