package webhook

import (
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

// DelivererOptions configures a Deliverer. A duration of zero means the default.
type DelivererOptions struct {
	// Send makes one attempt to deliver. In production it is Sender.Send.
	Send   func(context.Context, *webhooks.Dispatch) webhooks.Attempt
	Logger *slog.Logger

	// DrainTimeout is how long Run waits at shutdown for running attempts.
	// The default is 10 s.
	DrainTimeout time.Duration
	// Lease is how long a claimed delivery belongs to this process after it has stopped.
	// The default is 6 s.
	Lease time.Duration
	// PollInterval is the longest time between two looks at the queue. The default is
	// 1.5 s, so that others take over within 7.5 s from a process that has stopped.
	PollInterval time.Duration
}

const (
	drainTimeout = 10 * time.Second
	lease        = 6 * time.Second
	pollInterval = 1500 * time.Millisecond

	// renewals is how many times a lease is renewed before it would end.
	renewals = 4
	// databaseTimeout limits each call to the database.
	databaseTimeout = 10 * time.Second
)

// A Deliverer delivers recorded events to the sinks of subscriptions. The
// Deliverers of several processes share the work.
type Deliverer struct {
	webhooks webhooks.Webhooks
	queue    *webhooks.DeliveryQueue
	changed  func() <-chan struct{}
	send     func(context.Context, *webhooks.Dispatch) webhooks.Attempt
	logger   *slog.Logger
	lease    time.Duration
	poll     time.Duration
	drain    time.Duration

	outage   outage
	wakeups  chan struct{} // signals that deliveries may be due
	slots    slots
	attempts sync.WaitGroup
	warned   atomic.Int64 // time of the last warning about an attempt, in seconds since 1970
}

// NewDeliverer returns a Deliverer of the events of p.
func NewDeliverer(p *platform.Platform, o DelivererOptions) *Deliverer {
	d := &Deliverer{
		webhooks: p.Webhooks, changed: p.Changed, send: o.Send, logger: o.Logger,
		lease: cmp.Or(o.Lease, lease), poll: cmp.Or(o.PollInterval, pollInterval), drain: cmp.Or(o.DrainTimeout, drainTimeout),
		outage: outage{logger: o.Logger}, wakeups: make(chan struct{}, 1), slots: newSlots(),
	}
	d.queue = p.Webhooks.Queue(d.lease)
	return d
}

// Running returns the number of deliveries that this process is attempting.
func (d *Deliverer) Running() int { return d.slots.count() }

// Run delivers events until ctx ends. It then waits for running attempts, and interrupts
// those that exceed the drain timeout; another process makes them again. Run may be called
// once. It may not return while the database does not answer, so the caller must limit how
// long it waits for Run.
func (d *Deliverer) Run(ctx context.Context) {
	ctx = core.InBackground(ctx) // attempts inherit it from this context
	attempting, interrupt := context.WithCancel(context.WithoutCancel(ctx))
	defer interrupt()
	var loops, renewing sync.WaitGroup
	renewing.Go(func() { d.renewLeases(attempting) })
	loops.Go(func() { d.relayEvents(ctx) })
	loops.Go(func() { d.claimDeliveries(ctx, attempting) })
	loops.Wait()
	limit := time.AfterFunc(d.drain, interrupt)
	defer limit.Stop()
	d.attempts.Wait()
	interrupt()
	renewing.Wait()
}

// renewLeases renews the leases of all running attempts until ctx ends.
func (d *Deliverer) renewLeases(ctx context.Context) {
	tick := time.NewTicker(d.lease / renewals)
	defer tick.Stop()
	retries := backoff{outage: &d.outage}
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
		var err error
		if held := d.slots.held(); len(held) > 0 {
			err = withTimeout(ctx, func(ctx context.Context) error { return d.queue.Renew(ctx, held) })
		}
		retries.record(ctx, err)
	}
}

// withTimeout calls work with a context that ends after databaseTimeout.
func withTimeout(ctx context.Context, work func(context.Context) error) error {
	ctx, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	return work(ctx)
}

// An outage is logged once, however many loops fail in it, and once when all work again.
type outage struct {
	logger *slog.Logger
	lock   sync.Mutex
	failed int // number of loops whose last call has failed
}

// change adds to the number of loops that fail. err is the error of the newest one.
func (o *outage) change(by int, err error) {
	o.lock.Lock()
	defer o.lock.Unlock()
	switch o.failed += by; {
	case o.failed == 0:
		o.logger.Info("event delivery works again")
	case o.failed == 1 && by > 0:
		o.logger.Warn("events cannot be delivered; retrying", "error", err)
	}
}

// A backoff counts calls of a loop that failed in a row, and spaces the retries.
type backoff struct {
	outage   *outage
	failures int
}

// record counts the result of a call. A shutdown is not an outage.
func (b *backoff) record(ctx context.Context, err error) {
	switch {
	case ctx.Err() != nil:
	case err != nil:
		if b.failures++; b.failures == 1 {
			b.outage.change(1, err)
		}
	case b.failures > 0:
		b.failures = 0
		b.outage.change(-1, nil)
	}
}

const (
	firstBackoff = time.Second
	lastBackoff  = 10 * time.Second
)

// wait returns after a pause, when ctx has ended, or after the signal, which it reports.
// After a failure it ignores the signal and the pause, and waits for the backoff.
func (b *backoff) wait(ctx context.Context, signal <-chan struct{}, pause time.Duration) (signalled bool) {
	if b.failures > 0 {
		signal, pause = nil, min(firstBackoff<<min(b.failures-1, 4), lastBackoff)
	}
	select {
	case <-ctx.Done():
	case <-signal:
		return true
	case <-time.After(pause):
	}
	return false
}
