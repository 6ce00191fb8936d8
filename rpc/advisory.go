package rpc

import (
	"context"

	"atrium/platform"
	advisoryv2 "atrium/rpc/gen/platform/advisory/v2"
	"atrium/rpc/gen/platform/advisory/v2/advisoryv2connect"
)

type securityAdvisory struct {
	advisoryv2connect.UnimplementedSecurityAdvisoryServiceHandler
	of platform.Vulnerabilities
}

func (s securityAdvisory) ListVulnerabilityMetadata(ctx context.Context, r *advisoryv2.ListVulnerabilityMetadataRequest) (*advisoryv2.ListVulnerabilityMetadataResponse, error) {
	page, err := s.of.List(ctx, list(r, platform.VulnerabilityFilter{ID: r.GetId(), IDs: r.GetIds()}))
	return &advisoryv2.ListVulnerabilityMetadataResponse{
		VulnerabilityMetadata: each(page.Items, vulnerability),
		NextPageToken:         page.NextPageToken, TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func vulnerability(v *platform.Vulnerability) *advisoryv2.VulnerabilityMetadata {
	return &advisoryv2.VulnerabilityMetadata{
		Id: v.ID, Summary: v.Summary, Details: v.Details,
		References: eachOf(v.References, reference), Severities: eachOf(v.Severities, vulnerabilitySeverity),
	}
}

func reference(r *platform.Reference) *advisoryv2.Reference {
	return &advisoryv2.Reference{Type: value[advisoryv2.Reference_Type](advisoryv2.Reference_Type_value, r.Type), Url: r.URL}
}

func vulnerabilitySeverity(s *platform.Severity) *advisoryv2.Severity {
	return &advisoryv2.Severity{Type: value[advisoryv2.Severity_Type](advisoryv2.Severity_Type_value, s.Type), Score: s.Score}
}
