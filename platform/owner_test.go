package platform_test

import (
	"fmt"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

func TestAnOrganizationNeverLosesItsLastOwner(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		p, last := w.p.RoleBindings, acme.Binding.UID
		demote := body[*iam.RoleBinding](`{"roleUid": %q}`, iam.EditorRole)
		expectRefused(t, "deleting the only one", p.Delete(acme.owner, last), core.CodeFailedPrecondition, "LAST_OWNER")
		_, err := p.Update(acme.owner, last, demote)
		e := refusal(t, "demoting the only one", err, core.CodeFailedPrecondition, "LAST_OWNER")
		if e.Preconditions[0].Subject != string(acme.uid) {
			t.Errorf("got %+v, want Subject %v", e.Preconditions, acme.uid)
		}
		// Owners of groups below do not count, and neither do other roles with the same
		// capabilities.
		team, second := w.group(acme.uid), w.member(acme.uid, "second")
		below := w.bind(team, second, iam.OwnerRole)
		w.bind(acme.uid, second, w.role(acme.uid, core.Capabilities()...))
		expectRefused(t, "deleting the only one at the root", p.Delete(acme.owner, last), core.CodeFailedPrecondition, "LAST_OWNER")
		must(t, p.Delete(acme.owner, below)) // A group below needs no owner.

		// The binding of the owner may change to another identity.
		moved, err := p.Update(acme.owner, last, body[*iam.RoleBinding](`{"identityUid": %q}`, second))
		must(t, err)
		if moved.Identity.UID != second || moved.Role.UID != iam.OwnerRole {
			t.Errorf("got %+v, want UID %v and UID %v", moved, second, iam.OwnerRole)
		}
		// Either of two owners may be removed, but then not the other.
		owner := w.as("second")
		first := w.bind(acme.uid, acme.Identity.UID, iam.OwnerRole)
		_, err = p.Update(owner, last, demote)
		must(t, err)
		expectRefused(t, "then the other", p.Delete(w.as("owner of acme"), first), core.CodeFailedPrecondition, "LAST_OWNER")
		expectRefused(t, "its identity", w.p.Identities.Delete(w.as("owner of acme"), acme.Identity.UID), core.CodeFailedPrecondition, "RESOURCE_IN_USE")
	})
}

func TestAnEmptyOrganizationIsDeletedWithItsLastOwner(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		expectRefused(t, "with a group", w.p.Groups.Delete(acme.owner, acme.uid), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		// A rejected call must not change anything of the owner.
		if _, err := w.p.RoleBindings.Get(acme.owner, acme.Binding.UID); err != nil {
			t.Fatal(err)
		}
		must(t, w.p.Groups.Delete(acme.owner, team))
		guest := w.member(acme.uid, "guest")
		expectRefused(t, "with a guest", w.p.Groups.Delete(acme.owner, acme.uid), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		second := w.bind(acme.uid, guest, iam.OwnerRole)
		expectRefused(t, "with two owners", w.p.Groups.Delete(acme.owner, acme.uid), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
		must(t, w.p.RoleBindings.Delete(acme.owner, second))
		must(t, w.p.Identities.Delete(acme.owner, guest))
		before := len(w.events())
		must(t, w.p.Groups.Delete(acme.owner, acme.uid))
		if got := types(w.events()[before:]); got != "iam.rolebindings.deleted iam.identity.deleted iam.group.deleted" {
			t.Errorf("got %v, want 'iam.rolebindings.deleted iam.identity.deleted iam.group.deleted'", got)
		}
		if actor := core.ActorOf(w.as("owner of acme")); len(actor.Identities) != 0 {
			t.Errorf("the owner still acts as %v", actor.Identities)
		}
		for _, uid := range []core.UID{acme.uid, acme.Identity.UID, acme.Binding.UID} {
			if there, err := w.store.Exists(t.Context(), uid); there || err != nil {
				t.Errorf("%s is there: %t (%v)", uid, there, err)
			}
		}
		w.checkCounters()
	})
}

func TestAnOrganizationWhoseOnlyBindingIsNotAnOwnersStays(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		must(t, w.store.Write(t.Context(), func(tx core.Tx) error {
			_, err := storetest.Tables.IAM.RoleBindings.Update(t.Context(), tx, &iam.RoleBinding{UID: acme.Binding.UID, RoleUID: iam.ViewerRole}, "roleUid"), error(nil)
			return err
		}))
		expectRefused(t, "by the operator", w.p.Groups.Delete(w.operator(), acme.uid), core.CodeFailedPrecondition, "RESOURCE_NOT_EMPTY")
	})
}

