package platform_test

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

const workplace = "https://login.example.com"

// visitor returns the claims of a token of the workplace's issuer, made for its client.
func visitor(subject string, more map[string]any) iam.Claims {
	values := map[string]any{"iss": workplace, "sub": subject}
	maps.Copy(values, more)
	return iam.Claims{
		Issuer: workplace, Subject: subject, Audience: []string{"client"}, Values: values,
		Name: "Alice Née", Email: "alice@example.com", EmailVerified: true,
	}
}

func (w *world) enter(c iam.Claims) (*core.Actor, context.Context) {
	w.Helper()
	actor, err := w.p.Authenticate(w.Context(), c)
	must(w, err)
	return actor, core.WithActor(w.Context(), actor)
}

func TestAPersonGetsAnIdentityAndTheDefaultRoleOnFirstUse(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		provider := w.providerOf(team, workplace, iam.ViewerRole)
		repo := w.repo(team)
		before := w.events()

		first, ctx := w.enter(visitor("alice", nil))
		if len(first.Identities) != 1 || first.Identities[0].Parent() != team {
			t.Fatalf("she acts as %v, want 1 of them", first.Identities)
		}
		if _, err := w.p.Repos.Get(ctx, repo); err != nil {
			t.Error(err)
		}
		_, err := w.p.Groups.Get(ctx, acme.uid)
		expectRefused(t, "above the provider's group", err, core.CodePermissionDenied)
		if made := since(w.events(), before); types(made) != "iam.identity.created iam.rolebindings.created" || made[0].actor.Act["sub"] != "alice" {
			t.Errorf("recorded %s by %+v, want iam.identity.created iam.rolebindings.created", types(made), made)
		}
		who, err := w.p.Identities.Get(acme.owner, first.Identities[0])
		must(t, err)
		if who.Name != "alice n-e" || who.Email != "alice@example.com" || who.ClaimMatch != nil {
			t.Errorf("her identity is %+v, want Name 'alice n-e', Email 'alice@example.com' and no ClaimMatch", who)
		}
		page, err := w.p.RoleBindings.List(acme.owner, core.ListRequest[*iam.RoleBindingFilter]{Filter: &iam.RoleBindingFilter{Identity: who.UID}})
		must(t, err)
		if len(page.Items) != 1 || page.Items[0].Identity.Subject != "alice" || page.Items[0].Identity.Issuer != workplace {
			t.Errorf("her binding is %+v, want 1 of them", page.Items)
		}
		if uid, err := w.p.Identities.Lookup(ctx, workplace, "alice"); err != nil || uid != who.UID {
			t.Errorf("looked up: %s, want %s (%v)", uid, who.UID, err)
		}

		if again, _ := w.enter(visitor("alice", nil)); len(again.Identities) != 1 || again.Identities[0] != who.UID {
			t.Errorf("the second time she acts as %v, want 1 of them", again.Identities)
		}
		if bob, _ := w.enter(visitor("bob", nil)); len(bob.Identities) != 1 || bob.Identities[0] == who.UID {
			t.Errorf("somebody else acts as %v, want 1 of them", bob.Identities)
		}

		must(t, w.p.IdentityProviders.Delete(acme.owner, provider.UID))
		if gone, _ := w.enter(visitor("alice", nil)); len(gone.Identities) != 0 {
			t.Errorf("without the provider she acts as %v", gone.Identities)
		}
		if known, err := w.p.KnowsIssuer(t.Context(), workplace); known || err != nil {
			t.Errorf("the issuer is still known (%v)", err)
		}
		w.checkCounters()
	})
}

