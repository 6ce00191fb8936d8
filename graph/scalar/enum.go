package scalar

import (
	"cmp"
	"fmt"
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/internal/graphql/execute"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/operations"
	"atrium/platform/reports"
	"atrium/platform/webhooks"
)

// An enum value is its name in the core without the prefix that all values of the enum
// have; unspecified is null. Inputs are checked against the schema before these
// functions are called.

func appendEnum[E ~string](b []byte, prefix string, value E) []byte {
	name := strings.TrimPrefix(string(value), prefix)
	if name == "" || name == "UNSPECIFIED" {
		return execute.AppendNull(b)
	}
	return execute.AppendString(b, name)
}

func value[E ~string](prefix string, v any) (E, error) {
	name, err := graphql.UnmarshalString(v)
	if name == "" || err != nil {
		return "", err
	}
	return E(prefix + name), nil
}

// capabilities maps names in the enum to capabilities.
var capabilities = func() map[string]core.Capability {
	byName := map[string]core.Capability{}
	for _, c := range core.Capabilities() {
		byName[capabilityName(c)] = c
	}
	return byName
}()

func capabilityName(c core.Capability) string {
	return strings.ToUpper(strings.ReplaceAll(string(c), ".", "_"))
}

// AppendCapability appends a capability as JSON: its name in upper snake case.
func AppendCapability(b []byte, c core.Capability, _ bool) []byte {
	return execute.AppendString(b, capabilityName(c))
}

// MarshalCapability returns the marshaler of a capability.
func MarshalCapability(c core.Capability) graphql.Marshaler {
	return marshal(AppendCapability(nil, c, false))
}

// UnmarshalCapability reads a capability. An unknown name is an error, because the core
// takes no capability as no condition.
func UnmarshalCapability(v any) (core.Capability, error) {
	name, err := graphql.UnmarshalString(v)
	if v == nil || err != nil {
		return "", err
	}
	capability, known := capabilities[name]
	if !known {
		return "", fmt.Errorf("%s is not a valid Capability", name)
	}
	return capability, nil
}

// AppendOrgKind appends an organization kind as JSON.
func AppendOrgKind(b []byte, v iam.OrgKind, _ bool) []byte { return appendEnum(b, "ORG_KIND_", v) }

// MarshalOrgKind returns the marshaler of an organization kind.
func MarshalOrgKind(v iam.OrgKind) graphql.Marshaler {
	return marshal(AppendOrgKind(nil, v, true))
}

// UnmarshalOrgKind reads an organization kind.
func UnmarshalOrgKind(v any) (iam.OrgKind, error) {
	return value[iam.OrgKind]("ORG_KIND_", v)
}

// AppendOrgStatus appends an organization status as JSON.
func AppendOrgStatus(b []byte, v iam.OrgStatus, _ bool) []byte {
	return appendEnum(b, "ORG_STATUS_", v)
}

// MarshalOrgStatus returns the marshaler of an organization status.
func MarshalOrgStatus(v iam.OrgStatus) graphql.Marshaler {
	return marshal(AppendOrgStatus(nil, v, true))
}

// UnmarshalOrgStatus reads an organization status.
func UnmarshalOrgStatus(v any) (iam.OrgStatus, error) {
	return value[iam.OrgStatus]("ORG_STATUS_", v)
}

// AppendCatalogTier appends a catalog tier as JSON.
func AppendCatalogTier(b []byte, v core.CatalogTier, _ bool) []byte {
	return appendEnum(b, "CATALOG_TIER_", v)
}

// MarshalCatalogTier returns the marshaler of a catalog tier.
func MarshalCatalogTier(v core.CatalogTier) graphql.Marshaler {
	return marshal(AppendCatalogTier(nil, v, true))
}

// UnmarshalCatalogTier reads a catalog tier.
func UnmarshalCatalogTier(v any) (core.CatalogTier, error) {
	return value[core.CatalogTier]("CATALOG_TIER_", v)
}

