package platform_test

import (
	"slices"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

const repoCreatedType = "dev.atrium.api.platform.registry.repo.created.v1"

// makeDue makes n deliveries of one subscription due.
func (w *world) makeDue(n int) (acme org, subscription core.UID) {
	w.Helper()
	acme = w.found("acme")
	subscription = w.subscribe(acme.uid, repoCreatedType).UID
	for range n {
		w.repo(acme.uid)
	}
	w.relay()
	return acme, subscription
}

func TestADeliveryIsClaimedByOneProcessAtATime(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.makeDue(12)
		one, other := w.queue(), w.queue()
		due, err := one.Due(t.Context())
		must(t, err)
		some, err := other.Claim(t.Context(), due.UIDs[:5])
		must(t, err)
		rest, err := one.Claim(t.Context(), due.UIDs)
		must(t, err)
		if len(some) != 5 || len(rest) != 7 {
			t.Errorf("the processes claimed %d and %d deliveries, want 5 and 7", len(some), len(rest))
		}
		if left := w.claim(); len(left) != 0 {
			t.Errorf("%d deliveries were claimed again", len(left))
		}
		for _, ticket := range slices.Concat(some, rest) {
			if ticket.Number != 1 || w.begin(ticket) == nil {
				t.Errorf("the ticket %+v is not valid", ticket)
			}
		}
	})
}

// The process is only slow: its results arrive before, in between, or after those of the
// process that has taken over.
func TestAProcessWhoseLeaseHasEndedIsReplaced(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		_, sub := w.makeDue(12)
		lost := w.claim()
		var slow []*webhooks.Dispatch
		for _, ticket := range lost {
			slow = append(slow, w.begin(ticket))
		}
		w.pass(time.Minute - 5*time.Second)
		if early := w.claim(); len(early) != 0 {
			t.Errorf("%d deliveries were claimed before the lease has ended", len(early))
		}
		w.pass(10 * time.Second)
		taken := w.claim()
		if len(taken) != len(lost) {
			t.Fatalf("%d deliveries are taken over, want %d", len(taken), len(lost))
		}
		must(t, w.queue().Renew(t.Context(), lost)) // The old tickets are not valid any more.
		for i, ticket := range lost {
			if begun := w.begin(ticket); begun != nil {
				t.Errorf("an attempt with the old ticket %+v begins", ticket)
			}
			begun := w.begin(w.ticket(ticket.Delivery))
			if begun.Delivery.Ticket != 2 || begun.Event.ID != slow[i].Event.ID {
				t.Errorf("the attempt is %+v of the event %s, want the ticket 2 and the event %s", begun.Delivery, begun.Event.ID, slow[i].Event.ID)
			}
			if i%2 == 0 {
				w.endOf(slow[i], webhooks.Attempt{Status: 410})
			}
			w.endOf(begun, webhooks.Attempt{Status: 200})
			w.endOf(slow[i], webhooks.Attempt{Status: 500})
		}
		for _, d := range w.deliveries(sub) {
			if d.State != webhooks.DeliveryDelivered || d.Attempts != 1 || d.LastStatus != 200 {
				t.Errorf("got %+v, want State %v, Attempts 1 and LastStatus 200", d, webhooks.DeliveryDelivered)
			}
		}
		if s := w.subscriptionAgain(sub); !s.FailingSince.IsZero() || !s.DisableTime.IsZero() {
			t.Errorf("the subscription is %+v", s)
		}
	})
}

func TestALeaseLastsWhileItIsRenewed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.makeDue(3)
		q := w.queue()
		tickets := w.claimFrom(q)
		for range 5 {
			w.pass(50 * time.Second)
			must(t, q.Renew(t.Context(), tickets))
			if n := len(w.claim()); n != 0 {
				t.Fatalf("%d deliveries were claimed in spite of the renewal", n)
			}
		}
		must(t, q.Release(t.Context(), tickets[0]))
		if again := w.claimUIDs(); !slices.Equal(again, []core.UID{tickets[0].Delivery}) {
			t.Errorf("%v are due after one was given back, want %s", again, tickets[0].Delivery)
		}
	})
}

// A renewal may come after the attempt of its ticket was recorded. It must not delay the
// next attempt.
func TestARecordedAttemptIsNotRenewed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		w.makeDue(1)
		q := w.queue()
		tickets := w.claimFrom(q)
		begun := w.begin(tickets[0])
		for range 2 { // It is recorded once.
			w.endOf(begun, webhooks.Attempt{Status: 500})
		}
		must(t, q.Renew(t.Context(), tickets))
		got := w.delivery(tickets[0].Delivery)
		if got.Attempts != 1 || got.State != webhooks.DeliveryRetrying || !got.Lease.IsZero() {
			t.Errorf("got %+v, want Attempts 1, State %v and no lease", got, webhooks.DeliveryRetrying)
		}
		due, err := q.Due(t.Context())
		must(t, err)
		if wait := got.NextAttemptTime.Sub(got.LastAttemptTime.Time); len(due.UIDs) != 0 || due.Next <= wait-time.Second || due.Next > wait {
			t.Errorf("%d deliveries are due and the next one in %s, want none and about %s", len(due.UIDs), due.Next, wait)
		}
		w.pass(due.Next)
		if n := len(w.claim()); n != 1 {
			t.Errorf("%d deliveries are due when it was planned, want 1", n)
		}
	})
}

// A redelivery is due at once, whoever held the delivery before.
func TestARedeliveryNeedsANewClaim(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme, _ := w.makeDue(1)
		old := w.claim()
		d := old[0].Delivery
		w.end(d, webhooks.Attempt{Status: 200})
		_, err := w.p.Deliveries.Redeliver(acme.owner, []core.UID{d})
		must(t, err)
		must(t, w.queue().Renew(t.Context(), old))
		if begun := w.begin(old[0]); begun != nil {
			t.Errorf("an attempt with the old ticket begins: %+v", begun)
		}
		if again := w.claimUIDs(); !slices.Equal(again, []core.UID{d}) {
			t.Errorf("then %v are due, want %s", again, d)
		}
	})
}

// The events of a subscription are sent in their order, if nothing fails.
func TestDueDeliveriesAreInTheOrderOfTheirEvents(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		_, sub := w.makeDue(20)
		due, err := w.queue().Due(t.Context())
		must(t, err)
		var want []core.UID
		for _, d := range w.deliveries(sub) { // in the order of the ids of their events
			want = append(want, d.UID)
		}
		if !slices.Equal(due.UIDs, want) {
			t.Errorf("the order is %v, want %v", due.UIDs, want)
		}
	})
}

func TestNothingIsSentToASinkThatIsPermittedNoMore(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		acme := w.found("acme")
		wide := w.replica(w.store, platform.Options{SinkPorts: []string{"8443"}})
		_, err := w.p.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://hooks.example.com:8443/"}`))
		if got := violationFields(err); got != "sink" {
			t.Errorf("a port that is not allowed: %s, want sink", got)
		}
		_, err = wide.Subscriptions.Create(acme.owner, acme.uid, body[*webhooks.Subscription](`{"sink": "https://hooks.example.com:8443/"}`))
		must(t, err)
		w.relay()
		ticket := w.claim()[0]
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
