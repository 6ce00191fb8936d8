package platform_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"atrium/platform"
)

// left lists the bindings below a group that nobody has confirmed since a time.
func (w *world) left(group platform.UID, since time.Time) string {
	w.Helper()
	page, err := w.p.RoleBindings.List(w.operator(), platform.ListRequest[*platform.RoleBindingFilter]{
		UIDP: platform.UIDFilter{DescendantsOf: group}, Filter: &platform.RoleBindingFilter{UnreviewedSince: platform.At(since)}, OrderBy: "create_time",
	})
	must(w, err)
	var names []string
	for _, b := range page.Items {
		names = append(names, b.Identity.Subject)
	}
	return strings.Join(names, ", ")
}

// A review that began at a time is complete when nothing is left that was made before.
func TestAnAccessReviewConfirmsOrRevokes(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		ann, bob, cat := w.member(acme.uid, "ann"), w.member(acme.uid, "bob"), w.member(acme.uid, "cat")
		stays, goes := w.bind(acme.uid, ann, platform.ViewerRole), w.bind(acme.uid, bob, platform.ViewerRole)
		w.pass(time.Hour)
		began := w.now()
		w.pass(time.Hour)
		w.bind(acme.uid, cat, platform.ViewerRole)
		w.expect("what is left when the review begins", w.left(acme.uid, began), "owner of acme, ann, bob")

		confirmed, err := w.p.RoleBindings.Confirm(acme.owner, []platform.UID{acme.Binding.UID, stays}, "Still on call")
		must(t, err)
		if b := confirmed[1]; b.UID != stays || b.ReviewNote != "Still on call" || b.Reviewer != string(acme.Identity.UID) || b.ReviewTime.Before(began) {
			t.Errorf("got %+v", b)
		}
		must(t, w.p.RoleBindings.DeleteBatch(acme.owner, []platform.UID{goes}, "Has left"))
		w.expect("what is left in the end", w.left(acme.uid, began), "")
		events := w.events()
		for i, want := range []string{"confirmed Still on call", "confirmed Still on call", "deleted Has left"} {
			e := events[len(events)-3+i]
			kind, note, _ := strings.Cut(want, " ")
			if e.kind != "iam.rolebindings."+kind || e.actor.Subject != string(acme.Identity.UID) || !strings.Contains(e.body, `"reviewNote":"`+note+`"`) {
				t.Errorf("event %d: got %s by %s: %s, want %s", i, e.kind, e.actor.Subject, e.body, want)
			}
		}

		changed, err := w.p.RoleBindings.Update(acme.owner, stays, body[*platform.RoleBinding](`{"roleUid": %q}`, platform.EditorRole))
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
		one := w.bind(acme.uid, w.member(acme.uid, "ann"), platform.ViewerRole)
		changer := w.with(w.role(acme.uid, platform.CapRoleBindingsList, platform.CapRoleBindingsUpdate), acme.uid, acme.uid)
		for _, x := range []struct {
			what   string
			caller context.Context
			uids   []platform.UID
			note   string
			want   platform.Code
		}{
			{"by one who may only change", changer, []platform.UID{one}, "", platform.CodePermissionDenied},
			{"by another organisation", other.owner, []platform.UID{one}, "", platform.CodePermissionDenied},
			{"of one that is gone", acme.owner, []platform.UID{one, acme.uid + "/00000000000000ff"}, "", platform.CodeNotFound},
			{"of none", acme.owner, nil, "", platform.CodeInvalidArgument},
			{"of the same twice", acme.owner, []platform.UID{one, one}, "", platform.CodeInvalidArgument},
			{"with a long note", acme.owner, []platform.UID{one}, strings.Repeat("a", 8193), platform.CodeInvalidArgument},
		} {
			_, err := w.p.RoleBindings.Confirm(x.caller, x.uids, x.note)
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