// AppendCorrelationRule appends a correlation rule as JSON.
func AppendCorrelationRule(b []byte, v iam.CorrelationRule, _ bool) []byte {
	return appendEnum(b, "CORRELATION_RULE_", v)
}

// MarshalCorrelationRule returns the marshaler of a correlation rule.
func MarshalCorrelationRule(v iam.CorrelationRule) graphql.Marshaler {
	return marshal(AppendCorrelationRule(nil, v, true))
}

// UnmarshalCorrelationRule reads a correlation rule.
func UnmarshalCorrelationRule(v any) (iam.CorrelationRule, error) {
	return value[iam.CorrelationRule]("CORRELATION_RULE_", v)
}

// AppendRelationshipType appends a relationship type as JSON.
func AppendRelationshipType(b []byte, v iam.RelationshipType, _ bool) []byte {
	return appendEnum(b, "RELATIONSHIP_TYPE_", v)
}

// MarshalRelationshipType returns the marshaler of a relationship type.
func MarshalRelationshipType(v iam.RelationshipType) graphql.Marshaler {
	return marshal(AppendRelationshipType(nil, v, true))
}

// UnmarshalRelationshipType reads a relationship type.
func UnmarshalRelationshipType(v any) (iam.RelationshipType, error) {
	return value[iam.RelationshipType]("RELATIONSHIP_TYPE_", v)
}

// AppendIdentityKind appends a kind of identities as JSON.
func AppendIdentityKind(b []byte, v iam.IdentityType, _ bool) []byte {
	return appendEnum(b, "IDENTITY_KIND_", v)
}

// MarshalIdentityKind returns the marshaler of a kind of identities.
func MarshalIdentityKind(v iam.IdentityType) graphql.Marshaler {
	return marshal(AppendIdentityKind(nil, v, true))
}

// UnmarshalIdentityKind reads a kind of identities.
func UnmarshalIdentityKind(v any) (iam.IdentityType, error) {
	return value[iam.IdentityType]("IDENTITY_KIND_", v)
}

// AppendReviewState appends a review state as JSON.
func AppendReviewState(b []byte, v inventory.ReviewState, _ bool) []byte {
	return appendEnum(b, "REVIEW_STATE_", v)
}

// MarshalReviewState returns the marshaler of a review state.
func MarshalReviewState(v inventory.ReviewState) graphql.Marshaler {
	return marshal(AppendReviewState(nil, v, true))
}

// UnmarshalReviewState reads a review state.
func UnmarshalReviewState(v any) (inventory.ReviewState, error) {
	return value[inventory.ReviewState]("REVIEW_STATE_", v)
}

// AppendAdvisoryEventType appends an advisory event type as JSON.
func AppendAdvisoryEventType(b []byte, v inventory.EventType, _ bool) []byte {
	return appendEnum(b, "EVENT_TYPE_FILTER_", v)
}

// MarshalAdvisoryEventType returns the marshaler of an advisory event type.
func MarshalAdvisoryEventType(v inventory.EventType) graphql.Marshaler {
	return marshal(AppendAdvisoryEventType(nil, v, true))
}

// UnmarshalAdvisoryEventType reads an advisory event type.
func UnmarshalAdvisoryEventType(v any) (inventory.EventType, error) {
	return value[inventory.EventType]("EVENT_TYPE_FILTER_", v)
}

// AppendAdvisoryState appends an advisory state as JSON.
func AppendAdvisoryState(b []byte, v inventory.AdvisoryState, _ bool) []byte {
	return appendEnum(b, "ADVISORY_STATE_", v)
}

// MarshalAdvisoryState returns the marshaler of an advisory state.
func MarshalAdvisoryState(v inventory.AdvisoryState) graphql.Marshaler {
	return marshal(AppendAdvisoryState(nil, v, true))
}

