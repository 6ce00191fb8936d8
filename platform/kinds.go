package platform

import "reflect"

// Operations are the operations on each kind.
type Operations struct {
	Groups                    Groups
	Identities                Identities
	Roles                     Roles
	RoleBindings              RoleBindings
	IdentityProviders         IdentityProviders
	AccountAssociations       AccountAssociations
	GroupInvites              GroupInvites
	ExternalGroupRoleMappings ExternalGroupRoleMappings
	Terms                     Terms
	Repos                     Repos
	Tags                      Tags
	Subscriptions             Subscriptions
	Deliveries                Deliveries
	Advisories                Advisories
	Vulnerabilities           Vulnerabilities
	Artifacts                 Artifacts
	ArtifactVersions          ArtifactVersions
}

func newOperations(p *Platform) Operations {
	return Operations{
		Groups:                    Groups{&resources[*Group, *GroupFilter]{p, &groupKind}},
		Identities:                Identities{&resources[*Identity, *IdentityFilter]{p, &identityKind}},
		Roles:                     Roles{&resources[*Role, *RoleFilter]{p, &roleKind}},
		RoleBindings:              RoleBindings{&resources[*RoleBinding, *RoleBindingFilter]{p, &roleBindingKind}},
		IdentityProviders:         IdentityProviders{&resources[*IdentityProvider, *IdentityProviderFilter]{p, &identityProviderKind}},
		AccountAssociations:       AccountAssociations{&resources[*AccountAssociation, *AccountAssociationFilter]{p, &accountAssociationKind}},
		GroupInvites:              GroupInvites{&resources[*GroupInvite, *GroupInviteFilter]{p, &groupInviteKind}},
		ExternalGroupRoleMappings: ExternalGroupRoleMappings{&resources[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]{p, &externalGroupRoleMappingKind}},
		Terms:                     Terms{&resources[*TermsAcceptance, *TermsFilter]{p, &termsKind}},
		Repos:                     Repos{&resources[*Repo, *RepoFilter]{p, &repoKind}},
		Tags:                      Tags{&resources[*Tag, *TagFilter]{p, &tagKind}},
		Subscriptions:             newSubscriptions(p),
		Deliveries:                Deliveries{&resources[*Delivery, *DeliveryFilter]{p, &deliveryKind}},
		Advisories:                Advisories{&resources[*Advisory, *AdvisoryFilter]{p, &advisoryKind}},
		Vulnerabilities:           Vulnerabilities{&resources[*Vulnerability, *VulnerabilityFilter]{p, &vulnerabilityKind}},
		Artifacts:                 Artifacts{&resources[*Artifact, *ArtifactFilter]{p, &artifactKind}},
		ArtifactVersions:          ArtifactVersions{&resources[*ArtifactVersion, *ArtifactVersionFilter]{p, &artifactVersionKind}},
	}
}

// kinds is the one list of all kinds. What goes over all of them is derived from
// it: the types of events, the areas of errors, and what tests check of each kind.
func kinds() []interface{ Info() KindInfo } {
	return []interface{ Info() KindInfo }{
		&groupKind, &identityKind, &roleKind, &roleBindingKind, &identityProviderKind, &accountAssociationKind,
		&groupInviteKind, &externalGroupRoleMappingKind, &termsKind,
		&repoKind, &tagKind,
		&subscriptionKind, &deliveryKind,
		&advisoryKind, &vulnerabilityKind,
		&artifactKind, &artifactVersionKind,
	}
}

// Kinds tells what is known of every kind.
func Kinds() []KindInfo {
	var all []KindInfo
	for _, k := range kinds() {
		all = append(all, k.Info())
	}
	return all
}

// A KindInfo is what is known of a kind, without the type of its rows.
type KindInfo struct {
	Name, Plural, Area, Parent   string
	Number                       byte
	Own                          bool     // the reference implementation does not have the kind
	Shared                       bool     // its rows belong to no organisation
	Event                        string   // the middle of its event types
	Verbs                        []string // what events tell of it
	EventBody                    string   // what the bodies of its events are
	List, Create, Update, Delete Capability
	Required                     []string // fields without which none is created
	Orders                       []string // fields that lists are ordered by
	Row                          reflect.Type
}

// Info tells what is known of the kind.
func (k *Kind[T]) Info() KindInfo {
	orders := make([]string, len(k.Orders))
	for i, o := range k.Orders {
		orders[i] = o.Name
	}
	return KindInfo{
		Name: k.Name, Plural: k.Plural, Area: k.Area, Parent: k.Parent, Number: k.Number, Own: k.Own, Shared: k.Shared,
		Event: k.Event, Verbs: k.Verbs, EventBody: k.bodyType(),
		List: k.List, Create: k.Create, Update: k.Update, Delete: k.Delete,
		Required: k.Required, Orders: orders, Row: reflect.TypeFor[T]().Elem(),
	}
}
