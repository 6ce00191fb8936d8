package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

// A subscription sends what meets its conditions, and denied changes only if it asks for them.
func TestSubscriptionsSendWhatMeetsTheirConditions(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		repo, other := w.repo(team), w.repo(acme.uid)
		viewer := w.member(acme.uid, "viewer")
		w.bind(acme.uid, viewer, iam.ViewerRole)
		w.relay()
		subscribe := func(c *webhooks.EventConditions, types string) core.UID {
			t.Helper()
			made, err := w.p.Subscriptions.CreateConditional(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/", "types": [%s]}`, w.name(), types), c, nil)
			must(t, err)
			if stored := w.subscriptionAgain(made.UID).Conditions; c != nil && (stored == nil || stored.IncludeDenied != c.IncludeDenied || !slices.Equal(stored.Within, c.Within) || !slices.Equal(stored.Actors, c.Actors)) {
				t.Errorf("stored are the conditions %+v, want %+v", stored, c)
			}
			return made.UID
		}
		const tags = `"platform.registry.tag.created"`
		plain, both := subscribe(nil, tags), subscribe(&webhooks.EventConditions{IncludeDenied: true}, tags)
		ofTeam := subscribe(&webhooks.EventConditions{Within: []core.UID{team}, IncludeDenied: true}, tags)
		ofRepo := subscribe(&webhooks.EventConditions{Within: []core.UID{repo, other}}, tags)
		ofViewer := subscribe(&webhooks.EventConditions{Actors: []string{string(viewer)}, IncludeDenied: true}, tags)
		ofOperator := subscribe(&webhooks.EventConditions{Actors: []string{"test"}}, tags)
		for _, in := range []core.UID{repo, other} {
			for range 2 { // Equal denials are one event.
				_, err := w.p.Tags.Create(w.as("viewer"), in, body[*inventory.Tag](`{"name": "latest", "digest": %q}`, digest(1)))
				expectRefused(t, "a viewer", err, core.CodePermissionDenied)
			}
			w.tag(in)
		}
		w.relay()
		const made, denied = "platform.registry.tag.created", "platform.registry.tag.created.denied"
		for what, c := range map[string]struct {
			subscription core.UID
			want         string
		}{
			"without conditions": {plain, made + " " + made}, "with denials": {both, denied + " " + made + " " + denied + " " + made}, "of the team": {ofTeam, denied + " " + made},
			"of two repos": {ofRepo, made + " " + made}, "of the viewer": {ofViewer, denied + " " + denied}, "of the operator": {ofOperator, made + " " + made},
		} {
			got := strings.Fields(eventTypes(w.deliveries(c.subscription)))
			slices.Sort(got)
			want := strings.Fields(c.want)
			slices.Sort(want)
			if !slices.Equal(got, want) {
				t.Errorf("%s: %v, want %v", what, got, want)
			}
		}
		for _, ticket := range w.claim() {
			if begun := w.begin(ticket); begun != nil && strings.HasSuffix(begun.Delivery.EventType, ".denied.v1") && (begun.Event.Denied == "" || begun.Event.Actor.Subject != string(viewer)) {
				t.Errorf("a sink gets %+v as a denial", begun.Event)
			}
		}
		for fields, c := range map[string]webhooks.EventConditions{
			"conditions.within[1]": {Within: []core.UID{team, "x"}}, "conditions.within": {Within: slices.Repeat([]core.UID{team}, 101)}, "conditions.actors": {Actors: slices.Repeat([]string{"a"}, 101)},
		} {
			_, err := w.p.Subscriptions.CreateConditional(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()), &c, nil)
			w.expect("bad conditions", violationFields(err), fields)
		}
		subscriber := w.memberWith(w.role(acme.uid, core.CapSubscriptionsCreate), acme.uid, acme.uid)
		create := func(c webhooks.EventConditions) error {
			_, err := w.p.Subscriptions.CreateConditional(subscriber, acme.uid, body[*webhooks.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()), &c, nil)
			return err
		}
		must(t, create(webhooks.EventConditions{}))
		expectRefused(t, "denials without the right to read the audit log", create(webhooks.EventConditions{IncludeDenied: true}), core.CodePermissionDenied)
	})
}

// Denials wait for the relay like other events: retention keeps them until then.
func TestRetentionKeepsDenialsUntilTheyAreRelayed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		viewer := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		sink, err := w.p.Subscriptions.CreateConditional(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://siem.example.com/"}`), &webhooks.EventConditions{IncludeDenied: true}, nil)
		must(t, err)
		w.relay()
		_, err = w.p.Repos.Create(viewer, acme.uid, body[*inventory.Repo](`{"name": "no"}`))
		expectRefused(t, "a viewer", err, core.CodePermissionDenied)
		w.pass(200 * 24 * time.Hour)
		must(t, w.p.Maintain(t.Context()))
		w.repo(acme.uid)
		w.relay()
		if got := eventTypes(w.deliveries(sink.UID)); !strings.Contains(got, "platform.registry.repo.created.denied") {
			t.Errorf("the sink gets %s, want the denial too", got)
		}
	})
}

func TestAFeedIsLimitedToAnActor(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.repo(acme.uid)
		_, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": "own"}`))
		must(t, err)
		start := ""
		var heard []string
		must(t, follow(acme.owner, w.p, events.EventRequest{After: &start, Actor: string(acme.Identity.UID), First: 1}, func(e *core.Event) error {
			heard = append(heard, e.Type)
			return nil
		}))
		w.expect("what the owner did", strings.Join(heard, " "), "dev.atrium.api.platform.registry.repo.created.v1")
	})
}
