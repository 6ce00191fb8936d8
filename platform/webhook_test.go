package platform_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/webhooks"
)

func TestASubscriptionGetsTheEventsOfItsGroupAndBelow(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, elsewhere := w.found("acme"), w.found("elsewhere")
		all, team := w.subscribe(acme.uid), w.group(acme.uid)
		below, repos := w.subscribe(team), w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1")
		other := w.subscribe(elsewhere.uid)
		repo := w.repo(team)
		must(t, w.p.Repos.Delete(acme.owner, repo))
		expectRefused(t, "a stranger", w.p.Groups.Delete(elsewhere.owner, team), core.CodePermissionDenied)
		w.relay()
		for what, x := range map[string]struct {
			subscription *webhooks.Subscription
			want         string
		}{
			"the organization's": {all, "events.subscription.created iam.group.created events.subscription.created events.subscription.created platform.registry.repo.created platform.registry.repo.deleted"},
			"the team's":         {below, "events.subscription.created platform.registry.repo.created platform.registry.repo.deleted"},
			"that of a type":     {repos, "platform.registry.repo.created"},
			"elsewhere":          {other, "events.subscription.created"},
		} {
			if got := eventTypes(w.deliveries(x.subscription.UID)); got != x.want {
				t.Errorf("%s: got %s, want %s", what, got, x.want)
			}
		}
		w.relay()
		if n := len(w.deliveries(below.UID)); n != 3 {
			t.Errorf("relaying again makes %d deliveries, want 3", n)
		}
	})
}

// The events wait for a relay when the subscription is made, or enabled.
func TestASubscriptionGetsNoEventsFromBeforeItBegins(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		viewer := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		change := func() { t.Helper(); w.repo(acme.uid) }
		change()
		_, err := w.p.Repos.Create(viewer, acme.uid, body[*inventory.Repo](`{"name": "denied"}`))
		expectRefused(t, "a viewer", err, core.CodePermissionDenied)
		request := webhooks.SubscriptionRequest{
			BatchRequest: core.BatchRequest[*webhooks.Subscription]{UID: acme.uid, Input: body[*webhooks.Subscription](`{"sink": "https://a.example.com/"}`)},
			Conditions:   &webhooks.EventConditions{IncludeDenied: true},
		}
		several, err := w.p.Subscriptions.CreateBatch(acme.owner, []webhooks.SubscriptionRequest{request})
		must(t, err)
		one := w.subscribe(acme.uid)
		change()
		_, err = w.p.Groups.Create(viewer, acme.uid, body[*iam.Group](`{"name": "denied"}`)) // Equal denials would be one event.
		expectRefused(t, "a viewer", err, core.CodePermissionDenied)
		w.relay()
		const begin, made, denied = "events.subscription.created", "platform.registry.repo.created", "iam.group.created.denied"
		if got, want := eventTypes(w.deliveries(several[0].UID)), strings.Join([]string{begin, begin, made, denied}, " "); got != want {
			t.Errorf("that of a batch gets %s, want %s", got, want)
		}
		if got, want := eventTypes(w.deliveries(one.UID)), begin+" "+made; got != want {
			t.Errorf("the subscription gets %s, want %s", got, want)
		}
		due := w.claimUIDs()
		w.end(due[slices.IndexFunc(due, func(uid core.UID) bool { return uid.Within(one.UID) })], webhooks.Attempt{Status: 410}) // which disables it
		w.relay()
		before := len(w.deliveries(one.UID))
		change()
		_, err = w.p.Subscriptions.Enable(acme.owner, one.UID)
		must(t, err)
		change()
		w.relay()
		if got, want := eventTypes(w.deliveries(one.UID)[before:]), "events.subscription.updated "+made; got != want {
			t.Errorf("enabled, it gets %s, want %s", got, want)
		}
		_, err = w.p.Subscriptions.Enable(acme.owner, one.UID) // which is enabled already
		must(t, err)
		change()
		_, err = w.p.Subscriptions.Enable(acme.owner, one.UID)
		must(t, err)
		w.relay()
		if got := eventTypes(w.deliveries(one.UID)); !strings.HasSuffix(got, made+" events.subscription.updated") {
			t.Errorf("enabled again, it gets %s, want what happened in between", got)
		}
	})
}

