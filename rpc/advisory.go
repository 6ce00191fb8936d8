package rpc

import (
	"context"

	"atrium/platform"
	advisoryv2 "atrium/rpc/gen/platform/advisory/v2"
)

type securityAdvisory struct {
	documents       platform.AdvisoryDocuments
	vulnerabilities platform.Vulnerabilities
	resolved        platform.ResolvedVulnerabilities
}

func (s securityAdvisory) ListDocuments(ctx context.Context, r *advisoryv2.ListDocumentsRequest) (*advisoryv2.ListDocumentsResponse, error) {
	documents, err := s.documents.List(ctx, platform.DocumentRequest{ID: r.GetId(), CVEs: texts[string](r.GetCves())})
	return &advisoryv2.ListDocumentsResponse{Documents: convertEach(documents, document)}, err
}

func (s securityAdvisory) ListVulnerabilityMetadata(ctx context.Context, r *advisoryv2.ListVulnerabilityMetadataRequest) (*advisoryv2.ListVulnerabilityMetadataResponse, error) {
	page, err := s.vulnerabilities.List(ctx, list(r, platform.VulnerabilityFilter{ID: r.GetId(), IDs: r.GetIds()}))
	return &advisoryv2.ListVulnerabilityMetadataResponse{
		VulnerabilityMetadata: convertEach(page.Items, vulnerability),
		NextPageToken:         page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s securityAdvisory) ListResolvedVulnsReports(ctx context.Context, r *advisoryv2.ListResolvedVulnsReportsRequest) (*advisoryv2.ListResolvedVulnsReportsResponse, error) {
	start, badStart := parseMoment("start_time", r.GetStartTime())
	end, badEnd := parseMoment("end_time", r.GetEndTime())
	reports, err := s.resolved.List(ctx, platform.ResolvedVulnerabilityRequest{
		ImageRefs: imageRefs(r.GetImageRefs()), StartTime: start, EndTime: end, Malformed: violationsOf(badStart, badEnd),
	})
	return &advisoryv2.ListResolvedVulnsReportsResponse{ResolvedVulnsReports: convertEach(reports, resolvedReport)}, err
}

func imageRefs(messages []*advisoryv2.ImageRef) []platform.ImageRef {
	refs := make([]platform.ImageRef, len(messages))
	for i, m := range messages {
		refs[i] = platform.ImageRef{Repo: m.GetRepo(), Tags: m.GetTags()}
	}
	return refs
}
