package platform

import (
	"context"
	"errors"
	"time"
)

const retentionInterval, retentionBatch = 10 * time.Minute, 1000

// Purge deletes recorded events and ended deliveries whose retention time is over.
// Run calls it when it starts and at intervals. Events that have not been relayed to
// subscriptions yet are kept. Where the store has partitions, Purge also makes those of
// the coming events.
func (p *Platform) Purge(ctx context.Context) error {
	// A process whose clock is wrong must not delete everything.
	now, prepared := p.store.PartitionEvents(ctx, p.now(), partitionWidth(p.options.AuditRetention))
	if now.IsZero() {
		return prepared
	}
	oldest := FirstEventID(At(now.Add(-p.options.AuditRetention)))
	purged := deleteInBatches(func() (int64, error) { return p.store.PurgeEvents(ctx, oldest, retentionBatch) })
	ended := At(now.Add(-p.options.DeliveryRetention))
	return errors.Join(prepared, purged, deleteInBatches(func() (int64, error) { return p.store.PurgeDeliveries(ctx, ended, retentionBatch) }))
}

// purgeOrWarn calls Purge and logs its error.
func (p *Platform) purgeOrWarn(ctx context.Context) {
	if err := p.Purge(ctx); err != nil && ctx.Err() == nil {
		p.options.Logger.Warn("old events were not removed, or the next partitions not made; trying again in 10 minutes", "error", err)
	}
}

// partitionWidth returns the time that a partition of events covers: a twelfth of the time
// for which events are kept, in whole days if that is more than a day, and otherwise in
// whole hours. Events are kept longer by at most this time, because only whole partitions
// are dropped. Narrower partitions would keep them for a shorter time, but every look-up
// that cannot exclude partitions visits all of them.
func partitionWidth(retention time.Duration) time.Duration {
	width := retention / 12
	if width > day {
		return width.Truncate(day)
	}
	return max(width.Truncate(time.Hour), time.Hour)
}

// deleteInBatches calls remove until a batch is not full.
func deleteInBatches(remove func() (int64, error)) error {
	for {
		if removed, err := remove(); err != nil || removed < retentionBatch {
			return err
		}
	}
}
