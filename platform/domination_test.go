package platform_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
)

// Nobody may grant more than they hold, at the place and at the moment of the grant.

// expectDominated expects an error that names the missing capability.
func expectDominated(t *testing.T, what string, err error, capability core.Capability) {
	t.Helper()
	e := refusal(t, what, err, core.CodePermissionDenied, "PERMISSION_DENIED")
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
		binder := w.memberWith(w.role(acme.uid, core.CapRoleBindingsCreate, core.CapRoleBindingsUpdate, core.CapGroupsList, core.CapRepoList), team, acme.uid)
		reader := w.role(acme.uid, core.CapRepoList)
		deleter := w.role(acme.uid, core.CapRepoList, core.CapRepoDelete)
		friend, other := w.member(acme.uid, "friend"), w.member(acme.uid, "other")
		create := func(identity, role core.UID) (*iam.RoleBinding, error) {
			return w.p.RoleBindings.Create(binder, team, binding(identity, role))
		}
		_, err := create(friend, iam.OwnerRole)
		expectRefused(t, "owner", err, core.CodePermissionDenied)
		_, err = create(friend, iam.ViewerRole)
		expectDominated(t, "viewer", err, core.CapGroupInvitesList)
		_, err = create(friend, deleter)
		expectDominated(t, "one capability more", err, core.CapRepoDelete)
		_, err = w.p.RoleBindings.CreateBatch(binder, newBatch(team, []fieldmask.Input[*iam.RoleBinding]{binding(friend, reader), binding(other, deleter)}))
		expectDominated(t, "the second of a batch", err, core.CapRepoDelete)
		made, err := create(friend, reader)
		must(t, err)

		_, err = w.p.RoleBindings.Update(binder, made.UID, body[*iam.RoleBinding](`{"roleUid": %q}`, deleter))
		expectDominated(t, "another role", err, core.CapRepoDelete)
		_, err = w.p.RoleBindings.Update(binder, made.UID, body[*iam.RoleBinding](`{"identityUid": %q}`, other))
		must(t, err)
		owners := w.bind(team, friend, iam.OwnerRole)
		_, err = w.p.RoleBindings.Update(binder, owners, body[*iam.RoleBinding](`{"identityUid": %q}`, other))
		expectRefused(t, "another identity for a role that is more", err, core.CodePermissionDenied)
		// A capability that is held only on the team cannot be granted above it.
		_, err = w.p.RoleBindings.Create(binder, acme.uid, binding(friend, reader))
		expectRefused(t, "above", err, core.CodePermissionDenied)
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
		w.bind(sub, who, iam.OwnerRole)
		w.bind(team, who, w.role(acme.uid, core.CapRoleBindingsCreate, core.CapRolesCreate))
		ctx, friend := w.as(subject), w.member(acme.uid, "friend")
		_, err := w.p.RoleBindings.Create(ctx, team, binding(friend, iam.ViewerRole))
		expectRefused(t, "held below only", err, core.CodePermissionDenied)
		_, err = w.p.Roles.Create(ctx, team, body[*iam.Role](`{"name": "r", "capabilities": ["repo.list"]}`))
		expectDominated(t, "a role of what is held below only", err, core.CapRepoList)
		_, err = w.p.RoleBindings.Create(ctx, sub, binding(friend, iam.OwnerRole))
		must(t, err)
	})
}

func TestARoleHoldsNothingThatItsMakerLacks(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		maker := w.memberWith(w.role(acme.uid, core.CapRolesCreate, core.CapRolesUpdate, core.CapRolesDelete, core.CapRepoList), team, acme.uid)
		_, err := w.p.Roles.Create(maker, team, body[*iam.Role](`{"name": "r", "capabilities": ["CAP_REPO_LIST", "repo.delete"]}`))
		expectDominated(t, "creating", err, core.CapRepoDelete)
		role, err := w.p.Roles.Create(maker, team, body[*iam.Role](`{"name": "r", "capabilities": ["CAP_REPO_LIST"]}`))
		must(t, err)
		_, err = w.p.Roles.Update(maker, role.UID, body[*iam.Role](`{"capabilities": ["repo.list", "tag.list"]}`))
		expectDominated(t, "widening", err, core.CapTagList)
		_, err = w.p.Roles.Update(maker, role.UID, inputWithMask[*iam.Role](`{"name": "r", "capabilities": ["tag.list"]}`, "*"))
		expectDominated(t, "replacing", err, core.CapTagList)
		changed, err := w.p.Roles.Update(maker, role.UID, body[*iam.Role](`{"capabilities": ["roles.create", "repo.list"], "description": "more"}`))
		must(t, err)
		if want := []core.Capability{core.CapRolesCreate, core.CapRepoList}; !slices.Equal(changed.Capabilities, want) {
			t.Errorf("it holds %v, want %v", changed.Capabilities, want)
		}
		// Callers cannot change a role that has more than they hold.
		strong := w.role(team, core.CapRepoDelete)
		_, err = w.p.Roles.Update(maker, strong, body[*iam.Role](`{"description": "x"}`))
		expectDominated(t, "describing a stronger role", err, core.CapRepoDelete)
		_, err = w.p.Roles.Update(maker, strong, body[*iam.Role](`{"capabilities": []}`))
		must(t, err) // Removing a capability grants nothing.
	})
}

