package events

import (
	"context"
	"encoding/json"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"atrium/platform"
)

// deliveryArgs are the arguments of a job: make the attempts of one ticket, until
// the delivery has ended or the ticket is no longer valid.
type deliveryArgs struct {
	UID    platform.UID `json:"uid"`
	Ticket int64        `json:"ticket,omitempty"`
}

func (a deliveryArgs) ticket() platform.Ticket {
	return platform.Ticket{Delivery: a.UID, Number: a.Ticket}
}

// Kind returns the name of this kind of job in the queue.
func (deliveryArgs) Kind() string { return "delivery" }

// InsertOpts returns options by which the queue contains each ticket once.
func (deliveryArgs) InsertOpts() river.InsertOpts {
	return river.InsertOpts{Queue: queueName, UniqueOpts: river.UniqueOpts{ByArgs: true, ByState: unfinishedStates()}}
}

const (
	// slotsPerSubscription limits the attempts that one process makes for one
	// subscription at the same time, so that a sink that hangs does not use all
	// workers.
	slotsPerSubscription = 16
	// slotPause is the longest time after which a job that found no free slot is
	// tried again. The time is random, so that thousands of such jobs do not
	// return together and block the queue. It begins with at most firstSlotPause, so
	// that jobs follow soon on others whose sinks answer, and doubles with each pause.
	slotPause      = 30 * time.Second
	firstSlotPause = time.Second
	// maxEarly is how long before its planned time an attempt may be made. It
	// allows for clocks that differ.
	maxEarly = time.Second
)

// A worker makes the attempts of jobs for a Deliverer.
type worker struct {
	river.WorkerDefaults[deliveryArgs]
	deliverer *Deliverer
}

// Work makes one attempt. It returns an error only if the database or this program
// failed, never because of the sink; the queue then tries the job again soon. At
// shutdown it gives the ticket of an interrupted attempt back, so that another
// process makes the attempt immediately.
func (w *worker) Work(ctx context.Context, job *river.Job[deliveryArgs]) error {
	d, ticket := w.deliverer, job.Args.ticket()
	subscription := ticket.Delivery.Parent()
	if !d.slots.take(subscription) {
		return river.JobSnooze(rand.N(longestPause(countPauses(job)))) //nolint:gosec // not a secret
	}
	defer d.slots.free(subscription)
	pause, again, err := d.process(ctx, ticket)
	switch {
	case err != nil && ctx.Err() != nil:
		return d.withTimeout(context.WithoutCancel(ctx), func(ctx context.Context) error { return d.webhooks.Requeue(ctx, ticket) })
	case err == nil && again:
		return river.JobSnooze(max(pause, 0))
	}
	return err
}

// longestPause returns the longest time after which a job is tried again that found no free
// slot after a number of pauses.
func longestPause(pauses int) time.Duration {
	return min(firstSlotPause<<min(pauses, 5), slotPause)
}

// countPauses returns how often a job was postponed, which the queue records.
func countPauses(job *river.Job[deliveryArgs]) int {
	var recorded struct {
		Snoozes int `json:"snoozes"`
	}
	_ = json.Unmarshal(job.Metadata, &recorded) // the first pause is not wrong either
	return recorded.Snoozes
}

// process makes the attempt of a ticket and stores its result. It does nothing for
// a ticket that is no longer valid. If again is true, the ticket is to be used
// again after the pause.
func (d *Deliverer) process(ctx context.Context, ticket platform.Ticket) (pause time.Duration, again bool, err error) {
	dispatch, err := d.webhooks.BeginAttempt(ctx, ticket)
	if err != nil || dispatch == nil {
		return 0, false, err
	}
	// A process may have died before it could postpone the job. A first attempt is always
	// due, whatever the clock of the process showed that planned it.
	if pause := time.Until(dispatch.Delivery.NextAttemptTime.Time); pause > maxEarly && dispatch.Delivery.Attempts > 0 {
		return pause, true, nil
	}
	if dispatch.Cause != nil {
		d.logger.Error("a delivery could not be prepared", "delivery", ticket.Delivery, "error", dispatch.Cause)
	}
	attempt := d.attempt(ctx, dispatch)
	if err := ctx.Err(); err != nil && attempt.Status == 0 {
		return 0, false, err // this process interrupted it, so the sink has not failed
	}
	if attempt.OwnFault != nil {
		return 0, false, attempt.OwnFault
	}
	ending, cancel := context.WithTimeout(context.WithoutCancel(ctx), databaseTimeout)
	defer cancel()
	if pause, again, err = d.webhooks.EndAttempt(ending, dispatch, attempt); err == nil {
		d.wake() // another delivery of the subscription may be ready now
	}
	return pause, again, err
}

// attempt makes the attempt of a dispatch, unless that has a fault.
func (d *Deliverer) attempt(ctx context.Context, dispatch *platform.Dispatch) platform.Attempt {
	if dispatch.Fault != "" {
		return platform.Attempt{Error: dispatch.Fault}
	}
	return d.send(ctx, dispatch)
}

// wake makes relayEvents look for ready deliveries without waiting.
func (d *Deliverer) wake() {
	select {
	case d.wakeups <- struct{}{}:
	default: // a wakeup is pending already
	}
}

// slots counts the running attempts of this process: in total, of each subscription, and
// of each organisation.
type slots struct {
	lock  sync.Mutex
	total int
	taken map[platform.UID]int
}

// take reports whether there was a free slot for the subscription, and occupies it. An
// organisation gets slots only while it has fewer than are free. So one organisation has
// at most half of them, and however many organisations have sinks that hang, some slots
// stay free for the others.
func (s *slots) take(subscription platform.UID) bool {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.taken[subscription] == slotsPerSubscription || s.taken[subscription.Root()] >= maxWorkers-s.total {
		return false
	}
	s.add(subscription, 1)
	return true
}

// free gives back the slot that take has occupied.
func (s *slots) free(subscription platform.UID) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.add(subscription, -1)
}

// add changes the counts of a subscription. The caller must hold the lock.
func (s *slots) add(subscription platform.UID, n int) {
	s.total += n
	for _, uid := range []platform.UID{subscription, subscription.Root()} {
		if s.taken[uid] += n; s.taken[uid] == 0 {
			delete(s.taken, uid)
		}
	}
}
