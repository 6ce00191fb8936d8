package resolvers

import (
	"context"

	"atrium/graph/scalar"
	"atrium/platform/core"
	"atrium/platform/reports"
)

func (q queries) TopVulnerabilities(ctx context.Context, within *core.UID, where *scalar.FindingFilter, by reports.RankingOrder, first int) (*reports.FindingRanking, error) {
	return q.p.FindingRankings.Vulnerabilities(ctx, rankingRequest(within, where, by, first))
}

func (q queries) TopPackages(ctx context.Context, within *core.UID, where *scalar.FindingFilter, by reports.RankingOrder, first int) (*reports.FindingRanking, error) {
	return q.p.FindingRankings.Packages(ctx, rankingRequest(within, where, by, first))
}

func rankingRequest(within *core.UID, where *scalar.FindingFilter, by reports.RankingOrder, first int) reports.RankingRequest {
	f := valueOrZero(where)
	return reports.RankingRequest{Within: listScope(within, nil, f.ByUID), Filter: f.Findings(), By: by, First: first}
}