func TestADispatchHasTheEventAndTheSecret(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1")
		repo := w.repo(acme.uid)
		w.relay()
		ready := w.claim()
		if len(ready) != 1 || len(w.claim()) != 0 {
			t.Fatalf("%d are ready, want 1", len(ready))
		}
		dispatch := w.begin(ready[0])
		if dispatch.Sink != sub.Sink || !slices.Equal(dispatch.Secrets, []string{sub.Secret}) || dispatch.Event.Subject != repo || dispatch.Event.ID != dispatch.Delivery.EventID {
			t.Errorf("got %+v, want Sink %v, Secrets %v, Subject %v and ID %v", dispatch, sub.Sink, []string{sub.Secret}, repo, dispatch.Delivery.EventID)
		}

		rotated, err := w.p.Subscriptions.RotateSecret(acme.owner, sub.UID)
		must(t, err)
		dispatch = w.begin(ready[0])
		if rotated.Secret == sub.Secret || !slices.Equal(dispatch.Secrets, []string{rotated.Secret, sub.Secret}) {
			t.Errorf("after the rotation: %v, want Secrets %v", dispatch.Secrets, []string{rotated.Secret, sub.Secret})
		}
		w.pass(24 * time.Hour)
		dispatch = w.begin(ready[0])
		if !slices.Equal(dispatch.Secrets, []string{rotated.Secret}) {
			t.Errorf("a day later: %v, want Secrets %v", dispatch.Secrets, []string{rotated.Secret})
		}

		if again := w.endOf(dispatch, webhooks.Attempt{Status: 204, Answer: "thanks"}); again {
			t.Error("what has arrived is tried again")
		}
		if d := w.delivery(ready[0].Delivery); d.State != webhooks.DeliveryDelivered || d.Attempts != 1 || d.LastStatus != 204 || d.LastAnswer != "thanks" || !d.NextAttemptTime.IsZero() {
			t.Errorf("got %+v, want State %v, Attempts 1, LastStatus 204 and LastAnswer 'thanks'", d, webhooks.DeliveryDelivered)
		}
		if dispatch := w.begin(ready[0]); dispatch != nil {
			t.Errorf("what has ended begins: %v", dispatch)
		}
		must(t, w.p.Subscriptions.Delete(acme.owner, sub.UID))
		if dispatch := w.begin(ready[0]); dispatch != nil {
			t.Errorf("what is gone begins: %v", dispatch)
		}
		w.checkCounters()
	})
}

func TestADeliveryIsRetriedOnScheduleAndThenFails(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1")
		w.repo(acme.uid)
		w.relay()
		d := w.claimUIDs()[0]
		var total time.Duration
		for attempt := 1; ; attempt++ {
			if again := w.end(d, webhooks.Attempt{Error: "connection refused"}); !again {
				if attempt != 10 {
					t.Errorf("given up after %d attempts, want 10", attempt)
				}
				break
			}
			got := w.delivery(d)
			if got.State != webhooks.DeliveryRetrying || got.Attempts != int32(attempt) || got.LastError != "connection refused" {
				t.Errorf("attempt %d: %+v", attempt, got)
			}
			wait := got.NextAttemptTime.Sub(got.LastAttemptTime.Time)
			w.pass(wait - time.Second)
			if due := w.claim(); len(due) != 0 {
				t.Errorf("attempt %d is due a second early", attempt+1)
			}
			if w.pass(2 * time.Second); len(w.claim()) != 1 {
				t.Errorf("attempt %d is not due after %s", attempt+1, wait)
			}
			total += wait
		}
		if planned := 75*time.Hour + 35*time.Minute; total < planned*9/10 || total > planned*11/10+time.Minute {
			t.Errorf("all attempts take %v", total)
		}
		if got := w.delivery(d); got.State != webhooks.DeliveryFailed || got.Attempts != 10 {
			t.Errorf("got %+v, want State %v and Attempts 10", got, webhooks.DeliveryFailed)
		}

		again, err := w.p.Deliveries.Redeliver(acme.owner, []core.UID{d})
		must(t, err)
		last := w.events()[len(w.events())-1]
		if last.kind != "events.subscription.redelivered" || last.subject != d || last.group != acme.uid || last.actor.Act["sub"] != "owner of acme" || !strings.Contains(last.body, `"eventId"`) {
			t.Errorf("recorded %+v", last)
		}
		if again[0].State != webhooks.DeliveryPending || again[0].Attempts != 0 || again[0].LastError != "" || !slices.Equal(w.claimUIDs(), []core.UID{d}) {
			t.Errorf("to be sent again: %+v", again[0])
		}
		_, err = w.p.Deliveries.Redeliver(acme.owner, []core.UID{d, missingBelow(d.Parent())})
		expectRefused(t, "with a missing one", err, core.CodeNotFound)
		_, err = w.p.Deliveries.Redeliver(acme.owner, nil)
		if got := violationFields(err); got != "uids" {
			t.Errorf("without any: %s, want uids", got)
		}
		_, err = w.p.Deliveries.Redeliver(w.memberWith(iam.ViewerRole, acme.uid, acme.uid), []core.UID{d})
		expectRefused(t, "a viewer", err, core.CodePermissionDenied)
	})
}

