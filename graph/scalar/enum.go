package scalar

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/graphql/execute"
	"atrium/platform"
)

// An enum value is the core's name of it without what all values of the enum
// begin with; unspecified is null. Inputs are checked against the schema
// before they come here.

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

// capabilities finds a capability by its name in the enum.
var capabilities = func() map[string]platform.Capability {
	byName := map[string]platform.Capability{}
	for _, c := range platform.Capabilities() {
		byName[capabilityName(c)] = c
	}
	return byName
}()

func capabilityName(c platform.Capability) string {
	return strings.ToUpper(strings.ReplaceAll(string(c), ".", "_"))
}

// AppendCapability appends a dotted name in upper snake case.
func AppendCapability(b []byte, c platform.Capability, _ bool) []byte {
	return execute.AppendString(b, capabilityName(c))
}

// MarshalCapability gives a capability.
func MarshalCapability(c platform.Capability) graphql.Marshaler {
	return marshal(AppendCapability(nil, c, false))
}

// UnmarshalCapability reads a capability.
func UnmarshalCapability(v any) (platform.Capability, error) {
	name, err := graphql.UnmarshalString(v)
	return capabilities[name], err
}

// AppendOrgKind appends what an organisation is.
func AppendOrgKind(b []byte, v platform.OrgKind, _ bool) []byte { return appendEnum(b, "ORG_KIND_", v) }

// MarshalOrgKind gives what an organisation is.
func MarshalOrgKind(v platform.OrgKind) graphql.Marshaler {
	return marshal(AppendOrgKind(nil, v, true))
}

// UnmarshalOrgKind reads what an organisation is.
func UnmarshalOrgKind(v any) (platform.OrgKind, error) {
	return value[platform.OrgKind]("ORG_KIND_", v)
}

// AppendOrgStatus appends how far an organisation is.
func AppendOrgStatus(b []byte, v platform.OrgStatus, _ bool) []byte {
	return appendEnum(b, "ORG_STATUS_", v)
}

// MarshalOrgStatus gives how far an organisation is.
func MarshalOrgStatus(v platform.OrgStatus) graphql.Marshaler {
	return marshal(AppendOrgStatus(nil, v, true))
}

// UnmarshalOrgStatus reads how far an organisation is.
func UnmarshalOrgStatus(v any) (platform.OrgStatus, error) {
	return value[platform.OrgStatus]("ORG_STATUS_", v)
}

// AppendCatalogTier appends a part of the catalogue.
func AppendCatalogTier(b []byte, v platform.CatalogTier, _ bool) []byte {
	return appendEnum(b, "CATALOG_TIER_", v)
}

// MarshalCatalogTier gives a part of the catalogue.
func MarshalCatalogTier(v platform.CatalogTier) graphql.Marshaler {
	return marshal(AppendCatalogTier(nil, v, true))
}

// UnmarshalCatalogTier reads a part of the catalogue.
func UnmarshalCatalogTier(v any) (platform.CatalogTier, error) {
	return value[platform.CatalogTier]("CATALOG_TIER_", v)
}

// AppendCorrelationRule appends how the people of a provider are told apart.
func AppendCorrelationRule(b []byte, v platform.CorrelationRule, _ bool) []byte {
	return appendEnum(b, "CORRELATION_RULE_", v)
}

// MarshalCorrelationRule gives how the people of a provider are told apart.
func MarshalCorrelationRule(v platform.CorrelationRule) graphql.Marshaler {
	return marshal(AppendCorrelationRule(nil, v, true))
}

// UnmarshalCorrelationRule reads how the people of a provider are told apart.
func UnmarshalCorrelationRule(v any) (platform.CorrelationRule, error) {
	return value[platform.CorrelationRule]("CORRELATION_RULE_", v)
}

// AppendRelationshipType appends the type of an identity's rule.
func AppendRelationshipType(b []byte, v platform.RelationshipType, _ bool) []byte {
	return appendEnum(b, "RELATIONSHIP_TYPE_", v)
}

// MarshalRelationshipType gives the type of an identity's rule.
func MarshalRelationshipType(v platform.RelationshipType) graphql.Marshaler {
	return marshal(AppendRelationshipType(nil, v, true))
}

// UnmarshalRelationshipType reads the type of an identity's rule.
func UnmarshalRelationshipType(v any) (platform.RelationshipType, error) {
	return value[platform.RelationshipType]("RELATIONSHIP_TYPE_", v)
}

// AppendReviewState appends what a review came to.
func AppendReviewState(b []byte, v platform.ReviewState, _ bool) []byte {
	return appendEnum(b, "REVIEW_STATE_", v)
}

// MarshalReviewState gives what a review came to.
func MarshalReviewState(v platform.ReviewState) graphql.Marshaler {
	return marshal(AppendReviewState(nil, v, true))
}

// UnmarshalReviewState reads what a review came to.
func UnmarshalReviewState(v any) (platform.ReviewState, error) {
	return value[platform.ReviewState]("REVIEW_STATE_", v)
}

// AppendAdvisoryEventType appends the variant of an advisory event.
func AppendAdvisoryEventType(b []byte, v platform.EventType, _ bool) []byte {
	return appendEnum(b, "EVENT_TYPE_FILTER_", v)
}

// MarshalAdvisoryEventType gives the variant of an advisory event.
func MarshalAdvisoryEventType(v platform.EventType) graphql.Marshaler {
	return marshal(AppendAdvisoryEventType(nil, v, true))
}

