package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/intake"
)

// sourceFields resolves the fields of sources.
type sourceFields struct {
	p *platform.Platform
	viewerFields[*intake.Source]
}

func (r root) Source() graph.SourceResolver {
	return sourceFields{r.p, newViewerFields(r.p.Sources)}
}

func (r *reads) sources() *loader[core.UID, *intake.Source] {
	return loaderOf(r, r.p.Sources.GetMany)
}

func (q queries) Source(ctx context.Context, uid core.UID) (*intake.Source, error) {
	return readsOf(ctx).sources().load(ctx, uid)
}

func (q queries) Sources(ctx context.Context, window scalar.Window, within *core.UID, directOnly *bool, where *scalar.SourceFilter) (*scalar.SourceConnection, error) {
	f := valueOrZero(where)
	return newConnection(q.p.Sources.List(ctx, requestWithin(ctx, within, directOnly, f.ByUID, &f.SourceFilter, window)))
}

func (m mutations) CreateSource(ctx context.Context, input map[string]any) (*scalar.CreateSourcePayload, error) {
	parent, in := decodeInput[*intake.Source](input)
	made, err := m.p.Sources.Create(withConditions(ctx, input), parent, in)
	return newCreated(ctx, m.p.Sources.ListEach, parent, made, err)
}

func (m mutations) UpdateSource(ctx context.Context, input map[string]any) (*scalar.UpdateSourcePayload, error) {
	uid, in := decodeInput[*intake.Source](input)
	return newUpdated(m.p.Sources.Update(withConditions(ctx, input), uid, in))
}

func (m mutations) RunSource(ctx context.Context, input graph.RunSourceInput) (*graph.RunSourcePayload, error) {
	source, err := m.p.Sources.Run(ctx, input.UID)
	if err != nil {
		return nil, err
	}
	return &graph.RunSourcePayload{Source: source}, nil
}

func (m mutations) CancelSource(ctx context.Context, input graph.CancelSourceInput) (*graph.CancelSourcePayload, error) {
	source, err := m.p.Sources.Cancel(ctx, input.UID)
	if err != nil {
		return nil, err
	}
	return &graph.CancelSourcePayload{Source: source}, nil
}

func (m mutations) DeleteSource(ctx context.Context, input scalar.Delete) (*scalar.Deleted, error) {
	return newDeleted("Source", input, m.p.Sources.Delete(withDeletionConditions(ctx, input), input.UID))
}

func (e entities) FindManySourceByUIDs(ctx context.Context, reps []*graph.SourceByUIDsInput) ([]*intake.Source, error) {
	return readRepresentations(ctx, readsOf(ctx).sources(), mapEach(reps, func(r *graph.SourceByUIDsInput) core.UID { return r.UID }))
}

func (sourceFields) Group(ctx context.Context, all []*intake.Source) ([]*iam.Group, error) {
	return follow(ctx, all, readsOf(ctx).groups(), func(s *intake.Source) core.UID { return s.UID.Parent() })
}

func (r sourceFields) Runs(ctx context.Context, all []*intake.Source) ([][]*intake.SourceRun, error) {
	return r.p.Sources.Runs(ctx, all)
}