// An operator must read in the log which sink fails and why, once and not for each attempt.
func TestTheLogSaysWhenASinkBeginsAndCeasesToFail(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		var logs bytes.Buffer
		w.p = w.replica(w.store, platform.Options{Logger: slog.New(slog.NewTextHandler(&logs, nil))})
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1")
		logs.Reset()
		for _, c := range []struct {
			attempt webhooks.Attempt
			want    string
		}{
			{webhooks.Attempt{Status: 500}, `level=WARN msg="a sink fails; its .* error="the sink responded with status 500"`},
			{webhooks.Attempt{Error: "the host does not exist"}, ""},
			{webhooks.Attempt{Status: 204}, `level=INFO msg="a sink works again" subscription=` + string(sub.UID) + " host=" + webhooks.SinkHost(sub.Sink)},
			{webhooks.Attempt{Status: 204}, ""},
			{webhooks.Attempt{Status: 410}, `level=WARN msg="a subscription was disabled .* error="the sink responded with status 410"`},
		} {
			w.repo(acme.uid)
			w.relay()
			for _, d := range w.claimUIDs() {
				w.end(d, c.attempt)
			}
			if got := logs.String(); c.want == "" && got != "" || !regexp.MustCompile(c.want).MatchString(got) || strings.Count(got, "\n") > 1 {
				t.Errorf("%+v: logged %q, want one line that matches %q", c.attempt, got, c.want)
			}
			logs.Reset()
		}
	})
}

func TestASinkThatOnlyFailsIsDisabledAfterFiveDays(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1").UID
		fail := func() core.UID {
			t.Helper()
			w.repo(acme.uid)
			w.relay()
			d := w.claimUIDs()[0]
			w.end(d, webhooks.Attempt{Status: 500})
			return d
		}
		first := fail()
		w.pass(5*24*time.Hour - time.Minute)
		fail()
		if s := w.subscriptionAgain(sub); !s.DisableTime.IsZero() || s.FailingSince.IsZero() {
			t.Fatalf("a minute early: %+v", s)
		}
		w.end(first, webhooks.Attempt{Status: 200}) // This starts the five days again.
		if s := w.subscriptionAgain(sub); !s.FailingSince.IsZero() {
			t.Fatalf("after a success: %+v", s)
		}
		open := fail()
		w.pass(5 * 24 * time.Hour)
		fail()
		s := w.subscriptionAgain(sub)
		if s.DisableTime.IsZero() || !strings.Contains(s.DisableReason, "five days") {
			t.Fatalf("after five days: %+v, want a text with 'five days'", s)
		}
		if d := w.delivery(open); d.State != webhooks.DeliveryFailed || !strings.Contains(d.LastError, "disabled") {
			t.Errorf("what was under way: %+v", d)
		}
		if last := w.events(); last[len(last)-1].kind != "events.subscription.disabled" {
			t.Errorf("the last event is %s, want events.subscription.disabled", last[len(last)-1].kind)
		} else if body := last[len(last)-1].body; !strings.Contains(body, `"disableReason":"`+s.DisableReason) || !regexp.MustCompile(`"disableTime":"\d{4}-`).MatchString(body) {
			t.Errorf("the event that disables a subscription names neither when nor why: %s", body)
		}
		before := len(w.deliveries(sub))
		w.repo(acme.uid)
		w.relay()
		if n := len(w.deliveries(sub)); n != before {
			t.Errorf("a disabled subscription gets %d deliveries", n-before)
		}
		_, err := w.p.Subscriptions.Test(acme.owner, sub)
		expectRefused(t, "a test of a disabled one", err, core.CodeFailedPrecondition, "SUBSCRIPTION_DISABLED")
		enabled, err := w.p.Subscriptions.Enable(acme.owner, sub)
		must(t, err)
		if !enabled.DisableTime.IsZero() || enabled.DisableReason != "" || !enabled.FailingSince.IsZero() {
			t.Errorf("enabled: %+v, want DisableReason \"\"", enabled)
		}
		fail()
	})
}

func TestASinkThatAnswers410IsDisabledImmediately(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1").UID
		w.repo(acme.uid)
		w.repo(acme.uid)
		w.relay()
		ready := w.claimUIDs()
		if again := w.end(ready[0], webhooks.Attempt{Status: 410}); again {
			t.Error("it is tried again")
		}
		if s := w.subscriptionAgain(sub); s.DisableTime.IsZero() || !strings.Contains(s.DisableReason, "410") {
			t.Errorf("got %+v, want a text with '410'", s)
		}
		if d := w.delivery(ready[1]); d.State != webhooks.DeliveryFailed {
			t.Errorf("the other: %+v, want State %v", d, webhooks.DeliveryFailed)
		}
	})
}

