package storetest_test

import (
	"fmt"

	"atrium/platform"
	"atrium/store/storetest"
)

// signIns has the kinds that decide who may sign in, and how.
type signIns struct {
	providers    []*platform.IdentityProvider
	mappings     []*platform.ExternalGroupRoleMapping
	invites      []*platform.GroupInvite
	associations []*platform.AccountAssociation
}

// addSignIns adds resources of these kinds to a group.
func (f *forest) addSignIns(group platform.UID) {
	for _, name := range f.distinct(words, f.d.IntN(3)) {
		p := &platform.IdentityProvider{UID: f.d.below(group), Name: name, DefaultRole: platform.ViewerRole, EncryptedSecret: []byte{1}, CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
		if f.d.IntN(2) == 0 {
			p.OIDC = &platform.OIDC{Issuer: "https://elsewhere.example.com", ClientID: name, GroupsClaim: "groups"}
		}
		f.providers = append(f.providers, p)
		for i := range f.d.IntN(4) {
			f.mappings = append(f.mappings, &platform.ExternalGroupRoleMapping{
				UID: f.d.below(p.UID), IdentityProviderUID: p.UID, ExternalGroupID: fmt.Sprintf("group %d", i), RoleUID: platform.EditorRole, Scope: group, CreateTime: f.randomTime(),
			})
		}
	}
	for range f.d.IntN(3) {
		f.invites = append(f.invites, &platform.GroupInvite{
			UID: f.d.below(group), RoleUID: platform.ViewerRole, KeyID: f.d.hex(16), Hash: []byte{2}, Email: pick(f.d, []string{"", "a@example.com"}),
			SingleUse: f.d.IntN(2) == 0, ExpirationTime: f.randomTime(), CreateTime: f.randomTime(), Role: f.invitedRole(platform.ViewerRole),
		})
	}
	if f.d.IntN(2) == 0 {
		a := &platform.AccountAssociation{UID: group, Name: pick(f.d, words), CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
		if f.d.IntN(2) == 0 {
			a.Azure = &platform.AzureAccount{TenantID: "t", ClientIDs: map[string]string{"a": "b"}}
		}
		f.associations = append(f.associations, a)
	}
}

func (f *forest) invitedRole(uid platform.UID) platform.InvitedRole {
	for _, r := range f.builtIn {
		if r.UID == uid {
			return platform.InvitedRole{UID: r.UID, Name: r.Name, Description: r.Description, Capabilities: r.Capabilities}
		}
	}
	f.t.Fatalf("there is no role %s", uid)
	return platform.InvitedRole{}
}

func (f *forest) insertSignIns(tx platform.Tx) error {
	ctx := f.t.Context()
	for _, insert := range []func() error{
		func() error { return storetest.Tables.IAM.IdentityProviders.Insert(ctx, tx, f.providers...) },
		func() error {
			return storetest.Tables.IAM.ExternalGroupRoleMappings.Insert(ctx, tx, f.mappings...)
		},
		func() error { return storetest.Tables.IAM.GroupInvites.Insert(ctx, tx, f.invites...) },
		func() error { return storetest.Tables.IAM.AccountAssociations.Insert(ctx, tx, f.associations...) },
	} {
		if err := insert(); err != nil {
			return err
		}
	}
	return nil
}

// signInListings returns the lists of these kinds.
func (f *forest) signInListings() []listing {
	p := f.p
	return []listing{
		&kind[*platform.IdentityProvider, *platform.IdentityProviderFilter]{f, p.IdentityProviders, f.providers, []filterCase[*platform.IdentityProvider, *platform.IdentityProviderFilter]{
			{}, {}, {&platform.IdentityProviderFilter{Name: "a"}, func(i *platform.IdentityProvider) bool { return i.Name == "a" }},
		}},
		&kind[*platform.ExternalGroupRoleMapping, *platform.ExternalGroupRoleMappingFilter]{f, p.ExternalGroupRoleMappings, f.mappings, f.mappingFilters()},
		&kind[*platform.GroupInvite, *platform.GroupInviteFilter]{f, p.GroupInvites, f.invites, []filterCase[*platform.GroupInvite, *platform.GroupInviteFilter]{
			{}, {}, {&platform.GroupInviteFilter{KeyID: f.invites[0].KeyID}, func(i *platform.GroupInvite) bool { return i.KeyID == f.invites[0].KeyID }},
		}},
		&kind[*platform.AccountAssociation, *platform.AccountAssociationFilter]{f, p.AccountAssociations, f.associations, []filterCase[*platform.AccountAssociation, *platform.AccountAssociationFilter]{
			{}, {}, {&platform.AccountAssociationFilter{Name: "a b"}, func(a *platform.AccountAssociation) bool { return a.Name == "a b" }},
		}},
	}
}

func (f *forest) mappingFilters() []filterCase[*platform.ExternalGroupRoleMapping, *platform.ExternalGroupRoleMappingFilter] {
	one := pick(f.d, f.mappings)
	return []filterCase[*platform.ExternalGroupRoleMapping, *platform.ExternalGroupRoleMappingFilter]{
		{}, {},
		{&platform.ExternalGroupRoleMappingFilter{IdentityProvider: one.IdentityProviderUID}, func(m *platform.ExternalGroupRoleMapping) bool {
			return m.IdentityProviderUID == one.IdentityProviderUID
		}},
		{&platform.ExternalGroupRoleMappingFilter{ExternalGroupID: "group 1", Role: platform.EditorRole, Scope: one.Scope}, func(m *platform.ExternalGroupRoleMapping) bool {
			return m.ExternalGroupID == "group 1" && m.Scope == one.Scope
		}},
	}
}
