package events

import (
	"context"
	"encoding/json"
	"sync"
	"time"

	"github.com/riverqueue/river"
	"github.com/riverqueue/river/rivertype"

	"atrium/platform"
)

// startHeartbeats sends heartbeats, and takes over from replicas whose heartbeats
// have stopped, until leave is called. It continues after ctx has ended, because
// leave must be called only when no attempt is running any more. leave removes
// this replica if clean is true, which says that it holds no ticket; otherwise
// the others take over from it when they miss its heartbeats.
func (d *Deliverer) startHeartbeats(ctx context.Context) (leave func(clean bool)) {
	ctx, stop := context.WithCancel(context.WithoutCancel(ctx))
	var heartbeats sync.WaitGroup
	heartbeats.Go(func() {
		tick := time.NewTicker(d.heartbeatInterval)
		defer tick.Stop()
		for failed := false; ; {
			select {
			case <-ctx.Done():
				return
			case <-tick.C:
			}
			err := d.withTimeout(ctx, d.takeOver)
			if err != nil && !failed && ctx.Err() == nil {
				d.logger.Warn("heartbeat failed; other processes may repeat the deliveries of this one", "error", err)
			}
			failed = err != nil
		}
	})
	return func(clean bool) {
		stop()
		heartbeats.Wait()
		if !clean {
			return
		}
		if err := d.withTimeout(context.WithoutCancel(ctx), d.self.Leave); err != nil {
			d.logger.Warn("could not announce the shutdown to other processes; they notice it when heartbeats stop", "error", err)
		}
	}
}

// takeOver sends a heartbeat. It then gives back the tickets of replicas whose
// heartbeats have stopped, and removes those replicas. Two replicas may take over from
// the same one: a ticket is valid for the first only.
func (d *Deliverer) takeOver(ctx context.Context) error {
	gone, err := d.self.Heartbeat(ctx)
	if err != nil || len(gone) == 0 {
		return err
	}
	tickets, err := d.heldTickets(ctx, gone)
	if err != nil {
		return err
	}
	if err := d.webhooks.Requeue(ctx, tickets...); err != nil {
		return err
	}
	for _, replica := range gone {
		if err := d.connection.resign(ctx, replica); err != nil {
			return err
		}
	}
	d.logger.Warn("other processes have stopped; their running deliveries are queued again", "processes", len(gone), "deliveries", len(tickets))
	return d.self.Remove(ctx, gone...)
}

// heldPageSize is how many running jobs are read at once.
const heldPageSize = 1000

// heldTickets lists the tickets of the jobs that replicas were running.
func (d *Deliverer) heldTickets(ctx context.Context, replicas []string) ([]platform.Ticket, error) {
	held := map[string]bool{}
	for _, id := range replicas {
		held[id] = true
	}
	var tickets []platform.Ticket
	running := river.NewJobListParams().Queues(queueName).States(rivertype.JobStateRunning).OrderBy(river.JobListOrderByID, river.SortOrderAsc).First(heldPageSize)
	for {
		page, err := d.queue.JobList(ctx, running)
		if err != nil {
			return nil, err
		}
		for _, job := range page.Jobs {
			if n := len(job.AttemptedBy); n == 0 || !held[job.AttemptedBy[n-1]] {
				continue
			}
			var args deliveryArgs
			if err := json.Unmarshal(job.EncodedArgs, &args); err != nil {
				return nil, err
			}
			tickets = append(tickets, args.ticket())
		}
		if len(page.Jobs) < heldPageSize {
			return tickets, nil
		}
		running = running.After(page.LastCursor)
	}
}
