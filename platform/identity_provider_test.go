package platform_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
)

func TestAClientSecretIsWrittenAndNeverRead(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		const secret = "very secret indeed"
		made, err := w.p.IdentityProviders.Create(acme.owner, acme.uid, body[*iam.IdentityProvider](
			`{"name": "idp", "defaultRole": %q, "oidc": {"issuer": %q, "clientId": "client", "clientSecret": %q}}`, iam.ViewerRole, workplace, secret))
		must(t, err)
		stored := func() []byte {
			var b []byte
			must(t, w.raw().QueryRowContext(t.Context(), "SELECT client_secret FROM identity_provider").Scan(&b))
			return b
		}
		first := stored()
		got, err := w.p.IdentityProviders.Get(acme.owner, made.UID)
		must(t, err)
		changed, err := w.p.IdentityProviders.Update(acme.owner, made.UID, body[*iam.IdentityProvider](
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
		_, err = w.p.IdentityProviders.Update(acme.owner, made.UID, body[*iam.IdentityProvider](
			`{"oidc": {"issuer": %q, "clientId": "other", "clientSecret": "second"}}`, workplace))
		must(t, err)
		second := stored()
		_, err = w.p.IdentityProviders.Update(acme.owner, made.UID, body[*iam.IdentityProvider](
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
			`{"name": "A", "defaultRole": "x", "oidc": {}}`:                                      "name defaultRole oidc.issuer oidc.clientId",
			`{"name": "a", "defaultRole": "` + string(iam.ViewerRole) + `", "oidc": {"x": 1}}`:   "oidc.x",
			`{"name": "a", "defaultRole": "` + string(w.role(team)) + `"}`:                       "defaultRole", // The role belongs to a group below.
			`{"name": "a", "default_role": "` + string(iam.ViewerRole) + `", "oidc": "nothing"}`: "oidc",
		} {
			_, err := w.p.IdentityProviders.Create(acme.owner, acme.uid, body[*iam.IdentityProvider]("%s", given))
			if got := violationFields(err); got != want {
				t.Errorf("%s: %s, want %s", given, got, want)
			}
		}
	})
}

func TestAProviderGrantsOnlyCapabilitiesThatItsCreatorHolds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		clerk := w.memberWith(w.role(acme.uid, core.CapIdentityProvidersCreate, core.CapIdentityProvidersUpdate, core.CapRoleBindingsCreate,
			core.CapGroupInvitesCreate, core.CapAccountAssociationsCreate, core.CapRepoList), acme.uid, acme.uid)
		held := w.role(acme.uid, core.CapRepoList)
		provider := func(role core.UID) error {
			_, err := w.p.IdentityProviders.Create(clerk, acme.uid, body[*iam.IdentityProvider](`{"name": %q, "defaultRole": %q}`, w.name(), role))
			return err
		}
		if err := provider(held); err != nil {
			t.Error(err)
		}
		expectRefused(t, "a default role", provider(iam.OwnerRole), core.CodePermissionDenied)
		expectRefused(t, "a missing default role", provider(missingBelow(acme.uid)), core.CodeNotFound)

		strong := w.providerOf(acme.uid, workplace, iam.OwnerRole)
		update := func(what string) error {
			_, err := w.p.IdentityProviders.Update(clerk, strong.UID, body[*iam.IdentityProvider]("%s", what))
			return err
		}
		if err := update(`{"description": "harmless"}`); err != nil {
			t.Error(err)
		}
		// A caller who can change the issuer decides who becomes an owner.
		expectRefused(t, "the issuer of a strong provider", update(`{"oidc": {"issuer": "https://mine.example.com", "clientId": "x"}}`), core.CodePermissionDenied)
		weak := w.providerOf(acme.uid, workplace, held)
		w.mappingTo(weak.UID, "admins", iam.OwnerRole, acme.uid)
		_, err := w.p.IdentityProviders.Update(clerk, weak.UID, body[*iam.IdentityProvider](`{"oidc": {"issuer": "https://mine.example.com", "clientId": "x"}}`))
		expectRefused(t, "the issuer of a provider with strong mappings", err, core.CodePermissionDenied)
		_, err = w.p.ExternalGroupRoleMappings.Create(clerk, weak.UID, body[*iam.ExternalGroupRoleMapping](`{"externalGroupId": "x", "roleUid": %q}`, iam.OwnerRole))
		expectRefused(t, "a mapping", err, core.CodePermissionDenied)
		_, err = w.p.GroupInvites.Create(clerk, acme.uid, body[*iam.GroupInvite](`{"roleUid": %q, "ttl": "60s"}`, iam.OwnerRole))
		expectRefused(t, "an invite", err, core.CodePermissionDenied)
		_, err = w.p.AccountAssociations.Create(clerk, acme.uid, body[*iam.AccountAssociation](
			`{"name": "x", "platform": {"serviceBindings": {"catalog": %q}}}`, acme.Identity.UID))
		expectRefused(t, "an identity that a service acts as", err, core.CodePermissionDenied)
	})
}

