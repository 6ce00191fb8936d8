package resolvers

import (
	"context"
	"slices"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

// findingSummaries resolves the fields of summaries of findings.
type findingSummaries struct{ p *platform.Platform }

func (r root) FindingSummary() graph.FindingSummaryResolver { return findingSummaries(r) }

func (r findingSummaries) Overdue(ctx context.Context, all []*inventory.FindingSummary) ([]int, error) {
	counts, err := r.p.Findings.CountOverdue(ctx, all)
	return mapEach(counts, func(n int64) int { return int(n) }), err
}

func (r findingSummaries) OpenByAge(ctx context.Context, all []*inventory.FindingSummary, days []int) ([][]*inventory.FindingAge, error) {
	return r.p.Findings.CountAges(ctx, all, days)
}

// FeedsAsOf is the same for all summaries.
func (r findingSummaries) FeedsAsOf(ctx context.Context, all []*inventory.FindingSummary) ([]*core.Time, error) {
	return feedsAsOf(ctx, r.p, len(all))
}

// feedsAsOf returns the time as of which all feeds are known, as often as it is asked for.
func feedsAsOf(ctx context.Context, p *platform.Platform, times int) ([]*core.Time, error) {
	asOf, err := p.Sources.FeedsAsOf(ctx)
	if err != nil || asOf.IsZero() {
		return make([]*core.Time, times), err
	}
	return slices.Repeat([]*core.Time{&asOf}, times), nil
}

// duePolicies resolves the fields of policies.
type duePolicies struct{}

func (root) DuePolicy() graph.DuePolicyResolver { return duePolicies{} }

func (duePolicies) Within(ctx context.Context, all []*inventory.DuePolicy) ([]scalar.Node, error) {
	return readsOf(ctx).places(ctx, mapEach(all, func(d *inventory.DuePolicy) core.UID { return d.Scope }))
}

func (q queries) DuePolicy(ctx context.Context, within core.UID) (*inventory.DuePolicy, error) {
	return q.p.Findings.DuePolicy(ctx, within)
}

func (m mutations) SetDuePolicy(ctx context.Context, input inventory.DuePolicy) (*graph.SetDuePolicyPayload, error) {
	policy, err := m.p.Findings.SetDuePolicy(ctx, input)
	if err != nil {
		return nil, err
	}
	return &graph.SetDuePolicyPayload{Policy: policy}, nil
}
