package events

import (
	"cmp"
	"context"
	"crypto/rand"
	"log/slog"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/platform"
)

// DelivererOptions are what a Deliverer needs. Zero values are those of
// production.
type DelivererOptions struct {
	DatabaseURL string
	// Send makes one attempt: Sender.Send.
	Send   func(context.Context, *platform.Dispatch) platform.Attempt
	Logger *slog.Logger

	Drain  time.Duration // for attempts under way when Run is to end; 0: 10 s
	Rescue time.Duration // after which an attempt under way counts as that of a dead process; 0: 85 s
	Retry  time.Duration // after an attempt that could not be noted; 0: 5 s
	Poll   time.Duration // of the queue, where nothing told of new work; 0: 1 s
	Beat   time.Duration // between the heartbeats by which replicas know of each other; 0: 1.5 s
}

const (
	// databaseTimeout bounds what is asked of the database at once.
	databaseTimeout = 10 * time.Second
	// jobTimeout is for an attempt with what is read and noted around it.
	jobTimeout = sendTimeout + databaseTimeout
	// rescueAfter leaves time for whoever only paused.
	rescueAfter  = jobTimeout + time.Minute
	drainTimeout = 10 * time.Second
	retryPause   = 5 * time.Second
	pollInterval = time.Second

	// fetchCooldown lets many come at once when many come.
	fetchCooldown = 10 * time.Millisecond
	// notifyCooldown is for telling of new work. It is as short as can be: what
	// is not told of waits for the poll.
	notifyCooldown = river.FetchCooldownMin
	// workers of a process mostly wait for sinks.
	workers = 500
	// keepDone is how long the queue keeps what has ended. Nobody reads it:
	// deliveries tell what became of them.
	keepDone = 5 * time.Minute
	// maxTries of a job are for failures of this program and its database
	// only. What is given up comes back by Revive.
	maxTries = 1000

	queueName = "deliveries"
)

// A Deliverer brings recorded events to the sinks of subscriptions. Those of
// several processes share the work.
type Deliverer struct {
	webhooks   platform.Webhooks
	self       *platform.Replica
	beat       time.Duration
	changed    func() <-chan struct{}
	send       func(context.Context, *platform.Dispatch) platform.Attempt
	logger     *slog.Logger
	connection *connection
	queue      client
	poke       chan struct{} // there may be deliveries for the queue
	slots      slots
}

// NewDeliverer connects to the queue, whose tables must be up to date.
func NewDeliverer(ctx context.Context, p *platform.Platform, o DelivererOptions) (*Deliverer, error) {
	c, err := connect(ctx, o.DatabaseURL)
	if err != nil {
		return nil, err
	}
	d := &Deliverer{
		webhooks: p.Webhooks, changed: p.Changed, send: o.Send, logger: o.Logger, connection: c,
		poke: make(chan struct{}, 1), slots: slots{taken: map[platform.UID]int{}},
		beat: cmp.Or(o.Beat, platform.BeatInterval),
	}
	id := rand.Text() // what it holds in the queue is held by this name
	d.self = p.Webhooks.Replica(id)
	if d.queue, err = c.client(d.config(id, o)); err != nil {
		c.close()
		return nil, err
	}
	return d, nil
}

func (d *Deliverer) config(id string, o DelivererOptions) *river.Config {
	work := river.NewWorkers()
	river.AddWorker(work, &worker{deliverer: d})
	return &river.Config{
		ID:                          id,
		Queues:                      map[string]river.QueueConfig{queueName: {MaxWorkers: workers, FetchCooldown: fetchCooldown}},
		Workers:                     work,
		Logger:                      slog.New(calm(o.Logger.Handler())),
		MaxAttempts:                 maxTries,
		RetryPolicy:                 steady(cmp.Or(o.Retry, retryPause)),
		FetchCooldown:               notifyCooldown,
		FetchPollInterval:           cmp.Or(o.Poll, pollInterval),
		JobTimeout:                  min(jobTimeout, cmp.Or(o.Rescue, jobTimeout)),
		RescueStuckJobsAfter:        cmp.Or(o.Rescue, rescueAfter),
		SoftStopTimeout:             cmp.Or(o.Drain, drainTimeout),
		CompletedJobRetentionPeriod: keepDone,
		CancelledJobRetentionPeriod: keepDone,
		DiscardedJobRetentionPeriod: keepDone,
	}
}

// steady is a retry policy of one pause.
type steady time.Duration

func (s steady) NextRetry(*rivertype.JobRow) time.Time { return time.Now().Add(time.Duration(s)) }

// Run delivers until ctx ends, then waits for the attempts under way, and cuts
// off those that take too long; they are made again. It may be called once.
// While the database is silent Run may not return: whoever ends the process
// bounds how long it waits.
func (d *Deliverer) Run(ctx context.Context) {
	ctx = platform.InBackground(ctx) // as the contexts of its attempts, which come from this one
	defer d.connection.close()
	var calls outage
	for calls.failed(ctx, d.logger, d.start(ctx)) {
		if !calls.wait(ctx, nil, nil) {
			return
		}
	}
	leave := d.attend(ctx)
	d.feed(ctx)
	err := d.queue.Stop(context.WithoutCancel(ctx))
	if err != nil {
		d.logger.Error("deliveries did not end in order", "error", err)
	}
	leave(err == nil)
}

// start shows the others that this process is there, makes ready what a queue
// that lost everything had, and starts the attempts.
func (d *Deliverer) start(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	if _, err := d.self.Beat(limited); err != nil {
		return err
	}
	under, err := d.queue.JobList(limited, river.NewJobListParams().First(1).Queues(queueName).States(unended()...))
	if err != nil {
		return err
	}
	if err := d.webhooks.Revive(limited, len(under.Jobs) == 0); err != nil {
		return err
	}
	return d.queue.Start(context.WithoutCancel(ctx)) // stopped by Stop, in order
}

func unended() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}
