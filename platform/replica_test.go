package platform_test

import (
	"slices"
	"testing"

	"atrium/platform"
)

// beat sends a heartbeat, which must find that these replicas stopped.
func beat(t *testing.T, r *platform.Replica, want ...string) {
	t.Helper()
	gone, err := r.Heartbeat(t.Context())
	must(t, err)
	if !slices.Equal(gone, want) {
		t.Errorf("%q are gone, want %q", gone, want)
	}
}

func TestAReplicaWithoutHeartbeatsIsGone(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		one, two := w.p.Webhooks.Replica("one"), w.p.Webhooks.Replica("two")
		dead := w.p.Webhooks.Replica("dead")
		beat(t, dead)
		for range 4 { // One and two see it for the first time, and then miss it three times.
			beat(t, one)
			beat(t, two)
		}
		beat(t, one, "dead")
		beat(t, two, "dead")
		beat(t, dead) // It was only slow: one and two are new to it.
		beat(t, one)
		beat(t, two)
		must(t, dead.Leave(t.Context()))
		for range 5 {
			beat(t, one)
			beat(t, two)
		}
		for range 4 {
			beat(t, one)
		}
		beat(t, one, "two")
		must(t, one.Remove(t.Context(), "two"))
		beat(t, one)
		beat(t, two) // It joins again.
		beat(t, one)
	})
}

func TestTicketsOfAGoneReplicaAreReleased(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		sub := w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1").UID
		for range 12 {
			w.repo(acme.uid)
		}
		w.relay()
		held := w.queuedUIDs()
		if len(held) != 8 {
			t.Fatalf("%d are in the queue, want 8", len(held))
		}
		var slow []*platform.Dispatch
		var tickets []platform.Ticket
		for _, d := range held {
			tickets = append(tickets, w.ticket(d))
			begun, err := w.p.Webhooks.BeginAttempt(t.Context(), w.ticket(d))
			must(t, err)
			slow = append(slow, begun)
		}
		for range 2 { // Two replicas find at the same time that it stopped.
			must(t, w.p.Webhooks.Requeue(t.Context(), tickets...))
		}
		if again := w.queuedUIDs(); !slices.Equal(slices.Sorted(slices.Values(again)), slices.Sorted(slices.Values(held))) {
			t.Fatalf("%v are given back, want %v", again, held)
		}
		for i, d := range held {
			if w.ticket(d).Number != 1 {
				t.Errorf("%s has the ticket %d, want 1", d, w.ticket(d).Number)
			}
			if begun, err := w.p.Webhooks.BeginAttempt(t.Context(), tickets[i]); begun != nil || err != nil {
				t.Errorf("an attempt by an old ticket begins: %v, %v", begun, err)
			}
			begun, err := w.p.Webhooks.BeginAttempt(t.Context(), w.ticket(d))
			must(t, err)
			if begun.Event.ID != slow[i].Event.ID {
				t.Errorf("the event was %s and is %s", slow[i].Event.ID, begun.Event.ID)
			}
			// It was only slow: its result arrives before, in between, or after.
			if i%2 == 0 {
				if _, again := w.endOf(slow[i], platform.Attempt{Status: 410}); again {
					t.Error("a ticket that is good no more is used again")
				}
			}
			w.endOf(begun, platform.Attempt{Status: 200})
			w.endOf(slow[i], platform.Attempt{Status: 500})
		}
		for next := w.queuedUIDs(); len(next) > 0; next = w.queuedUIDs() {
			for _, d := range next {
				w.end(d, platform.Attempt{Status: 200})
			}
		}
		for _, d := range w.deliveries(sub) {
			if d.State != platform.DeliveryDelivered || d.Attempts != 1 || d.LastStatus != 200 {
				t.Errorf("got %+v, want State %v, Attempts 1 and LastStatus 200", d, platform.DeliveryDelivered)
			}
		}
		if s := w.subscriptionAgain(sub); !s.FailingSince.IsZero() || !s.DisableTime.IsZero() {
			t.Errorf("the subscription is %+v", s)
		}
	})
}

// The queue may run an attempt twice with one ticket. The first result counts.
func TestAnAttemptThatWasNotedIsNotedOnce(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		w.subscribe(acme.uid, "dev.atrium.api.platform.registry.repo.created.v1")
		w.repo(acme.uid)
		w.relay()
		d := w.queuedUIDs()[0]
		begun, err := w.p.Webhooks.BeginAttempt(t.Context(), w.ticket(d))
		must(t, err)
		for range 2 {
			if wait, again := w.endOf(begun, platform.Attempt{Status: 500}); !again || wait <= 0 {
				t.Errorf("it is put off by %v (%t)", wait, again)
			}
		}
		if got := w.delivery(d); got.Attempts != 1 || got.State != platform.DeliveryRetrying {
			t.Errorf("got %+v, want Attempts 1 and State %v", got, platform.DeliveryRetrying)
		}
	})
}

func TestNothingIsSentToASinkThatIsPermittedNoMore(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		wide := w.replica(w.store, platform.Options{SinkPorts: []string{"8443"}})
		_, err := w.p.Subscriptions.Create(acme.owner, acme.uid, body[*platform.Subscription](`{"sink": "https://hooks.example.com:8443/"}`))
		if got := violationFields(err); got != "sink" {
			t.Errorf("a port that is not allowed: %s, want sink", got)
		}
		_, err = wide.Subscriptions.Create(acme.owner, acme.uid, body[*platform.Subscription](`{"sink": "https://hooks.example.com:8443/"}`))
		must(t, err)
		w.relay()
		ticket := w.ticket(w.queuedUIDs()[0])
		for p, fault := range map[*platform.Platform]string{
			wide: "", w.p: "the sink is no longer permitted: it must use port 443 or a port that the operator of the service allows, not 8443",
		} {
			begun, err := p.Webhooks.BeginAttempt(t.Context(), ticket)
			must(t, err)
			if begun.Fault != fault {
				t.Errorf("got %q, want %q", begun.Fault, fault)
			}
		}
	})
}
