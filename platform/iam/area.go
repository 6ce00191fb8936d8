package iam

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/secrets"
)

// Options are the settings of access control.
type Options struct {
	AllowSignup   bool           // whether identities of organizations may create organizations
	AllowIssuers  bool           // whether every issuer is treated as proven, for development
	SharedIssuers []SharedIssuer // issuers that serve many tenants
	// IssuerFile reads the organizations that an issuer lists at IssuerFileURL. It returns
	// none if the issuer has no such file. If it is nil, no issuer is proven by a file.
	IssuerFile func(ctx context.Context, issuer string) ([]core.UID, error)
}

// Store is what access control needs of the database.
type Store interface {
	core.Store

	// MarkSeen sets the last seen time of identities. It changes no update time
	// and records no event.
	MarkSeen(ctx context.Context, identities []core.UID, at core.Time) error

	// SyncBuiltInRoles makes the stored built-in roles equal to roles.
	SyncBuiltInRoles(ctx context.Context, roles []*Role) error
}

// An Area has the operations on who may do what.
type Area struct {
	*core.Core
	Store    Store
	Tables   Tables
	options  Options
	secrets  *secrets.Secrets
	patterns *patterns
	Seen     chan core.UID

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

// New returns the area.
func New(c *core.Core, store Store, tables Tables, secrets *secrets.Secrets, options Options) *Area {
	area := &Area{Core: c, Store: store, Tables: tables, options: options, secrets: secrets, patterns: newPatterns(), Seen: make(chan core.UID, 256)}
	groups := core.NewCollection(c, &GroupKind, groupKeyFilter, tables.Groups)
	area.Groups = Groups{groups.Resources(), groups, area}
	identities := core.NewCollection(c, &IdentityKind, nil, tables.Identities)
	area.Identities = Identities{identities.Resources(), identities, area}
	roles := core.NewCollection(c, &RoleKind, roleKeyFilter, tables.Roles)
	area.Roles = Roles{roles.Resources(), roles, area}
	bindings := core.NewCollection(c, &RoleBindingKind, bindingKeyFilter, tables.RoleBindings)
	area.RoleBindings = RoleBindings{bindings.Resources(), bindings, area}
	bindings.CheckNames = area.RoleBindings.checkNames
	providers := core.NewCollection(c, &IdentityProviderKind, providerKeyFilter, tables.IdentityProviders)
	area.IdentityProviders = IdentityProviders{providers.Resources(), providers, area}
	associations := core.NewCollection(c, &AccountAssociationKind, associationKeyFilter, tables.AccountAssociations)
	area.AccountAssociations = AccountAssociations{associations.Resources(), associations, area}
	invites := core.NewCollection(c, &GroupInviteKind, nil, tables.GroupInvites)
	area.GroupInvites = GroupInvites{invites.Resources(), invites, area}
	mappings := core.NewCollection(c, &ExternalGroupRoleMappingKind, mappingKeyFilter, tables.ExternalGroupRoleMappings)
	area.ExternalGroupRoleMappings = ExternalGroupRoleMappings{mappings.Resources(), mappings, area}
	mappings.CheckNames = area.ExternalGroupRoleMappings.checkNames
	terms := core.NewCollection(c, &TermsKind, nil, tables.TermsAcceptances)
	area.Terms = Terms{terms.Resources(), terms, area}
	area.Issuers = Issuers{area}
	return area
}

// Searchables returns the kinds that a search finds.
func (area *Area) Searchables() map[core.SearchKind]core.Searchable {
	return map[core.SearchKind]core.Searchable{
		core.SearchGroups:     core.SearchableBy(area.Groups.rows, (*Group).searchTexts),
		core.SearchIdentities: core.SearchableBy(area.Identities.rows, (*Identity).searchTexts),
		core.SearchRoles:      core.SearchableBy(area.Roles.rows, (*Role).searchTexts),
	}
}

// Tables has who may do what.
type Tables struct {
	Groups                    core.Table[*Group, *GroupFilter]
	Identities                core.Table[*Identity, *IdentityFilter]
	Roles                     core.Table[*Role, *RoleFilter]
	RoleBindings              core.Table[*RoleBinding, *RoleBindingFilter]
	IdentityProviders         core.Table[*IdentityProvider, *IdentityProviderFilter]
	AccountAssociations       core.Table[*AccountAssociation, *AccountAssociationFilter]
	GroupInvites              core.Table[*GroupInvite, *GroupInviteFilter]
	ExternalGroupRoleMappings core.Table[*ExternalGroupRoleMapping, *ExternalGroupRoleMappingFilter]
	TermsAcceptances          core.Table[*TermsAcceptance, *TermsFilter]

	GroupQueries
	IdentityQueries
	RoleBindingQueries
	IdentityProviderQueries
	IssuerQueries
	SignInQueries
	TermsAcceptanceQueries
}
