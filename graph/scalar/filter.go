package scalar

import (
	"strings"

	"github.com/99designs/gqlgen/graphql"

	"atrium/platform"
)

// ByUID is what the `where` of every kind holds beside the kind's own filter.
type ByUID struct {
	UIDs        []platform.UID
	AncestorsOf platform.UID
	InRoot      bool
}

// Filters of the kinds. Their fields are found by the names of the schema.
type (
	// GroupFilter is `where` of groups.
	GroupFilter struct {
		platform.GroupFilter
		ByUID
	}
	// IdentityFilter is `where` of identities.
	IdentityFilter struct {
		platform.IdentityFilter
		ByUID
	}
	// RoleFilter is `where` of roles.
	RoleFilter struct {
		platform.RoleFilter
		ByUID
	}
	// RoleBindingFilter is `where` of role bindings.
	RoleBindingFilter struct {
		platform.RoleBindingFilter
		ByUID
	}
	// RepoFilter is `where` of repos.
	RepoFilter struct {
		platform.RepoFilter
		ByUID
	}
	// TagFilter is `where` of tags.
	TagFilter struct {
		platform.TagFilter
		ByUID
		IncludeReferrers, IncludeDates, IncludeEpochs *bool
	}
	// AdvisoryFilter is `where` of advisories.
	AdvisoryFilter struct {
		platform.AdvisoryFilter
		ByUID
	}
	// IdentityProviderFilter is `where` of identity providers.
	IdentityProviderFilter struct {
		platform.IdentityProviderFilter
		ByUID
	}
	// AccountAssociationFilter is `where` of account associations.
	AccountAssociationFilter struct {
		platform.AccountAssociationFilter
		ByUID
	}
	// GroupInviteFilter is `where` of invites.
	GroupInviteFilter struct {
		platform.GroupInviteFilter
		ByUID
	}
	// ExternalGroupRoleMappingFilter is `where` of mappings.
	ExternalGroupRoleMappingFilter struct {
		platform.ExternalGroupRoleMappingFilter
		ByUID
	}
	// EventSubscriptionFilter is `where` of subscriptions.
	EventSubscriptionFilter struct {
		platform.SubscriptionFilter
		ByUID
	}
	// VulnerabilityMetadataFilter is `where` of vulnerability metadata.
	VulnerabilityMetadataFilter struct {
		VulnerabilityIDs []string
	}
)

// Tags is the core's filter: classes of tags are listed unless their field
// says no.
func (f TagFilter) Tags() platform.TagFilter {
	tags := f.TagFilter
	for _, class := range []struct {
		include *bool
		class   platform.TagClass
	}{{f.IncludeReferrers, platform.TagClassReferrer}, {f.IncludeDates, platform.TagClassDate}, {f.IncludeEpochs, platform.TagClassEpoch}} {
		if class.include != nil && !*class.include {
			tags.Without = append(tags.Without, class.class)
		}
	}
	return tags
}

// An Order is `orderBy`, spelled as the core's order_by.
type Order struct{ Field, Direction string }

// OrderBy is the core's order_by; "" on nil, the default order of the kind.
func (o *Order) OrderBy() string {
	if o == nil {
		return ""
	}
	return o.Field + " " + o.Direction
}

// MarshalOrderField writes a field or direction of a sort order.
func MarshalOrderField(field string) graphql.Marshaler {
	return graphql.MarshalString(strings.ToUpper(field))
}

// UnmarshalOrderField reads a field or direction of a sort order.
func UnmarshalOrderField(v any) (string, error) {
	field, err := graphql.UnmarshalString(v)
	return strings.ToLower(field), err
}
