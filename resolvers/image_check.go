package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

func (q queries) CheckImage(ctx context.Context, image string, group *core.UID, failOn *core.SeverityRating, fixableOnly, knownExploitedOnly bool, newSince *string) (*reports.ImageCheck, error) {
	return q.p.ImageChecks.Check(ctx, reports.CheckRequest{
		Image: image, Group: group, CheckPolicy: reports.CheckPolicy{FailOn: valueOrZero(failOn), FixableOnly: fixableOnly, KnownExploitedOnly: knownExploitedOnly, NewSince: newSince},
	})
}

// imageChecks resolves the fields of checks of images.
type imageChecks struct{ p *platform.Platform }

func (r root) ImageCheck() graph.ImageCheckResolver { return imageChecks(r) }

func (imageChecks) Repo(ctx context.Context, all []*reports.ImageCheck) ([]*inventory.Repo, error) {
	return follow(ctx, all, readsOf(ctx).repos(), func(c *reports.ImageCheck) core.UID { return c.Repo })
}

// FeedsAsOf is the same for all checks.
func (r imageChecks) FeedsAsOf(ctx context.Context, all []*reports.ImageCheck) ([]*core.Time, error) {
	return feedsAsOf(ctx, r.p, len(all))
}
