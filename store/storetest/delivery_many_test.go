package storetest_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/storetest"
)

// copyDelivery stores n copies of a delivery at a stage, with later ids of events.
func (o *outbox) copyDelivery(d *webhooks.Delivery, n int, stage webhooks.DeliveryStage, state webhooks.DeliveryState) {
	o.t.Helper()
	at := core.At(time.Now())
	copies := times(n, func(i int) *webhooks.Delivery {
		return &webhooks.Delivery{
			UID: o.d.below(d.UID.Parent()), EventID: fmt.Sprintf("ffffffff-0000-7000-8000-%012x", i), EventType: d.EventType, State: state, Stage: stage,
			NextAttemptTime: d.NextAttemptTime, CreateTime: at, UpdateTime: at,
		}
	})
	o.insert(func(tx core.Tx) error {
		return storetest.Tables.Webhooks.Deliveries.Insert(o.t.Context(), tx, copies...)
	})
}

// attempt begins an attempt of the first delivery, of an event that is stored.
func (o *outbox) attempt() *webhooks.Dispatch {
	o.t.Helper()
	o.create(time.Now())
	return &webhooks.Dispatch{Delivery: must[*webhooks.Delivery](o.t)(o.p.Deliveries.Get(o.operator(), o.deliveries[0].UID))}
}

// countPending counts the deliveries that have not ended.
func (o *outbox) countPending() string {
	o.t.Helper()
	return o.count("delivery WHERE stage < 4")
}

// A sink with many pending deliveries says that it is gone. A transaction that fails them all
// would take longer than the database permits.
func TestASinkWithManyPendingDeliveriesIsDisabled(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const many, limit = 12_000, 5000
		o := newOutbox(w, 51)
		begun := o.attempt()
		o.copyDelivery(begun.Delivery, many, webhooks.StageQueued, webhooks.DeliveryPending)
		if _, err := w.p.Webhooks.EndAttempt(t.Context(), begun, webhooks.Attempt{Status: 410}); err != nil {
			t.Fatal(err)
		}
		s := must[*webhooks.Subscription](t)(w.p.Subscriptions.Get(w.operator(), o.subscription))
		if s.DisableTime.IsZero() || o.countPending() != "0" {
			t.Errorf("the subscription is disabled since %v and has %s pending deliveries, want none", s.DisableTime, o.countPending())
		}
		for _, row := range o.query(o.openDirect(), "SELECT DISTINCT state, last_error FROM delivery") {
			if row[0] != "FAILED" || row[1] != "the sink responded with status 410" && !strings.HasPrefix(row[1], "the subscription is disabled: ") {
				t.Errorf("there are deliveries with state and error %q", row)
			}
		}
		if !w.onSQLite() {
			largest := o.query(o.openDirect(), "SELECT max(n) FROM (SELECT count(*) n FROM delivery GROUP BY xmin) x")[0][0]
			if want := fmt.Sprint(limit + 1); largest != want {
				t.Errorf("the largest transaction ended %s deliveries, want %s", largest, want)
			}
		}
	})
}

// A process fails only some deliveries of a disabled subscription, and ends. The next attempt
// fails the others. Those of another subscription stay.
func TestWhatIsLeftOfADisabledSubscriptionIsFailed(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		const many = 6000
		o := newOutbox(w, 52)
		begun := o.attempt()
		if _, err := w.p.Webhooks.EndAttempt(t.Context(), begun, webhooks.Attempt{Status: 410}); err != nil {
			t.Fatal(err)
		}
		o.copyDelivery(begun.Delivery, many, webhooks.StageQueued, webhooks.DeliveryPending)
		healthy := &webhooks.Subscription{UID: o.d.below(o.subscription.Parent()), Sink: "https://healthy.example.com/", EncryptedSecret: []byte("x"), CreateTime: core.At(epoch), UpdateTime: core.At(epoch)}
		w.insert(func(tx core.Tx) error {
			return storetest.Tables.Webhooks.Subscriptions.Insert(t.Context(), tx, healthy)
		})
		o.copyDelivery(&webhooks.Delivery{UID: o.d.below(healthy.UID), EventType: "t"}, 7, webhooks.StageQueued, webhooks.DeliveryPending)
		queue := w.p.Webhooks.Queue(time.Hour)
		waitFor(t, "a delivery of the disabled subscription is not due", func() bool {
			due := must[webhooks.DueDeliveries](t)(queue.Due(t.Context()))
			at := slices.IndexFunc(due.UIDs, func(uid core.UID) bool { return uid.Parent() == o.subscription })
			if at < 0 {
				return false
			}
			ticket := must[[]webhooks.Ticket](t)(queue.Claim(t.Context(), due.UIDs[at:at+1]))[0]
			if begun, err := w.p.Webhooks.BeginAttempt(t.Context(), ticket); begun != nil || err != nil {
				t.Errorf("an attempt for a disabled subscription begins: %v, %v", begun, err)
			}
			return true
		})
		if n := o.countPending(); n != "7" {
			t.Errorf("%s deliveries are pending, want the 7 of the other subscription", n)
		}
		w.insert(func(tx core.Tx) error {
			if n, err := storetest.Tables.Webhooks.FailDeliveries(t.Context(), tx, healthy.UID, "disabled", core.At(w.now()), 10); n != 0 {
				t.Errorf("%d deliveries of a subscription are failed that is not disabled", n)
			} else if err != nil {
				return err
			}
			return nil
		})
	})
}
