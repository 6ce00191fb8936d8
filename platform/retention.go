package platform

import (
	"context"
	"time"
)

const retentionInterval, retentionBatch = 10 * time.Minute, 1000

// Purge deletes recorded events and ended deliveries whose retention time is over.
// Run calls it at intervals. Events that have not been relayed to subscriptions
// yet are kept.
func (p *Platform) Purge(ctx context.Context) error {
	now := p.now()
	oldest := FirstEventID(At(now.Add(-p.options.AuditRetention)))
	err := deleteInBatches(func() (int64, error) { return p.store.PurgeEvents(ctx, oldest, retentionBatch) })
	if err != nil {
		return err
	}
	ended := At(now.Add(-p.options.DeliveryRetention))
	return deleteInBatches(func() (int64, error) { return p.store.PurgeDeliveries(ctx, ended, retentionBatch) })
}

// deleteInBatches calls remove until a batch is not full.
func deleteInBatches(remove func() (int64, error)) error {
	for {
		if removed, err := remove(); err != nil || removed < retentionBatch {
			return err
		}
	}
}
