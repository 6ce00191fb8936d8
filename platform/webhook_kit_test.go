package platform_test

import (
	"slices"
	"strings"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/webhooks"
)

// subscribe creates a subscription of a group, with its secret.
func (w *world) subscribe(group core.UID, types ...string) *webhooks.Subscription {
	w.Helper()
	made, err := w.p.Subscriptions.Create(w.operator(), group, fieldmask.TypedInput(&webhooks.Subscription{
		Sink: "https://" + w.name() + ".example.com/", Types: types,
	}, "sink", "types"))
	must(w, err)
	return made
}

// relay turns all recorded events into deliveries. On PostgreSQL this may have to wait
// for transactions of other tests.
func (w *world) relay() {
	w.Helper()
	db := w.raw()
	for left := true; left; {
		_, err := w.p.Webhooks.Relay(w.Context())
		must(w, err)
		must(w, db.QueryRowContext(w.Context(), "SELECT EXISTS (SELECT 1 FROM event e, relay r WHERE (e.xact, e.seq) > (r.xact, r.seq))").Scan(&left))
	}
}

// deliveries lists the deliveries of a subscription, the oldest first.
func (w *world) deliveries(subscription core.UID) []*webhooks.Delivery {
	w.Helper()
	page, err := w.p.Deliveries.List(w.operator(), core.ListRequest[*webhooks.DeliveryFilter]{
		UIDP: core.UIDFilter{ChildrenOf: subscription}, OrderBy: "create_time", PageSize: 200,
	})
	must(w, err)
	slices.SortFunc(page.Items, func(a, b *webhooks.Delivery) int { return strings.Compare(a.EventID, b.EventID) })
	return page.Items
}

// claim claims everything that is due, as a worker does, and returns the tickets.
func (w *world) claim() []webhooks.Ticket {
	w.Helper()
	return w.claimFrom(w.queue())
}

// queue returns the queue of another process, whose leases last for a minute.
func (w *world) queue() *webhooks.DeliveryQueue { return w.p.Webhooks.Queue(time.Minute) }

func (w *world) claimFrom(q *webhooks.DeliveryQueue) []webhooks.Ticket {
	w.Helper()
	due, err := q.Due(w.Context())
	must(w, err)
	if due.IsPart {
		w.Errorf("more than %d deliveries are due", len(due.UIDs))
	}
	claimed, err := q.Claim(w.Context(), due.UIDs)
	must(w, err)
	return claimed
}

// claimUIDs claims everything that is due, and returns the UIDs.
func (w *world) claimUIDs() []core.UID {
	w.Helper()
	tickets := w.claim()
	uids := make([]core.UID, len(tickets))
	for i, t := range tickets {
		uids[i] = t.Delivery
	}
	return uids
}

// begin begins an attempt with a ticket; the result is nil if it is not valid.
func (w *world) begin(ticket webhooks.Ticket) *webhooks.Dispatch {
	w.Helper()
	begun, err := w.p.Webhooks.BeginAttempt(w.Context(), ticket)
	must(w, err)
	return begun
}

// ticket returns the ticket of the current attempt of a delivery.
func (w *world) ticket(delivery core.UID) webhooks.Ticket {
	w.Helper()
	return webhooks.Ticket{Delivery: delivery, Number: w.delivery(delivery).Ticket}
}

// end records the result of the current attempt of a delivery.
func (w *world) end(delivery core.UID, a webhooks.Attempt) (again bool) {
	w.Helper()
	return w.endOf(&webhooks.Dispatch{Delivery: w.delivery(delivery)}, a)
}

// endOf records the result of an attempt.
func (w *world) endOf(begun *webhooks.Dispatch, a webhooks.Attempt) (again bool) {
	w.Helper()
	again, err := w.p.Webhooks.EndAttempt(w.Context(), begun, a)
	must(w, err)
	return again
}

// delivery reads a delivery.
func (w *world) delivery(uid core.UID) *webhooks.Delivery {
	w.Helper()
	d, err := w.p.Deliveries.Get(w.operator(), uid)
	must(w, err)
	return d
}

func (w *world) subscriptionAgain(uid core.UID) *webhooks.Subscription {
	w.Helper()
	s, err := w.p.Subscriptions.Get(w.operator(), uid)
	must(w, err)
	return s
}

func eventTypes(deliveries []*webhooks.Delivery) string {
	kinds := make([]string, len(deliveries))
	for i, d := range deliveries {
		kinds[i] = strings.TrimSuffix(strings.TrimPrefix(d.EventType, "dev.atrium.api."), ".v1")
	}
	return strings.Join(kinds, " ")
}
