package rpc

import (
	"context"

	"atrium/platform"
	vulnerabilitiesv2 "atrium/rpc/gen/platform/vulnerabilities/v2"
)

type advisories struct{ of platform.Advisories }

func (s advisories) GetAdvisory(ctx context.Context, r *vulnerabilitiesv2.GetAdvisoryRequest) (*vulnerabilitiesv2.Advisory, error) {
	return convert(advisory)(s.of.Get(ctx, platform.UID(r.GetUid())))
}

func (s advisories) ListAdvisories(ctx context.Context, r *vulnerabilitiesv2.ListAdvisoriesRequest) (*vulnerabilitiesv2.ListAdvisoriesResponse, error) {
	page, err := s.of.List(ctx, list(r, platform.AdvisoryFilter{
		AdvisoryIDs: r.GetAdvisoryIds(), LegacyAdvisoryIDs: r.GetLegacyAdvisoryIds(),
		ArtifactNames: r.GetArtifactNames(), ArtifactTypes: r.GetArtifactTypes(), ArtifactArchitectures: r.GetArtifactArchitectures(),
		ComponentNames: r.GetComponentNames(), ComponentTypes: r.GetComponentTypes(), ComponentLocations: r.GetComponentLocations(),
		Aliases: r.GetAliases(), Origin: r.GetOrigin(),
		EventReviewStates: names[platform.ReviewState](r.GetEventReviewStates()),
		EventAuthors:      r.GetEventAuthors(), ExcludeEventAuthors: r.GetExcludeEventAuthors(), EventReviewers: r.GetEventReviewers(),
		EventTypes: names[platform.EventType](r.GetEventTypes()), LatestEventType: latestEventType(r),
		Query: r.GetQuery(), Severities: names[platform.SeverityRating](r.GetSeverities()), MinScore: r.MinScore, Withdrawn: r.GetWithdrawn(),
	}, notEmpty("origin", r.Origin)))
	return &vulnerabilitiesv2.ListAdvisoriesResponse{
		Advisories:    convertEach(page.Items, advisory),
		NextPageToken: page.NextPageToken(), TotalCount: &page.TotalCount, Skipped: int32(page.Skipped),
	}, err
}

// latestEventType names what is given, even if that says nothing: the
// operation refuses it.
func latestEventType(r *vulnerabilitiesv2.ListAdvisoriesRequest) platform.EventType {
	if r.LatestEventType == nil {
		return ""
	}
	return platform.EventType(r.GetLatestEventType().String())
}
