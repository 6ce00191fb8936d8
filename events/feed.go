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
	feedBatch    = 500
	feedInterval = time.Second // where nothing told of a change
	// reviveInterval is how often it is looked for what got lost between the
	// database and the queue.
	reviveInterval = 10 * time.Minute
)

// feed turns events into deliveries and gives those to the queue, until ctx
// ends.
func (d *Deliverer) feed(ctx context.Context) {
	var calls outage
	revived := time.Now()
	for {
		changed := d.changed()
		err := d.round(ctx)
		if err == nil && time.Since(revived) > reviveInterval {
			revived = time.Now()
			err = d.within(ctx, func(ctx context.Context) error { return d.webhooks.Revive(ctx, false) })
		}
		calls.failed(ctx, d.logger, err)
		if !calls.wait(ctx, changed, d.poke) {
			return
		}
	}
}

// round does all that there is to do.
func (d *Deliverer) round(ctx context.Context) error {
	for {
		var events int
		err := d.within(ctx, func(ctx context.Context) (err error) {
			events, err = d.webhooks.Relay(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if err := d.fill(ctx); err != nil || events == 0 {
			return err
		}
	}
}

// fill gives deliveries that are ready to the queue.
func (d *Deliverer) fill(ctx context.Context) error {
	for {
		var taken int
		err := d.within(ctx, func(ctx context.Context) error {
			ready, err := d.webhooks.Ready(ctx, feedBatch)
			if err != nil || len(ready) == 0 {
				return err
			}
			queued, err := d.insert(ctx, ready)
			if err != nil || len(queued) == 0 {
				return err
			}
			taken = len(queued)
			return d.webhooks.Queued(ctx, queued)
		})
		if err != nil || taken < feedBatch {
			return err
		}
	}
}

// insert gives tickets to the queue and tells which it has. One by which an
// attempt is just being made is not added a second time: if its delivery is
// still ready when that attempt has ended, it is given again.
func (d *Deliverer) insert(ctx context.Context, tickets []platform.Ticket) ([]platform.Ticket, error) {
	jobs := make([]river.InsertManyParams, len(tickets))
	for i, t := range tickets {
		jobs[i].Args = delivery{t.Delivery, t.Number}
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

func (d *Deliverer) within(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	return work(ctx)
}

// An outage paces what is tried again, and tells of it once.
type outage struct {
	failures int
}

// failed notes how the last call went, and gives back whether it failed.
func (o *outage) failed(ctx context.Context, logger *slog.Logger, err error) bool {
	switch {
	case ctx.Err() != nil: // it was called off
	case err == nil && o.failures > 0:
		logger.Info("events are delivered again")
	case err != nil && o.failures == 0:
		logger.Warn("events cannot be delivered; trying again", "error", err)
	}
	if o.failures++; err == nil {
		o.failures = 0
	}
	return err != nil
}

const longestBackoff = 10 * time.Second

// wait waits for either signal, and for some time at most; after a failure for
// a longer time, and no signal. It reports whether ctx goes on.
func (o *outage) wait(ctx context.Context, changed, poke <-chan struct{}) bool {
	pause := feedInterval
	if o.failures > 0 {
		changed, poke = nil, nil
		pause = min(feedInterval<<min(o.failures-1, 4), longestBackoff)
	}
	select {
	case <-ctx.Done():
	case <-changed:
	case <-poke:
	case <-time.After(pause):
	}
	return ctx.Err() == nil
}
