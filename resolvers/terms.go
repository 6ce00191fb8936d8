package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func (r *reads) terms() *loader[iam.TermsKey, *iam.TermsAcceptance] {
	return loaderOf(r, r.p.Terms.GetMany)
}

func (q queries) TermsAcceptances(ctx context.Context, window scalar.Window, within core.UID) (*scalar.TermsAcceptanceConnection, error) {
	req := request(ctx, core.UIDFilter{}, &iam.TermsFilter{}, window)
	page, err := q.p.Terms.ListOf(ctx, within, req)
	return newConnection(page, renameField(err, "group", "within"))
}

func (m mutations) AcceptTerms(ctx context.Context, input graph.AcceptTermsInput) (*iam.AcceptedTerms, error) {
	accepted, err := m.p.Terms.Accept(ctx, input.Parent, input.DocumentIds)
	return accepted, renameField(err, "group", "parent")
}

func (e entities) FindManyTermsAcceptanceByOrgUIDAndDocIDs(ctx context.Context, reps []*graph.TermsAcceptanceByOrgUIDAndDocIDsInput) ([]*iam.TermsAcceptance, error) {
	return readRepresentations(ctx, readsOf(ctx).terms(), mapEach(reps, func(r *graph.TermsAcceptanceByOrgUIDAndDocIDsInput) iam.TermsKey {
		return iam.TermsKey{Group: r.OrgUID, DocID: r.DocID}
	}))
}

func (terms) Group(ctx context.Context, all []*iam.TermsAcceptance) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(t *iam.TermsAcceptance) core.UID { return t.OrgUID })
}

func (terms) AcceptedByIdentity(ctx context.Context, all []*iam.TermsAcceptance) ([]*iam.Identity, error) {
	return followActor(ctx, all, func(t *iam.TermsAcceptance) string { return t.AcceptedBy })
}

func (acceptedTerms) Group(ctx context.Context, all []*iam.AcceptedTerms) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(a *iam.AcceptedTerms) core.UID { return a.Group })
}
