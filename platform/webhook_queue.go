package platform

import (
	"context"
	"slices"
	"time"
)

const (
	// lostAfter is the time after which an overdue attempt counts as lost.
	lostAfter = 10 * time.Minute
	// changeLimit limits the deliveries that one transaction requeues or fails.
	changeLimit = 5000
)

// ListReady returns the tickets of deliveries that can be added to the queue.
func (w Webhooks) ListReady(ctx context.Context, limit int) ([]Ticket, error) {
	return w.p.store.ReadyDeliveries(ctx, limit)
}

// MarkQueued records that the queue has these tickets.
func (w Webhooks) MarkQueued(ctx context.Context, tickets []Ticket) error {
	return w.p.store.Write(ctx, func(tx Tx) error {
		if err := lockSubscriptions(ctx, tx, subscriptionsOf(tickets)); err != nil {
			return err
		}
		return tx.MarkQueued(ctx, tickets)
	})
}

// Requeue makes deliveries ready again, with new tickets, whose process is gone or
// stops.
func (w Webhooks) Requeue(ctx context.Context, tickets ...Ticket) error {
	err := w.p.store.Write(ctx, func(tx Tx) error {
		if err := lockSubscriptions(ctx, tx, subscriptionsOf(tickets)); err != nil {
			return err
		}
		return tx.Requeue(ctx, tickets)
	})
	if err == nil {
		w.p.store.Wake()
	}
	return err
}

// RequeueLost makes deliveries ready again whose attempt is long overdue. If all is
// set, it does so for all deliveries that have not ended; this is for a queue that
// is known to be empty. It also fails the deliveries that are left of disabled
// subscriptions.
func (w Webhooks) RequeueLost(ctx context.Context, all bool) error {
	due := At(w.p.now().Add(-lostAfter))
	if all {
		due = At(w.p.now().Add(deliveryPeriod)) // no attempt is delayed for longer
	}
	if err := w.requeueOverdue(ctx, due); err != nil {
		return err
	}
	for released := changeLimit; released == changeLimit; {
		err := w.p.store.Write(ctx, func(tx Tx) (err error) {
			released, err = tx.ReleaseIdle(ctx, changeLimit)
			return err
		})
		if err != nil {
			return err
		}
	}
	if err := w.failDisabled(ctx); err != nil { // which others need not wait for
		w.p.options.Logger.Warn("disabled subscriptions still have pending deliveries, which will be failed later", "error", err)
	}
	return nil
}

// requeueOverdue makes deliveries ready again that are overdue since a time. There can be
// hundreds of thousands, which takes several transactions. It looks at each of them only once,
// because other processes may queue them again meanwhile.
func (w Webhooks) requeueOverdue(ctx context.Context, due Time) error {
	var after OverdueDelivery
	for {
		var overdue []OverdueDelivery
		err := w.p.store.Write(ctx, func(tx Tx) (err error) {
			if overdue, err = tx.OverdueDeliveries(ctx, due, after, changeLimit); err != nil || len(overdue) == 0 {
				return err
			}
			uids := make([]UID, len(overdue))
			for i, d := range overdue {
				uids[i] = d.UID
			}
			if err := lockSubscriptions(ctx, tx, parentsOf(uids)); err != nil {
				return err
			}
			return tx.RequeueLost(ctx, due, uids)
		})
		if err != nil || len(overdue) < changeLimit {
			return err
		}
		after = overdue[len(overdue)-1]
	}
}

// lockSubscriptions locks subscriptions, as attempts do. So none of their deliveries ends
// until the transaction does. A delivery that ends moves to another partition, and a
// database rejects statements that wait for its row.
func lockSubscriptions(ctx context.Context, tx Tx, subscriptions []UID) error {
	slices.Sort(subscriptions) // all in the same order, so that nobody waits in a circle
	for _, subscription := range slices.Compact(subscriptions) {
		if err := tx.Lock(ctx, subscription); err != nil {
			return err
		}
	}
	return nil
}

func subscriptionsOf(tickets []Ticket) []UID {
	subscriptions := make([]UID, len(tickets))
	for i, t := range tickets {
		subscriptions[i] = t.Delivery.Parent()
	}
	return subscriptions
}
