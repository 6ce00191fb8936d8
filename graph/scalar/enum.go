package scalar

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform"
)

// An enum value is the core's name of it without what all values of the enum
// begin with; unspecified is null. Inputs are checked against the schema
// before they come here.

func enum[E ~string](prefix string, value E) graphql.Marshaler {
	name := strings.TrimPrefix(string(value), prefix)
	if name == "" || name == "UNSPECIFIED" {
		return graphql.Null
	}
	return graphql.MarshalString(name)
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

// MarshalCapability writes a dotted name in upper snake case.
func MarshalCapability(c platform.Capability) graphql.Marshaler {
	return graphql.MarshalString(capabilityName(c))
}

// UnmarshalCapability reads a capability.
func UnmarshalCapability(v any) (platform.Capability, error) {
	name, err := graphql.UnmarshalString(v)
	return capabilities[name], err
}

// MarshalOrgKind writes what an organisation is.
func MarshalOrgKind(v platform.OrgKind) graphql.Marshaler { return enum("ORG_KIND_", v) }

// UnmarshalOrgKind reads what an organisation is.
func UnmarshalOrgKind(v any) (platform.OrgKind, error) {
	return value[platform.OrgKind]("ORG_KIND_", v)
}

// MarshalOrgStatus writes how far an organisation is.
func MarshalOrgStatus(v platform.OrgStatus) graphql.Marshaler { return enum("ORG_STATUS_", v) }

// UnmarshalOrgStatus reads how far an organisation is.
func UnmarshalOrgStatus(v any) (platform.OrgStatus, error) {
	return value[platform.OrgStatus]("ORG_STATUS_", v)
}

// MarshalCatalogTier writes a part of the catalogue.
func MarshalCatalogTier(v platform.CatalogTier) graphql.Marshaler { return enum("CATALOG_TIER_", v) }

// UnmarshalCatalogTier reads a part of the catalogue.
func UnmarshalCatalogTier(v any) (platform.CatalogTier, error) {
	return value[platform.CatalogTier]("CATALOG_TIER_", v)
}

// MarshalCorrelationRule writes how the people of a provider are told apart.
func MarshalCorrelationRule(v platform.CorrelationRule) graphql.Marshaler {
	return enum("CORRELATION_RULE_", v)
}

// UnmarshalCorrelationRule reads how the people of a provider are told apart.
func UnmarshalCorrelationRule(v any) (platform.CorrelationRule, error) {
	return value[platform.CorrelationRule]("CORRELATION_RULE_", v)
}

// MarshalRelationshipType writes the type of an identity's rule.
func MarshalRelationshipType(v platform.RelationshipType) graphql.Marshaler {
	return enum("RELATIONSHIP_TYPE_", v)
}

// UnmarshalRelationshipType reads the type of an identity's rule.
func UnmarshalRelationshipType(v any) (platform.RelationshipType, error) {
	return value[platform.RelationshipType]("RELATIONSHIP_TYPE_", v)
}

// MarshalReviewState writes what a review came to.
func MarshalReviewState(v platform.ReviewState) graphql.Marshaler { return enum("REVIEW_STATE_", v) }

// UnmarshalReviewState reads what a review came to.
func UnmarshalReviewState(v any) (platform.ReviewState, error) {
	return value[platform.ReviewState]("REVIEW_STATE_", v)
}

// MarshalAdvisoryEventType writes the variant of an advisory event.
func MarshalAdvisoryEventType(v platform.EventType) graphql.Marshaler {
	return enum("EVENT_TYPE_FILTER_", v)
}

// UnmarshalAdvisoryEventType reads the variant of an advisory event.
func UnmarshalAdvisoryEventType(v any) (platform.EventType, error) {
	return value[platform.EventType]("EVENT_TYPE_FILTER_", v)
}

// MarshalEcosystem writes a language's world of libraries.
func MarshalEcosystem(v platform.Ecosystem) graphql.Marshaler { return enum("ECOSYSTEM_", v) }

// UnmarshalEcosystem reads a language's world of libraries.
func UnmarshalEcosystem(v any) (platform.Ecosystem, error) {
	return value[platform.Ecosystem]("ECOSYSTEM_", v)
}

// MarshalDeliveryState writes what has become of a delivery.
func MarshalDeliveryState(v platform.DeliveryState) graphql.Marshaler { return enum("", v) }

// UnmarshalDeliveryState reads what has become of a delivery.
func UnmarshalDeliveryState(v any) (platform.DeliveryState, error) {
	return value[platform.DeliveryState]("", v)
}

// MarshalType writes the type of a severity, reference or false positive,
// which are plain text in the core.
func MarshalType(v string) graphql.Marshaler { return enum("TYPE_", v) }

// UnmarshalType reads such a type.
func UnmarshalType(v any) (string, error) {
	return value[string]("TYPE_", v)
}
