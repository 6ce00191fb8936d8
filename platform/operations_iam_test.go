package platform_test

import (
	"context"

	"atrium/platform"
	"atrium/platform/fieldmask"
)

// iamOperations returns the operations on kinds that decide who may sign in.
func (w *world) iamOperations(group platform.UID) map[string]operation {
	p := w.p
	in := func(made func(platform.UID) platform.UID) func() platform.UID {
		return func() platform.UID { return made(group) }
	}
	parent := func() platform.UID { return group }
	fresh := func() platform.UID { return w.group(group) }
	mapping := in(func(g platform.UID) platform.UID { return w.mapping(w.provider(g)) })
	return map[string]operation{
		"GetIdentityProvider": {in(w.provider), one(p.IdentityProviders.Get), nil},
		"ListIdentityProviders": {in(w.provider), list(p.IdentityProviders.List, func(i *platform.IdentityProvider) platform.UID { return i.UID }),
			listInScope(p.IdentityProviders.List)},
		"CreateIdentityProvider": {parent, create(p.IdentityProviders.Create, func() fieldmask.Input[*platform.IdentityProvider] {
			return body[*platform.IdentityProvider](`{"name": %q, "defaultRole": %q}`, w.name(), w.role(group))
		}), nil},
		"UpdateIdentityProvider": {in(w.provider), update(p.IdentityProviders.Update, `{"description": "changed"}`), nil},
		"DeleteIdentityProvider": {in(w.provider), remove(p.IdentityProviders.Delete), nil},

		"GetAccountAssociation": {in(w.association), one(p.AccountAssociations.Get), nil},
		"ListAccountAssociations": {in(w.association), list(p.AccountAssociations.List, func(a *platform.AccountAssociation) platform.UID { return a.UID }),
			listInScope(p.AccountAssociations.List)},
		"CreateAccountAssociation": {fresh, create(p.AccountAssociations.Create, func() fieldmask.Input[*platform.AccountAssociation] {
			return body[*platform.AccountAssociation](`{"name": "accounts"}`)
		}), nil},
		"UpdateAccountAssociation": {in(w.association), update(p.AccountAssociations.Update, `{"description": "changed"}`), nil},
		"DeleteAccountAssociation": {in(w.association), remove(p.AccountAssociations.Delete), nil},

		"GetGroupInvite":   {in(w.invite), one(p.GroupInvites.Get), nil},
		"ListGroupInvites": {in(w.invite), list(p.GroupInvites.List, func(i *platform.GroupInvite) platform.UID { return i.UID }), listInScope(p.GroupInvites.List)},
		"CreateGroupInvite": {parent, create(p.GroupInvites.Create, func() fieldmask.Input[*platform.GroupInvite] {
			return body[*platform.GroupInvite](`{"roleUid": %q, "ttl": "60s"}`, w.role(group))
		}), nil},
		"DeleteGroupInvite": {in(w.invite), remove(p.GroupInvites.Delete), nil},

		"GetExternalGroupRoleMapping": {mapping, one(p.ExternalGroupRoleMappings.Get), nil},
		"ListExternalGroupRoleMappings": {mapping, list(p.ExternalGroupRoleMappings.List, func(m *platform.ExternalGroupRoleMapping) platform.UID { return m.UID }),
			listInScope(p.ExternalGroupRoleMappings.List)},
		"CreateExternalGroupRoleMapping": {in(w.provider), create(p.ExternalGroupRoleMappings.Create, func() fieldmask.Input[*platform.ExternalGroupRoleMapping] {
			return body[*platform.ExternalGroupRoleMapping](`{"externalGroupId": %q, "roleUid": %q}`, w.name(), w.role(group))
		}), nil},
		"DeleteExternalGroupRoleMapping": {mapping, remove(p.ExternalGroupRoleMappings.Delete), nil},
		"BatchDeleteExternalGroupRoleMappings": {func() platform.UID { return mapping().Parent() }, func(ctx context.Context, provider platform.UID) (bool, error) {
			names := []platform.UID{missingBelow(provider)}
			if page, err := p.ExternalGroupRoleMappings.List(w.operator(), platform.ListRequest[*platform.ExternalGroupRoleMappingFilter]{
				UIDP: platform.UIDFilter{ChildrenOf: provider},
			}); err == nil {
				names[0] = page.Items[0].UID
			}
			_, err := p.ExternalGroupRoleMappings.DeleteBatch(ctx, provider, names)
			return false, err
		}, nil},

		"AcceptTerms": {fresh, func(ctx context.Context, uid platform.UID) (bool, error) {
			_, err := p.Terms.Accept(ctx, uid, []string{"privacy"})
			return false, err
		}, nil},
		"ListTermsAcceptances": {fresh, func(ctx context.Context, uid platform.UID) (bool, error) {
			_, err := p.Terms.ListOf(ctx, uid, platform.ListRequest[*platform.TermsFilter]{})
			return false, err
		}, nil},
	}
}

// provider creates an identity provider for tokens of its own issuer.
func (w *world) provider(group platform.UID) platform.UID {
	w.Helper()
	return w.providerOf(group, "https://"+w.name()+".example.com", w.role(group)).UID
}

func (w *world) providerOf(group platform.UID, issuer string, role platform.UID) *platform.IdentityProvider {
	w.Helper()
	made, err := w.p.IdentityProviders.Create(w.operator(), group, body[*platform.IdentityProvider](
		`{"name": %q, "defaultRole": %q, "oidc": {"issuer": %q, "clientId": "client", "groupsClaim": "groups"}}`, w.name(), role, issuer))
	must(w, err)
	return made
}

// association creates an association for a new group, and returns the group's UID.
func (w *world) association(group platform.UID) platform.UID {
	w.Helper()
	made, err := w.p.AccountAssociations.Create(w.operator(), w.group(group), body[*platform.AccountAssociation](`{"name": %q}`, w.name()))
	must(w, err)
	return made.UID
}

func (w *world) invite(group platform.UID) platform.UID {
	w.Helper()
	return w.inviteTo(group, w.role(group), `"ttl": "60s"`).UID
}

func (w *world) inviteTo(group, role platform.UID, more string) *platform.GroupInvite {
	w.Helper()
	made, err := w.p.GroupInvites.Create(w.operator(), group, body[*platform.GroupInvite](`{"roleUid": %q, %s}`, role, more))
	must(w, err)
	return made
}

func (w *world) mapping(provider platform.UID) platform.UID {
	w.Helper()
	return w.mappingTo(provider, w.name(), w.role(provider.Parent()), provider.Parent())
}

func (w *world) mappingTo(provider platform.UID, external string, role, scope platform.UID) platform.UID {
	w.Helper()
	made, err := w.p.ExternalGroupRoleMappings.Create(w.operator(), provider, body[*platform.ExternalGroupRoleMapping](
		`{"externalGroupId": %q, "roleUid": %q, "scope": %q}`, external, role, scope))
	must(w, err)
	return made.UID
}
