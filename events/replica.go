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

// attend shows the other replicas that this one is there, and takes over from
// those that are gone, until the function that it gives is called. That is to
// be done when nothing is attempted any more, so it goes on after ctx. In order
// says that the process holds nothing; the others find it gone otherwise.
func (d *Deliverer) attend(ctx context.Context) (leave func(inOrder bool)) {
	lasting, end := context.WithCancel(context.WithoutCancel(ctx))
	var attending sync.WaitGroup
	attending.Go(func() {
		tick := time.NewTicker(d.beat)
		defer tick.Stop()
		for failing := false; ; {
			select {
			case <-lasting.Done():
				return
			case <-tick.C:
			}
			err := d.within(lasting, d.takeOver)
			if err != nil && !failing && lasting.Err() == nil {
				d.logger.Warn("this process cannot show that it is there: others will make its deliveries too", "error", err)
			}
			failing = err != nil
		}
	})
	return func(inOrder bool) {
		end()
		attending.Wait()
		if !inOrder {
			return
		}
		if err := d.within(context.WithoutCancel(ctx), d.self.Leave); err != nil {
			d.logger.Warn("the other processes find out later that this one has ended", "error", err)
		}
	}
}

// takeOver makes ready what replicas held that are gone, and forgets them. Two
// may do so for the same one: the tickets are good for the first only.
func (d *Deliverer) takeOver(ctx context.Context) error {
	gone, err := d.self.Beat(ctx)
	if err != nil || len(gone) == 0 {
		return err
	}
	tickets, err := d.heldBy(ctx, gone)
	if err != nil {
		return err
	}
	if err := d.webhooks.GiveBack(ctx, tickets...); err != nil {
		return err
	}
	for _, replica := range gone {
		if err := d.connection.resign(ctx, replica); err != nil {
			return err
		}
	}
	d.logger.Warn("other processes are gone: what they were delivering is delivered anew", "processes", len(gone), "deliveries", len(tickets))
	return d.self.Remove(ctx, gone...)
}

// heldPage is how many jobs under way are read at once.
const heldPage = 1000

// heldBy lists the tickets by which replicas were making attempts.
func (d *Deliverer) heldBy(ctx context.Context, replicas []string) ([]platform.Ticket, error) {
	held := map[string]bool{}
	for _, id := range replicas {
		held[id] = true
	}
	var tickets []platform.Ticket
	under := river.NewJobListParams().Queues(queueName).States(rivertype.JobStateRunning).OrderBy(river.JobListOrderByID, river.SortOrderAsc).First(heldPage)
	for {
		page, err := d.queue.JobList(ctx, under)
		if err != nil {
			return nil, err
		}
		for _, job := range page.Jobs {
			if n := len(job.AttemptedBy); n == 0 || !held[job.AttemptedBy[n-1]] {
				continue
			}
			var args delivery
			if err := json.Unmarshal(job.EncodedArgs, &args); err != nil {
				return nil, err
			}
			tickets = append(tickets, args.ticket())
		}
		if len(page.Jobs) < heldPage {
			return tickets, nil
		}
		under = under.After(page.LastCursor)
	}
}
