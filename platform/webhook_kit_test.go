package platform_test

import (
	"slices"
	"strings"
	"time"

	"atrium/platform"
	"atrium/platform/fieldmask"
)

// subscribe creates a subscription of a group, with its secret.
func (w *world) subscribe(group platform.UID, types ...string) *platform.Subscription {
	w.Helper()
	made, err := w.p.Subscriptions.Create(w.operator(), group, fieldmask.TypedInput(&platform.Subscription{
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
		must(w, db.QueryRowContext(w.Context(), "SELECT EXISTS (SELECT 1 FROM event e, relay r WHERE e.denied = '' AND (e.xact, e.seq) > (r.xact, r.seq))").Scan(&left))
	}
}

// deliveries lists the deliveries of a subscription, the oldest first.
func (w *world) deliveries(subscription platform.UID) []*platform.Delivery {
	w.Helper()
	page, err := w.p.Deliveries.List(w.operator(), platform.ListRequest[*platform.DeliveryFilter]{
		UIDP: platform.UIDFilter{ChildrenOf: subscription}, OrderBy: "create_time", PageSize: 200,
	})
	must(w, err)
	slices.SortFunc(page.Items, func(a, b *platform.Delivery) int { return strings.Compare(a.EventID, b.EventID) })
	return page.Items
}

// claim claims everything that is due, as a worker does, and returns the tickets.
func (w *world) claim() []platform.Ticket {
	w.Helper()
	return w.claimFrom(w.queue())
}

// queue returns the queue of another process, whose leases last for a minute.
func (w *world) queue() *platform.DeliveryQueue { return w.p.Webhooks.Queue(time.Minute) }

func (w *world) claimFrom(q *platform.DeliveryQueue) []platform.Ticket {
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
func (w *world) claimUIDs() []platform.UID {
	w.Helper()
	tickets := w.claim()
	uids := make([]platform.UID, len(tickets))
	for i, t := range tickets {
		uids[i] = t.Delivery
	}
	return uids
}

// begin begins an attempt with a ticket; the result is nil if it is not valid.
func (w *world) begin(ticket platform.Ticket) *platform.Dispatch {
	w.Helper()
	begun, err := w.p.Webhooks.BeginAttempt(w.Context(), ticket)
	must(w, err)
	return begun
}

// ticket returns the ticket of the current attempt of a delivery.
func (w *world) ticket(delivery platform.UID) platform.Ticket {
	w.Helper()
	return platform.Ticket{Delivery: delivery, Number: w.delivery(delivery).Ticket}
}

// end records the result of the current attempt of a delivery.
func (w *world) end(delivery platform.UID, a platform.Attempt) (again bool) {
	w.Helper()
	return w.endOf(&platform.Dispatch{Delivery: w.delivery(delivery)}, a)
}

// endOf records the result of an attempt.
func (w *world) endOf(begun *platform.Dispatch, a platform.Attempt) (again bool) {
	w.Helper()
	again, err := w.p.Webhooks.EndAttempt(w.Context(), begun, a)
	must(w, err)
	return again
}

// delivery reads a delivery.
func (w *world) delivery(uid platform.UID) *platform.Delivery {
	w.Helper()
	d, err := w.p.Deliveries.Get(w.operator(), uid)
	must(w, err)
	return d
}

func (w *world) subscriptionAgain(uid platform.UID) *platform.Subscription {
	w.Helper()
	s, err := w.p.Subscriptions.Get(w.operator(), uid)
	must(w, err)
	return s
}

func eventTypes(deliveries []*platform.Delivery) string {
	kinds := make([]string, len(deliveries))
	for i, d := range deliveries {
		kinds[i] = strings.TrimSuffix(strings.TrimPrefix(d.EventType, "dev.atrium.api."), ".v1")
	}
	return strings.Join(kinds, " ")
}