func TestOnlyTokensForTheClientSignInThroughAProvider(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.providerOf(acme.uid, workplace, iam.ViewerRole)
		for _, x := range []struct {
			what   string
			change func(*iam.Claims)
			in     bool
		}{
			{"for the client", func(*iam.Claims) {}, true},
			{"for this service", func(c *iam.Claims) { c.Audience, c.ServiceAudience = []string{"atrium"}, true }, true},
			{"for this service, handed to the client", func(c *iam.Claims) {
				c.Audience, c.ServiceAudience, c.Values["azp"] = []string{"atrium"}, true, "client"
			}, true},
			// The issuer may serve other tenants, too. Their clients get tokens with the
			// same audience.
			{"for this service, handed to another client", func(c *iam.Claims) {
				c.Audience, c.ServiceAudience, c.Values["azp"] = []string{"atrium"}, true, "other"
			}, false},
			{"for another client", func(c *iam.Claims) { c.Audience = []string{"other"} }, false},
			{"of another issuer", func(c *iam.Claims) { c.Issuer = "https://evil.example.com" }, false},
			{"of a subject that is too long", func(c *iam.Claims) { c.Subject = strings.Repeat("x", 256) }, false},
			{"of a subject that looks like a rule", func(c *iam.Claims) { c.Subject = "a\x02b" }, false},
		} {
			c := visitor(w.name(), nil)
			x.change(&c)
			if actor, _ := w.enter(c); (len(actor.Identities) == 1) != x.in {
				t.Errorf("%s: acts as %v", x.what, actor.Identities)
			}
		}
	})
}

func TestTheCorrelationRuleIdentifiesPeople(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		made, err := w.p.IdentityProviders.Create(acme.owner, acme.uid, body[*iam.IdentityProvider](
			`{"name": "azure", "defaultRole": %q, "oidc": {"issuer": %q, "clientId": "client", "correlationRule": "CORRELATION_RULE_OID_EQUALS_EXTERNAL_ID"}}`, iam.ViewerRole, workplace))
		must(t, err)
		first, _ := w.enter(visitor("pairwise 1", map[string]any{"oid": "alice"}))
		second, _ := w.enter(visitor("pairwise 2", map[string]any{"oid": "alice"}))
		other, _ := w.enter(visitor("alice", map[string]any{"oid": "bob"}))
		none, _ := w.enter(visitor("alice", nil))
		if len(first.Identities) != 1 || len(second.Identities) != 1 || first.Identities[0] != second.Identities[0] {
			t.Errorf("one oid acts as %v, want 1 of them and %v, want 1 of them", first.Identities, second.Identities)
		}
		if len(other.Identities) != 1 || other.Identities[0] == first.Identities[0] || len(none.Identities) != 0 {
			t.Errorf("another oid acts as %v, want 1 of them, none as %v", other.Identities, none.Identities)
		}
		_, err = w.p.IdentityProviders.Update(acme.owner, made.UID, body[*iam.IdentityProvider](
			`{"oidc": {"issuer": %q, "clientId": "client", "correlationRule": "CORRELATION_RULE_SUB_EQUALS_EXTERNAL_ID"}}`, workplace))
		if got := violationFields(err); got != "oidc.correlationRule" {
			t.Errorf("violated: %s, want oidc.correlationRule", got)
		}
	})
}

func TestConcurrentFirstSignInsCreateOneIdentity(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.providerOf(acme.uid, workplace, iam.ViewerRole)
		var all sync.WaitGroup
		for range 8 {
			all.Go(func() {
				if actor, err := w.p.Authenticate(t.Context(), visitor("alice", nil)); err != nil || len(actor.Identities) != 1 {
					t.Errorf("acts as %v (%v), want 1 identities", actor, err)
				}
			})
		}
		all.Wait()
		if page, err := w.p.Identities.List(acme.owner, core.ListRequest[*iam.IdentityFilter]{}); err != nil || page.TotalCount != 2 {
			t.Errorf("there are %d identities, want 2 (%v)", page.TotalCount, err)
		}
	})
}

