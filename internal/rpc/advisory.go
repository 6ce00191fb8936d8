package rpc

import (
	"context"

	"connectrpc.com/connect"

	advisoryv2 "atrium/gen/platform/advisory/v2"
	"atrium/gen/platform/advisory/v2/advisoryv2connect"
	"atrium/platform"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

func advisoryServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(advisoryv2connect.NewSecurityAdvisoryServiceHandler(securityAdvisory{p.AdvisoryDocuments, p.Vulnerabilities, p.ResolvedVulnerabilities}, o)),
	}
}

type securityAdvisory struct {
	documents       reports.AdvisoryDocuments
	vulnerabilities inventory.Vulnerabilities
	resolved        reports.ResolvedVulnerabilities
}

// isWhole reports whether a request has none of the fields for paging. The first version of the contract had no such
// fields and answered everything, and its clients would not see that there is another page.
func isWhole(r listing) bool {
	return r.GetPageSize() == 0 && r.GetPageToken() == "" && r.GetSkip() == 0 && r.GetOrderBy() == ""
}

func (s securityAdvisory) ListDocuments(ctx context.Context, r *advisoryv2.ListDocumentsRequest) (*advisoryv2.ListDocumentsResponse, error) {
	request := list(r, &reports.DocumentFilter{ID: r.GetId(), CVEs: texts[string](r.GetCves())})
	if isWhole(r) {
		all, err := s.documents.ListAll(ctx, request)
		return &advisoryv2.ListDocumentsResponse{Documents: convertEach(all, document), TotalCount: new(int64(len(all)))}, err
	}
	page, err := s.documents.List(ctx, request)
	return &advisoryv2.ListDocumentsResponse{
		Documents:     convertEach(page.Items, document),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s securityAdvisory) ListVulnerabilityMetadata(ctx context.Context, r *advisoryv2.ListVulnerabilityMetadataRequest) (*advisoryv2.ListVulnerabilityMetadataResponse, error) {
	page, err := s.vulnerabilities.List(ctx, list(r, &inventory.VulnerabilityFilter{ID: r.GetId(), IDs: r.GetIds()}))
	return &advisoryv2.ListVulnerabilityMetadataResponse{
		VulnerabilityMetadata: convertEach(page.Items, vulnerability),
		NextPageToken:         page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func (s securityAdvisory) ListResolvedVulnsReports(ctx context.Context, r *advisoryv2.ListResolvedVulnsReportsRequest) (*advisoryv2.ListResolvedVulnsReportsResponse, error) {
	start, badStart := parseTime("start_time", r.GetStartTime())
	end, badEnd := parseTime("end_time", r.GetEndTime())
	filter := reports.ResolvedVulnerabilityFilter{ImageRefs: imageRefs(r.GetImageRefs()), StartTime: start, EndTime: end}
	if isWhole(r) && badStart == nil && badEnd == nil {
		all, err := s.resolved.ListAll(ctx, filter)
		return &advisoryv2.ListResolvedVulnsReportsResponse{ResolvedVulnsReports: convertEach(all, resolvedReport), TotalCount: new(int64(len(all)))}, err
	}
	page, err := s.resolved.List(ctx, list(r, &filter, badStart, badEnd))
	return &advisoryv2.ListResolvedVulnsReportsResponse{
		ResolvedVulnsReports: convertEach(page.Items, resolvedReport),
		NextPageToken:        page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

func imageRefs(messages []*advisoryv2.ImageRef) []reports.ImageRef {
	refs := make([]reports.ImageRef, len(messages))
	for i, m := range messages {
		refs[i] = reports.ImageRef{Repo: m.GetRepo(), Tags: m.GetTags()}
	}
	return refs
}

func vulnerability(v *inventory.Vulnerability) *advisoryv2.VulnerabilityMetadata {
	return &advisoryv2.VulnerabilityMetadata{
		Id: v.ID, Summary: v.Summary, Details: v.Details,
		References: convertValues(v.References, reference), Severities: convertValues(v.Severities, vulnerabilitySeverity),
	}
}

func reference(r *inventory.Reference) *advisoryv2.Reference {
	return &advisoryv2.Reference{Type: enumValue[advisoryv2.Reference_Type](advisoryv2.Reference_Type_value, r.Type), Url: r.URL}
}

func vulnerabilitySeverity(s *inventory.Severity) *advisoryv2.Severity {
	return &advisoryv2.Severity{Type: enumValue[advisoryv2.Severity_Type](advisoryv2.Severity_Type_value, s.Type), Score: s.Score}
}

func document(d *reports.AdvisoryDocument) *advisoryv2.Document {
	return &advisoryv2.Document{Id: d.ID, Advisories: convertValues(d.Advisories, documentAdvisory)}
}

func documentAdvisory(a *reports.DocumentAdvisory) *advisoryv2.DocumentAdvisory {
	return &advisoryv2.DocumentAdvisory{
		Id: a.ID, Events: convertValues(a.Events, documentEvent), Aliases: a.Aliases, PackageNamespace: a.PackageNamespace,
	}
}

func documentEvent(e *inventory.DocumentEvent) *advisoryv2.DocumentEvent {
	m := &advisoryv2.DocumentEvent{Timestamp: timestamp(e.Timestamp)}
	switch {
	case e.TruePositiveDetermination != nil:
		m.Data = &advisoryv2.DocumentEvent_TruePositiveDetermination{
			TruePositiveDetermination: &advisoryv2.TruePositiveDetermination{Note: e.TruePositiveDetermination.Note},
		}
	case e.FalsePositiveDetermination != nil:
		m.Data = &advisoryv2.DocumentEvent_FalsePositiveDetermination{FalsePositiveDetermination: documentFalsePositive(e.FalsePositiveDetermination)}
	case e.Fixed != nil:
		m.Data = &advisoryv2.DocumentEvent_Fixed{Fixed: documentFixed(e.Fixed)}
	case e.Detection != nil:
		m.Data = &advisoryv2.DocumentEvent_Detection{Detection: documentDetection(e.Detection)}
	case e.AnalysisNotPlanned != nil:
		m.Data = &advisoryv2.DocumentEvent_AnalysisNotPlanned{AnalysisNotPlanned: &advisoryv2.AnalysisNotPlanned{Note: e.AnalysisNotPlanned.Note}}
	case e.FixNotPlanned != nil:
		m.Data = &advisoryv2.DocumentEvent_FixNotPlanned{FixNotPlanned: &advisoryv2.FixNotPlanned{Note: e.FixNotPlanned.Note}}
	case e.PendingUpstreamFix != nil:
		m.Data = &advisoryv2.DocumentEvent_PendingUpstreamFix{PendingUpstreamFix: &advisoryv2.PendingUpstreamFix{Note: e.PendingUpstreamFix.Note}}
	}
	return m
}

func documentFixed(f *inventory.DocumentFixed) *advisoryv2.Fixed {
	return &advisoryv2.Fixed{
		FixedVersion: f.FixedVersion, ScannerVersion: f.ScannerVersion, GrypeDbBuilt: f.GrypeDBBuilt, GrypeDbChecksum: f.GrypeDBChecksum,
	}
}

func documentFalsePositive(f *inventory.FalsePositiveDetermination) *advisoryv2.FalsePositiveDetermination {
	types := advisoryv2.FalsePositiveDetermination_Type_value
	return &advisoryv2.FalsePositiveDetermination{Type: enumValue[advisoryv2.FalsePositiveDetermination_Type](types, f.Type), Note: f.Note}
}

func documentDetection(d *inventory.DocumentDetection) *advisoryv2.Detection {
	m := &advisoryv2.Detection{}
	switch {
	case d.NVDAPI != nil:
		m.Type = &advisoryv2.Detection_Nvdapi{
			Nvdapi: &advisoryv2.DetectionTypeNVDAPI{CpeSearched: d.NVDAPI.CPESearched, CpeFound: d.NVDAPI.CPEFound},
		}
	case d.Manual != nil:
		m.Type = &advisoryv2.Detection_Manual{Manual: &advisoryv2.DetectionTypeManual{}}
	case d.ScanV1 != nil:
		m.Type = &advisoryv2.Detection_Scanv1{Scanv1: documentScan(d.ScanV1)}
	}
	return m
}

func documentScan(s *inventory.DocumentScanV1) *advisoryv2.DetectionTypeScanV1 {
	return &advisoryv2.DetectionTypeScanV1{
		Scanner: s.Scanner, SubpackageName: s.SubpackageName, ComponentId: s.ComponentID, ComponentName: s.ComponentName,
		ComponentVersion: s.ComponentVersion, ComponentType: s.ComponentType, ComponentLocation: s.ComponentLocation,
		ArtifactVersion: s.ArtifactVersion, ScannerVersion: s.ScannerVersion, GrypeDbBuilt: s.GrypeDBBuilt, GrypeDbChecksum: s.GrypeDBChecksum,
	}
}

func resolvedReport(r *reports.ResolvedVulnerabilityReport) *advisoryv2.ResolvedVulnsReport {
	return &advisoryv2.ResolvedVulnsReport{
		Date: timestamp(r.Date), ResolvedVulns: convertValues(r.ResolvedVulns, resolvedVuln),
		ImageRef: &advisoryv2.ImageRef{Repo: r.ImageRef.Repo, Tags: r.ImageRef.Tags},
	}
}

func resolvedVuln(v *reports.ResolvedVulnerability) *advisoryv2.ResolvedVuln {
	return &advisoryv2.ResolvedVuln{Id: v.ID, Aliases: v.Aliases, CvssSeverities: convertValues(v.CVSSSeverities, vulnerabilitySeverity)}
}