// UnmarshalAdvisoryEventType reads the variant of an advisory event.
func UnmarshalAdvisoryEventType(v any) (platform.EventType, error) {
	return value[platform.EventType]("EVENT_TYPE_FILTER_", v)
}

// AppendSeverityRating appends how bad a vulnerability is.
func AppendSeverityRating(b []byte, v platform.SeverityRating, _ bool) []byte {
	return appendEnum(b, "SEVERITY_RATING_", v)
}

// MarshalSeverityRating gives how bad a vulnerability is.
func MarshalSeverityRating(v platform.SeverityRating) graphql.Marshaler {
	return marshal(AppendSeverityRating(nil, v, true))
}

// UnmarshalSeverityRating reads how bad a vulnerability is.
func UnmarshalSeverityRating(v any) (platform.SeverityRating, error) {
	return value[platform.SeverityRating]("SEVERITY_RATING_", v)
}

// AppendSeveritySource appends where a rating comes from.
func AppendSeveritySource(b []byte, v platform.SeveritySource, _ bool) []byte {
	return appendEnum(b, "SEVERITY_SOURCE_", v)
}

// MarshalSeveritySource gives where a rating comes from.
func MarshalSeveritySource(v platform.SeveritySource) graphql.Marshaler {
	return marshal(AppendSeveritySource(nil, v, true))
}

// UnmarshalSeveritySource reads where a rating comes from.
func UnmarshalSeveritySource(v any) (platform.SeveritySource, error) {
	return value[platform.SeveritySource]("SEVERITY_SOURCE_", v)
}

// AppendEcosystem appends a language's world of libraries.
func AppendEcosystem(b []byte, v platform.Ecosystem, _ bool) []byte {
	return appendEnum(b, "ECOSYSTEM_", v)
}

// MarshalEcosystem gives a language's world of libraries.
func MarshalEcosystem(v platform.Ecosystem) graphql.Marshaler {
	return marshal(AppendEcosystem(nil, v, true))
}

// UnmarshalEcosystem reads a language's world of libraries.
func UnmarshalEcosystem(v any) (platform.Ecosystem, error) {
	return value[platform.Ecosystem]("ECOSYSTEM_", v)
}

// AppendDeliveryState appends what has become of a delivery.
func AppendDeliveryState(b []byte, v platform.DeliveryState, _ bool) []byte {
	return appendEnum(b, "", v)
}

// MarshalDeliveryState gives what has become of a delivery.
func MarshalDeliveryState(v platform.DeliveryState) graphql.Marshaler {
	return marshal(AppendDeliveryState(nil, v, true))
}

// UnmarshalDeliveryState reads what has become of a delivery.
func UnmarshalDeliveryState(v any) (platform.DeliveryState, error) {
	return value[platform.DeliveryState]("", v)
}

// AppendType appends the type of a severity, reference or false positive,
// which are plain text in the core.
func AppendType(b []byte, v string, _ bool) []byte { return appendEnum(b, "TYPE_", v) }

// MarshalType gives the type of a severity, reference or false positive,
// which are plain text in the core.
func MarshalType(v string) graphql.Marshaler { return marshal(AppendType(nil, v, true)) }

// UnmarshalType reads such a type.
func UnmarshalType(v any) (string, error) {
	return value[string]("TYPE_", v)
}

// AppendSearchKind appends a kind that a search looks at.
func AppendSearchKind(b []byte, v platform.SearchKind, _ bool) []byte { return appendEnum(b, "", v) }

// MarshalSearchKind gives a kind that a search looks at.
func MarshalSearchKind(v platform.SearchKind) graphql.Marshaler {
	return marshal(AppendSearchKind(nil, v, true))
}

// UnmarshalSearchKind reads a kind that a search looks at.
func UnmarshalSearchKind(v any) (platform.SearchKind, error) {
	return value[platform.SearchKind]("", v)
}

// AppendSearchField appends a field that a search looks at.
func AppendSearchField(b []byte, v platform.SearchField, _ bool) []byte { return appendEnum(b, "", v) }

// MarshalSearchField gives a field that a search looks at.
func MarshalSearchField(v platform.SearchField) graphql.Marshaler {
	return marshal(AppendSearchField(nil, v, true))
}

// UnmarshalSearchField reads a field that a search looks at.
func UnmarshalSearchField(v any) (platform.SearchField, error) {
	return value[platform.SearchField]("", v)
}

// AppendEventKind appends what an event tells of, by its type.
func AppendEventKind(b []byte, eventType string, _ bool) []byte {
	name, known := platform.ShortEventType(eventType)
	if !known {
		return execute.AppendNull(b)
	}
	return execute.AppendString(b, strings.ToUpper(strings.ReplaceAll(name, ".", "_")))
}

// MarshalEventKind gives what an event tells of, by its type.
func MarshalEventKind(eventType string) graphql.Marshaler {
	return marshal(AppendEventKind(nil, eventType, true))
}

// UnmarshalEventKind reads a name; no input has one so far.
func UnmarshalEventKind(v any) (string, error) { return graphql.UnmarshalString(v) }

// AppendActivityInterval appends the length of an interval.
func AppendActivityInterval(b []byte, v platform.ActivityInterval, _ bool) []byte {
	return appendEnum(b, "", v)
}

// MarshalActivityInterval gives the length of an interval.
func MarshalActivityInterval(v platform.ActivityInterval) graphql.Marshaler {
	return marshal(AppendActivityInterval(nil, v, true))
}

// UnmarshalActivityInterval reads the length of an interval.
func UnmarshalActivityInterval(v any) (platform.ActivityInterval, error) {
	return value[platform.ActivityInterval]("", v)
}
