package resolvers

import (
	"context"

	"atrium/graph"
	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// topVulnerabilities, topPackages and upgrades resolve the fields of what rankings show.
type (
	topVulnerabilities struct{}
	topPackages        struct{}
	upgrades           struct{}
)

func (root) TopVulnerability() graph.TopVulnerabilityResolver { return topVulnerabilities{} }

func (root) TopPackage() graph.TopPackageResolver { return topPackages{} }

func (root) Upgrade() graph.UpgradeResolver { return upgrades{} }

func (topVulnerabilities) Vulnerability(ctx context.Context, all []*reports.RankedFindings) ([]*inventory.NamedVulnerability, error) {
	return followVulnerability(ctx, all, func(n *reports.RankedFindings) string { return n.VulnerabilityID })
}

func (topPackages) HeldPackage(ctx context.Context, all []*reports.RankedFindings) ([]*inventory.Package, error) {
	return followHeldPackage(ctx, all, func(n *reports.RankedFindings) core.UID { return n.PackageUID })
}

func (upgrades) HeldPackage(ctx context.Context, all []*reports.Upgrade) ([]*inventory.Package, error) {
	return followHeldPackage(ctx, all, func(u *reports.Upgrade) core.UID { return u.PackageUID })
}

func followHeldPackage[T any](ctx context.Context, all []T, uid func(T) core.UID) ([]*inventory.Package, error) {
	found, err := follow(ctx, all, readsOf(ctx).packages(), uid)
	return found, filterErrors(err, ignoreNotFound)
}

func (q queries) TopVulnerabilities(ctx context.Context, within *core.UID, where *scalar.FindingFilter, by reports.RankingOrder, first int) (*reports.FindingRanking, error) {
	return q.p.FindingRankings.Vulnerabilities(ctx, rankingRequest(within, where, by, first))
}

func (q queries) TopPackages(ctx context.Context, within *core.UID, where *scalar.FindingFilter, by reports.RankingOrder, first int) (*reports.FindingRanking, error) {
	return q.p.FindingRankings.Packages(ctx, rankingRequest(within, where, by, first))
}

func (q queries) Upgrades(ctx context.Context, within *core.UID, where *scalar.FindingFilter, first int) (*reports.UpgradeRanking, error) {
	return q.p.FindingRankings.Upgrades(ctx, rankingRequest(within, where, "", first))
}

func rankingRequest(within *core.UID, where *scalar.FindingFilter, by reports.RankingOrder, first int) reports.RankingRequest {
	f := valueOrZero(where)
	return reports.RankingRequest{Within: core.UIDFilter{DescendantsOf: valueOrZero(within), IDs: f.UIDs}, Filter: f.Findings(), By: by, First: first}
}
