package platform_test

import (
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
)

// A subscription sends what meets its conditions, and denied changes only if it asks for them.
func TestSubscriptionsSendWhatMeetsTheirConditions(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		team := w.group(acme.uid)
		repo, other := w.repo(team), w.repo(acme.uid)
		viewer := w.member(acme.uid, "viewer")
		w.bind(acme.uid, viewer, platform.ViewerRole)
		w.relay()
		subscribe := func(c *platform.EventConditions, types string) platform.UID {
			t.Helper()
			made, err := w.p.Subscriptions.CreateConditional(acme.owner, acme.uid, body[*platform.Subscription](`{"sink": "https://%s.example.com/", "types": [%s]}`, w.name(), types), c, nil)
			must(t, err)
			if stored := w.subscriptionAgain(made.UID).Conditions; c != nil && (stored == nil || stored.IncludeDenied != c.IncludeDenied || !slices.Equal(stored.Within, c.Within) || !slices.Equal(stored.Actors, c.Actors)) {
				t.Errorf("stored are the conditions %+v, want %+v", stored, c)
			}
			return made.UID
		}
		const tags = `"platform.registry.tag.created"`
		plain, both := subscribe(nil, tags), subscribe(&platform.EventConditions{IncludeDenied: true}, tags)
		ofTeam := subscribe(&platform.EventConditions{Within: []platform.UID{team}, IncludeDenied: true}, tags)
		ofRepo := subscribe(&platform.EventConditions{Within: []platform.UID{repo, other}}, tags)
		ofViewer := subscribe(&platform.EventConditions{Actors: []string{string(viewer)}, IncludeDenied: true}, tags)
		ofOperator := subscribe(&platform.EventConditions{Actors: []string{"test"}}, tags)
		for _, in := range []platform.UID{repo, other} {
			for range 2 { // Equal denials are one event.
				_, err := w.p.Tags.Create(w.as("viewer"), in, body[*platform.Tag](`{"name": "latest", "digest": %q}`, digest(1)))
				expectRefused(t, "a viewer", err, platform.CodePermissionDenied)
			}
			w.tag(in)
		}
		w.relay()
		const made, denied = "platform.registry.tag.created", "platform.registry.tag.created.denied"
		for what, c := range map[string]struct {
			subscription platform.UID
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
		for fields, c := range map[string]platform.EventConditions{
			"conditions.within[1]": {Within: []platform.UID{team, "x"}}, "conditions.within": {Within: slices.Repeat([]platform.UID{team}, 101)}, "conditions.actors": {Actors: slices.Repeat([]string{"a"}, 101)},
		} {
			_, err := w.p.Subscriptions.CreateConditional(acme.owner, acme.uid, body[*platform.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()), &c, nil)
			w.expect("bad conditions", violationFields(err), fields)
		}
		subscriber := w.with(w.role(acme.uid, platform.CapSubscriptionsCreate), acme.uid, acme.uid)
		create := func(c platform.EventConditions) error {
			_, err := w.p.Subscriptions.CreateConditional(subscriber, acme.uid, body[*platform.Subscription](`{"sink": "https://%s.example.com/"}`, w.name()), &c, nil)
			return err
		}
		must(t, create(platform.EventConditions{}))
		expectRefused(t, "denials without the right to read the audit log", create(platform.EventConditions{IncludeDenied: true}), platform.CodePermissionDenied)
	})
}

// Denials wait for the relay like other events: retention keeps them until then.
func TestRetentionKeepsDenialsUntilTheyAreRelayed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		viewer := w.with(platform.ViewerRole, acme.uid, acme.uid)
		sink, err := w.p.Subscriptions.CreateConditional(acme.owner, acme.uid, body[*platform.Subscription](`{"sink": "https://siem.example.com/"}`), &platform.EventConditions{IncludeDenied: true}, nil)
		must(t, err)
		w.relay()
		_, err = w.p.Repos.Create(viewer, acme.uid, body[*platform.Repo](`{"name": "no"}`))
		expectRefused(t, "a viewer", err, platform.CodePermissionDenied)
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
		_, err := w.p.Repos.Create(acme.owner, acme.uid, body[*platform.Repo](`{"name": "own"}`))
		must(t, err)
		start := ""
		var heard []string
		must(t, follow(acme.owner, w.p, platform.EventRequest{After: &start, Actor: string(acme.Identity.UID), First: 1}, func(e *platform.Event) error {
			heard = append(heard, e.Type)
			return nil
		}))
		w.expect("what the owner did", strings.Join(heard, " "), "dev.atrium.api.platform.registry.repo.created.v1")
	})
}
