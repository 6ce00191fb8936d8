package platform

import (
	"context"
	"time"
)

const retentionInterval, retentionBatch = 10 * time.Minute, 1000

// Purge removes what has been kept long enough, as Run does from time to time:
// recorded events, and deliveries that have ended. An event that has not become
// deliveries yet stays.
func (p *Platform) Purge(ctx context.Context) error {
	now := p.now()
	oldest := FirstEventID(At(now.Add(-p.options.AuditRetention)))
	err := inBatches(func() (int64, error) { return p.store.PurgeEvents(ctx, oldest, retentionBatch) })
	if err != nil {
		return err
	}
	ended := At(now.Add(-p.options.DeliveryRetention))
	return inBatches(func() (int64, error) { return p.store.PurgeDeliveries(ctx, ended, retentionBatch) })
}

// inBatches removes until a batch is not full.
func inBatches(remove func() (int64, error)) error {
	for {
		if removed, err := remove(); err != nil || removed < retentionBatch {
			return err
		}
	}
}
