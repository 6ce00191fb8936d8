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
	Findings                  Findings
	Packages                  Packages
	PackageVersions           PackageVersions
}

func newOperations(p *Platform) Operations {
	return Operations{
		Groups:                    Groups{&resources[*Group, *GroupFilter]{p, &groupKind, groupKeyFilter, Reader.Groups, Tx.GroupWriter}},
		Identities:                Identities{&resources[*Identity, *IdentityFilter]{p, &identityKind, nil, Reader.Identities, Tx.IdentityWriter}},
		Roles:                     Roles{&resources[*Role, *RoleFilter]{p, &roleKind, roleKeyFilter, Reader.Roles, Tx.RoleWriter}},
		RoleBindings:              RoleBindings{&resources[*RoleBinding, *RoleBindingFilter]{p, &roleBindingKind, bindingKeyFilter, Reader.RoleBindings, Tx.RoleBindingWriter}},
		IdentityProviders:         IdentityProviders{&resources[*IdentityProvider, *IdentityProviderFilter]{p, &identityProviderKind, providerKeyFilter, Reader.IdentityProviders, Tx.IdentityProviderWriter}},
		AccountAssociations:       AccountAssociations{&resources[*AccountAssociation, *AccountAssociationFilter]{p, &accountAssociationKind, associationKeyFilter, Reader.AccountAssociations, Tx.AccountAssociationWriter}},
		GroupInvites:              GroupInvites{&resources[*GroupInvite, *GroupInviteFilter]{p, &groupInviteKind, nil, Reader.GroupInvites, Tx.GroupInviteWriter}},
		ExternalGroupRoleMappings: ExternalGroupRoleMappings{&resources[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]{p, &externalGroupRoleMappingKind, mappingKeyFilter, Reader.ExternalGroupRoleMappings, Tx.ExternalGroupRoleMappingWriter}},
		Terms:                     Terms{&resources[*TermsAcceptance, *TermsFilter]{p, &termsKind, nil, Reader.TermsAcceptances, Tx.TermsAcceptanceWriter}},
		Repos:                     Repos{&resources[*Repo, *RepoFilter]{p, &repoKind, repoKeyFilter, Reader.Repos, Tx.RepoWriter}},
		Tags:                      Tags{&resources[*Tag, *TagFilter]{p, &tagKind, nil, Reader.Tags, Tx.TagWriter}},
		Subscriptions:             newSubscriptions(p),
		Deliveries:                Deliveries{&resources[*Delivery, *DeliveryFilter]{p, &deliveryKind, nil, Reader.Deliveries, Tx.DeliveryWriter}},
		Advisories:                Advisories{&resources[*Advisory, *AdvisoryFilter]{p, &advisoryKind, nil, Reader.Advisories, Tx.AdvisoryWriter}},
		Vulnerabilities:           Vulnerabilities{&resources[*Vulnerability, *VulnerabilityFilter]{p, &vulnerabilityKind, nil, Reader.Vulnerabilities, Tx.VulnerabilityWriter}},
		Artifacts:                 Artifacts{&resources[*Artifact, *ArtifactFilter]{p, &artifactKind, nil, Reader.Artifacts, Tx.ArtifactWriter}},
		ArtifactVersions:          ArtifactVersions{&resources[*ArtifactVersion, *ArtifactVersionFilter]{p, &artifactVersionKind, nil, Reader.ArtifactVersions, Tx.ArtifactVersionWriter}},
		Findings:                  Findings{&resources[*Finding, *FindingFilter]{p, &findingKind, nil, Reader.Findings, nil}},
		Packages:                  Packages{&resources[*Package, *PackageFilter]{p, &packageKind, nil, Reader.Packages, nil}},
		PackageVersions:           PackageVersions{&resources[*PackageVersion, *PackageVersionFilter]{p, &packageVersionKind, nil, Reader.PackageVersions, nil}},
	}
}

// An anyKind is a Kind of any type of rows.
type anyKind interface {
	Info() KindInfo
	readableBy(a *Actor, uid UID) bool
}

// kinds is the one list of all kinds. What goes over all of them is derived from
// it: the types of events, the areas of errors, and what tests check of each kind.
func kinds() []anyKind {
	return []anyKind{
		&groupKind, &identityKind, &roleKind, &roleBindingKind, &identityProviderKind, &accountAssociationKind,
		&groupInviteKind, &externalGroupRoleMappingKind, &termsKind,
		&repoKind, &tagKind,
		&subscriptionKind, &deliveryKind,
		&advisoryKind, &vulnerabilityKind,
		&artifactKind, &artifactVersionKind,
		&findingKind, &packageKind, &packageVersionKind,
	}
}

// Kinds returns the facts about every kind.
func Kinds() []KindInfo {
	var all []KindInfo
	for _, k := range kinds() {
		all = append(all, k.Info())
	}
	return all
}

// A KindInfo has the facts of a Kind that do not depend on the type of its rows.
type KindInfo struct {
	Name, Plural, Area, Parent   string
	Number                       byte
	Own                          bool     // whether the kind is not in the reference
	GraphOnly                    bool     // whether only GraphQL has the kind
	Shared                       bool     // whether its rows belong to no organisation
	Event                        string   // the middle of its event types
	Verbs                        []string // the verbs of its event types
	EventBody                    string   // the kind of the bodies of its events
	List, Create, Update, Delete Capability
	Required                     []string // fields that a creation must set
	Orders                       []string // fields that lists can be sorted by
	Row                          reflect.Type
}

// Info returns the facts about the kind.
func (k *Kind[T]) Info() KindInfo {
	orders := make([]string, len(k.Orders))
	for i, o := range k.Orders {
		orders[i] = o.Name
	}
	return KindInfo{
		Name: k.Name, Plural: k.Plural, Area: k.Area, Parent: k.Parent, Number: k.Number, Own: k.Own, GraphOnly: k.GraphOnly, Shared: k.Shared,
		Event: k.Event, Verbs: k.Verbs, EventBody: k.bodyType(),
		List: k.List, Create: k.Create, Update: k.Update, Delete: k.Delete,
		Required: k.Required, Orders: orders, Row: reflect.TypeFor[T]().Elem(),
	}
}