func TestChangingARuleNeedsAllCapabilitiesOfItsIdentity(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		clerk := w.memberWith(w.role(acme.uid, core.CapIdentityUpdate, core.CapIdentityList, core.CapRepoList), acme.uid, acme.uid)
		boss, peer, free := w.member(acme.uid, "boss"), w.member(acme.uid, "peer"), w.member(acme.uid, "free")
		w.bind(team, boss, iam.OwnerRole)
		w.bind(team, peer, w.role(acme.uid, core.CapRepoList))
		const mine = `{"claimMatch": {"issuer": "https://issuer.example.com", "subject": "me"}}`
		const keys = `{"staticKeys": {"issuer": "https://issuer.example.com", "subject": "me", "issuerKeys": "{\"keys\": [{}]}"}}`
		change := func(uid core.UID, in fieldmask.Input[*iam.Identity]) error {
			_, err := w.p.Identities.Update(clerk, uid, in)
			return err
		}
		for what, in := range map[string]fieldmask.Input[*iam.Identity]{
			"the rule": body[*iam.Identity](mine), "clearing the rule": body[*iam.Identity](`{"claimMatch": null}`), "keys": body[*iam.Identity](keys),
			"all of it": inputWithMask[*iam.Identity](`{"name": "x"}`, "*"), "by mask": inputWithMask[*iam.Identity](mine, "claim_match", "name"),
		} {
			if what == "by mask" {
				in = inputWithMask[*iam.Identity](mine, "claim_match")
			}
			expectRefused(t, what+" of a stronger identity", change(boss, in), core.CodePermissionDenied)
		}
		must(t, change(boss, body[*iam.Identity](`{"description": "the boss"}`)))
		must(t, change(peer, body[*iam.Identity](mine)))
		must(t, change(free, body[*iam.Identity](mine)))
		if actor := core.ActorOf(w.as("boss")); len(actor.Identities) != 1 || actor.Identities[0] != boss {
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
		w.bind(team, boss, iam.ViewerRole)
		role := w.role(team, core.CapRepoList)
		old := w.bind(team, w.member(acme.uid, "x"), role)
		revoked := func() context.Context {
			subject := w.name()
			grant := w.bind(team, w.member(acme.uid, subject), iam.OwnerRole)
			ctx := w.as(subject)
			must(t, w.p.RoleBindings.Delete(acme.owner, grant))
			return ctx
		}
		_, err := w.p.RoleBindings.Create(revoked(), team, binding(friend, iam.ViewerRole))
		expectRefused(t, "binding", err, core.CodePermissionDenied)
		_, err = w.p.RoleBindings.Update(revoked(), old, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.ViewerRole))
		expectRefused(t, "changing a binding", err, core.CodePermissionDenied)
		_, err = w.p.Roles.Create(revoked(), team, body[*iam.Role](`{"name": "r", "capabilities": ["repo.list"]}`))
		expectRefused(t, "making a role", err, core.CodePermissionDenied)
		_, err = w.p.Roles.Update(revoked(), role, body[*iam.Role](`{"capabilities": ["repo.delete"]}`))
		expectRefused(t, "changing a role", err, core.CodePermissionDenied)
		_, err = w.p.Identities.Update(revoked(), boss, body[*iam.Identity](`{"claimMatch": {"issuer": "https://issuer.example.com", "subject": "me"}}`))
		expectRefused(t, "changing a rule", err, core.CodePermissionDenied)
	})
}
