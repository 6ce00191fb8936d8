package platform_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// left lists the bindings below a group that nobody has confirmed since a time.
func (w *world) left(group core.UID, since time.Time) string {
	w.Helper()
	page, err := w.p.RoleBindings.List(w.operator(), core.ListRequest[*iam.RoleBindingFilter]{
		UIDP: core.UIDFilter{DescendantsOf: group}, Filter: &iam.RoleBindingFilter{UnreviewedSince: core.At(since)}, OrderBy: "create_time",
	})
	must(w, err)
	var names []string
	for _, b := range page.Items {
		names = append(names, b.Identity.Subject)
	}
	return strings.Join(names, ", ")
}

// unseen are requests to confirm bindings without saying what was seen of them.
func unseen(uids ...core.UID) (requests []core.BatchRequest[*iam.RoleBinding]) {
	for _, uid := range uids {
		requests = append(requests, seenAs(uid, `{}`))
	}
	return requests
}

// seenAs is a request to confirm a binding that was seen with these fields.
func seenAs(uid core.UID, seen string, values ...any) core.BatchRequest[*iam.RoleBinding] {
	return core.BatchRequest[*iam.RoleBinding]{UID: uid, Input: body[*iam.RoleBinding](seen, values...)}
}

// A review that began at a time is complete when nothing is left that was made before.
func TestAnAccessReviewConfirmsOrRevokes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		ann, bob, cat := w.member(acme.uid, "ann"), w.member(acme.uid, "bob"), w.member(acme.uid, "cat")
		stays, goes := w.bind(acme.uid, ann, iam.ViewerRole), w.bind(acme.uid, bob, iam.ViewerRole)
		w.pass(time.Hour)
		began := w.now()
		w.pass(time.Hour)
		w.bind(acme.uid, cat, iam.ViewerRole)
		w.expect("what is left when the review begins", w.left(acme.uid, began), "owner of acme, ann, bob")

		confirmed, err := w.p.RoleBindings.Confirm(acme.owner, unseen(acme.Binding.UID, stays), "Still on call")
		must(t, err)
		if b := confirmed[1]; b.UID != stays || b.ReviewNote != "Still on call" || b.Reviewer != string(acme.Identity.UID) || b.ReviewTime.Before(began) {
			t.Errorf("got %+v", b)
		}
		must(t, w.p.RoleBindings.DeleteBatch(acme.owner, []core.UID{goes}, "Has left"))
		w.expect("what is left in the end", w.left(acme.uid, began), "")
		events := w.events()
		for i, want := range []string{"confirmed Still on call", "confirmed Still on call", "deleted Has left"} {
			e := events[len(events)-3+i]
			kind, note, _ := strings.Cut(want, " ")
			if e.kind != "iam.rolebindings."+kind || e.actor.Subject != string(acme.Identity.UID) || !strings.Contains(e.body, `"reviewNote":"`+note+`"`) {
				t.Errorf("event %d: got %s by %s: %s, want %s", i, e.kind, e.actor.Subject, e.body, want)
			}
		}

		changed, err := w.p.RoleBindings.Update(acme.owner, stays, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.EditorRole))
		must(t, err)
		if changed.ReviewNote != "" || !changed.ReviewTime.IsZero() || changed.Reviewer != "" {
			t.Errorf("a binding with another role counts as reviewed: %+v", changed)
		}
		w.expect("what is left after a change", w.left(acme.uid, began), "ann")
	})
}

func TestAConfirmationNeedsTheRightToRevoke(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, other := w.found("acme"), w.found("other")
		one := w.bind(acme.uid, w.member(acme.uid, "ann"), iam.ViewerRole)
		changer := w.memberWith(w.role(acme.uid, core.CapRoleBindingsList, core.CapRoleBindingsUpdate), acme.uid, acme.uid)
		for _, x := range []struct {
			what   string
			caller context.Context
			uids   []core.UID
			note   string
			want   core.Code
		}{
			{"by one who may only change", changer, []core.UID{one}, "", core.CodePermissionDenied},
			{"by another organization", other.owner, []core.UID{one}, "", core.CodePermissionDenied},
			{"of one that is gone", acme.owner, []core.UID{one, acme.uid + "/00000000000000ff"}, "", core.CodeNotFound},
			{"of none", acme.owner, nil, "", core.CodeInvalidArgument},
			{"of the same twice", acme.owner, []core.UID{one, one}, "", core.CodeInvalidArgument},
			{"with a long note", acme.owner, []core.UID{one}, strings.Repeat("a", 8193), core.CodeInvalidArgument},
		} {
			_, err := w.p.RoleBindings.Confirm(x.caller, unseen(x.uids...), x.note)
			expectRefused(t, x.what, err, x.want)
		}
		got, err := w.p.RoleBindings.Get(acme.owner, one)
		must(t, err)
		if !got.ReviewTime.IsZero() {
			t.Errorf("it counts as reviewed: %+v", got)
		}
		if denials := w.denials(); len(denials) == 0 || denials[0].kind != "iam.rolebindings.confirmed" {
			t.Errorf("got the denials %v, want that of a confirmation", denials)
		}
	})
}

