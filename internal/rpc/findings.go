package rpc

import (
	"context"

	"google.golang.org/protobuf/types/known/emptypb"

	v2 "atrium/gen/platform/vulnerabilities/v2"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

type findings struct {
	p *platform.Platform
	wire.Operations
}

func (s findings) ListFindings(ctx context.Context, r *v2.ListFindingsRequest) (*v2.ListFindingsResponse, error) {
	page, err := s.p.Findings.List(ctx, listBy[inventory.FindingFilter](r))
	return &v2.ListFindingsResponse{
		Findings:      convertEach(page.Items, finding),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s findings) GetFinding(ctx context.Context, r *v2.GetFindingRequest) (*v2.Finding, error) {
	return convert(finding)(s.p.Findings.Get(ctx, core.UID(r.GetUid())))
}

func (s findings) SummarizeFindings(ctx context.Context, r *v2.SummarizeFindingsRequest) (*v2.FindingSummary, error) {
	return ask[v2.FindingSummary](ctx, r, s.Operations.SummarizeFindings)
}

func (s findings) CheckImage(ctx context.Context, r *v2.CheckImageRequest) (*v2.ImageCheck, error) {
	return ask[v2.ImageCheck](ctx, r, s.Operations.CheckImage)
}

func (s findings) CountFindings(ctx context.Context, r *v2.CountFindingsRequest) (*v2.FindingFacets, error) {
	req := wire.CountFindingsRequest{ListRequest: listBy[inventory.FindingFilter](r)}
	for _, facet := range r.GetFacets() {
		req.Facets = append(req.Facets, inventory.FindingFacet(facet.String()))
	}
	return encodeMessage[v2.FindingFacets](s.Operations.CountFindings(ctx, &req))
}

func (s findings) GetFindingActivity(ctx context.Context, r *v2.GetFindingActivityRequest) (*v2.GetFindingActivityResponse, error) {
	return ask[v2.GetFindingActivityResponse](ctx, r, s.Operations.GetFindingActivity)
}

func (s findings) GetRemediationActivity(ctx context.Context, r *v2.GetRemediationActivityRequest) (*v2.GetRemediationActivityResponse, error) {
	return ask[v2.GetRemediationActivityResponse](ctx, r, s.Operations.GetRemediationActivity)
}

func (s findings) GetTopVulnerabilities(ctx context.Context, r *v2.GetTopVulnerabilitiesRequest) (*v2.FindingRanking, error) {
	return encodeMessage[v2.FindingRanking](s.Operations.GetTopVulnerabilities(ctx, &wire.Ranking{ListRequest: listBy[inventory.FindingFilter](r), By: r.GetBy(), First: int(r.GetFirst())}))
}

func (s findings) GetTopPackages(ctx context.Context, r *v2.GetTopPackagesRequest) (*v2.FindingRanking, error) {
	return encodeMessage[v2.FindingRanking](s.Operations.GetTopPackages(ctx, &wire.Ranking{ListRequest: listBy[inventory.FindingFilter](r), By: r.GetBy(), First: int(r.GetFirst())}))
}

func (s findings) GetUpgrades(ctx context.Context, r *v2.GetUpgradesRequest) (*v2.UpgradeRanking, error) {
	return encodeMessage[v2.UpgradeRanking](s.Operations.GetUpgrades(ctx, &wire.Ranking{ListRequest: listBy[inventory.FindingFilter](r), First: int(r.GetFirst())}))
}

func (s findings) UpdateFindings(ctx context.Context, r *v2.UpdateFindingsRequest) (*v2.UpdateFindingsResponse, error) {
	return ask[v2.UpdateFindingsResponse](ctx, r, s.Operations.UpdateFindings)
}

func (s findings) GetAcceptanceRules(ctx context.Context, r *v2.GetAcceptanceRulesRequest) (*v2.GetAcceptanceRulesResponse, error) {
	return ask[v2.GetAcceptanceRulesResponse](ctx, r, s.Operations.GetAcceptanceRules)
}

func (s findings) CreateAcceptanceRule(ctx context.Context, r *v2.CreateAcceptanceRuleRequest) (*v2.AcceptanceRule, error) {
	return ask[v2.AcceptanceRule](ctx, r.GetAcceptanceRule(), func(ctx context.Context, in *wire.AcceptanceRule) (*wire.AcceptanceRule, error) {
		in.Within = core.UID(r.GetParent())
		return s.Operations.CreateAcceptanceRule(ctx, in)
	})
}

func (s findings) PreviewAcceptanceRule(ctx context.Context, r *v2.PreviewAcceptanceRuleRequest) (*v2.PreviewAcceptanceRuleResponse, error) {
	return ask[v2.PreviewAcceptanceRuleResponse](ctx, r, s.Operations.PreviewAcceptanceRule)
}

func (s findings) DeleteAcceptanceRule(ctx context.Context, r *v2.DeleteAcceptanceRuleRequest) (*emptypb.Empty, error) {
	return emptyResult(s.p.Findings.DeletePattern(ctx, core.UID(r.GetUid())))
}

func (s findings) GetDuePolicy(ctx context.Context, r *v2.GetDuePolicyRequest) (*v2.DuePolicyResponse, error) {
	return ask[v2.DuePolicyResponse](ctx, r, s.Operations.GetDuePolicy)
}

func (s findings) SetDuePolicy(ctx context.Context, r *v2.SetDuePolicyRequest) (*v2.DuePolicyResponse, error) {
	return ask[v2.DuePolicyResponse](ctx, r, s.Operations.SetDuePolicy)
}

func finding(f *inventory.Finding) *v2.Finding {
	m := &v2.Finding{
		Uid: string(f.UID), Repo: string(f.Repo), Digest: f.Digest, Advisory: string(f.Advisory), Sources: f.Sources, DisputedBy: f.DisputedBy,
		VulnerabilityId: f.VulnerabilityID, Package: f.Package, Ecosystem: f.Ecosystem, InstalledVersion: f.InstalledVersion,
		BinaryPackages: convertValues(f.BinaryPackages, func(b *inventory.BinaryPackage) *v2.BinaryPackage {
			return &v2.BinaryPackage{Name: b.Name, Version: b.Version}
		}),
		Scope: enumValue[v2.PackageScope](v2.PackageScope_value, f.Scope), Direct: f.Direct, FixedVersions: f.FixedVersions,
		Severity: advisorySeverity(&f.Severity), KnownExploited: f.KnownExploited, Epss: f.EPSS,
		Basis: enumValue[v2.FindingBasis](v2.FindingBasis_value, f.Basis), State: enumValue[v2.FindingState](v2.FindingState_value, f.State),
		Justification: f.Justification, Note: f.Note, Assignee: string(f.Assignee), DueTime: timestamp(f.DueTime), ExpireTime: timestamp(f.ExpireTime),
		FirstSeenTime: timestamp(f.FirstSeenTime), ResolvedTime: timestamp(f.ResolvedTime), UpdateTime: timestamp(f.UpdateTime), DecidedBy: f.DecidedBy,
	}
	if f.IsNewInRepo {
		m.NewInRepo = &f.IsNewInRepo
	}
	return m
}
