package webhook

import (
	"context"
	"time"
)

// relayInterval is the longest time between two polls for new events. It applies when no
// signal arrives.
const relayInterval = time.Second

// relayEvents turns new events into deliveries, until ctx ends. It wakes the workers of
// this process for deliveries that it has made. Another process, which stored the event
// that was signalled, may have made them before, so each signal wakes them too.
func (d *Deliverer) relayEvents(ctx context.Context) {
	retries := backoff{outage: &d.outage}
	for signalled := false; ctx.Err() == nil; {
		changed := d.changed()
		retries.record(ctx, d.relayAll(ctx))
		if signalled {
			d.wake()
		}
		signalled = retries.wait(ctx, changed, relayInterval)
	}
}

// relayAll relays until no event is left.
func (d *Deliverer) relayAll(ctx context.Context) error {
	for relayed := 1; relayed > 0; {
		err := withTimeout(ctx, func(ctx context.Context) (err error) {
			relayed, err = d.webhooks.Relay(ctx)
			return err
		})
		if err != nil {
			return err
		}
		if relayed > 0 {
			d.wake()
		}
	}
	return nil
}
