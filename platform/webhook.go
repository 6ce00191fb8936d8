package platform

import (
	"context"
)

// Webhooks are the operations that deliver recorded events to the sinks of
// subscriptions. They run in the background and check no capabilities.
//
// Relay makes a delivery of each recorded event for each matching subscription.
// The deliveries are added to a queue (ListReady, MarkQueued). The queue calls
// BeginAttempt and EndAttempt around each attempt, and tries again after the delay
// that EndAttempt returns. Requeue makes the deliveries ready again that a stopped
// process held (Replica). The database is the source of truth: the queue may lose
// everything and be refilled (RequeueLost), and may run an attempt twice.
type Webhooks struct{ p *Platform }

// Keys returns the keys that sign deliveries, in PKCS #8. The last is the newest.
func (w Webhooks) Keys(ctx context.Context) ([]Key, error) {
	return w.p.ensureKeys(ctx, webhookKeys, newSigningKey)
}
