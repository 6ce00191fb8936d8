package storetest_test

import (
	"fmt"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

// signIns has the kinds that decide who may sign in, and how.
type signIns struct {
	providers    []*iam.IdentityProvider
	mappings     []*iam.ExternalGroupRoleMapping
	invites      []*iam.GroupInvite
	associations []*iam.AccountAssociation
}

// addSignIns adds resources of these kinds to a group.
func (f *forest) addSignIns(group core.UID) {
	for _, name := range f.distinct(words, f.d.IntN(3)) {
		p := &iam.IdentityProvider{UID: f.d.below(group), Name: name, DefaultRole: iam.ViewerRole, EncryptedSecret: []byte{1}, CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
		if f.d.IntN(2) == 0 {
			p.OIDC = &iam.OIDC{Issuer: "https://elsewhere.example.com", ClientID: name, GroupsClaim: "groups"}
		}
		f.providers = append(f.providers, p)
		for i := range f.d.IntN(4) {
			f.mappings = append(f.mappings, &iam.ExternalGroupRoleMapping{
				UID: f.d.below(p.UID), IdentityProviderUID: p.UID, ExternalGroupID: fmt.Sprintf("group %d", i), RoleUID: iam.EditorRole, Scope: group, CreateTime: f.randomTime(),
			})
		}
	}
	for range f.d.IntN(3) {
		f.invites = append(f.invites, &iam.GroupInvite{
			UID: f.d.below(group), RoleUID: iam.ViewerRole, KeyID: f.d.hex(16), Hash: []byte{2}, Email: pick(f.d, []string{"", "a@example.com"}),
			SingleUse: f.d.IntN(2) == 0, ExpirationTime: f.randomTime(), CreateTime: f.randomTime(), Role: f.invitedRole(iam.ViewerRole),
		})
	}
	if f.d.IntN(2) == 0 {
		a := &iam.AccountAssociation{UID: group, Name: pick(f.d, words), CreateTime: f.randomTime(), UpdateTime: f.randomTime()}
		if f.d.IntN(2) == 0 {
			a.Azure = &iam.AzureAccount{TenantID: "t", ClientIDs: map[string]string{"a": "b"}}
		}
		f.associations = append(f.associations, a)
	}
}

func (f *forest) invitedRole(uid core.UID) iam.InvitedRole {
	for _, r := range f.builtIn {
		if r.UID == uid {
			return iam.InvitedRole{UID: r.UID, Name: r.Name, Description: r.Description, Capabilities: r.Capabilities}
		}
	}
	f.t.Fatalf("there is no role %s", uid)
	return iam.InvitedRole{}
}

func (f *forest) insertSignIns(tx core.Tx) error {
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
		&kind[*iam.IdentityProvider, *iam.IdentityProviderFilter]{f, p.IdentityProviders, f.providers, []filterCase[*iam.IdentityProvider, *iam.IdentityProviderFilter]{
			{}, {}, {&iam.IdentityProviderFilter{Name: "a"}, func(i *iam.IdentityProvider) bool { return i.Name == "a" }},
		}},
		&kind[*iam.ExternalGroupRoleMapping, *iam.ExternalGroupRoleMappingFilter]{f, p.ExternalGroupRoleMappings, f.mappings, f.mappingFilters()},
		&kind[*iam.GroupInvite, *iam.GroupInviteFilter]{f, p.GroupInvites, f.invites, []filterCase[*iam.GroupInvite, *iam.GroupInviteFilter]{
			{}, {}, {&iam.GroupInviteFilter{KeyID: f.invites[0].KeyID}, func(i *iam.GroupInvite) bool { return i.KeyID == f.invites[0].KeyID }},
		}},
		&kind[*iam.AccountAssociation, *iam.AccountAssociationFilter]{f, p.AccountAssociations, f.associations, []filterCase[*iam.AccountAssociation, *iam.AccountAssociationFilter]{
			{}, {}, {&iam.AccountAssociationFilter{Name: "a b"}, func(a *iam.AccountAssociation) bool { return a.Name == "a b" }},
		}},
	}
}

func (f *forest) mappingFilters() []filterCase[*iam.ExternalGroupRoleMapping, *iam.ExternalGroupRoleMappingFilter] {
	one := pick(f.d, f.mappings)
	return []filterCase[*iam.ExternalGroupRoleMapping, *iam.ExternalGroupRoleMappingFilter]{
		{}, {},
		{&iam.ExternalGroupRoleMappingFilter{IdentityProvider: one.IdentityProviderUID}, func(m *iam.ExternalGroupRoleMapping) bool {
			return m.IdentityProviderUID == one.IdentityProviderUID
		}},
		{&iam.ExternalGroupRoleMappingFilter{ExternalGroupID: "group 1", Role: iam.EditorRole, Scope: one.Scope}, func(m *iam.ExternalGroupRoleMapping) bool {
			return m.ExternalGroupID == "group 1" && m.Scope == one.Scope
		}},
	}
}