// UnmarshalAdvisoryState reads an advisory state.
func UnmarshalAdvisoryState(v any) (inventory.AdvisoryState, error) {
	return value[inventory.AdvisoryState]("ADVISORY_STATE_", v)
}

// AppendSeverityRating appends a severity rating as JSON.
func AppendSeverityRating(b []byte, v core.SeverityRating, _ bool) []byte {
	return appendEnum(b, "SEVERITY_RATING_", v)
}

// MarshalSeverityRating returns the marshaler of a severity rating.
func MarshalSeverityRating(v core.SeverityRating) graphql.Marshaler {
	return marshal(AppendSeverityRating(nil, v, true))
}

// UnmarshalSeverityRating reads a severity rating.
func UnmarshalSeverityRating(v any) (core.SeverityRating, error) {
	return value[core.SeverityRating]("SEVERITY_RATING_", v)
}

// AppendSeveritySource appends a severity source as JSON.
func AppendSeveritySource(b []byte, v inventory.SeveritySource, _ bool) []byte {
	return appendEnum(b, "SEVERITY_SOURCE_", v)
}

// MarshalSeveritySource returns the marshaler of a severity source.
func MarshalSeveritySource(v inventory.SeveritySource) graphql.Marshaler {
	return marshal(AppendSeveritySource(nil, v, true))
}

// UnmarshalSeveritySource reads a severity source.
func UnmarshalSeveritySource(v any) (inventory.SeveritySource, error) {
	return value[inventory.SeveritySource]("SEVERITY_SOURCE_", v)
}

// AppendEcosystem appends an ecosystem as JSON.
func AppendEcosystem(b []byte, v libraries.Ecosystem, _ bool) []byte {
	return appendEnum(b, "ECOSYSTEM_", v)
}

// MarshalEcosystem returns the marshaler of an ecosystem.
func MarshalEcosystem(v libraries.Ecosystem) graphql.Marshaler {
	return marshal(AppendEcosystem(nil, v, true))
}

// UnmarshalEcosystem reads an ecosystem.
func UnmarshalEcosystem(v any) (libraries.Ecosystem, error) {
	return value[libraries.Ecosystem]("ECOSYSTEM_", v)
}

// AppendSubscriptionFormat appends a format as JSON.
func AppendSubscriptionFormat(b []byte, v webhooks.Format, _ bool) []byte {
	return appendEnum(b, "SUBSCRIPTION_FORMAT_", cmp.Or(v, webhooks.FormatCloudEvents))
}

// MarshalSubscriptionFormat returns the marshaler of a format.
func MarshalSubscriptionFormat(v webhooks.Format) graphql.Marshaler {
	return marshal(AppendSubscriptionFormat(nil, v, true))
}

// UnmarshalSubscriptionFormat reads a format.
func UnmarshalSubscriptionFormat(v any) (webhooks.Format, error) {
	return value[webhooks.Format]("SUBSCRIPTION_FORMAT_", v)
}

// AppendSubscriptionDigest appends a digest as JSON.
func AppendSubscriptionDigest(b []byte, v webhooks.Digest, _ bool) []byte {
	return appendEnum(b, "SUBSCRIPTION_DIGEST_", cmp.Or(v, webhooks.DigestImmediate))
}

// MarshalSubscriptionDigest returns the marshaler of a digest.
func MarshalSubscriptionDigest(v webhooks.Digest) graphql.Marshaler {
	return marshal(AppendSubscriptionDigest(nil, v, true))
}

// UnmarshalSubscriptionDigest reads a digest.
func UnmarshalSubscriptionDigest(v any) (webhooks.Digest, error) {
	return value[webhooks.Digest]("SUBSCRIPTION_DIGEST_", v)
}

// AppendDeliveryState appends a delivery state as JSON.
func AppendDeliveryState(b []byte, v webhooks.DeliveryState, _ bool) []byte {
	return appendEnum(b, "", v)
}

