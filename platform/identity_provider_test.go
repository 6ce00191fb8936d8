package platform_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
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

// Whoever changes the configuration of a provider decides who can sign in as its users, so they
// must hold everything that is bound to those users.
func TestAChangeOfAProviderNeedsWhatItsUsersHold(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		provider := w.providerOf(acme.uid, workplace, platform.ViewerRole)
		alice, _ := w.enter(visitor("alice", nil))
		manager := w.with(w.role(acme.uid, append(viewerCapabilities(), platform.CapIdentityProvidersUpdate, platform.CapRoleBindingsCreate)...), acme.uid, acme.uid)
		change := func(client string) error {
			_, err := w.p.IdentityProviders.Update(manager, provider.UID, inputWithMask[*platform.IdentityProvider](fmt.Sprintf(`{"oidc": {"clientId": %q}}`, client), "oidc.clientId"))
			return err
		}
		must(t, change("another"))
		w.bind(acme.uid, alice.Identities[0], platform.OwnerRole)
		expectRefused(t, "a change of the client", change("mine"), platform.CodePermissionDenied)
		_, err := w.p.IdentityProviders.Update(manager, provider.UID, body[*platform.IdentityProvider](`{"oidc": null}`))
		expectRefused(t, "the removal of the configuration", err, platform.CodePermissionDenied)
	})
}

// viewerCapabilities returns what the built-in role of viewers grants.
func viewerCapabilities() []platform.Capability {
	roles := platform.BuiltInRoles()
	return slices.Clone(roles[slices.IndexFunc(roles, func(r *platform.Role) bool { return r.UID == platform.ViewerRole })].Capabilities)
}

// The ids of the users of a provider are those of its correlation rule. With another rule, the
// token of somebody else could contain them.
func TestACorrelationRuleOutlivesItsConfiguration(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		provider := w.providerOf(acme.uid, workplace, platform.ViewerRole)
		configure := func(oidc string) error {
			_, err := w.p.IdentityProviders.Update(acme.owner, provider.UID, body[*platform.IdentityProvider](`{"oidc": %s}`, oidc))
			return err
		}
		with := func(rule platform.CorrelationRule) string {
			return fmt.Sprintf(`{"issuer": %q, "clientId": "client", "correlationRule": %q}`, workplace, rule)
		}
		must(t, configure("null"))
		stored, err := w.p.IdentityProviders.Get(acme.owner, provider.UID)
		must(t, err)
		if stored.OIDC != nil {
			t.Errorf("the removed configuration is %+v", stored.OIDC)
		}
		must(t, configure("null"))
		if fields := violationFields(configure(with(platform.CorrelationRuleOID))); fields != "oidc.correlationRule" {
			t.Errorf("another rule is refused with %q, want oidc.correlationRule", fields)
		}
		must(t, configure(with(platform.CorrelationRuleSub)))
	})
}
