package events

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"atrium/platform"
)

// A delivery is a job of the queue: attempts by one ticket, until the delivery
// has ended.
type delivery struct {
	UID    platform.UID `json:"uid"`
	Ticket int64        `json:"ticket,omitempty"`
}

func (j delivery) ticket() platform.Ticket { return platform.Ticket{Delivery: j.UID, Number: j.Ticket} }

// Kind names it in the queue.
func (delivery) Kind() string { return "delivery" }

// InsertOpts keep a ticket from being in the queue twice.
func (delivery) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueName, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unended()}}
}

const (
	// atOnce bounds the attempts of one subscription in a process, so that a
	// sink that hangs leaves workers to others.
	atOnce = 16
	// What finds no slot comes back within this time. Thousands that came back
	// together would keep the queue from everything else.
	slotPause = 30 * time.Second
	// early is how long before its time an attempt may be made. Clocks differ.
	early = time.Second
)

type worker struct {
	river.WorkerDefaults[delivery]
	deliverer *Deliverer
}

// Work makes one attempt. An error is one of the database or of this program,
// never of the sink: the queue comes back soon. What is cut off because the
// process ends is given back, for another process to attempt at once.
func (w *worker) Work(ctx context.Context, job *river.Job[delivery]) error {
	d, ticket := w.deliverer, job.Args.ticket()
	subscription := ticket.Delivery.Parent()
	if !d.slots.take(subscription) {
		return river.JobSnooze(rand.N(slotPause)) //nolint:gosec // no secret
	}
	defer d.slots.free(subscription)
	wait, again, err := d.try(ctx, ticket)
	switch {
	case err != nil && ctx.Err() != nil:
		return d.within(context.WithoutCancel(ctx), func(ctx context.Context) error { return d.webhooks.GiveBack(ctx, ticket) })
	case err == nil && again:
		return river.JobSnooze(max(wait, 0))
	}
	return err
}

// try makes an attempt by a ticket. Where the ticket is to be used again, wait
// says when.
func (d *Deliverer) try(ctx context.Context, ticket platform.Ticket) (wait time.Duration, again bool, err error) {
	dispatch, err := d.webhooks.Begin(ctx, ticket)
	if err != nil || dispatch == nil {
		return 0, false, err
	}
	// The process that should have put it off may have died before.
	if wait := time.Until(dispatch.Delivery.NextAttemptTime.Time); wait > early {
		return wait, true, nil
	}
	if dispatch.Cause != nil {
		d.logger.Error("a delivery cannot begin", "delivery", ticket.Delivery, "error", dispatch.Cause)
	}
	attempt := d.attempt(ctx, dispatch)
	if err := ctx.Err(); err != nil && attempt.Status == 0 {
		return 0, false, err // it was cut off from here, which tells nothing of the sink
	}
	err = d.within(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		wait, again, err = d.webhooks.End(ctx, dispatch, attempt)
		return err
	})
	if err == nil {
		d.wake() // another of the subscription may go now
	}
	return wait, again, err
}

func (d *Deliverer) attempt(ctx context.Context, dispatch *platform.Dispatch) platform.Attempt {
	if dispatch.Fault != "" {
		return platform.Attempt{Error: dispatch.Fault}
	}
	ctx, cancel := context.WithTimeout(ctx, sendTimeout)
	defer cancel()
	return d.send(ctx, dispatch)
}

func (d *Deliverer) wake() {
	select {
	case d.poke <- struct{}{}:
	default: // it is awake
	}
}

// slots count the attempts under way by subscription.
type slots struct {
	lock  sync.Mutex
	taken map[platform.UID]int
}

func (s *slots) take(subscription platform.UID) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.taken[subscription] == atOnce {
		return false
	}
	s.taken[subscription]++
	return true
}

func (s *slots) free(subscription platform.UID) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.taken[subscription]--; s.taken[subscription] == 0 {
		delete(s.taken, subscription)
	}
}