func TestRolesAndProvidersInUseStay(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		role := w.role(acme.uid)
		provider := w.providerOf(acme.uid, workplace, role).UID
		blocked := func(what string) {
			t.Helper()
			expectRefused(t, what, w.p.Roles.Delete(acme.owner, role), core.CodeFailedPrecondition, "RESOURCE_IN_USE")
		}
		blocked("the default role of a provider")
		mapping := w.mappingTo(provider, "x", w.role(acme.uid), acme.uid)
		expectRefused(t, "a provider with mappings", w.p.IdentityProviders.Delete(acme.owner, provider), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
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
		provider := w.providerOf(acme.uid, workplace, iam.ViewerRole)
		alice, _ := w.enter(visitor("alice", nil))
		manager := w.memberWith(w.role(acme.uid, append(viewerCapabilities(), core.CapIdentityProvidersUpdate, core.CapRoleBindingsCreate)...), acme.uid, acme.uid)
		change := func(client string) error {
			_, err := w.p.IdentityProviders.Update(manager, provider.UID, inputWithMask[*iam.IdentityProvider](fmt.Sprintf(`{"oidc": {"clientId": %q}}`, client), "oidc.clientId"))
			return err
		}
		must(t, change("another"))
		w.bind(acme.uid, alice.Identities[0], iam.OwnerRole)
		expectRefused(t, "a change of the client", change("mine"), core.CodePermissionDenied)
		_, err := w.p.IdentityProviders.Update(manager, provider.UID, body[*iam.IdentityProvider](`{"oidc": null}`))
		expectRefused(t, "the removal of the configuration", err, core.CodePermissionDenied)
	})
}

// viewerCapabilities returns what the built-in role of viewers grants.
func viewerCapabilities() []core.Capability {
	roles := iam.BuiltInRoles()
	return slices.Clone(roles[slices.IndexFunc(roles, func(r *iam.Role) bool { return r.UID == iam.ViewerRole })].Capabilities)
}

// The ids of the users of a provider are those of its correlation rule. With another rule, the
// token of somebody else could contain them.
func TestACorrelationRuleOutlivesItsConfiguration(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		provider := w.providerOf(acme.uid, workplace, iam.ViewerRole)
		configure := func(oidc string) error {
			_, err := w.p.IdentityProviders.Update(acme.owner, provider.UID, body[*iam.IdentityProvider](`{"oidc": %s}`, oidc))
			return err
		}
		with := func(rule iam.CorrelationRule) string {
			return fmt.Sprintf(`{"issuer": %q, "clientId": "client", "correlationRule": %q}`, workplace, rule)
		}
		must(t, configure("null"))
		stored, err := w.p.IdentityProviders.Get(acme.owner, provider.UID)
		must(t, err)
		if stored.OIDC != nil {
			t.Errorf("the removed configuration is %+v", stored.OIDC)
		}
		must(t, configure("null"))
		if fields := violationFields(configure(with(iam.CorrelationRuleOID))); fields != "oidc.correlationRule" {
			t.Errorf("another rule is refused with %q, want oidc.correlationRule", fields)
		}
		must(t, configure(with(iam.CorrelationRuleSub)))
	})
}