// MarshalDeliveryState returns the marshaler of a delivery state.
func MarshalDeliveryState(v webhooks.DeliveryState) graphql.Marshaler {
	return marshal(AppendDeliveryState(nil, v, true))
}

// UnmarshalDeliveryState reads a delivery state.
func UnmarshalDeliveryState(v any) (webhooks.DeliveryState, error) {
	return value[webhooks.DeliveryState]("", v)
}

// AppendCheckVerdict appends a verdict of a check as JSON.
func AppendCheckVerdict(b []byte, v reports.CheckVerdict, _ bool) []byte {
	return appendEnum(b, "CHECK_VERDICT_", v)
}

// MarshalCheckVerdict returns the marshaler of a verdict of a check.
func MarshalCheckVerdict(v reports.CheckVerdict) graphql.Marshaler {
	return marshal(AppendCheckVerdict(nil, v, true))
}

// UnmarshalCheckVerdict reads a verdict of a check.
func UnmarshalCheckVerdict(v any) (reports.CheckVerdict, error) {
	return value[reports.CheckVerdict]("CHECK_VERDICT_", v)
}

// AppendFindingBasis appends a basis of a finding as JSON.
func AppendFindingBasis(b []byte, v inventory.FindingBasis, _ bool) []byte {
	return appendEnum(b, "FINDING_BASIS_", v)
}

// MarshalFindingBasis returns the marshaler of a basis of a finding.
func MarshalFindingBasis(v inventory.FindingBasis) graphql.Marshaler {
	return marshal(AppendFindingBasis(nil, v, true))
}

// UnmarshalFindingBasis reads a basis of a finding.
func UnmarshalFindingBasis(v any) (inventory.FindingBasis, error) {
	return value[inventory.FindingBasis]("FINDING_BASIS_", v)
}

// AppendPackageScope appends the scope of a package as JSON.
func AppendPackageScope(b []byte, v inventory.PackageScope, _ bool) []byte {
	return appendEnum(b, "PACKAGE_SCOPE_", v)
}

// MarshalPackageScope returns the marshaler of the scope of a package.
func MarshalPackageScope(v inventory.PackageScope) graphql.Marshaler {
	return marshal(AppendPackageScope(nil, v, true))
}

// UnmarshalPackageScope reads the scope of a package.
func UnmarshalPackageScope(v any) (inventory.PackageScope, error) {
	return value[inventory.PackageScope]("PACKAGE_SCOPE_", v)
}

// AppendFindingState appends a state of a finding as JSON.
func AppendFindingState(b []byte, v inventory.FindingState, _ bool) []byte {
	return appendEnum(b, "FINDING_STATE_", v)
}

// MarshalFindingState returns the marshaler of a state of a finding.
func MarshalFindingState(v inventory.FindingState) graphql.Marshaler {
	return marshal(AppendFindingState(nil, v, true))
}

// UnmarshalFindingState reads a state of a finding.
func UnmarshalFindingState(v any) (inventory.FindingState, error) {
	return value[inventory.FindingState]("FINDING_STATE_", v)
}

// AppendJustification appends the reason of a decision about a finding as JSON. Those of VEX are lower case in the core, and those
// of advisories have the prefix of their type.
func AppendJustification(b []byte, v string, _ bool) []byte {
	return appendEnum(b, "TYPE_", strings.ToUpper(v))
}

// MarshalJustification returns the marshaler of such a reason.
func MarshalJustification(v string) graphql.Marshaler {
	return marshal(AppendJustification(nil, v, true))
}

// UnmarshalJustification reads a reason of VEX. No other one can be given.
func UnmarshalJustification(v any) (string, error) {
	name, err := value[string]("", v)
	return strings.ToLower(name), err
}

// AppendAffectedRangeType appends the type of a range of versions as JSON. What OSV does not know means the order of the ecosystem.
func AppendAffectedRangeType(b []byte, v string, _ bool) []byte {
	if v != "SEMVER" && v != "GIT" {
		v = "ECOSYSTEM"
	}
	return appendEnum(b, "", v)
}

