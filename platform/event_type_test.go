package platform_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/platform/webhooks"
)

// bindMany makes single bindings of new identities, and others together.
func (w *world) bindMany(o org, single, together int) {
	w.Helper()
	for range single {
		w.bind(o.uid, w.member(o.uid, w.name()), iam.ViewerRole)
	}
	var ins []fieldmask.Input[*iam.RoleBinding]
	for range together {
		ins = append(ins, binding(w.member(o.uid, w.name()), iam.ViewerRole))
	}
	_, err := w.p.RoleBindings.CreateBatch(o.owner, newBatch(o.uid, ins))
	must(w, err)
}

// The attack: 5 bindings are made one by one and 20 together, which have an event type of their
// own. Whoever asks for new bindings must find all of them.
func TestAFilterByTypeFindsWhatHappenedHoweverManyAtOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme") // with a binding of the owner
		must(t, w.p.Groups.Delete(acme.owner, w.group(acme.uid)))
		sub, err := w.p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://example.com/hook", "types": ["iam.rolebindings.created"]}`))
		must(t, err)
		w.relay()
		w.bindMany(acme, 4, 20)
		w.relay()
		page, err := w.p.Deliveries.List(acme.owner, core.ListRequest[*webhooks.DeliveryFilter]{UIDP: core.UIDFilter{ChildrenOf: sub.UID}})
		must(t, err)
		if page.TotalCount != 24 || !slices.Equal(sub.Types, []string{"dev.atrium.api.iam.rolebindings.created.v1"}) {
			t.Errorf("the subscription for %q gets %d events, want 24, without the binding of the owner from before", sub.Types, page.TotalCount)
		}
		for _, c := range []struct {
			types []string
			want  int
		}{
			{[]string{"iam.rolebindings.created"}, 25},
			{[]string{"dev.atrium.api.iam.rolebindings.created.v1"}, 25},
			{[]string{"IAM_ROLE_BINDING_CREATED"}, 25},
			{[]string{"iam.rolebindings.created", "iam.rolebindings.created.batch"}, 25},
			{[]string{"iam.rolebindings.created.batch"}, 20},
			{[]string{"IAM_ROLE_BINDING_CREATED_BATCH"}, 20},
			{[]string{"iam.rolebindings.created", "IAM_GROUP_DELETED"}, 26},
			{[]string{"iam.rolebindings.deleted"}, 0},
			{[]string{"IAM_GROUP_DELETED"}, 1},
		} {
			name := fmt.Sprint(c.types)
			if n := len(w.mustReadLog(acme.owner, events.AuditRequest{Types: c.types})); n != c.want {
				t.Errorf("%s: the audit log has %d, want %d", name, n, c.want)
			}
			exported := 0
			must(t, w.p.AuditLog.Export(w.Context(), events.AuditRequest{Types: c.types}, func(*core.Event) error { exported++; return nil }))
			if exported != c.want {
				t.Errorf("%s: exported %d, want %d", name, exported, c.want)
			}
			activity, err := w.p.AuditLog.Activity(acme.owner, core.ActivityRequest{Within: acme.uid}, c.types)
			must(t, err)
			if n := activity[len(activity)-1].Changes; int(n) != c.want {
				t.Errorf("%s: the activity counts %d, want %d", name, n, c.want)
			}
			if c.want > 0 {
				w.expectFollowed(acme.owner, events.EventRequest{Types: c.types}, c.want)
			}
		}
		if all := w.mustReadLog(acme.owner, events.AuditRequest{Types: []string{}}); len(all) != 0 {
			t.Errorf("no types find %d", len(all))
		}
	})
}

// expectFollowed expects that the stored events of a feed are as many as wanted: another event
// that every filter of the test selects comes right after them.
func (w *world) expectFollowed(ctx context.Context, req events.EventRequest, want int) {
	w.Helper()
	start, got := "", 0
	req.After = &start
	req.First = want
	must(w, follow(ctx, w.p, req, func(*core.Event) error { got++; return nil }))
	if got != want {
		w.Errorf("%v: the feed sends %d, want %d", req.Types, got, want)
	}
}

func TestAnUnknownTypeIsNamedAndTheTypesAreListedOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		wrong := []string{"iam.group.created", "iam.group.made", "IAM_GROUP_MADE"}
		_, ofLog := w.p.AuditLog.List(acme.owner, events.AuditRequest{Types: wrong})
		_, ofFeed := w.p.Events.Open(acme.owner, events.EventRequest{Types: wrong})
		_, ofActivity := w.p.AuditLog.Activity(acme.owner, core.ActivityRequest{Within: acme.uid}, wrong)
		ofExport := w.p.AuditLog.Export(w.Context(), events.AuditRequest{Types: wrong}, nil)
		_, ofSubscription := w.p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://example.com/hook", "types": ["iam.group.created", "iam.group.made", "IAM_GROUP_MADE"]}`))
		for name, err := range map[string]error{"kinds": ofLog, "kinds of a feed": ofFeed, "kinds of an activity": ofActivity, "kinds of an export": ofExport, "types of a subscription": ofSubscription} {
			field, _, _ := strings.Cut(name, " ")
			if got := violationFields(err); got != field+"[1] "+field+"[2]" {
				t.Errorf("%s: it names %s", name, got)
			}
			e := core.AsError(err)
			for _, v := range e.Violations {
				if len(v.Description) > 200 {
					t.Errorf("%s: the text is too long: %s", name, v.Description)
				}
			}
			listed := strings.Split(e.Metadata["types"], ", ")
			if len(listed) != len(platform.AllEventTypes().All()) || !slices.Contains(listed, "iam.rolebindings.created.batch") {
				t.Errorf("%s: it lists %q", name, listed)
			}
		}
		_, err := w.p.Events.Open(acme.owner, events.EventRequest{Types: []string{}})
		if got := violationFields(err); got != "kinds" {
			t.Errorf("a feed of nothing names %q", got)
		}
		_, err = w.p.AuditLog.List(acme.owner, events.AuditRequest{})
		must(t, err)
		_, err = w.p.AuditLog.List(acme.owner, events.AuditRequest{PageSize: -1})
		if e := core.AsError(err); e.Metadata != nil {
			t.Errorf("another error has %v", e.Metadata)
		}
	})
}
