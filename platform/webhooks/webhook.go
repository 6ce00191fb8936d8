package webhooks

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/secrets"
)

// WebhookStore finds the work of those who deliver events.
type WebhookStore interface {
	// OldestWaiting returns the time of the first event that has not been relayed, and
	// the time at which the first delivery is due that has not ended. They are zero if
	// there is none.
	OldestWaiting(ctx context.Context) (event, delivery core.Time, err error)
	// DueDeliveries lists up to limit deliveries that are due now and have no lease that
	// lasts longer, the oldest first. next is the time at which the first of the others is
	// due, or zero.
	DueDeliveries(ctx context.Context, now core.Time, limit int) (due []core.UID, next core.Time, err error)
	// DueDeliveriesInTurn lists up to share such deliveries of each of the next
	// subscriptions after one that have any queued. It returns the last one of these, or
	// "" if no other follows.
	DueDeliveriesInTurn(ctx context.Context, now core.Time, after core.UID, subscriptions, share int) (due []core.UID, last core.UID, err error)
	// DigestEvents reads the next events of a digest, in the order of their ids, after an id. Those that have been deleted are
	// left out.
	DigestEvents(ctx context.Context, digest core.UID, after string, limit int) ([]*core.Event, error)
}

// WebhookQueries move events and deliveries on their way to sinks.
type WebhookQueries interface {
	// EventsToRelay reads the events of all organizations after a position, as EventsAfter does, and
	// denied changes with them.
	EventsToRelay(ctx context.Context, tx core.Tx, after core.EventPosition, limit int) ([]*core.Event, error)

	// RelayPosition returns the position of the last event that was relayed to
	// subscriptions.
	RelayPosition(ctx context.Context, tx core.Tx) (core.EventPosition, error)

	SetRelayPosition(ctx context.Context, tx core.Tx, at core.EventPosition) error

	// ClaimDeliveries gives leases, and the next tickets, to those of the deliveries that are
	// due now and have no lease that lasts longer. It waits for no other transaction: it
	// skips the deliveries that another one changes, as SetLeases does.
	ClaimDeliveries(ctx context.Context, tx core.Tx, deliveries []core.UID, now, until core.Time) ([]Ticket, error)

	// SetLeases changes the end of leases. It skips tickets that are no longer valid.
	SetLeases(ctx context.Context, tx core.Tx, tickets []Ticket, until core.Time) error

	// ExtendDigest adds to the number of events of the digest of a subscription that still collects events: it is due later,
	// and has never been claimed. It returns "" if there is none.
	ExtendDigest(ctx context.Context, tx core.Tx, subscription core.UID, events int, now core.Time) (digest core.UID, err error)

	// AddToDigest notes which events a digest has.
	AddToDigest(ctx context.Context, tx core.Tx, digest core.UID, events []string) error

	// FailDeliveries ends up to limit pending deliveries of a disabled subscription as
	// failed, and returns their number. It does nothing for other subscriptions.
	FailDeliveries(ctx context.Context, tx core.Tx, subscription core.UID, reason string, at core.Time, limit int) (int, error)
}

// Webhooks are the operations that deliver recorded events to the sinks of
// subscriptions. They run in the background and check no capabilities.
//
// Relay makes a delivery of each recorded event for each matching subscription. The rows
// of the deliveries are the queue: workers find what is due, claim it and renew their
// leases with the methods of DeliveryQueue. BeginAttempt and EndAttempt enclose each
// attempt, and EndAttempt decides when the next one is due. An attempt whose result is
// not recorded is made again when its lease has ended.
type Webhooks struct{ area *Area }

// Keys returns the keys that sign deliveries, in PKCS #8. The last is the newest.
func (w Webhooks) Keys(ctx context.Context) ([]core.Key, error) {
	return w.area.secrets.EnsureKeys(ctx, secrets.WebhookKeys, secrets.NewSigningKey)
}
