package platform

import (
	"context"
)

// Webhooks are the operations that deliver recorded events to the sinks of
// subscriptions. They run in the background and check no capabilities.
//
// Relay makes a delivery of each recorded event for each matching subscription. The rows
// of the deliveries are the queue: workers find what is due, claim it and renew their
// leases with the methods of DeliveryQueue. BeginAttempt and EndAttempt enclose each
// attempt, and EndAttempt decides when the next one is due. An attempt whose result is
// not recorded is made again when its lease has ended.
type Webhooks struct{ p *Platform }

// Keys returns the keys that sign deliveries, in PKCS #8. The last is the newest.
func (w Webhooks) Keys(ctx context.Context) ([]Key, error) {
	return w.p.ensureKeys(ctx, webhookKeys, newSigningKey)
}
