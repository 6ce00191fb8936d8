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

// DelivererOptions configures a Deliverer. A duration of zero means the default.
type DelivererOptions struct {
	DatabaseURL string
	// DirectURL leads past a pooler to the same PostgreSQL database; "" if there
	// is none.
	DirectURL string
	// Send makes one attempt to deliver. In production it is Sender.Send.
	Send   func(context.Context, *platform.Dispatch) platform.Attempt
	Logger *slog.Logger

	// DrainTimeout is how long Run waits at shutdown for running attempts.
	// The default is 10 s.
	DrainTimeout time.Duration
	// RescueAfter is the age at which a running attempt counts as lost with its
	// process. The default is 85 s.
	RescueAfter time.Duration
	// RetryPause is the time before a job is tried again that failed on this
	// side, for example because its result could not be stored. The default
	// is 5 s.
	RetryPause time.Duration
	// PollInterval is how often the queue looks for new jobs when no
	// notification arrives. The default is 1 s.
	PollInterval time.Duration
	// HeartbeatInterval is the time between two heartbeats, by which replicas
	// know that the others are alive. The default is 1.5 s.
	HeartbeatInterval time.Duration
}

const (
	// databaseTimeout limits each call to the database.
	databaseTimeout = 10 * time.Second
	// jobTimeout limits an attempt including its reads and writes.
	jobTimeout = sendTimeout + databaseTimeout
	// rescueAfter leaves time for a process that was only suspended.
	rescueAfter  = jobTimeout + time.Minute
	drainTimeout = 10 * time.Second
	retryPause   = 5 * time.Second
	pollInterval = time.Second

	// fetchCooldown is the shortest time between two fetches of jobs. It lets
	// one fetch take many jobs under load.
	fetchCooldown = 10 * time.Millisecond
	// notifyCooldown is the shortest time between two notifications of new
	// jobs. It is river's minimum, because a job without a notification waits
	// for the next poll.
	notifyCooldown = river.FetchCooldownMin
	// maxWorkers limits the attempts that one process makes at the same time.
	// It is high because workers mostly wait for sinks.
	maxWorkers = 500
	// jobRetention is how long the queue keeps finished jobs. Nobody reads them:
	// the result of a delivery is stored with the delivery.
	jobRetention = 5 * time.Minute
	// maxTries limits the tries of one job. A job fails only through an error of
	// this program or its database; RequeueLost queues a discarded one again.
	maxTries = 1000

	queueName = "deliveries"
)

// A Deliverer delivers recorded events to the sinks of subscriptions. The
// Deliverers of several processes share the work.
type Deliverer struct {
	webhooks          platform.Webhooks
	self              *platform.Replica
	heartbeatInterval time.Duration
	changed           func() <-chan struct{}
	send              func(context.Context, *platform.Dispatch) platform.Attempt
	logger            *slog.Logger
	connection        *connection
	queue             client
	wakeups           chan struct{} // signals that deliveries may be ready for the queue
	slots             slots
}

// NewDeliverer connects to the queue. It fails unless Migrate of the same
// program has created the tables.
func NewDeliverer(ctx context.Context, p *platform.Platform, o DelivererOptions) (*Deliverer, error) {
	c, err := connect(ctx, o.DatabaseURL, o.DirectURL)
	if err != nil {
		return nil, err
	}
	d := &Deliverer{
		webhooks: p.Webhooks, changed: p.Changed, send: o.Send, logger: o.Logger, connection: c,
		wakeups: make(chan struct{}, 1), slots: slots{taken: map[platform.UID]int{}},
		heartbeatInterval: cmp.Or(o.HeartbeatInterval, platform.BeatInterval),
	}
	id := rand.Text() // the queue records which replica runs a job by this id
	d.self = p.Webhooks.Replica(id)
	if err = c.check(ctx); err == nil {
		d.queue, err = c.newClient(d.riverConfig(id, o))
	}
	if err != nil {
		c.close()
		return nil, err
	}
	return d, nil
}

// Ready fails if the queue does not answer, or does not have the tables that this
// program knows.
func (d *Deliverer) Ready(ctx context.Context) error { return d.connection.check(ctx) }

