package platform

import (
	"context"
)

// IAMOptions are the settings of access control.
type IAMOptions struct {
	AllowSignup   bool           // whether identities of organisations may create organisations
	AllowIssuers  bool           // whether every issuer is treated as proven, for development
	SharedIssuers []SharedIssuer // issuers that serve many tenants
	// IssuerFile reads the organisations that an issuer lists at IssuerFileURL. It returns
	// none if the issuer has no such file. If it is nil, no issuer is proven by a file.
	IssuerFile func(ctx context.Context, issuer string) ([]UID, error)
}

// IAMStore is what access control needs of the database.
type IAMStore interface {
	CoreStore

	// MarkSeen sets the last seen time of identities. It changes no update time
	// and records no event.
	MarkSeen(ctx context.Context, identities []UID, at Time) error

	// SyncBuiltInRoles makes the stored built-in roles equal to roles.
	SyncBuiltInRoles(ctx context.Context, roles []*Role) error
}

// An iamArea has the operations on who may do what.
type iamArea struct {
	*Core
	store    IAMStore
	tables   IAMTables
	options  IAMOptions
	secrets  *Secrets
	patterns *patterns
	seen     chan UID

	Groups                    Groups
	Identities                Identities
	Roles                     Roles
	RoleBindings              RoleBindings
	IdentityProviders         IdentityProviders
	AccountAssociations       AccountAssociations
	GroupInvites              GroupInvites
	ExternalGroupRoleMappings ExternalGroupRoleMappings
	Terms                     Terms
	Issuers                   Issuers
}

func newIAM(c *Core, store IAMStore, tables IAMTables, secrets *Secrets, options IAMOptions) *iamArea {
	area := &iamArea{Core: c, store: store, tables: tables, options: options, secrets: secrets, patterns: newPatterns(), seen: make(chan UID, 256)}
	groups := newCollection(c, &groupKind, groupKeyFilter, tables.Groups)
	area.Groups = Groups{groups.Resources(), groups, area}
	identities := newCollection(c, &identityKind, nil, tables.Identities)
	area.Identities = Identities{identities.Resources(), identities, area}
	roles := newCollection(c, &roleKind, roleKeyFilter, tables.Roles)
	area.Roles = Roles{roles.Resources(), roles, area}
	bindings := newCollection(c, &roleBindingKind, bindingKeyFilter, tables.RoleBindings)
	area.RoleBindings = RoleBindings{bindings.Resources(), bindings, area}
	bindings.checkNames = area.RoleBindings.checkNames
	providers := newCollection(c, &identityProviderKind, providerKeyFilter, tables.IdentityProviders)
	area.IdentityProviders = IdentityProviders{providers.Resources(), providers, area}
	associations := newCollection(c, &accountAssociationKind, associationKeyFilter, tables.AccountAssociations)
	area.AccountAssociations = AccountAssociations{associations.Resources(), associations, area}
	invites := newCollection(c, &groupInviteKind, nil, tables.GroupInvites)
	area.GroupInvites = GroupInvites{invites.Resources(), invites, area}
	mappings := newCollection(c, &externalGroupRoleMappingKind, mappingKeyFilter, tables.ExternalGroupRoleMappings)
	area.ExternalGroupRoleMappings = ExternalGroupRoleMappings{mappings.Resources(), mappings, area}
	mappings.checkNames = area.ExternalGroupRoleMappings.checkNames
	terms := newCollection(c, &termsKind, nil, tables.TermsAcceptances)
	area.Terms = Terms{terms.Resources(), terms, area}
	area.Issuers = Issuers{area}
	return area
}

// searchables returns the kinds that a search finds.
func (area *iamArea) searchables() map[SearchKind]searchable {
	return map[SearchKind]searchable{
		SearchGroups:     searchableBy(area.Groups.rows, (*Group).searchTexts),
		SearchIdentities: searchableBy(area.Identities.rows, (*Identity).searchTexts),
		SearchRoles:      searchableBy(area.Roles.rows, (*Role).searchTexts),
	}
}

// IAMTables has who may do what.
type IAMTables struct {
	Groups                    Table[*Group, *GroupFilter]
	Identities                Table[*Identity, *IdentityFilter]
	Roles                     Table[*Role, *RoleFilter]
	RoleBindings              Table[*RoleBinding, *RoleBindingFilter]
	IdentityProviders         Table[*IdentityProvider, *IdentityProviderFilter]
	AccountAssociations       Table[*AccountAssociation, *AccountAssociationFilter]
	GroupInvites              Table[*GroupInvite, *GroupInviteFilter]
	ExternalGroupRoleMappings Table[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]
	TermsAcceptances          Table[*TermsAcceptance, *TermsFilter]

	GroupQueries
	IdentityQueries
	RoleBindingQueries
	IdentityProviderQueries
	IssuerQueries
	SignInQueries
	TermsAcceptanceQueries
}
