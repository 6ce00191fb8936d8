package rest

import (
	"context"
	"net/http"
	"reflect"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
)

func iamRoutes(p *platform.Platform) []route {
	createRoot := create("/iam/v2/groups", p.Groups)
	createRoot.name, createRoot.capabilities = "CreateRootGroup", nil // a setting allows it
	return []route{
		list("/iam/v2/groups", p.Groups,
			textFilter("name", func(f *iam.GroupFilter) *string { return &f.Name }),
			textFilter("query", func(f *iam.GroupFilter) *string { return &f.Query }),
			labelsFilter(func(f *iam.GroupFilter) *core.LabelFilter { return &f.LabelFilter })),
		get("/iam/v2/groups/{uid=**}", p.Groups),
		create("/iam/v2/groups/{parent=**}", p.Groups),
		createRoot,
		update("/iam/v2/groups/{uid=**}", p.Groups),
		remove("/iam/v2/groups/{uid=**}", p.Groups),

		list("/iam/v2/identities", p.Identities,
			textFilter("name", func(f *iam.IdentityFilter) *string { return &f.Name }),
			textFilter("relationship_type", func(f *iam.IdentityFilter) *iam.RelationshipType { return &f.RelationshipType }),
			textFilter("query", func(f *iam.IdentityFilter) *string { return &f.Query })),
		get("/iam/v2/identities/{uid=**}", p.Identities),
		create("/iam/v2/identities/{parent=**}", p.Identities),
		update("/iam/v2/identities/{uid=**}", p.Identities),
		remove("/iam/v2/identities/{uid=**}", p.Identities),
		{
			name: "LookupIdentity", method: http.MethodGet, pattern: "/iam/v2/identities:lookupIdentity",
			query:  []parameter{issuer, subject},
			answer: lookupAnswer{}, call: lookup(p.Identities),
		},

		list("/iam/v2/roles", roles{p.Roles},
			textFilter("name", func(f *iam.RoleFilter) *string { return &f.Name }),
			textFilter("query", func(f *iam.RoleFilter) *string { return &f.Query })),
		get("/iam/v2/roles/{uid=**}", roles{p.Roles}),
		create("/iam/v2/roles/{parent=**}", p.Roles),
		update("/iam/v2/roles/{uid=**}", p.Roles),
		remove("/iam/v2/roles/{uid=**}", p.Roles),

		list("/iam/v2/roleBindings", p.RoleBindings,
			textFilter("identity", func(f *iam.RoleBindingFilter) *core.UID { return &f.Identity }),
			textFilter("group", func(f *iam.RoleBindingFilter) *core.UID { return &f.Group }),
			textFilter("role", func(f *iam.RoleBindingFilter) *core.UID { return &f.Role })),
		get("/iam/v2/roleBindings/{uid=**}", p.RoleBindings),
		create("/iam/v2/roleBindings/{parent=**}", p.RoleBindings),
		update("/iam/v2/roleBindings/{uid=**}", p.RoleBindings),
		remove("/iam/v2/roleBindings/{uid=**}", p.RoleBindings),
		{
			name: "BatchCreateRoleBindings", method: http.MethodPost, pattern: "/iam/v2/roleBindings:batchCreate",
			capabilities: capabilityList(core.CapRoleBindingsCreate),
			body:         batch{}, answer: batchAnswer{}, call: batchCreate(p.RoleBindings),
		},

		list("/iam/v2/identityProviders", p.IdentityProviders,
			textFilter("name", func(f *iam.IdentityProviderFilter) *string { return &f.Name })),
		get("/iam/v2/identityProviders/{uid=**}", p.IdentityProviders),
		create("/iam/v2/identityProviders/{parent=**}", p.IdentityProviders),
		update("/iam/v2/identityProviders/{uid=**}", p.IdentityProviders),
		remove("/iam/v2/identityProviders/{uid=**}", p.IdentityProviders),
		{
			name: "VerifyIdentityProvider", method: http.MethodPost, pattern: "/iam/v2/identityProviders:verify",
			capabilities: capabilityList(p.IdentityProviders.Kind().UpdateCapabilities()...),
			body:         verification{}, answer: iam.IdentityProvider{}, call: verifyProvider(p.IdentityProviders),
		},

		list("/iam/v2/externalGroupRoleMappings", p.ExternalGroupRoleMappings,
			textFilter("identity_provider_uid", func(f *iam.ExternalGroupRoleMappingFilter) *core.UID { return &f.IdentityProvider })),
		get("/iam/v2/externalGroupRoleMappings/{uid=**}", p.ExternalGroupRoleMappings),
		create("/iam/v2/externalGroupRoleMappings/{parent=**}", p.ExternalGroupRoleMappings),
		remove("/iam/v2/externalGroupRoleMappings/{uid=**}", p.ExternalGroupRoleMappings),
		{
			name: "BatchDeleteExternalGroupRoleMappings", method: http.MethodPost, pattern: "/iam/v2/externalGroupRoleMappings:batchDelete",
			capabilities: capabilityList(core.CapIdentityProvidersDelete),
			body:         batchDeletion{}, answer: batchDeleted{}, call: batchDelete(p.ExternalGroupRoleMappings),
		},

		list("/iam/v2/groupInvites", p.GroupInvites,
			textFilter("key_id", func(f *iam.GroupInviteFilter) *string { return &f.KeyID })),
		get("/iam/v2/groupInvites/{uid=**}", p.GroupInvites),
		create("/iam/v2/groupInvites/{parent=**}", p.GroupInvites),
		remove("/iam/v2/groupInvites/{uid=**}", p.GroupInvites),
		{
			name: "AcceptGroupInvite", method: http.MethodPost, pattern: "/iam/v2/groupInvites:accept",
			body: invitation{}, answer: iam.RoleBinding{}, call: acceptInvite(p.GroupInvites),
		},

		list("/iam/v2/accountAssociations", p.AccountAssociations,
			textFilter("name", func(f *iam.AccountAssociationFilter) *string { return &f.Name })),
		get("/iam/v2/accountAssociations/{uid=**}", p.AccountAssociations),
		create("/iam/v2/accountAssociations/{parent=**}", p.AccountAssociations),
		update("/iam/v2/accountAssociations/{uid=**}", p.AccountAssociations),
		remove("/iam/v2/accountAssociations/{uid=**}", p.AccountAssociations),

		listTerms(p.Terms),
		{
			name: "AcceptTerms", method: http.MethodPost, pattern: "/iam/v2/terms/{group=**}",
			capabilities: capabilityList(core.CapTermsAccept),
			body:         acceptance{}, answer: iam.AcceptedTerms{}, call: acceptTerms(p.Terms),
		},
	}
}

var (
	issuer  = parameter{name: "issuer", valueType: reflect.TypeFor[string](), required: true}
	subject = parameter{name: "subject", valueType: reflect.TypeFor[string](), required: true}
)

type lookupAnswer struct {
	UID core.UID `json:"uid"`
}

func lookup(operations iam.Identities) operation {
	return func(r *request) (any, error) {
		uid, err := operations.Lookup(r.Context(), r.query.Get(issuer.name), r.query.Get(subject.name))
		return lookupAnswer{uid}, err
	}
}

// roles shows the outlines of roles.
type roles struct{ iam.Roles }

func (s roles) Get(ctx context.Context, uid core.UID) (*iam.Role, error) {
	role, err := s.Roles.Get(ctx, uid)
	return role.Outline(), err
}

func (s roles) List(ctx context.Context, req core.ListRequest[*iam.RoleFilter]) (core.Page[*iam.Role], error) {
	page, err := s.Roles.List(ctx, req)
	for i, role := range page.Items {
		page.Items[i] = role.Outline()
	}
	return page, err
}
