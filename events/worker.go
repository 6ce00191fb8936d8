package events

import (
	"context"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/riverqueue/river"

	"atrium/platform"
)

// A delivery is a job of the queue: attempts of one, until it has ended.
type delivery struct {
	UID platform.UID `json:"uid"`
}

// Kind names it in the queue.
func (delivery) Kind() string { return "delivery" }

// InsertOpts keep a delivery from being in the queue twice.
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
// never of the sink: the queue comes back soon.
func (w *worker) Work(ctx context.Context, job *river.Job[delivery]) error {
	d, uid := w.deliverer, job.Args.UID
	subscription := uid.Parent()
	if !d.slots.take(subscription) {
		return river.JobSnooze(rand.N(slotPause)) //nolint:gosec // no secret
	}
	defer d.slots.free(subscription)
	dispatch, err := d.webhooks.Begin(ctx, uid)
	if err != nil || dispatch == nil {
		return err
	}
	// The process that should have put it off may have died before.
	if wait := time.Until(dispatch.Delivery.NextAttemptTime.Time); wait > early {
		return river.JobSnooze(wait)
	}
	attempt := platform.Attempt{Error: "the service cannot read the secret of the subscription"}
	if dispatch.Fault == nil {
		attempt = d.attempt(ctx, dispatch)
	} else {
		d.logger.Error("a delivery cannot begin", "delivery", uid, "error", dispatch.Fault)
	}
	if err := ctx.Err(); err != nil && attempt.Status == 0 {
		return err // it was cut off from here, which tells nothing of the sink
	}
	var wait time.Duration
	var again bool
	err = d.within(context.WithoutCancel(ctx), func(ctx context.Context) (err error) {
		wait, again, err = d.webhooks.End(ctx, uid, attempt)
		return err
	})
	if err != nil {
		return err
	}
	d.wake() // another of the subscription may go now
	if again {
		return river.JobSnooze(max(wait, 0))
	}
	return nil
}

func (d *Deliverer) attempt(ctx context.Context, dispatch *platform.Dispatch) platform.Attempt {
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
