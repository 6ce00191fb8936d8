package platform_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/fieldmask"
)

// Nobody may grant more than they hold, at the place and at the moment of the grant.

// expectDominated expects an error that names the missing capability.
func expectDominated(t *testing.T, what string, err error, capability platform.Capability) {
	t.Helper()
	e := refusal(t, what, err, platform.CodePermissionDenied, "PERMISSION_DENIED")
	if got := e.Metadata["capability"]; got != string(capability) {
		t.Errorf("%s: names %q, want %s", what, got, capability)
	}
	if !strings.Contains(e.Message, "cannot grant") {
		t.Errorf("%s: %s, want it to contain 'cannot grant'", what, e.Message)
	}
}

func TestBindingARoleNeedsEverythingItHolds(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		// The binder may read groups and repos on the team, and create bindings there.
		binder := w.with(w.role(acme.uid, platform.CapRoleBindingsCreate, platform.CapRoleBindingsUpdate, platform.CapGroupsList, platform.CapRepoList), team, acme.uid)
		reader := w.role(acme.uid, platform.CapRepoList)
		deleter := w.role(acme.uid, platform.CapRepoList, platform.CapRepoDelete)
		friend, other := w.member(acme.uid, "friend"), w.member(acme.uid, "other")
		create := func(identity, role platform.UID) (*platform.RoleBinding, error) {
			return w.p.RoleBindings.Create(binder, team, binding(identity, role))
		}
		_, err := create(friend, platform.OwnerRole)
		expectRefused(t, "owner", err, platform.CodePermissionDenied)
		_, err = create(friend, platform.ViewerRole)
		expectDominated(t, "viewer", err, platform.CapGroupInvitesList)
		_, err = create(friend, deleter)
		expectDominated(t, "one capability more", err, platform.CapRepoDelete)
		_, err = w.p.RoleBindings.CreateBatch(binder, newBatch(team, []fieldmask.Input[*platform.RoleBinding]{binding(friend, reader), binding(other, deleter)}))
		expectDominated(t, "the second of a batch", err, platform.CapRepoDelete)
		made, err := create(friend, reader)
		must(t, err)

		_, err = w.p.RoleBindings.Update(binder, made.UID, body[*platform.RoleBinding](`{"roleUid": %q}`, deleter))
		expectDominated(t, "another role", err, platform.CapRepoDelete)
		_, err = w.p.RoleBindings.Update(binder, made.UID, body[*platform.RoleBinding](`{"identityUid": %q}`, other))
		must(t, err)
		owners := w.bind(team, friend, platform.OwnerRole)
		_, err = w.p.RoleBindings.Update(binder, owners, body[*platform.RoleBinding](`{"identityUid": %q}`, other))
		expectRefused(t, "another identity for a role that is more", err, platform.CodePermissionDenied)
		// A capability that is held only on the team cannot be granted above it.
		_, err = w.p.RoleBindings.Create(binder, acme.uid, binding(friend, reader))
		expectRefused(t, "above", err, platform.CodePermissionDenied)
	})
}

func TestGrantedCapabilitiesMustBeHeldOnTheScope(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		sub := w.group(team)
		// This caller owns the subgroup, but on the team above it is only a binder.
		subject := w.name()
		who := w.member(acme.uid, subject)
		w.bind(sub, who, platform.OwnerRole)
		w.bind(team, who, w.role(acme.uid, platform.CapRoleBindingsCreate, platform.CapRolesCreate))
		ctx, friend := w.as(subject), w.member(acme.uid, "friend")
		_, err := w.p.RoleBindings.Create(ctx, team, binding(friend, platform.ViewerRole))
		expectRefused(t, "held below only", err, platform.CodePermissionDenied)
		_, err = w.p.Roles.Create(ctx, team, body[*platform.Role](`{"name": "r", "capabilities": ["repo.list"]}`))
		expectDominated(t, "a role of what is held below only", err, platform.CapRepoList)
		_, err = w.p.RoleBindings.Create(ctx, sub, binding(friend, platform.OwnerRole))
		must(t, err)
	})
}

