package storetest_test

import (
	"fmt"
	"strconv"
	"testing"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// createSubscriptions stores n subscriptions of a group.
func (w *world) createSubscriptions(d dice, group core.UID, n int) {
	w.t.Helper()
	subscriptions := times(n, func(i int) *webhooks.Subscription {
		return &webhooks.Subscription{UID: d.below(group), Sink: fmt.Sprint("https://sink.example.com/", i), EncryptedSecret: []byte("x"), CreateTime: core.At(epoch), UpdateTime: core.At(epoch)}
	})
	w.insert(func(tx core.Tx) error {
		return storetest.Tables.Webhooks.Subscriptions.Insert(w.t.Context(), tx, subscriptions...)
	})
}

// recordEvents records n events about a group.
func (w *world) recordEvents(d dice, group core.UID, n int) {
	w.t.Helper()
	w.insert(func(tx core.Tx) error {
		for range n {
			tx.Record(&core.Event{ID: d.eventID(), Type: "t", Subject: group, Group: group, Body: []byte("{}"), Time: core.At(w.now())})
		}
		return nil
	})
}

// An organization has many subscriptions and many events. Each call of Relay makes a limited
// number of deliveries, so that its transaction ends in time, and the calls together make
// those of all events.
func TestARelayOfManySubscriptionsTakesSeveralCalls(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const subscriptions, events, limit = 300, 40, 5000
		d := newDice(41)
		_, org := w.createOrganization("acme")
		_, quiet := w.createOrganization("quiet")
		before := len(w.recordedTypes())
		w.relay(before)
		w.createSubscriptions(d, org.Group.UID, subscriptions)
		w.recordEvents(d, org.Group.UID, events/2)
		w.recordEvents(d, quiet.Group.UID, 3)
		w.recordEvents(d, org.Group.UID, events/2)
		w.recordEvents(d, quiet.Group.UID, 3)

		count := func(statement string) int {
			t.Helper()
			return must[int](t)(strconv.Atoi(w.query(w.openDirect(), statement)[0][0]))
		}
		const passed = " FROM event e, relay r WHERE (e.xact, e.seq) <= (r.xact, r.seq)"
		relayed, made, calls := 0, 0, 0
		waitFor(t, "not all events are relayed", func() bool {
			n := must[int](t)(w.p.Webhooks.Relay(t.Context()))
			if relayed += n; n > 0 {
				calls++
			}
			now := count("SELECT count(*) FROM delivery")
			if now-made >= limit+subscriptions {
				t.Errorf("a call made %d deliveries, want less than %d", now-made, limit+subscriptions)
			}
			made = now
			if got := count("SELECT count(*)" + passed); got != before+relayed {
				t.Fatalf("the relay is after %d events and has relayed %d", got, before+relayed)
			}
			if want := subscriptions * count("SELECT count(*)"+passed+" AND e.type = 't' AND e.root = '"+string(org.Group.UID)+"'"); made != want {
				t.Fatalf("there are %d deliveries of the events that were relayed, want %d", made, want)
			}
			return relayed == events+6
		})
		if calls < 3 {
			t.Errorf("there were %d calls, want one for each %d deliveries", calls, limit)
		}
		for _, row := range w.query(w.openDirect(), "SELECT e.id, count(d.parent), count(DISTINCT d.parent) FROM event e LEFT JOIN delivery d ON d.event_id = e.id WHERE e.type = 't' AND e.root = '"+string(org.Group.UID)+"' GROUP BY e.id") {
			if want := strconv.Itoa(subscriptions); row[1] != want || row[2] != want {
				t.Errorf("the event %s has %s deliveries for %s subscriptions, want %s", row[0], row[1], row[2], want)
			}
		}
	})
}

// The deliveries of one event are made together, even if they are more than the limit.
func TestAnEventWithVeryManySubscriptionsIsRelayed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const subscriptions = 5100
		d := newDice(42)
		_, org := w.createOrganization("acme")
		w.relay(len(w.recordedTypes()))
		w.createSubscriptions(d, org.Group.UID, subscriptions)
		w.recordEvents(d, org.Group.UID, 2)
		w.relay(2)
		for _, row := range w.query(w.openDirect(), "SELECT event_id, count(DISTINCT parent), count(*) FROM delivery GROUP BY event_id") {
			if want := strconv.Itoa(subscriptions); row[1] != want || row[2] != want {
				t.Errorf("the event %s has %s deliveries for %s subscriptions, want %s", row[0], row[2], row[1], want)
			}
		}
	})
}