// MarshalAffectedRangeType returns the marshaler of such a type.
func MarshalAffectedRangeType(v string) graphql.Marshaler {
	return marshal(AppendAffectedRangeType(nil, v, true))
}

// UnmarshalAffectedRangeType reads such a type.
func UnmarshalAffectedRangeType(v any) (string, error) {
	return value[string]("", v)
}

// AppendSourceType appends a type of a source as JSON.
func AppendSourceType(b []byte, v intake.SourceType, _ bool) []byte {
	return appendEnum(b, "SOURCE_TYPE_", v)
}

// MarshalSourceType returns the marshaler of a type of a source.
func MarshalSourceType(v intake.SourceType) graphql.Marshaler {
	return marshal(AppendSourceType(nil, v, true))
}

// UnmarshalSourceType reads a type of a source.
func UnmarshalSourceType(v any) (intake.SourceType, error) {
	return value[intake.SourceType]("SOURCE_TYPE_", v)
}

// AppendSourceState appends a state of a source as JSON.
func AppendSourceState(b []byte, v intake.SourceState, _ bool) []byte {
	return appendEnum(b, "SOURCE_STATE_", v)
}

// MarshalSourceState returns the marshaler of a state of a source.
func MarshalSourceState(v intake.SourceState) graphql.Marshaler {
	return marshal(AppendSourceState(nil, v, true))
}

// UnmarshalSourceState reads a state of a source.
func UnmarshalSourceState(v any) (intake.SourceState, error) {
	return value[intake.SourceState]("SOURCE_STATE_", v)
}

// AppendType appends the type of a severity, reference or false positive as JSON. In
// the core these types are plain text.
func AppendType(b []byte, v string, _ bool) []byte { return appendEnum(b, "TYPE_", v) }

// MarshalType returns the marshaler of such a type.
func MarshalType(v string) graphql.Marshaler { return marshal(AppendType(nil, v, true)) }

// UnmarshalType reads such a type.
func UnmarshalType(v any) (string, error) {
	return value[string]("TYPE_", v)
}

// AppendSearchKind appends a search kind as JSON.
func AppendSearchKind(b []byte, v core.SearchKind, _ bool) []byte { return appendEnum(b, "", v) }

// MarshalSearchKind returns the marshaler of a search kind.
func MarshalSearchKind(v core.SearchKind) graphql.Marshaler {
	return marshal(AppendSearchKind(nil, v, true))
}

// UnmarshalSearchKind reads a search kind.
func UnmarshalSearchKind(v any) (core.SearchKind, error) {
	return value[core.SearchKind]("", v)
}

// AppendSearchField appends a search field as JSON.
func AppendSearchField(b []byte, v core.SearchField, _ bool) []byte { return appendEnum(b, "", v) }

// MarshalSearchField returns the marshaler of a search field.
func MarshalSearchField(v core.SearchField) graphql.Marshaler {
	return marshal(AppendSearchField(nil, v, true))
}

// UnmarshalSearchField reads a search field.
func UnmarshalSearchField(v any) (core.SearchField, error) {
	return value[core.SearchField]("", v)
}

// AppendEventKind appends the kind of an event type, as JSON.
func AppendEventKind(b []byte, eventType string, _ bool) []byte {
	name, known := platform.AllEventTypes().KindName(eventType)
	if !known {
		return execute.AppendNull(b)
	}
	return execute.AppendString(b, name)
}

// MarshalEventKind returns the marshaler of such a kind.
func MarshalEventKind(eventType string) graphql.Marshaler {
	return marshal(AppendEventKind(nil, eventType, true))
}

// UnmarshalEventKind reads a kind, which the core accepts as an event type.
func UnmarshalEventKind(v any) (string, error) { return graphql.UnmarshalString(v) }