func TestBootstrappingTwiceMakesOneOrganization(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		_, err := w.p.Groups.Create(w.operator(), w.found("other").uid, body[*iam.Group](`{"name": "acme"}`)) // This group is no organization.
		must(t, err)
		before := len(w.events())
		_, err = w.p.Groups.Bootstrap(w.operator(), "acme", issuer, "somebody else")
		if e := refusal(t, "again", err, core.CodeAlreadyExists); e.Resource.Kind != "Group" || e.Resource.Name != string(acme.uid) || !strings.Contains(e.Message, "acme has the UID "+string(acme.uid)) {
			t.Errorf("it does not tell the operator which it is: %+v: %s", e.Resource, e.Message)
		}
		if n := len(w.events()); n != before {
			t.Errorf("%d events of a refusal, want %v", n-before, before)
		}
		if actor := core.ActorOf(w.as("somebody else")); len(actor.Identities) != 0 {
			t.Errorf("somebody else acts as %v", actor.Identities)
		}
		_, err = w.p.Groups.Bootstrap(w.operator(), "Acme!", "nonsense", "")
		if got := violationFields(err); got != "name claimMatch.issuer claimMatch.subject" {
			t.Errorf("got %v, want 'name claimMatch.issuer claimMatch.subject'", got)
		}
		if got := types(w.events()[:3]); got != "iam.group.created iam.identity.created iam.rolebindings.created" {
			t.Errorf("got %v, want 'iam.group.created iam.identity.created iam.rolebindings.created'", got)
		}
		if acme.Group.Status != iam.OrgStatusReady || !acme.uid.IsRoot() || acme.Identity.UID.Parent() != acme.uid || acme.Binding.UID.Parent() != acme.uid {
			t.Errorf("got %+v, want Status %v, Parent %v and Parent %v", acme, iam.OrgStatusReady, acme.uid, acme.uid)
		}
	})
}

func TestSigningUpIsOffUnlessTheOperatorAllowsIt(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		_, err := w.p.Groups.Create(acme.owner, "", body[*iam.Group](`{"name": "mine"}`))
		expectRefused(t, "off", err, core.CodePermissionDenied, "PERMISSION_DENIED")
		_, err = w.p.Groups.Create(t.Context(), "", body[*iam.Group](`{"name": "mine"}`))
		expectRefused(t, "nobody", err, core.CodeUnauthenticated)
	})
}

func TestSigningUpCreatesAnOrganizationWithItsOwner(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		open := w.replica(w.store, platform.Options{AllowSignup: true, AllowIssuers: true})
		team := w.group(acme.uid)
		_, err := open.Groups.Create(w.memberWith(iam.OwnerRole, team, team), "", body[*iam.Group](`{"name": "mine"}`))
		expectRefused(t, "an identity below the root", err, core.CodePermissionDenied)
		_, err = open.Groups.Create(acme.owner, "", body[*iam.Group](`{"name": "No!", "description": "a\nb"}`))
		if got := violationFields(err); got != "name description" {
			t.Errorf("got %v, want 'name description'", got)
		}
		_, err = open.Groups.Create(acme.owner, "", body[*iam.Group](`{"name": "acme"}`))
		if e := refusal(t, "a name that is taken", err, core.CodeAlreadyExists); e.Resource.Kind != "Group" || e.Resource.Name != "" || strings.Contains(e.Message, string(acme.uid)) {
			t.Errorf("it tells whose it is: %+v: %s", e.Resource, e.Message)
		}

		mine, err := open.Groups.Create(acme.owner, "", body[*iam.Group](`{"name": "mine", "description": "d"}`))
		must(t, err)
		again := w.as("owner of acme")
		if actor := core.ActorOf(again); len(actor.Identities) != 2 || !actor.Can(core.CapGroupsDelete, mine.UID) || !actor.Can(core.CapGroupsDelete, acme.uid) {
			t.Errorf("acts as %v, want 2 of them", actor.Identities)
		}
		if !mine.UID.IsRoot() || mine.UID == acme.uid || mine.Description != "d" {
			t.Errorf("got %+v, want Description 'd'", mine)
		}
		expectRefused(t, "leaving it", deleteOnlyBinding(again, w, mine.UID), core.CodeFailedPrecondition, "LAST_OWNER")
	})
}