// riverConfig returns the configuration of the queue for the replica id.
func (d *Deliverer) riverConfig(id string, o DelivererOptions) *river.Config {
	workers := river.NewWorkers()
	river.AddWorker(workers, &worker{deliverer: d})
	return &river.Config{
		ID:                          id,
		Queues:                      map[string]river.QueueConfig{queueName: {MaxWorkers: maxWorkers, FetchCooldown: fetchCooldown}},
		Workers:                     workers,
		Logger:                      slog.New(newQueueLog(o.Logger.Handler())),
		MaxAttempts:                 maxTries,
		RetryPolicy:                 fixedRetry(cmp.Or(o.RetryPause, retryPause)),
		FetchCooldown:               notifyCooldown,
		FetchPollInterval:           cmp.Or(o.PollInterval, pollInterval),
		JobTimeout:                  min(jobTimeout, cmp.Or(o.RescueAfter, jobTimeout)),
		RescueStuckJobsAfter:        cmp.Or(o.RescueAfter, rescueAfter),
		SoftStopTimeout:             cmp.Or(o.DrainTimeout, drainTimeout),
		CompletedJobRetentionPeriod: jobRetention,
		CancelledJobRetentionPeriod: jobRetention,
		DiscardedJobRetentionPeriod: jobRetention,
		ReindexerIndexNames:         d.connection.indexes,
	}
}

// fixedRetry is a retry policy with the same pause after each failure.
type fixedRetry time.Duration

func (f fixedRetry) NextRetry(*rivertype.JobRow) time.Time {
	return time.Now().Add(time.Duration(f))
}

// Run delivers events until ctx ends. It then waits for running attempts and
// cancels those that exceed the drain timeout; another process makes them again.
// Run may be called once. It may not return while the database does not answer,
// so the caller must limit how long it waits for Run.
func (d *Deliverer) Run(ctx context.Context) {
	ctx = platform.InBackground(ctx) // attempts inherit it from this context
	defer d.connection.close()
	var retries backoff
	for retries.record(ctx, d.logger, d.start(ctx)) {
		if !retries.wait(ctx, nil, nil) {
			return
		}
	}
	leave := d.startHeartbeats(ctx)
	d.relayEvents(ctx)
	err := d.queue.Stop(context.WithoutCancel(ctx))
	if err != nil {
		d.logger.Error("shutdown of event delivery failed; other processes repeat the interrupted attempts", "error", err)
	}
	leave(err == nil)
}

// start sends the first heartbeat, makes deliveries ready again that the queue
// has lost, and starts the queue.
func (d *Deliverer) start(ctx context.Context) error {
	limited, cancel := context.WithTimeout(ctx, databaseTimeout)
	defer cancel()
	if _, err := d.self.Heartbeat(limited); err != nil {
		return err
	}
	unfinished, err := d.queue.JobList(limited, river.NewJobListParams().First(1).Queues(queueName).States(unfinishedStates()...))
	if err != nil {
		return err
	}
	if err := d.webhooks.RequeueLost(limited, len(unfinished.Jobs) == 0); err != nil {
		return err
	}
	return d.queue.Start(context.WithoutCancel(ctx)) // Run calls Stop
}

// unfinishedStates lists the states of jobs that the queue still has to run or is
// running.
func unfinishedStates() []rivertype.JobState {
	return []rivertype.JobState{
		rivertype.JobStateAvailable, rivertype.JobStatePending, rivertype.JobStateRetryable, rivertype.JobStateRunning, rivertype.JobStateScheduled,
	}
}

// depthTimeout limits how long Depth asks the database.
const depthTimeout = 2 * time.Second

// Depth returns how many deliveries the queue has to make, by the state of their
// job. Jobs that have ended are not counted, because the queue soon forgets them.
func (d *Deliverer) Depth() (map[string]int, error) {
	ctx, cancel := context.WithTimeout(platform.InBackground(context.Background()), depthTimeout)
	defer cancel()
	found, err := d.connection.depth(ctx)
	if err != nil {
		return nil, err
	}
	depth := map[string]int{}
	for _, state := range unfinishedStates() {
		depth[string(state)] = found[state]
	}
	return depth, nil
}