// AppendActivityInterval appends an activity interval as JSON.
func AppendActivityInterval(b []byte, v core.ActivityInterval, _ bool) []byte {
	return appendEnum(b, "", v)
}

// MarshalActivityInterval returns the marshaler of an activity interval.
func MarshalActivityInterval(v core.ActivityInterval) graphql.Marshaler {
	return marshal(AppendActivityInterval(nil, v, true))
}

// UnmarshalActivityInterval reads an activity interval.
func UnmarshalActivityInterval(v any) (core.ActivityInterval, error) {
	return value[core.ActivityInterval]("", v)
}

// AppendRankingOrder appends the order of a ranking as JSON.
func AppendRankingOrder(b []byte, v reports.RankingOrder, _ bool) []byte {
	return appendEnum(b, "", v)
}

// MarshalRankingOrder returns the marshaler of the order of a ranking.
func MarshalRankingOrder(v reports.RankingOrder) graphql.Marshaler {
	return marshal(AppendRankingOrder(nil, v, true))
}

// UnmarshalRankingOrder reads the order of a ranking.
func UnmarshalRankingOrder(v any) (reports.RankingOrder, error) {
	return value[reports.RankingOrder]("", v)
}

// AppendUpgradeReason appends a reason for an upgrade as JSON.
func AppendUpgradeReason(b []byte, v reports.UpgradeReason, _ bool) []byte {
	return appendEnum(b, "UPGRADE_REASON_", v)
}

// MarshalUpgradeReason returns the marshaler of a reason for an upgrade.
func MarshalUpgradeReason(v reports.UpgradeReason) graphql.Marshaler {
	return marshal(AppendUpgradeReason(nil, v, true))
}

// UnmarshalUpgradeReason reads a reason for an upgrade.
func UnmarshalUpgradeReason(v any) (reports.UpgradeReason, error) {
	return value[reports.UpgradeReason]("UPGRADE_REASON_", v)
}

// AppendOperationState appends the state of an operation as JSON.
func AppendOperationState(b []byte, v operations.OperationState, _ bool) []byte {
	return appendEnum(b, "OPERATION_STATE_", v)
}

// MarshalOperationState returns the marshaler of the state of an operation.
func MarshalOperationState(v operations.OperationState) graphql.Marshaler {
	return marshal(AppendOperationState(nil, v, true))
}

// UnmarshalOperationState reads the state of an operation.
func UnmarshalOperationState(v any) (operations.OperationState, error) {
	return value[operations.OperationState]("OPERATION_STATE_", v)
}

// AppendTagClass appends a class of tags as JSON.
func AppendTagClass(b []byte, v inventory.TagClass, _ bool) []byte {
	return appendEnum(b, "", strings.ToUpper(string(v)))
}

// MarshalTagClass returns the marshaler of a class of tags.
func MarshalTagClass(v inventory.TagClass) graphql.Marshaler {
	return marshal(AppendTagClass(nil, v, true))
}

// UnmarshalTagClass reads a class of tags.
func UnmarshalTagClass(v any) (inventory.TagClass, error) {
	name, err := value[inventory.TagClass]("", v)
	return inventory.TagClass(strings.ToLower(string(name))), err
}

// AppendAccessChangeKind appends a kind of changes of access as JSON.
func AppendAccessChangeKind(b []byte, v events.AccessChangeKind, _ bool) []byte {
	return appendEnum(b, "", v)
}

// MarshalAccessChangeKind returns the marshaler of a kind of changes of access.
func MarshalAccessChangeKind(v events.AccessChangeKind) graphql.Marshaler {
	return marshal(AppendAccessChangeKind(nil, v, true))
}

// UnmarshalAccessChangeKind reads a kind of changes of access.
func UnmarshalAccessChangeKind(v any) (events.AccessChangeKind, error) {
	return value[events.AccessChangeKind]("", v)
}
