package platform

import (
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/intake"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
	"atrium/platform/webhooks"
)

// kinds is the one list of all kinds. What goes over all of them is derived from
// it: the types of events, the areas of errors, and what tests check of each kind.
func kinds() []core.AnyKind {
	return []core.AnyKind{
		&iam.GroupKind, &iam.IdentityKind, &iam.RoleKind, &iam.RoleBindingKind, &iam.IdentityProviderKind, &iam.AccountAssociationKind,
		&iam.GroupInviteKind, &iam.ExternalGroupRoleMappingKind, &iam.TermsKind,
		&inventory.RepoKind, &inventory.TagKind,
		&webhooks.SubscriptionKind, &webhooks.DeliveryKind,
		&intake.SourceKind,
		&inventory.AdvisoryKind, &inventory.VulnerabilityKind,
		&libraries.ArtifactKind, &libraries.ArtifactVersionKind,
		&inventory.FindingKind, &inventory.PackageKind, &inventory.PackageVersionKind,
	}
}

// allEventTypes has the types of the events of all kinds.
var allEventTypes = events.NewTypes(kinds())

// AllEventTypes returns the types of the events of all kinds.
func AllEventTypes() *events.Types { return allEventTypes }

// Kinds returns the facts about every kind.
func Kinds() []core.KindInfo {
	var all []core.KindInfo
	for _, k := range kinds() {
		all = append(all, k.Info())
	}
	return all
}
