package webhooks

import (
	"context"
	"slices"
	"time"

	"atrium/platform/core"
)

// The deliveries that have not ended are the queue: each row says when the next attempt is
// due, and until when a process holds it. All times in it are those of Store.Now, so that
// clocks of processes may differ.

const (
	// dueLimit is how many due deliveries are listed by their age alone.
	dueLimit = 200
	// turnSubscriptions is how many subscriptions have their turn in one call, and turnShare
	// how many deliveries of each are listed.
	turnSubscriptions, turnShare = 100, 4
	// changeLimit limits the deliveries that one transaction fails.
	changeLimit = 5000
)

// A DeliveryQueue is the queue of deliveries as one process uses it. Due is not safe for
// concurrent use; the other methods are.
type DeliveryQueue struct {
	area  *Area
	lease time.Duration
	after core.UID // subscription that had its turn last; "" means that the first one is next
}

// Queue returns a queue whose claims are valid for the duration of a lease, unless Renew
// extends them.
func (w Webhooks) Queue(lease time.Duration) *DeliveryQueue {
	return &DeliveryQueue{area: w.area, lease: lease}
}

// DueDeliveries are some deliveries that are due and that no process holds.
type DueDeliveries struct {
	UIDs []core.UID
	// IsPart means that more can be due, which further calls of Due list. IsLastPart
	// means that the next call begins again with the first subscription.
	IsPart, IsLastPart bool
	// Next is the time until another delivery becomes due; 0 if none waits or IsPart is set.
	Next time.Duration
}

// Due lists deliveries that are due and that no process holds: all of them, the oldest
// first, if there are few. Otherwise it lists some of each of the next subscriptions, in
// the order of their UIDs, and continues with those that follow in the next call. So the
// many deliveries of one subscription delay no other, and a call reads few rows.
func (q *DeliveryQueue) Due(ctx context.Context) (DueDeliveries, error) {
	now, err := q.area.store.Now(ctx)
	if err != nil {
		return DueDeliveries{}, err
	}
	oldest, next, err := q.area.store.DueDeliveries(ctx, now, dueLimit)
	switch {
	case err != nil:
		return DueDeliveries{}, err
	case len(oldest) < dueLimit && next.IsZero():
		return DueDeliveries{UIDs: oldest}, nil
	case len(oldest) < dueLimit:
		return DueDeliveries{UIDs: oldest, Next: next.Sub(now.Time)}, nil
	}
	due := DueDeliveries{IsPart: true}
	due.UIDs, q.after, err = q.area.store.DueDeliveriesInTurn(ctx, now, q.after, turnSubscriptions, turnShare)
	due.IsLastPart = q.after == ""
	return due, err
}

// Claim takes those of the deliveries that are still due and that no process holds, and
// returns their tickets. The caller must make an attempt with each ticket. After an error, the
// deliveries may be held until their leases end.
func (q *DeliveryQueue) Claim(ctx context.Context, deliveries []core.UID) (claimed []Ticket, err error) {
	err = q.area.store.Write(ctx, func(tx core.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		claimed, err = q.area.tables.ClaimDeliveries(ctx, tx, deliveries, now, core.At(now.Add(q.lease)))
		return err
	})
	if err != nil {
		return nil, err
	}
	return claimed, nil
}

// Renew extends the leases of tickets. It skips tickets that are no longer valid.
func (q *DeliveryQueue) Renew(ctx context.Context, tickets []Ticket) error {
	return q.area.store.Write(ctx, func(tx core.Tx) error {
		now, err := tx.Now(ctx)
		if err != nil {
			return err
		}
		return q.area.tables.SetLeases(ctx, tx, tickets, core.At(now.Add(q.lease)))
	})
}

// Release gives back tickets without an attempt. Their deliveries are due again.
func (q *DeliveryQueue) Release(ctx context.Context, tickets ...Ticket) error {
	return q.area.store.Write(ctx, func(tx core.Tx) error { return q.area.tables.SetLeases(ctx, tx, tickets, core.Time{}) })
}

// lockSubscriptions locks subscriptions, as attempts do. So none of their deliveries ends
// until the transaction does. A delivery that ends moves to another partition, and a
// database rejects statements that wait for its row.
func lockSubscriptions(tx core.Tx, subscriptions []core.UID) {
	slices.Sort(subscriptions) // all in the same order, so that nobody waits in a circle
	for _, subscription := range slices.Compact(subscriptions) {
		tx.Lock(subscription)
	}
}