func TestATokenCarriesTheRolesThatItsGroupsAreMappedTo(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		sub := w.group(team)
		provider := w.providerOf(team, workplace, w.role(team)).UID // The default role has no capabilities.
		mapping := w.mappingTo(provider, "admins", iam.EditorRole, sub)
		w.mappingTo(provider, "others", iam.OwnerRole, team)

		create := func(ctx context.Context, group core.UID) error {
			_, err := w.p.Repos.Create(ctx, group, body[*inventory.Repo](`{"name": %q}`, w.name()))
			return err
		}
		_, member := w.enter(visitor("alice", map[string]any{"groups": []any{"staff", "admins"}}))
		if err := create(member, sub); err != nil {
			t.Error(err)
		}
		expectRefused(t, "above the mapping's scope", create(member, team), core.CodePermissionDenied)
		_, elsewhere := w.enter(visitor("alice", map[string]any{"groups": []any{"staff"}, "roles": []any{"admins"}}))
		expectRefused(t, "a claim that is not the provider's", create(elsewhere, sub), core.CodePermissionDenied)

		// The capabilities of a mapping also count inside transactions, and the caller
		// can grant them.
		hand := func(ctx context.Context) error {
			_, err := w.p.Roles.Create(ctx, team, body[*iam.Role](`{"name": %q, "capabilities": ["repo.create"]}`, w.name()))
			return err
		}
		_, owner := w.enter(visitor("bob", map[string]any{"groups": []any{"others"}}))
		must(t, hand(owner))
		must(t, w.p.ExternalGroupRoleMappings.Delete(acme.owner, mapping))
		_, late := w.enter(visitor("alice", map[string]any{"groups": []any{"admins"}}))
		expectRefused(t, "after the mapping is gone", create(late, sub), core.CodePermissionDenied)

		page, err := w.p.ExternalGroupRoleMappings.List(acme.owner, core.ListRequest[*iam.ExternalGroupRoleMappingFilter]{Filter: &iam.ExternalGroupRoleMappingFilter{IdentityProvider: provider}})
		must(t, err)
		_, err = w.p.ExternalGroupRoleMappings.DeleteBatch(acme.owner, team, []core.UID{page.Items[0].UID})
		must(t, err)
		expectRefused(t, "of a token from before", hand(owner), core.CodePermissionDenied)
	})
}

func TestTokensOfStaticKeysAreTheirIdentitysOnly(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		static := func(subject, more string) core.UID {
			made, err := w.p.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](
				`{"name": "s", "staticKeys": {"issuer": %q, "subject": %q, "issuerKeys": "{\"keys\": [{}]}"%s}}`, issuer, subject, more))
			must(t, err)
			return made.UID
		}
		mine, other := static("robot", ""), static("robot", `, "audiences": ["elsewhere"]`)
		claimed := w.member(acme.uid, "robot")
		keys, err := w.p.StaticKeys(t.Context(), issuer, "robot")
		if err != nil || len(keys) != 2 {
			t.Fatalf("keys %v, want 2 of them (%v)", keys, err)
		}
		acts := func(c iam.Claims, want ...core.UID) {
			t.Helper()
			actor, _ := w.enter(c)
			if len(actor.Identities) != len(want) || len(want) > 0 && actor.Identities[0] != want[0] {
				t.Errorf("%+v acts as %v, want %v", c, actor.Identities, want)
			}
		}
		c := iam.Claims{Issuer: issuer, Subject: "robot", ServiceAudience: true, Audience: []string{"atrium"}}
		acts(c, claimed)
		c.StaticIdentities = []core.UID{mine}
		acts(c, mine)
		c.StaticIdentities = []core.UID{claimed} // The identity has no keys of its own.
		acts(c)
		c.StaticIdentities = []core.UID{other}
		acts(c)
		c.Audience, c.ServiceAudience = []string{"elsewhere"}, false
		acts(c, other)
		c.Subject = "somebody else"
		acts(c)

		// Such a token says nothing for its issuer: the caller could not act as what it makes, but
		// whoever has a token of the issuer could.
		c = iam.Claims{Issuer: issuer, Subject: "robot", ServiceAudience: true, StaticIdentities: []core.UID{mine}, Email: "bob@example.com", EmailVerified: true}
		actor, robot := w.enter(c)
		if actor.EmailVerified {
			t.Error("a token of static keys verifies an email address")
		}
		w.bind(acme.uid, mine, iam.OwnerRole)
		elsewhere := w.found("elsewhere")
		invite := w.inviteTo(elsewhere.uid, iam.ViewerRole, `"ttl": "60s"`)
		_, err = w.p.GroupInvites.Accept(robot, invite.Code)
		expectRefused(t, "an invite of another organization", err, core.CodeFailedPrecondition, "STATIC_KEYS")
		open := w.replica(w.store, platform.Options{AllowSignup: true})
		_, err = open.Groups.Create(robot, "", body[*iam.Group](`{"name": "mine"}`))
		expectRefused(t, "a new organization", err, core.CodeFailedPrecondition, "STATIC_KEYS")
		_, err = w.p.GroupInvites.Accept(robot, w.inviteTo(acme.uid, iam.ViewerRole, `"ttl": "60s"`).Code)
		must(t, err) // An identity of the organization gets the role.

		soon := core.At(epoch.Add(time.Hour))
		short := static("visitor", `, "expirationTime": "`+soon.String()+`"`)
		if keys, err := w.p.StaticKeys(t.Context(), issuer, "visitor"); err != nil || len(keys) != 1 || keys[0].Identity != short {
			t.Errorf("keys %v, want 1 of them (%v)", keys, err)
		}
		w.pass(2 * time.Hour)
		if keys, err := w.p.StaticKeys(t.Context(), issuer, "visitor"); err != nil || len(keys) != 0 {
			t.Errorf("expired keys %v, want none (%v)", keys, err)
		}
		acts(iam.Claims{Issuer: issuer, Subject: "visitor", ServiceAudience: true, StaticIdentities: []core.UID{short}})

		_, err = w.p.Identities.Update(acme.owner, mine, body[*iam.Identity](`{"staticKeys": null}`))
		must(t, err)
		if keys, _ := w.p.StaticKeys(t.Context(), issuer, "robot"); len(keys) != 1 || keys[0].Identity != other {
			t.Errorf("after one lost its keys: %v, want 1 of them", keys)
		}
	})
}

