package platform_test

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// iamOperations returns the operations on kinds that decide who may sign in.
func (w *world) iamOperations(group core.UID) map[string]operation {
	p := w.p
	in := func(made func(core.UID) core.UID) func() core.UID {
		return func() core.UID { return made(group) }
	}
	parent := func() core.UID { return group }
	fresh := func() core.UID { return w.group(group) }
	mapping := in(func(g core.UID) core.UID { return w.mapping(w.provider(g)) })
	return map[string]operation{
		"GetIdentityProvider": {in(w.provider), one(p.IdentityProviders.Get), nil},
		"ListIdentityProviders": {in(w.provider), list(p.IdentityProviders.List, func(i *iam.IdentityProvider) core.UID { return i.UID }),
			listInScope(p.IdentityProviders.List)},
		"CreateIdentityProvider": {parent, create(p.IdentityProviders.Create, func() fieldmask.Input[*iam.IdentityProvider] {
			return body[*iam.IdentityProvider](`{"name": %q, "defaultRole": %q}`, w.name(), w.role(group))
		}), nil},
		"UpdateIdentityProvider": {in(w.provider), update(p.IdentityProviders.Update, `{"description": "changed"}`), nil},
		"DeleteIdentityProvider": {in(w.provider), remove(p.IdentityProviders.Delete), nil},

		"GetAccountAssociation": {in(w.association), one(p.AccountAssociations.Get), nil},
		"ListAccountAssociations": {in(w.association), list(p.AccountAssociations.List, func(a *iam.AccountAssociation) core.UID { return a.UID }),
			listInScope(p.AccountAssociations.List)},
		"CreateAccountAssociation": {fresh, create(p.AccountAssociations.Create, func() fieldmask.Input[*iam.AccountAssociation] {
			return body[*iam.AccountAssociation](`{"name": "accounts"}`)
		}), nil},
		"UpdateAccountAssociation": {in(w.association), update(p.AccountAssociations.Update, `{"description": "changed"}`), nil},
		"DeleteAccountAssociation": {in(w.association), remove(p.AccountAssociations.Delete), nil},

		"GetGroupInvite":   {in(w.invite), one(p.GroupInvites.Get), nil},
		"ListGroupInvites": {in(w.invite), list(p.GroupInvites.List, func(i *iam.GroupInvite) core.UID { return i.UID }), listInScope(p.GroupInvites.List)},
		"CreateGroupInvite": {parent, create(p.GroupInvites.Create, func() fieldmask.Input[*iam.GroupInvite] {
			return body[*iam.GroupInvite](`{"roleUid": %q, "ttl": "60s"}`, w.role(group))
		}), nil},
		"DeleteGroupInvite": {in(w.invite), remove(p.GroupInvites.Delete), nil},

		"GetExternalGroupRoleMapping": {mapping, one(p.ExternalGroupRoleMappings.Get), nil},
		"ListExternalGroupRoleMappings": {mapping, list(p.ExternalGroupRoleMappings.List, func(m *iam.ExternalGroupRoleMapping) core.UID { return m.UID }),
			listInScope(p.ExternalGroupRoleMappings.List)},
		"CreateExternalGroupRoleMapping": {in(w.provider), create(p.ExternalGroupRoleMappings.Create, func() fieldmask.Input[*iam.ExternalGroupRoleMapping] {
			return body[*iam.ExternalGroupRoleMapping](`{"externalGroupId": %q, "roleUid": %q}`, w.name(), w.role(group))
		}), nil},
		"DeleteExternalGroupRoleMapping": {mapping, remove(p.ExternalGroupRoleMappings.Delete), nil},
		"BatchDeleteExternalGroupRoleMappings": {func() core.UID { return mapping().Parent() }, func(ctx context.Context, provider core.UID) (bool, error) {
			names := []core.UID{missingBelow(provider)}
			if page, err := p.ExternalGroupRoleMappings.List(w.operator(), core.ListRequest[*iam.ExternalGroupRoleMappingFilter]{
				UIDP: core.UIDFilter{ChildrenOf: provider},
			}); err == nil {
				names[0] = page.Items[0].UID
			}
			_, err := p.ExternalGroupRoleMappings.DeleteBatch(ctx, provider, names)
			return false, err
		}, nil},

		"AcceptTerms": {fresh, func(ctx context.Context, uid core.UID) (bool, error) {
			_, err := p.Terms.Accept(ctx, uid, []string{"privacy"})
			return false, err
		}, nil},
		"ListTermsAcceptances": {fresh, func(ctx context.Context, uid core.UID) (bool, error) {
			_, err := p.Terms.ListOf(ctx, uid, core.ListRequest[*iam.TermsFilter]{})
			return false, err
		}, nil},
	}
}

// provider creates an identity provider for tokens of its own issuer.
func (w *world) provider(group core.UID) core.UID {
	w.Helper()
	return w.providerOf(group, "https://"+w.name()+".example.com", w.role(group)).UID
}

func (w *world) providerOf(group core.UID, issuer string, role core.UID) *iam.IdentityProvider {
	w.Helper()
	made, err := w.p.IdentityProviders.Create(w.operator(), group, body[*iam.IdentityProvider](
		`{"name": %q, "defaultRole": %q, "oidc": {"issuer": %q, "clientId": "client", "groupsClaim": "groups"}}`, w.name(), role, issuer))
	must(w, err)
	return made
}

// association creates an association for a new group, and returns the group's UID.
func (w *world) association(group core.UID) core.UID {
	w.Helper()
	made, err := w.p.AccountAssociations.Create(w.operator(), w.group(group), body[*iam.AccountAssociation](`{"name": %q}`, w.name()))
	must(w, err)
	return made.UID
}

func (w *world) invite(group core.UID) core.UID {
	w.Helper()
	return w.inviteTo(group, w.role(group), `"ttl": "60s"`).UID
}

func (w *world) inviteTo(group, role core.UID, more string) *iam.GroupInvite {
	w.Helper()
	made, err := w.p.GroupInvites.Create(w.operator(), group, body[*iam.GroupInvite](`{"roleUid": %q, %s}`, role, more))
	must(w, err)
	return made
}

func (w *world) mapping(provider core.UID) core.UID {
	w.Helper()
	return w.mappingTo(provider, w.name(), w.role(provider.Parent()), provider.Parent())
}

func (w *world) mappingTo(provider core.UID, external string, role, scope core.UID) core.UID {
	w.Helper()
	made, err := w.p.ExternalGroupRoleMappings.Create(w.operator(), provider, body[*iam.ExternalGroupRoleMapping](
		`{"externalGroupId": %q, "roleUid": %q, "scope": %q}`, external, role, scope))
	must(w, err)
	return made.UID
}
