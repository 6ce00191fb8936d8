package events

import (
	"context"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/platform"
)

const (
	// queueBatch is how many deliveries are queued at once.
	queueBatch = 500
	// relayInterval is the longest time between two polls for new events. It applies
	// when no signal arrives.
	relayInterval = time.Second
	// reviveInterval is the time between two searches for deliveries that were lost
	// between the database and the queue.
	reviveInterval = 10 * time.Minute
)

// relayEvents turns new events into deliveries and queues those, until ctx ends.
func (d *Deliverer) relayEvents(ctx context.Context) {
	var retries backoff
	revived := time.Now()
	for {
		changed := d.changed()
		err := d.relayAll(ctx)
		if err == nil && time.Since(revived) > reviveInterval {
			revived = time.Now()
			err = d.withTimeout(ctx, func(ctx context.Context) error { return d.webhooks.RequeueLost(ctx, false) })
		}
		retries.record(ctx, d.logger, err)
		if !retries.wait(ctx, changed, d.wakeups) {
			return
		}
	}
}

// relayAll relays and queues until no event is left.
func (d *Deliverer) relayAll(ctx context.Context) error {
	for {
		within, cancel := context.WithTimeout(ctx, databaseTimeout)
		events, err := d.webhooks.Relay(within)
		cancel()
		if err != nil {
			return err
		}
		if err := d.queueReady(ctx); err != nil || events == 0 {
			return err
		}
	}
}

// queueReady queues all deliveries that are ready.
func (d *Deliverer) queueReady(ctx context.Context) error {
	for {
		count, err := d.queueOnce(ctx)
		if err != nil || count < queueBatch {
			return err
		}
	}
}

// queueOnce queues at most queueBatch deliveries that are ready, and returns their number.
func (d *Deliverer) queueOnce(ctx context.Context) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	ready, err := d.webhooks.ListReady(ctx, queueBatch)
	if err != nil || len(ready) == 0 {
		return 0, err
	}
	queued, err := d.insert(ctx, ready)
	if err != nil || len(queued) == 0 {
		return 0, err
	}
	return len(queued), d.webhooks.MarkQueued(ctx, queued)
}

// insert adds tickets to the queue and returns those that are now in it. A
// ticket whose attempt is running is not added a second time; if its delivery is
// still ready when that attempt has ended, a later call adds it.
func (d *Deliverer) insert(ctx context.Context, tickets []platform.Ticket) ([]platform.Ticket, error) {
	jobs := make([]river.InsertManyParams, len(tickets))
	for i, t := range tickets {
		jobs[i].Args = deliveryArgs{t.Delivery, t.Number}
	}
	results, err := d.queue.InsertMany(ctx, jobs)
	if err != nil {
		return nil, err
	}
	queued := tickets[:0]
	for i, r := range results {
		if !r.UniqueSkippedAsDuplicate || r.Job.State != rivertype.JobStateRunning {
			queued = append(queued, tickets[i])
		}
	}
	return queued, nil
}

// withTimeout calls work with a context that ends after databaseTimeout.
func (d *Deliverer) withTimeout(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	return work(ctx)
}

// A backoff counts calls that failed in a row. It spaces the retries, and logs
// the first failure and the recovery only.
type backoff struct {
	failures int
}

// record counts the result of a call and reports whether the call failed.
func (b *backoff) record(ctx context.Context, logger *slog.Logger, err error) bool {
	switch {
	case ctx.Err() != nil: // a shutdown is not an outage
	case err == nil && b.failures > 0:
		logger.Info("event delivery works again")
	case err != nil && b.failures == 0:
		logger.Warn("events cannot be delivered; retrying", "error", err)
	}
	if b.failures++; err == nil {
		b.failures = 0
	}
	return err != nil
}

const maxBackoff = 10 * time.Second

// wait returns after one of the signals, or after relayInterval. After a failure
// it ignores the signals and waits for the backoff. It reports false once ctx
// has ended.
func (b *backoff) wait(ctx context.Context, changed, wakeups <-chan struct{}) bool {
	pause := relayInterval
	if b.failures > 0 {
		changed, wakeups = nil, nil
		pause = min(relayInterval<<min(b.failures-1, 4), maxBackoff)
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-wakeups:
	case <-time.After(pause):
	}
	return ctx.Err() == nil
}