// The attack is that some organizations name the subject of another person as often as
// they may, before that person's own organization does.
func TestOlderRulesOfOthersDoNotHideAnIdentity(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const organizations, rules = 21, 20
		at := core.At(epoch.Add(-time.Hour))
		must(t, w.store.Write(w.Context(), func(tx core.Tx) error {
			for o := range organizations {
				root := core.UID(fmt.Sprintf("%040x", 1+o))
				if err := storetest.Tables.IAM.Groups.Insert(w.Context(), tx, &iam.Group{UID: root, Name: fmt.Sprintf("hostile %d", o), CreateTime: at, UpdateTime: at}); err != nil {
					return err
				}
				identities := make([]*iam.Identity, rules)
				for i := range identities {
					rule := &iam.ClaimMatch{Issuer: issuer, Subject: "owner of acme"}
					identities[i] = &iam.Identity{UID: root + core.UID(fmt.Sprintf("/%016x", i)), Name: "hostile", ClaimMatch: rule, CreateTime: at, UpdateTime: at}
				}
				if err := storetest.Tables.IAM.Identities.Insert(w.Context(), tx, identities...); err != nil {
					return err
				}
			}
			return nil
		}))
		acme := w.found("acme")
		actor, err := w.p.Authenticate(w.Context(), iam.Claims{Issuer: issuer, Subject: "owner of acme", ServiceAudience: true})
		must(t, err)
		if !slices.Contains(actor.Identities, acme.Identity.UID) {
			t.Errorf("the owner acts as %d identities, and not as their own", len(actor.Identities))
		}
	})
}

// Anybody may name the issuer and subject of others, so that must not keep the others from
// signing in with their own keys.
func TestStaticKeysOfOthersHideNone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		create := func(o org) (*iam.Identity, error) {
			return w.p.Identities.Create(o.owner, o.uid, body[*iam.Identity](
				`{"name": "robot", "staticKeys": {"issuer": %q, "subject": "robot", "issuerKeys": "{\"keys\": [{}]}"}}`, issuer))
		}
		for i := range 5 {
			other := w.found(fmt.Sprint("other-", i))
			for range 20 {
				_, err := create(other)
				must(t, err)
			}
			_, err := create(other)
			expectRefused(t, "the 21st identity", err, core.CodeFailedPrecondition)
		}
		own, err := create(w.found("acme"))
		must(t, err)
		keys, err := w.p.StaticKeys(t.Context(), issuer, "robot")
		must(t, err)
		if !slices.ContainsFunc(keys, func(k iam.IdentityKeys) bool { return k.Identity == own.UID }) {
			t.Errorf("%d keys, and that of acme is not among them", len(keys))
		}
	})
}
