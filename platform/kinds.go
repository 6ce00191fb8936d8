package platform

// kinds is the one list of all kinds. What goes over all of them is derived from
// it: the types of events, the areas of errors, and what tests check of each kind.
func kinds() []AnyKind {
	return []AnyKind{
		&groupKind, &identityKind, &roleKind, &roleBindingKind, &identityProviderKind, &accountAssociationKind,
		&groupInviteKind, &externalGroupRoleMappingKind, &termsKind,
		&repoKind, &tagKind,
		&subscriptionKind, &deliveryKind,
		&advisoryKind, &vulnerabilityKind,
		&artifactKind, &artifactVersionKind,
		&findingKind, &packageKind, &packageVersionKind,
	}
}

// allEventTypes has the types of the events of all kinds.
var allEventTypes = newEventTypes(kinds())

// AllEventTypes returns the types of the events of all kinds.
func AllEventTypes() *EventTypes { return allEventTypes }

// Kinds returns the facts about every kind.
func Kinds() []KindInfo {
	var all []KindInfo
	for _, k := range kinds() {
		all = append(all, k.Info())
	}
	return all
}