func TestATestEventGoesOnlyToItsSubscription(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		one, other := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1"), w.subscribe(acme.uid)
		tested, err := w.p.Subscriptions.Test(acme.owner, one.UID)
		must(t, err)
		w.relay()
		if got := w.deliveries(one.UID); len(got) != 1 || got[0].EventID != tested.EventID {
			t.Errorf("its own: %v, want 1 of them", got)
		}
		if got := eventTypes(w.deliveries(other.UID)); strings.Contains(got, "test") {
			t.Errorf("the other: %s, want it without 'test'", got)
		}
		viewer := w.memberWith(iam.ViewerRole, acme.uid, acme.uid)
		for what, err := range map[string]error{
			"test":   func() error { _, err := w.p.Subscriptions.Test(viewer, one.UID); return err }(),
			"rotate": func() error { _, err := w.p.Subscriptions.RotateSecret(viewer, one.UID); return err }(),
			"enable": func() error { _, err := w.p.Subscriptions.Enable(viewer, one.UID); return err }(),
		} {
			expectRefused(t, what, err, core.CodePermissionDenied)
		}
	})
}

// Two replicas relay at the same time, while others write.
func TestReplicasRelayEachEventOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1").UID
		replicas := []*platform.Platform{w.p, w.replica(w.store, platform.Options{})}
		const writers, each = 4, 12
		done := make(chan error, writers+len(replicas))
		ctx, cancel := context.WithCancel(t.Context())
		for n := range writers {
			go func() {
				for i := range each {
					if _, err := w.p.Repos.Create(acme.owner, acme.uid, body[*inventory.Repo](`{"name": %q}`, fmt.Sprintf("r%d-%d", n, i))); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for _, p := range replicas {
			go func() {
				for ctx.Err() == nil {
					if _, err := p.Webhooks.Relay(t.Context()); err != nil {
						done <- err
						return
					}
				}
				done <- nil
			}()
		}
		for range writers {
			must(t, <-done)
		}
		cancel()
		for range replicas {
			must(t, <-done)
		}
		w.relay()
		seen := map[string]bool{}
		for _, d := range w.deliveries(sub) {
			if seen[d.EventID] {
				t.Errorf("%s twice", d.EventID)
			}
			seen[d.EventID] = true
		}
		if len(seen) != writers*each {
			t.Errorf("%d of %d", len(seen), writers*each)
		}
	})
}

// Nobody observes how late an event is that nobody reads, so the database is asked for it.
func TestTheBacklogIsOfTheOldestEventAndDeliveryThatWait(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		expect := func(when string, event, delivery int) {
			t.Helper()
			got, err := w.p.Webhooks.Backlog(t.Context())
			must(t, err)
			if int(got.Event.Hours()) != event || int(got.Delivery.Hours()) != delivery {
				t.Errorf("%s: an event waits for %s and a delivery for %s, want %d and %d hours", when, got.Event, got.Delivery, event, delivery)
			}
		}
		w.relay()
		w.pass(5 * time.Hour)
		expect("everything is relayed", 0, 0)
		sub := w.subscribe(acme.uid, "platform.registry.repo.created").UID
		expectRefused(t, "a change", w.p.Groups.Delete(w.as("stranger"), acme.uid), core.CodePermissionDenied)
		w.relay()
		w.pass(time.Hour)
		expect("the newest event is a denial", 0, 0)
		for range 12 {
			w.repo(acme.uid)
		}
		w.pass(time.Hour)
		w.repo(acme.uid)
		w.pass(time.Hour)
		expect("nobody relays", 2, 0)
		w.relay()
		w.pass(time.Hour)
		expect("nobody delivers", 0, 1)
		claimed := w.claimUIDs()
		w.pass(time.Hour)
		expect("deliveries are claimed", 0, 2)
		for _, d := range claimed {
			w.end(d, webhooks.Attempt{Status: 200})
		}
		if n := len(w.deliveries(sub)); n != 13 {
			t.Errorf("there are %d deliveries, want 13", n)
		}
		w.pass(time.Hour)
		expect("everything is delivered", 0, 0)
		if w.isSQLite() {
			return
		}
		long, err := w.raw().BeginTx(t.Context(), nil)
		must(t, err)
		defer func() { _ = long.Rollback() }()
		for _, sql := range []string{"SELECT pg_advisory_xact_lock_shared(1635021417, hashtext(current_schema()))", "SELECT pg_current_xact_id()"} {
			_, err := long.ExecContext(t.Context(), sql)
			must(t, err)
		}
		w.repo(acme.uid)
		w.pass(3 * time.Hour)
		_, err = w.p.Webhooks.Relay(t.Context())
		must(t, err)
		expect("a long transaction holds the feed up", 3, 0)
	})
}
