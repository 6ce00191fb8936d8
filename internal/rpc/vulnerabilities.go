package rpc

import (
	"context"

	"connectrpc.com/connect"

	vulnerabilitiesv2 "atrium/gen/platform/vulnerabilities/v2"
	"atrium/gen/platform/vulnerabilities/v2/vulnerabilitiesv2connect"
	"atrium/internal/wire"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/inventory"
)

func vulnerabilitiesServices(p *platform.Platform, o connect.HandlerOption) []service {
	return []service{
		newService(vulnerabilitiesv2connect.NewAdvisoriesServiceHandler(advisories{p.Advisories}, o)),
		newService(vulnerabilitiesv2connect.NewExposuresServiceHandler(exposures{wire.New(p)}, o)),
		newService(vulnerabilitiesv2connect.NewFindingsServiceHandler(findings{p, wire.New(p)}, o)),
	}
}

type advisories struct{ operations inventory.Advisories }

func (s advisories) GetAdvisory(ctx context.Context, r *vulnerabilitiesv2.GetAdvisoryRequest) (*vulnerabilitiesv2.Advisory, error) {
	return convert(advisory)(s.operations.Get(ctx, core.UID(r.GetUid())))
}

func (s advisories) ListAdvisories(ctx context.Context, r *vulnerabilitiesv2.ListAdvisoriesRequest) (*vulnerabilitiesv2.ListAdvisoriesResponse, error) {
	page, err := s.operations.List(ctx, list(r, &inventory.AdvisoryFilter{
		AdvisoryIDs: r.GetAdvisoryIds(), LegacyAdvisoryIDs: r.GetLegacyAdvisoryIds(),
		ArtifactNames: r.GetArtifactNames(), ArtifactTypes: r.GetArtifactTypes(), ArtifactArchitectures: r.GetArtifactArchitectures(),
		ComponentNames: r.GetComponentNames(), ComponentTypes: r.GetComponentTypes(), ComponentLocations: r.GetComponentLocations(),
		Aliases: r.GetAliases(), Origin: r.GetOrigin(),
		EventReviewStates: names[inventory.ReviewState](r.GetEventReviewStates()),
		EventAuthors:      r.GetEventAuthors(), ExcludeEventAuthors: r.GetExcludeEventAuthors(), EventReviewers: r.GetEventReviewers(),
		EventTypes: names[inventory.EventType](r.GetEventTypes()), LatestEventType: latestEventType(r),
		Query: r.GetQuery(), Severities: names[core.SeverityRating](r.GetSeverities()), MinScore: r.MinScore, Withdrawn: r.GetWithdrawn(),
		States: names[inventory.AdvisoryState](r.GetStates()),
	}, checkNotEmpty("origin", r.Origin)))
	return &vulnerabilitiesv2.ListAdvisoriesResponse{
		Advisories:    convertEach(page.Items, advisory),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

// latestEventType returns the name of the requested type, even if it is unspecified: the
// operation rejects that.
func latestEventType(r *vulnerabilitiesv2.ListAdvisoriesRequest) inventory.EventType {
	if r.LatestEventType == nil {
		return ""
	}
	return inventory.EventType(r.GetLatestEventType().String())
}

func advisory(a *inventory.Advisory) *vulnerabilitiesv2.Advisory {
	return &vulnerabilitiesv2.Advisory{
		Uid: string(a.UID), AdvisoryId: a.AdvisoryID, LegacyAdvisoryId: optional(a.LegacyAdvisoryID), Aliases: a.Aliases,
		CreateTime: timestamp(a.CreateTime), UpdateTime: timestamp(a.UpdateTime), DeleteTime: timestamp(a.DeleteTime), Author: a.Author,
		ArtifactName: a.ArtifactName, ArtifactType: a.ArtifactType, ArtifactArchitecture: a.ArtifactArchitecture,
		ComponentName: a.ComponentName, ComponentLocation: a.ComponentLocation, ComponentType: a.ComponentType,
		Events: convertValues(a.Events, advisoryEvent), Severities: convertValues(a.Severities, severity),
		Severity: advisorySeverity(&a.Severity),
	}
}

func advisorySeverity(s *inventory.AdvisorySeverity) *vulnerabilitiesv2.AdvisorySeverity {
	return &vulnerabilitiesv2.AdvisorySeverity{
		Rating: enumValue[vulnerabilitiesv2.SeverityRating](vulnerabilitiesv2.SeverityRating_value, s.Rating),
		Score:  s.Score, Vector: s.Vector, Version: s.Version,
		Source: enumValue[vulnerabilitiesv2.SeveritySource](vulnerabilitiesv2.SeveritySource_value, s.Source),
	}
}

func severity(s *inventory.Severity) *vulnerabilitiesv2.Severity {
	return &vulnerabilitiesv2.Severity{Type: enumValue[vulnerabilitiesv2.Severity_Type](vulnerabilitiesv2.Severity_Type_value, s.Type), Score: s.Score}
}

func advisoryEvent(e *inventory.AdvisoryEvent) *vulnerabilitiesv2.AdvisoryEvent {
	m := &vulnerabilitiesv2.AdvisoryEvent{
		Uid: string(e.UID), CreateTime: timestamp(e.CreateTime), Findings: e.Findings, Author: e.Author, Reviewer: e.Reviewer,
		ReviewState: enumValue[vulnerabilitiesv2.ReviewState](vulnerabilitiesv2.ReviewState_value, e.ReviewState), Issue: optional(e.Issue),
	}
	switch {
	case e.Detection != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_Detection{Detection: detection(e.Detection)}
	case e.Fixed != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_Fixed{Fixed: fixedVersion(e.Fixed)}
	case e.FalsePositiveDetermination != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_FalsePositiveDetermination{FalsePositiveDetermination: falsePositive(e.FalsePositiveDetermination)}
	case e.AnalysisNotPlanned != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_AnalysisNotPlanned{AnalysisNotPlanned: &vulnerabilitiesv2.AnalysisNotPlanned{Note: e.AnalysisNotPlanned.Note}}
	case e.FixNotPlanned != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_FixNotPlanned{FixNotPlanned: &vulnerabilitiesv2.FixNotPlanned{Note: e.FixNotPlanned.Note}}
	case e.PendingUpstreamFix != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_PendingUpstreamFix{PendingUpstreamFix: &vulnerabilitiesv2.PendingUpstreamFix{Note: e.PendingUpstreamFix.Note}}
	case e.TruePositiveDetermination != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_TruePositiveDetermination{
			TruePositiveDetermination: &vulnerabilitiesv2.TruePositiveDetermination{Note: e.TruePositiveDetermination.Note},
		}
	case e.Patched != nil:
		m.Type = &vulnerabilitiesv2.AdvisoryEvent_Patched{
			Patched: &vulnerabilitiesv2.Patched{PatchedVersions: e.Patched.PatchedVersions, Note: e.Patched.Note},
		}
	}
	return m
}

func fixedVersion(f *inventory.Fixed) *vulnerabilitiesv2.Fixed {
	return &vulnerabilitiesv2.Fixed{
		FixedVersion: f.FixedVersion, Note: f.Note,
		ScannerVersion: f.ScannerVersion, GrypeDbBuilt: f.GrypeDBBuilt, GrypeDbChecksum: f.GrypeDBChecksum,
	}
}

func falsePositive(f *inventory.FalsePositiveDetermination) *vulnerabilitiesv2.FalsePositiveDetermination {
	types := vulnerabilitiesv2.FalsePositiveDetermination_Type_value
	return &vulnerabilitiesv2.FalsePositiveDetermination{Type: enumValue[vulnerabilitiesv2.FalsePositiveDetermination_Type](types, f.Type), Note: f.Note}
}

func detection(d *inventory.Detection) *vulnerabilitiesv2.Detection {
	m := &vulnerabilitiesv2.Detection{}
	switch {
	case d.NVDAPI != nil:
		m.Type = &vulnerabilitiesv2.Detection_Nvdapi{
			Nvdapi: &vulnerabilitiesv2.NVDAPI{CpeSearched: d.NVDAPI.CPESearched, CpeFound: d.NVDAPI.CPEFound},
		}
	case d.Manual != nil:
		m.Type = &vulnerabilitiesv2.Detection_Manual{Manual: &vulnerabilitiesv2.Manual{}}
	case d.ScanV1 != nil:
		m.Type = &vulnerabilitiesv2.Detection_Scanv1{Scanv1: scan(d.ScanV1)}
	}
	return m
}

func scan(s *inventory.ScanV1) *vulnerabilitiesv2.ScanV1 {
	return &vulnerabilitiesv2.ScanV1{
		Scanner: s.Scanner, Subpackage: s.Subpackage, ComponentId: s.ComponentID, Component: s.Component,
		ComponentVersion: s.ComponentVersion, ComponentType: s.ComponentType, ComponentLocation: s.ComponentLocation,
		ArtifactVersion: s.ArtifactVersion, ScannerVersion: s.ScannerVersion, GrypeDbBuilt: s.GrypeDBBuilt, GrypeDbChecksum: s.GrypeDBChecksum,
	}
}
