package rpc

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"

	eventsv2 "atrium/gen/platform/events/v2"
	iamv2 "atrium/gen/platform/iam/v2"
	registryv2 "atrium/gen/platform/registry/v2"
	vulnerabilitiesv2 "atrium/gen/platform/vulnerabilities/v2"
	"atrium/internal/wire"
	platformevents "atrium/platform/events"
	"atrium/platform/inventory"
	"atrium/platform/reports"
)

// Requests and results of package wire are read by their names in JSON, so a field that a message lacks would be left out in silence.
func TestMessagesHaveAllFieldsOfTheirJSON(t *testing.T) {
	t.Parallel()
	for _, x := range []struct {
		object  any
		message proto.Message
	}{
		{wire.FindingSummary{}, &vulnerabilitiesv2.FindingSummary{}}, {inventory.FindingFacets{}, &vulnerabilitiesv2.FindingFacets{}}, {reports.FindingRanking{}, &vulnerabilitiesv2.FindingRanking{}}, {reports.UpgradeRanking{}, &vulnerabilitiesv2.UpgradeRanking{}},
		{wire.SummarizeFindingsRequest{}, &vulnerabilitiesv2.SummarizeFindingsRequest{}},
		{wire.GetFindingActivityResponse{}, &vulnerabilitiesv2.GetFindingActivityResponse{}}, {wire.GetRemediationActivityResponse{}, &vulnerabilitiesv2.GetRemediationActivityResponse{}},
		{wire.UpdateFindingsRequest{}, &vulnerabilitiesv2.UpdateFindingsRequest{}}, {wire.UpdateFindingsResponse{}, &vulnerabilitiesv2.UpdateFindingsResponse{}},
		{wire.GetAcceptanceRulesResponse{}, &vulnerabilitiesv2.GetAcceptanceRulesResponse{}}, {wire.PreviewAcceptanceRuleRequest{}, &vulnerabilitiesv2.PreviewAcceptanceRuleRequest{}},
		{wire.PreviewAcceptanceRuleResponse{}, &vulnerabilitiesv2.PreviewAcceptanceRuleResponse{}}, {wire.DuePolicyResponse{}, &vulnerabilitiesv2.DuePolicyResponse{}},
		{wire.Interval{}, &vulnerabilitiesv2.GetFindingActivityRequest{}}, {wire.Interval{}, &vulnerabilitiesv2.GetRemediationActivityRequest{}}, {wire.Interval{}, &vulnerabilitiesv2.GetAdvisoryActivityRequest{}},
		{wire.GetAdvisoryActivityResponse{}, &vulnerabilitiesv2.GetAdvisoryActivityResponse{}}, {inventory.AdvisorySummary{}, &vulnerabilitiesv2.AdvisorySummary{}},
		{wire.VulnerabilityExposure{}, &vulnerabilitiesv2.VulnerabilityExposure{}}, {inventory.FindingFilter{}, &vulnerabilitiesv2.ListFindingsRequest{}},
		{wire.ImageCheck{}, &vulnerabilitiesv2.ImageCheck{}}, {reports.CheckRequest{}, &vulnerabilitiesv2.CheckImageRequest{}},
		{inventory.FindingFilter{}, &vulnerabilitiesv2.CountFindingsRequest{}}, {inventory.FindingFilter{}, &vulnerabilitiesv2.GetTopPackagesRequest{}}, {inventory.FindingFilter{}, &vulnerabilitiesv2.GetTopVulnerabilitiesRequest{}}, {inventory.FindingFilter{}, &vulnerabilitiesv2.GetUpgradesRequest{}},
		{inventory.PackageFilter{}, &registryv2.ListPackagesRequest{}}, {inventory.PackageFilter{}, &registryv2.CountPackagesRequest{}}, {inventory.PackageVersionFilter{}, &registryv2.ListPackageVersionsRequest{}},
		{inventory.PackageFacets{}, &registryv2.PackageFacets{}}, {wire.ImageComparison{}, &registryv2.ImageComparison{}}, {wire.CompareImagesRequest{}, &registryv2.CompareImagesRequest{}},
		{wire.BatchUpdateReposRequest{}, &registryv2.BatchUpdateReposRequest{}}, {wire.BatchUpdateReposResponse{}, &registryv2.BatchUpdateReposResponse{}},
		{wire.BatchCreateTagsRequest{}, &registryv2.BatchCreateTagsRequest{}}, {wire.BatchCreateTagsResponse{}, &registryv2.BatchCreateTagsResponse{}}, {wire.UIDs{}, &registryv2.UIDs{}},
		{wire.BatchCreateIdentitiesRequest{}, &iamv2.BatchCreateIdentitiesRequest{}}, {wire.BatchCreateIdentitiesResponse{}, &iamv2.BatchCreateIdentitiesResponse{}},
		{wire.BatchCreateGroupInvitesRequest{}, &iamv2.BatchCreateGroupInvitesRequest{}}, {wire.BatchCreateGroupInvitesResponse{}, &iamv2.BatchCreateGroupInvitesResponse{}}, {wire.UIDs{}, &iamv2.UIDs{}},
		{wire.GetEffectiveCapabilitiesRequest{}, &iamv2.GetEffectiveCapabilitiesRequest{}}, {wire.GetEffectiveCapabilitiesResponse{}, &iamv2.GetEffectiveCapabilitiesResponse{}},
		{wire.GetAccessAtRequest{}, &iamv2.GetAccessAtRequest{}}, {wire.GetAccessAtResponse{}, &iamv2.GetAccessAtResponse{}},
		{wire.GetAccessChangesRequest{}, &iamv2.GetAccessChangesRequest{}}, {wire.GetAccessChangesResponse{}, &iamv2.GetAccessChangesResponse{}},
		{wire.ConfirmRoleBindingsRequest{}, &iamv2.ConfirmRoleBindingsRequest{}}, {wire.ConfirmRoleBindingsResponse{}, &iamv2.ConfirmRoleBindingsResponse{}},
		{wire.BatchDeleteRoleBindingsRequest{}, &iamv2.BatchDeleteRoleBindingsRequest{}}, {wire.SearchRequest{}, &iamv2.SearchRequest{}}, {wire.SearchResponse{}, &iamv2.SearchResponse{}},
		{wire.GetAuditLogRequest{}, &eventsv2.GetAuditLogRequest{}}, {wire.GetAuditLogResponse{}, &eventsv2.GetAuditLogResponse{}},
		{wire.GetAuditLogRunsRequest{}, &eventsv2.GetAuditLogRunsRequest{}}, {wire.GetAuditLogRunsResponse{}, &eventsv2.GetAuditLogRunsResponse{}},
		{wire.AuditQuestion{}, &eventsv2.GetAuditLogSummaryRequest{}}, {platformevents.AuditSummary{}, &eventsv2.AuditLogSummary{}},
		{wire.EventInterval{}, &eventsv2.GetEventActivityRequest{}}, {wire.GetEventActivityResponse{}, &eventsv2.GetEventActivityResponse{}},
		{wire.RedeliverRequest{}, &eventsv2.RedeliverRequest{}}, {wire.RedeliverResponse{}, &eventsv2.RedeliverResponse{}},
		{wire.BatchCreateSubscriptionsRequest{}, &eventsv2.BatchCreateSubscriptionsRequest{}}, {wire.BatchCreateSubscriptionsResponse{}, &eventsv2.BatchCreateSubscriptionsResponse{}},
	} {
		requireFields(t, reflect.TypeOf(x.object), x.message.ProtoReflect().Descriptor(), map[reflect.Type]bool{})
	}
}

// outsideLists are fields of filters that lists take in another way.
var outsideLists = map[string]bool{"or": true, "not": true, "uids": true, "facets": true}

func requireFields(t *testing.T, object reflect.Type, message protoreflect.MessageDescriptor, seen map[reflect.Type]bool) {
	t.Helper()
	for object.Kind() == reflect.Pointer || object.Kind() == reflect.Slice {
		object = object.Elem()
	}
	if object.Kind() != reflect.Struct || seen[object] || strings.HasPrefix(string(message.FullName()), "google.protobuf.") {
		return
	}
	seen[object] = true
	isList := strings.HasSuffix(string(message.Name()), "Request")
	for _, field := range reflect.VisibleFields(object) {
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		if name == "" || name == "-" || field.Tag.Get("wire") == "-" || isList && outsideLists[name] && object == reflect.TypeFor[inventory.FindingFilter]() {
			continue
		}
		in := message.Fields().ByJSONName(name)
		switch {
		case in == nil:
			t.Errorf("%s lacks %s of %s", message.FullName(), name, object)
		case in.Message() != nil && !in.IsMap():
			requireFields(t, field.Type, in.Message(), seen)
		}
	}
}