func TestAConfirmationIsOfWhatTheReviewerHasSeen(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		ann, bob := w.member(acme.uid, "ann"), w.member(acme.uid, "bob")
		one, two, three := w.bind(acme.uid, ann, iam.ViewerRole), w.bind(acme.uid, bob, iam.ViewerRole), w.bind(acme.uid, bob, iam.EditorRole)
		all := []core.BatchRequest[*iam.RoleBinding]{
			seenAs(one, `{"identityUid": %q, "roleUid": %q, "expireTime": null}`, ann, iam.ViewerRole),
			seenAs(three, `{"identityUid": %q, "roleUid": %q, "expireTime": null}`, bob, iam.EditorRole),
			seenAs(two, `{"identityUid": %q, "roleUid": %q, "expireTime": null}`, bob, iam.ViewerRole),
		}
		end := core.At(w.now().Add(time.Hour))
		_, err := w.p.RoleBindings.Update(acme.owner, one, body[*iam.RoleBinding](`{"roleUid": %q}`, iam.EditorRole))
		must(t, err)
		_, err = w.p.RoleBindings.Update(acme.owner, two, body[*iam.RoleBinding](`{"identityUid": %q, "expireTime": %q}`, ann, end.String()))
		must(t, err)
		_, err = w.p.RoleBindings.Confirm(acme.owner, all, "")
		refused := refusal(t, "what has changed", err, core.CodeFailedPrecondition)
		w.expect("fields", violationFields(refused), "requests[0].roleUid requests[2].expireTime requests[2].identityUid")
		if p := refused.Preconditions; len(p) != 2 || p[0].Type != "ROLE_BINDING_CHANGED" || p[0].Subject != string(one) || p[1].Subject != string(two) {
			t.Errorf("got the preconditions %+v", p)
		}
		w.expect("what is left", w.left(acme.uid, w.now().Add(time.Hour)), "owner of acme, ann, ann, bob")

		all[0] = seenAs(one, `{"identityUid": %q, "roleUid": %q}`, ann, iam.EditorRole)
		all[2] = seenAs(two, `{"roleUid": %q, "expireTime": %q}`, iam.ViewerRole, end.String())
		w.pass(time.Minute)
		began := w.now()
		_, err = w.p.RoleBindings.Confirm(acme.owner, all, "")
		must(t, err)
		w.expect("what is left in the end", w.left(acme.uid, began), "owner of acme")
	})
}

// Nobody reviews their own access, as long as somebody else is sure to be able to.
func TestNobodyConfirmsTheirOwnBinding(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		reviewer := w.member(acme.uid, "rita")
		own := w.bind(team, reviewer, w.role(acme.uid, core.CapRoleBindingsList, core.CapRoleBindingsDelete))
		rita := w.as("rita")
		other := w.bind(team, w.member(acme.uid, "ann"), iam.ViewerRole)
		_, err := w.p.RoleBindings.Confirm(rita, unseen(other, own), "")
		if e := refusal(t, "the reviewer's own", err, core.CodeFailedPrecondition); e.Preconditions[0].Type != "OWN_ROLE_BINDING" || e.Preconditions[0].Subject != string(own) || e.Metadata["request"] != "requests[1]" {
			t.Errorf("got %+v", e)
		}
		second := w.bind(team, acme.Identity.UID, iam.ViewerRole)
		_, err = w.p.RoleBindings.Confirm(acme.owner, unseen(own, acme.Binding.UID, second), "")
		must(t, err) // nobody else could

		helper := w.member(acme.uid, "otto")
		deputy := w.bind(acme.uid, helper, iam.OwnerRole)
		_, err = w.p.RoleBindings.Confirm(acme.owner, unseen(acme.Binding.UID), "")
		expectRefused(t, "an owner's own beside another owner", err, core.CodeFailedPrecondition)
		_, err = w.p.RoleBindings.Confirm(w.as("otto"), unseen(acme.Binding.UID), "")
		must(t, err)
		_, err = w.p.RoleBindings.Update(acme.owner, deputy, body[*iam.RoleBinding](`{"expireTime": %q}`, core.At(w.now().Add(time.Hour)).String()))
		must(t, err)
		_, err = w.p.RoleBindings.Confirm(acme.owner, unseen(acme.Binding.UID), "")
		must(t, err) // the other owner's binding ends
	})
}

