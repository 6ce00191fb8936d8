package webhook

import (
	"context"
	"time"

	"atrium/platform/core"
	"atrium/platform/webhooks"
)

// claimPause is the shortest time between two looks at the queue. It lets one claim take
// many deliveries under load.
const claimPause = 10 * time.Millisecond

// claimDeliveries claims deliveries when they are due, until ctx ends. Their attempts have
// the context attempting, and may run longer.
func (d *Deliverer) claimDeliveries(ctx, attempting context.Context) {
	retries := backoff{outage: &d.outage}
	for ctx.Err() == nil {
		next, err := d.claimDue(ctx, attempting)
		time.Sleep(claimPause)
		retries.record(ctx, err)
		retries.wait(ctx, d.wakeups, next)
	}
}

// claimDue claims all deliveries that are due and for which there is a free slot. It
// returns the time until it should be called again, if no signal comes before.
func (d *Deliverer) claimDue(ctx, attempting context.Context) (next time.Duration, err error) {
	for turns := 0; turns < 2 && d.slots.haveRoom(); { // all subscriptions had their turn since the last claim
		var due webhooks.DueDeliveries
		var claimed int
		err := withTimeout(ctx, func(ctx context.Context) (err error) {
			if due, err = d.queue.Due(ctx); err == nil {
				claimed, err = d.claim(ctx, attempting, due.UIDs)
			}
			return err
		})
		switch {
		case err != nil:
			return 0, err
		case !due.IsPart && due.Next > 0:
			return min(due.Next, d.poll), nil
		case !due.IsPart:
			return d.poll, nil
		case claimed > 0:
			turns = 0
		}
		if due.IsLastPart {
			turns++
		}
	}
	return d.poll, nil
}

// claim claims those of the deliveries for which there is a free slot, and starts their
// attempts.
func (d *Deliverer) claim(ctx, attempting context.Context, due []core.UID) (claimed int, err error) {
	wanted := d.slots.reserve(due)
	if len(wanted) == 0 {
		return 0, nil
	}
	tickets, err := d.queue.Claim(ctx, wanted)
	d.slots.occupy(wanted, tickets)
	for _, ticket := range tickets {
		d.attempts.Go(func() { d.work(attempting, ticket) })
	}
	return len(tickets), err
}

// work makes the attempt of a ticket. If an attempt has no result because of this process,
// its lease ends, and the delivery is due again. At shutdown the ticket of an interrupted
// attempt is given back, so that another process makes the attempt immediately.
func (d *Deliverer) work(ctx context.Context, ticket webhooks.Ticket) {
	again, err := d.process(ctx, ticket)
	if err != nil && ctx.Err() != nil {
		err = withTimeout(context.WithoutCancel(ctx), func(ctx context.Context) error { return d.queue.Release(ctx, ticket) })
	}
	if err != nil {
		d.warn(ticket, err)
	}
	if awaited := d.slots.free(ticket); awaited || again {
		d.wake()
	}
}

// warn logs that an attempt has no result, at most once a minute, because in an outage
// hundreds have none.
func (d *Deliverer) warn(ticket webhooks.Ticket, err error) {
	now, last := time.Now().Unix(), d.warned.Load()
	if now-last >= 60 && d.warned.CompareAndSwap(last, now) {
		d.logger.Warn("a delivery has no result and will be attempted again", "delivery", ticket.Delivery, "error", err)
	}
}

// process makes the attempt of a ticket and records its result. It does nothing for a
// ticket that is no longer valid. again reports whether a further attempt is planned. The
// error is one of the database or of this program, never one of the sink.
func (d *Deliverer) process(ctx context.Context, ticket webhooks.Ticket) (again bool, err error) {
	var dispatch *webhooks.Dispatch
	err = withTimeout(ctx, func(ctx context.Context) (err error) {
		dispatch, err = d.webhooks.BeginAttempt(ctx, ticket)
		return err
	})
	if err != nil || dispatch == nil {
		return false, err
	}
	if dispatch.Cause != nil {
		d.logger.Error("a delivery could not be prepared", "delivery", ticket.Delivery, "error", dispatch.Cause)
	}
	attempt := d.attempt(ctx, dispatch)
	if err := ctx.Err(); err != nil && attempt.Status == 0 {
		return false, err // this process interrupted it, so the sink has not failed
	}
	if attempt.OwnFault != nil {
		return false, attempt.OwnFault
	}
	err = withTimeout(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		again, err = d.webhooks.EndAttempt(ctx, dispatch, attempt)
		return err
	})
	return again, err
}

// attempt makes the attempt of a dispatch, unless that has a fault.
func (d *Deliverer) attempt(ctx context.Context, dispatch *webhooks.Dispatch) webhooks.Attempt {
	if dispatch.Fault != "" {
		return webhooks.Attempt{Error: dispatch.Fault}
	}
	return d.send(ctx, dispatch)
}

// wake makes claimDeliveries look for due deliveries without waiting.
func (d *Deliverer) wake() {
	select {
	case d.wakeups <- struct{}{}:
	default: // a wakeup is pending already
	}
}
