package platform

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
		Groups:                    Groups{&resources[*Group, *GroupFilter]{p, &groupKind, groupKeyFilter, p.tables.Groups}},
		Identities:                Identities{&resources[*Identity, *IdentityFilter]{p, &identityKind, nil, p.tables.Identities}},
		Roles:                     Roles{&resources[*Role, *RoleFilter]{p, &roleKind, roleKeyFilter, p.tables.Roles}},
		RoleBindings:              RoleBindings{&resources[*RoleBinding, *RoleBindingFilter]{p, &roleBindingKind, bindingKeyFilter, p.tables.RoleBindings}},
		IdentityProviders:         IdentityProviders{&resources[*IdentityProvider, *IdentityProviderFilter]{p, &identityProviderKind, providerKeyFilter, p.tables.IdentityProviders}},
		AccountAssociations:       AccountAssociations{&resources[*AccountAssociation, *AccountAssociationFilter]{p, &accountAssociationKind, associationKeyFilter, p.tables.AccountAssociations}},
		GroupInvites:              GroupInvites{&resources[*GroupInvite, *GroupInviteFilter]{p, &groupInviteKind, nil, p.tables.GroupInvites}},
		ExternalGroupRoleMappings: ExternalGroupRoleMappings{&resources[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]{p, &externalGroupRoleMappingKind, mappingKeyFilter, p.tables.ExternalGroupRoleMappings}},
		Terms:                     Terms{&resources[*TermsAcceptance, *TermsFilter]{p, &termsKind, nil, p.tables.TermsAcceptances}},
		Repos:                     Repos{&resources[*Repo, *RepoFilter]{p, &repoKind, repoKeyFilter, p.tables.Repos}},
		Tags:                      Tags{&resources[*Tag, *TagFilter]{p, &tagKind, nil, p.tables.Tags}},
		Subscriptions:             newSubscriptions(p),
		Deliveries:                Deliveries{&resources[*Delivery, *DeliveryFilter]{p, &deliveryKind, nil, p.tables.Deliveries}},
		Advisories:                Advisories{&resources[*Advisory, *AdvisoryFilter]{p, &advisoryKind, nil, p.tables.Advisories}},
		Vulnerabilities:           Vulnerabilities{&resources[*Vulnerability, *VulnerabilityFilter]{p, &vulnerabilityKind, nil, p.tables.Vulnerabilities}},
		Artifacts:                 Artifacts{&resources[*Artifact, *ArtifactFilter]{p, &artifactKind, nil, p.tables.Artifacts}},
		ArtifactVersions:          ArtifactVersions{&resources[*ArtifactVersion, *ArtifactVersionFilter]{p, &artifactVersionKind, nil, p.tables.ArtifactVersions}},
		Findings:                  Findings{&resources[*Finding, *FindingFilter]{p, &findingKind, nil, p.tables.Findings}},
		Packages:                  Packages{&resources[*Package, *PackageFilter]{p, &packageKind, nil, p.tables.Packages}},
		PackageVersions:           PackageVersions{&resources[*PackageVersion, *PackageVersionFilter]{p, &packageVersionKind, nil, p.tables.PackageVersions}},
	}
}

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