func TestARoleHoldsNothingThatItsMakerLacks(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		maker := w.with(w.role(acme.uid, platform.CapRolesCreate, platform.CapRolesUpdate, platform.CapRolesDelete, platform.CapRepoList), team, acme.uid)
		_, err := w.p.Roles.Create(maker, team, body[*platform.Role](`{"name": "r", "capabilities": ["CAP_REPO_LIST", "repo.delete"]}`))
		expectDominated(t, "creating", err, platform.CapRepoDelete)
		role, err := w.p.Roles.Create(maker, team, body[*platform.Role](`{"name": "r", "capabilities": ["CAP_REPO_LIST"]}`))
		must(t, err)
		_, err = w.p.Roles.Update(maker, role.UID, body[*platform.Role](`{"capabilities": ["repo.list", "tag.list"]}`))
		expectDominated(t, "widening", err, platform.CapTagList)
		_, err = w.p.Roles.Update(maker, role.UID, inputWithMask[*platform.Role](`{"name": "r", "capabilities": ["tag.list"]}`, "*"))
		expectDominated(t, "replacing", err, platform.CapTagList)
		changed, err := w.p.Roles.Update(maker, role.UID, body[*platform.Role](`{"capabilities": ["roles.create", "repo.list"], "description": "more"}`))
		must(t, err)
		if want := []platform.Capability{platform.CapRolesCreate, platform.CapRepoList}; !slices.Equal(changed.Capabilities, want) {
			t.Errorf("it holds %v, want %v", changed.Capabilities, want)
		}
		// Callers cannot change a role that has more than they hold.
		strong := w.role(team, platform.CapRepoDelete)
		_, err = w.p.Roles.Update(maker, strong, body[*platform.Role](`{"description": "x"}`))
		expectDominated(t, "describing a stronger role", err, platform.CapRepoDelete)
		_, err = w.p.Roles.Update(maker, strong, body[*platform.Role](`{"capabilities": []}`))
		must(t, err) // Removing a capability grants nothing.
	})
}

func TestChangingARuleNeedsAllCapabilitiesOfItsIdentity(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		clerk := w.with(w.role(acme.uid, platform.CapIdentityUpdate, platform.CapIdentityList, platform.CapRepoList), acme.uid, acme.uid)
		boss, peer, free := w.member(acme.uid, "boss"), w.member(acme.uid, "peer"), w.member(acme.uid, "free")
		w.bind(team, boss, platform.OwnerRole)
		w.bind(team, peer, w.role(acme.uid, platform.CapRepoList))
		const mine = `{"claimMatch": {"issuer": "https://issuer.example.com", "subject": "me"}}`
		const keys = `{"staticKeys": {"issuer": "https://issuer.example.com", "subject": "me", "issuerKeys": "{\"keys\": [{}]}"}}`
		change := func(uid platform.UID, in fieldmask.Input[*platform.Identity]) error {
			_, err := w.p.Identities.Update(clerk, uid, in)
			return err
		}
		for what, in := range map[string]fieldmask.Input[*platform.Identity]{
			"the rule": body[*platform.Identity](mine), "clearing the rule": body[*platform.Identity](`{"claimMatch": null}`), "keys": body[*platform.Identity](keys),
			"all of it": inputWithMask[*platform.Identity](`{"name": "x"}`, "*"), "by mask": inputWithMask[*platform.Identity](mine, "claim_match", "name"),
		} {
			if what == "by mask" {
				in = inputWithMask[*platform.Identity](mine, "claim_match")
			}
			expectRefused(t, what+" of a stronger identity", change(boss, in), platform.CodePermissionDenied)
		}
		must(t, change(boss, body[*platform.Identity](`{"description": "the boss"}`)))
		must(t, change(peer, body[*platform.Identity](mine)))
		must(t, change(free, body[*platform.Identity](mine)))
		if actor := platform.ActorOf(w.as("boss")); len(actor.Identities) != 1 || actor.Identities[0] != boss {
			t.Errorf("a refused change took effect: boss acts as %v, want 1 of them", actor.Identities)
		}
	})
}

// The grants at the moment of the write count, not those at the beginning of the request.
func TestAGrantRevokedInBetweenHandsOutNothing(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		friend, boss := w.member(acme.uid, "friend"), w.member(acme.uid, "boss")
		w.bind(team, boss, platform.ViewerRole)
		role := w.role(team, platform.CapRepoList)
		old := w.bind(team, w.member(acme.uid, "x"), role)
		revoked := func() context.Context {
			subject := w.name()
			grant := w.bind(team, w.member(acme.uid, subject), platform.OwnerRole)
			ctx := w.as(subject)
			must(t, w.p.RoleBindings.Delete(acme.owner, grant))
			return ctx
		}
		_, err := w.p.RoleBindings.Create(revoked(), team, binding(friend, platform.ViewerRole))
		expectRefused(t, "binding", err, platform.CodePermissionDenied)
		_, err = w.p.RoleBindings.Update(revoked(), old, body[*platform.RoleBinding](`{"roleUid": %q}`, platform.ViewerRole))
		expectRefused(t, "changing a binding", err, platform.CodePermissionDenied)
		_, err = w.p.Roles.Create(revoked(), team, body[*platform.Role](`{"name": "r", "capabilities": ["repo.list"]}`))
		expectRefused(t, "making a role", err, platform.CodePermissionDenied)
		_, err = w.p.Roles.Update(revoked(), role, body[*platform.Role](`{"capabilities": ["repo.delete"]}`))
		expectRefused(t, "changing a role", err, platform.CodePermissionDenied)
		_, err = w.p.Identities.Update(revoked(), boss, body[*platform.Identity](`{"claimMatch": {"issuer": "https://issuer.example.com", "subject": "me"}}`))
		expectRefused(t, "changing a rule", err, platform.CodePermissionDenied)
	})
}