// The token was made for another service and matched by an audience rule. Its bearer must
// have access to the new organization with the same token.
func TestSigningUpWithATokenForAnotherServiceGrantsAccess(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		open := w.replica(w.store, platform.Options{AllowSignup: true, AllowIssuers: true})
		_, err := open.Identities.Create(acme.owner, acme.uid, body[*iam.Identity](`{"name": "ci", "claimMatch": {"issuer": %q, "subjectPattern": "ci-.*", "audiencePattern": "runn.*"}}`, issuer))
		must(t, err)
		claims := iam.Claims{Issuer: issuer, Subject: "ci-7", Audience: []string{"third", "runner"}}
		actor, err := open.Authenticate(t.Context(), claims)
		must(t, err)
		mine, err := open.Groups.Create(core.WithActor(t.Context(), actor), "", body[*iam.Group](`{"name": "mine"}`))
		must(t, err)
		if actor, err = open.Authenticate(t.Context(), claims); err != nil || !actor.Can(core.CapGroupsDelete, mine.UID) {
			t.Errorf("whoever signed up acts as %v and is locked out (%v)", actor.Identities, err)
		}
		claims.Audience, claims.ServiceAudience = []string{"fourth"}, false
		if actor, err = open.Authenticate(t.Context(), claims); err != nil || actor.Can(core.CapGroupsList, mine.UID) {
			t.Errorf("a token for yet another service acts as %v (%v)", actor.Identities, err)
		}
	})
}

// An owner whose identity has no rule cannot sign in.
func TestAnOrganizationKeepsTheRuleOfItsLastOwner(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		change := func(identity core.UID, to string, mask ...string) error {
			_, err := w.p.Identities.Update(w.operator(), identity, inputWithMask[*iam.Identity](to, mask...))
			return err
		}
		keep := func(what string, err error) {
			t.Helper()
			if e := refusal(t, what, err, core.CodeFailedPrecondition, "LAST_OWNER"); e.Preconditions == nil || e.Preconditions[0].Subject != string(acme.uid) {
				t.Errorf("%s: got %+v, want the subject %s", what, e, acme.uid)
			}
		}
		first := acme.Identity.UID
		keep("the rule of the only owner", change(first, `{"claimMatch": null}`, "claimMatch"))
		keep("both rules of the only owner", change(first, `{}`, "claimMatch", "staticKeys"))
		must(t, change(first, `{"staticKeys": null}`, "staticKeys")) // It has none.
		keys := fmt.Sprintf(`{"staticKeys": {"issuer": %q, "subject": "robot", "issuerKeys": "{\"keys\": [{}]}"}}`, issuer)
		must(t, change(first, keys, "staticKeys"))
		keep("the keys of the only owner", change(first, `{"staticKeys": null}`, "staticKeys"))

		// An owner without a rule does not count, and neither does one of a group below.
		idle, err := w.p.Identities.Create(w.operator(), acme.uid, body[*iam.Identity](`{"name": "idle"}`))
		must(t, err)
		spare := w.bind(acme.uid, idle.UID, iam.OwnerRole)
		w.bind(w.group(acme.uid), w.member(acme.uid, "below"), iam.OwnerRole)
		keep("the keys beside an owner without a rule", change(first, `{"staticKeys": null}`, "staticKeys"))
		keep("the role beside an owner without a rule", w.p.RoleBindings.Delete(w.operator(), acme.Binding.UID))
		must(t, change(idle.UID, `{"claimMatch": null}`, "claimMatch"))
		must(t, w.p.RoleBindings.Delete(w.operator(), spare))

		// Whoever is not an owner, or not the only one, may lose the rule.
		second := w.member(acme.uid, "second")
		must(t, change(second, `{"claimMatch": null}`, "claimMatch"))
		must(t, change(second, `{"claimMatch": {"issuer": "`+issuer+`", "subjectPattern": "second"}}`, "claimMatch"))
		w.bind(acme.uid, second, iam.OwnerRole)
		must(t, change(first, `{"staticKeys": null}`, "staticKeys"))
		keep("then the rule of the other", change(second, `{"claimMatch": null}`, "claimMatch"))

		// A user of an identity provider needs no rule.
		w.providerOf(acme.uid, workplace, iam.ViewerRole)
		alice, _ := w.enter(visitor("alice", nil))
		w.bind(acme.uid, alice.Identities[0], iam.OwnerRole)
		must(t, change(second, `{"claimMatch": null}`, "claimMatch"))
		must(t, change(alice.Identities[0], `{"claimMatch": {"issuer": "`+issuer+`", "subject": "alice"}}`, "claimMatch"))
		must(t, change(alice.Identities[0], `{"claimMatch": null}`, "claimMatch"))
	})
}
