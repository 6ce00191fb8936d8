package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
)

func (r *reads) events() *loader[string, *core.Event] {
	return loaderOf(r, func(ctx context.Context, keys []string) ([]*core.Event, []error) {
		return r.p.AuditLog.GetManyWithout(ctx, keys, r.without)
	})
}

func (q queries) AuditLog(ctx context.Context, window scalar.Window, within *core.UID, actor *string, subject, target *core.UID, kinds []string, since, until *core.Time, denied *bool) (*scalar.AuditLogConnection, error) {
	req := events.AuditRequest{
		DescendantsOf: valueOrZero(within), Actor: valueOrZero(actor), Subject: valueOrZero(subject), Target: valueOrZero(target), Types: kinds, Since: valueOrZero(since), Until: valueOrZero(until), Denied: denied, Without: readsOf(ctx).without,
	}
	req.Empty = window.IsEmpty()
	req.PageSize, req.After, req.Backward, req.Malformed = window.Page()
	page, err := q.p.AuditLog.List(ctx, req)
	if err != nil {
		return nil, err
	}
	return scalar.NewRecordConnection(page), nil
}

func (q queries) AuditLogRuns(ctx context.Context, window scalar.Window, within core.UID, actor *string, subject, target *core.UID, kinds []string, since, until *core.Time, denied *bool) (*scalar.AuditLogRunConnection, error) {
	req := events.AuditRequest{
		DescendantsOf: within, Actor: valueOrZero(actor), Subject: valueOrZero(subject), Target: valueOrZero(target), Types: kinds, Since: valueOrZero(since), Until: valueOrZero(until), Denied: denied, Without: readsOf(ctx).without,
	}
	req.Empty = window.IsEmpty()
	req.PageSize, req.After, _, req.Malformed = window.Page()
	page, err := q.p.AuditLog.ListRuns(ctx, req)
	if err != nil {
		return nil, err
	}
	return scalar.NewRecordConnection(page), nil
}

func (q queries) AuditLogSummary(ctx context.Context, within core.UID, actor *string, subject, target *core.UID, kinds []string, since core.Time, until *core.Time, denied *bool) (*scalar.AuditLogSummary, error) {
	summary, err := q.p.AuditLog.Summarize(ctx, events.AuditRequest{
		DescendantsOf: within, Actor: valueOrZero(actor), Subject: valueOrZero(subject), Target: valueOrZero(target), Types: kinds, Since: since, Until: valueOrZero(until), Denied: denied,
	})
	if err != nil {
		return nil, err
	}
	return scalar.NewAuditLogSummary(summary), nil
}

// actorFacets resolves the fields of counts by actor.
type actorFacets struct{}

func (root) ActorFacet() graph.ActorFacetResolver { return actorFacets{} }

func (actorFacets) Identity(ctx context.Context, all []*scalar.ActorFacet) ([]*iam.Identity, error) {
	return followActor(ctx, all, func(f *scalar.ActorFacet) string { return f.Actor })
}

func (e entities) FindManyEventByIDs(ctx context.Context, reps []*graph.EventByIDsInput) ([]*core.Event, error) {
	return readRepresentations(ctx, readsOf(ctx).events(), mapEach(reps, func(r *graph.EventByIDsInput) string { return string(r.ID) }))
}
