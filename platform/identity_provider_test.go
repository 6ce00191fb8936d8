package platform_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"atrium/platform"
)

func TestAClientSecretIsWrittenAndNeverRead(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const secret = "very secret indeed"
		made, err := w.p.IdentityProviders.Create(acme.owner, acme.uid, body[*platform.IdentityProvider](
			`{"name": "idp", "defaultRole": %q, "oidc": {"issuer": %q, "clientId": "client", "clientSecret": %q}}`, platform.ViewerRole, workplace, secret))
		must(t, err)
		stored := func() []byte {
			var b []byte
			must(t, w.raw().QueryRowContext(t.Context(), "SELECT client_secret FROM identity_provider").Scan(&b))
			return b
		}
		first := stored()
		got, err := w.p.IdentityProviders.Get(acme.owner, made.UID)
		must(t, err)
		changed, err := w.p.IdentityProviders.Update(acme.owner, made.UID, body[*platform.IdentityProvider](
			`{"oidc": {"issuer": %q, "clientId": "other", "pkceEnabled": true}}`, workplace))
		must(t, err)
		if !bytes.Equal(stored(), first) || changed.OIDC.ClientID != "other" || !changed.OIDC.PKCEEnabled {
			t.Errorf("without a secret the update made %+v, and the secret changed: %t", changed.OIDC, !bytes.Equal(stored(), first))
		}
		answers, _ := json.Marshal([]any{made, got, changed})
		if bytes.Contains(answers, []byte("ecret")) || len(first) == 0 || bytes.Contains(first, []byte(secret)) {
			t.Errorf("answers %s, stored %q", answers, first)
		}
		for _, e := range w.events() {
			if strings.Contains(e.body, "ecret") {
				t.Errorf("event %s: %s, want it without 'ecret'", e.kind, e.body)
			}
		}
		_, err = w.p.IdentityProviders.Update(acme.owner, made.UID, body[*platform.IdentityProvider](
			`{"oidc": {"issuer": %q, "clientId": "other", "clientSecret": "second"}}`, workplace))
		must(t, err)
		second := stored()
		_, err = w.p.IdentityProviders.Update(acme.owner, made.UID, body[*platform.IdentityProvider](
			`{"oidc": {"issuer": %q, "clientId": "other", "clientSecret": null}}`, workplace))
		must(t, err)
		if bytes.Equal(second, first) || len(second) == 0 || len(stored()) != 0 {
			t.Errorf("changed to %q, cleared to %q", second, stored())
		}
	})
}

func TestAProviderIsCheckedAsAWhole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		for given, want := range map[string]string{
			`{}`: "name defaultRole",
			`{"name": "A", "defaultRole": "x", "oidc": {}}`:                                           "name defaultRole oidc.issuer oidc.clientId",
			`{"name": "a", "defaultRole": "` + string(platform.ViewerRole) + `", "oidc": {"x": 1}}`:   "oidc.x",
			`{"name": "a", "defaultRole": "` + string(w.role(team)) + `"}`:                            "defaultRole", // The role belongs to a group below.
			`{"name": "a", "default_role": "` + string(platform.ViewerRole) + `", "oidc": "nothing"}`: "oidc",
		} {
			_, err := w.p.IdentityProviders.Create(acme.owner, acme.uid, body[*platform.IdentityProvider]("%s", given))
			if got := violationFields(err); got != want {
				t.Errorf("%s: %s, want %s", given, got, want)
			}
		}
	})
}

func TestAProviderGrantsOnlyCapabilitiesThatItsCreatorHolds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		clerk := w.with(w.role(acme.uid, platform.CapIdentityProvidersCreate, platform.CapIdentityProvidersUpdate, platform.CapRoleBindingsCreate,
			platform.CapGroupInvitesCreate, platform.CapAccountAssociationsCreate, platform.CapRepoList), acme.uid, acme.uid)
		held := w.role(acme.uid, platform.CapRepoList)
		provider := func(role platform.UID) error {
			_, err := w.p.IdentityProviders.Create(clerk, acme.uid, body[*platform.IdentityProvider](`{"name": %q, "defaultRole": %q}`, w.name(), role))
			return err
		}
		if err := provider(held); err != nil {
			t.Error(err)
		}
		expectRefused(t, "a default role", provider(platform.OwnerRole), platform.CodePermissionDenied)
		expectRefused(t, "a missing default role", provider(missingBelow(acme.uid)), platform.CodeNotFound)

		strong := w.providerOf(acme.uid, workplace, platform.OwnerRole)
		update := func(what string) error {
			_, err := w.p.IdentityProviders.Update(clerk, strong.UID, body[*platform.IdentityProvider]("%s", what))
			return err
		}
		if err := update(`{"description": "harmless"}`); err != nil {
			t.Error(err)
		}
		// A caller who can change the issuer decides who becomes an owner.
		expectRefused(t, "the issuer of a strong provider", update(`{"oidc": {"issuer": "https://mine.example.com", "clientId": "x"}}`), platform.CodePermissionDenied)
		weak := w.providerOf(acme.uid, workplace, held)
		w.mappingTo(weak.UID, "admins", platform.OwnerRole, acme.uid)
		_, err := w.p.IdentityProviders.Update(clerk, weak.UID, body[*platform.IdentityProvider](`{"oidc": {"issuer": "https://mine.example.com", "clientId": "x"}}`))
		expectRefused(t, "the issuer of a provider with strong mappings", err, platform.CodePermissionDenied)
		_, err = w.p.ExternalGroupRoleMappings.Create(clerk, weak.UID, body[*platform.ExternalGroupRoleMapping](`{"externalGroupId": "x", "roleUid": %q}`, platform.OwnerRole))
		expectRefused(t, "a mapping", err, platform.CodePermissionDenied)
		_, err = w.p.GroupInvites.Create(clerk, acme.uid, body[*platform.GroupInvite](`{"roleUid": %q, "ttl": "60s"}`, platform.OwnerRole))
		expectRefused(t, "an invite", err, platform.CodePermissionDenied)
		_, err = w.p.AccountAssociations.Create(clerk, acme.uid, body[*platform.AccountAssociation](
			`{"name": "x", "platform": {"serviceBindings": {"catalog": %q}}}`, acme.Identity.UID))
		expectRefused(t, "an identity that a service acts as", err, platform.CodePermissionDenied)
	})
}

func TestRolesAndProvidersInUseStay(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		role := w.role(acme.uid)
		provider := w.providerOf(acme.uid, workplace, role).UID
		blocked := func(what string) {
			t.Helper()
			expectRefused(t, what, w.p.Roles.Delete(acme.owner, role), platform.CodeFailedPrecondition, "RESOURCE_IN_USE")
		}
		blocked("the default role of a provider")
		mapping := w.mappingTo(provider, "x", w.role(acme.uid), acme.uid)
		expectRefused(t, "a provider with mappings", w.p.IdentityProviders.Delete(acme.owner, provider), platform.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		must(t, w.p.ExternalGroupRoleMappings.Delete(acme.owner, mapping))
		must(t, w.p.IdentityProviders.Delete(acme.owner, provider))
		invite := w.inviteTo(acme.uid, role, `"ttl": "60s"`)
		blocked("the role of an invite")
		must(t, w.p.GroupInvites.Delete(acme.owner, invite.UID))
		must(t, w.p.Roles.Delete(acme.owner, role))
	})
}