// What was confirmed is who acts as an identity, and what the role gives them.
func TestAReviewEndsWithAChangeOfTheRuleOrTheRole(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		role := w.role(acme.uid, core.CapRepoList)
		ann, bob := w.member(acme.uid, "ann"), w.member(acme.uid, "bob")
		ones := unseen(w.bind(acme.uid, ann, iam.ViewerRole), w.bind(acme.uid, bob, role), acme.Binding.UID)
		var began time.Time
		confirm := func() {
			t.Helper()
			w.pass(time.Hour)
			began = w.now()
			_, err := w.p.RoleBindings.Confirm(acme.owner, ones, "Fine")
			must(t, err)
			w.expect("what is left after a review", w.left(acme.uid, began), "")
		}
		identity := func(change string, values ...any) {
			t.Helper()
			_, err := w.p.Identities.Update(acme.owner, ann, body[*iam.Identity](change, values...))
			must(t, err)
		}
		confirm()
		current, err := w.p.Identities.Get(acme.owner, ann)
		must(t, err)
		identity(`{"claimMatch": {"issuer": %q, "subject": %q}}`, current.ClaimMatch.Issuer, current.ClaimMatch.Subject)
		identity(`{"description": "Of the night shift"}`)
		_, err = w.p.Roles.Update(acme.owner, role, body[*iam.Role](`{"description": "Readers", "capabilities": ["repo.list"]}`))
		must(t, err)
		w.expect("what is left where nothing has changed", w.left(acme.uid, began), "")
		identity(`{"claimMatch": {"issuer": %q, "subject": "eve"}}`, current.ClaimMatch.Issuer)
		w.expect("what is left after a change of a rule", w.left(acme.uid, began), "eve")
		confirm()
		_, err = w.p.Roles.Update(acme.owner, role, body[*iam.Role](`{"capabilities": ["repo.list", "repo.delete"]}`))
		must(t, err)
		w.expect("what is left after a change of a role", w.left(acme.uid, began), "bob")
		confirm()
		identity(`{"claimMatch": null}`)
		got, err := w.p.RoleBindings.Get(acme.owner, ones[0].UID)
		must(t, err)
		if !got.ReviewTime.IsZero() || got.ReviewNote != "" || got.Reviewer != "" {
			t.Errorf("without a rule, it still has the review %+v", got)
		}
	})
}

// What the last reviewer noted is neither the reason of a later end, nor for the one whom it is about.
func TestANoteOfAReviewStaysWithTheReview(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		ann := w.member(acme.uid, "ann")
		end := core.At(w.now().Add(time.Hour))
		role := w.role(acme.uid)
		deleted, batched, revoked := w.bind(team, ann, role), w.bind(team, ann, w.role(acme.uid)), w.bind(team, ann, w.role(acme.uid))
		made, err := w.p.RoleBindings.Create(acme.owner, team, body[*iam.RoleBinding](`{"identityUid": %q, "roleUid": %q, "expireTime": %q}`, ann, w.role(acme.uid, core.CapTagList), end.String()))
		must(t, err)
		ended := made.UID
		_, err = w.p.RoleBindings.Confirm(acme.owner, unseen(deleted, batched, revoked, ended), "On probation")
		must(t, err)

		expectNotes := func(what string, caller context.Context, want string) {
			t.Helper()
			own, err := w.p.RoleBindings.ListOwn(caller, core.ListRequest[*iam.RoleBindingFilter]{Filter: &iam.RoleBindingFilter{Role: role}})
			must(t, err)
			w.expect("what "+what+" reads of her own binding", own.Items[0].ReviewNote, want)
		}
		expectNotes("ann", w.as("ann"), "")
		changer := w.memberWith(w.role(acme.uid, core.CapRoleBindingsUpdate), team, acme.uid)
		unchanged, err := w.p.RoleBindings.Update(changer, deleted, body[*iam.RoleBinding](`{}`))
		must(t, err)
		w.expect("what one reads who may change, but not list", unchanged.ReviewNote, "")
		lists := w.bind(acme.uid, ann, w.role(acme.uid, core.CapRoleBindingsList))
		expectNotes("ann, who may list", w.as("ann"), "On probation")
		must(t, w.p.RoleBindings.Delete(acme.owner, lists))
		must(t, w.p.RoleBindings.Delete(acme.owner, deleted))
		must(t, w.p.RoleBindings.DeleteBatch(acme.owner, []core.UID{batched}, ""))
		must(t, w.p.RoleBindings.DeleteBatch(acme.owner, []core.UID{revoked}, "Has left"))
		w.pass(2 * time.Hour)
		must(t, w.p.RoleBindings.DeleteExpired(w.Context()))
		events := w.events()
		for i, want := range []string{"deleted", "deleted", "deleted Has left", "expired"} {
			e := events[len(events)-4+i]
			kind, note, noted := strings.Cut(want, " ")
			if e.kind != "iam.rolebindings."+kind || strings.Contains(e.body, "On probation") || strings.Contains(e.body, "review") != noted || !strings.Contains(e.body, note) {
				t.Errorf("event %d: got %s: %s, want %s", i, e.kind, e.body, want)
			}
		}
	})
}
