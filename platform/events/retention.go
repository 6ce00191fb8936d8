package events

import (
	"context"
	"errors"
	"time"

	"atrium/platform/core"
)

// RetentionStore prepares and drops the partitions of events and deliveries, and deletes old rows.
type RetentionStore interface {
	// PartitionEvents prepares the store for the events that follow now. Each partition
	// has the events of a time of this width. If now is much later than the clock of the
	// database, PartitionEvents uses an earlier time. It returns the time that it used, or
	// zero if it has not found out. A store without partitions does nothing.
	PartitionEvents(ctx context.Context, now core.Time, width time.Duration) (used core.Time, err error)

	// PartitionDeliveries does so for the deliveries that end after now, which must be a
	// time that PartitionEvents has used.
	PartitionDeliveries(ctx context.Context, now core.Time, width time.Duration) error

	// PurgeEvents deletes at most limit relayed events with smaller ids, and before that
	// drops whole partitions of such events. It may keep events of the partition to
	// which before belongs.
	// PurgeDeliveries deletes at most limit deliveries that ended before a time, and also
	// drops whole partitions. It may keep those of the partition to which before belongs.
	// Both return how many they deleted.
	PurgeEvents(ctx context.Context, before string, limit int) (int64, error)
	PurgeDeliveries(ctx context.Context, before core.Time, limit int) (int64, error)

	// PurgeEventMentions deletes at most limit entries of the index of the resources that
	// events mention. Their events were deleted before.
	PurgeEventMentions(ctx context.Context, limit int) (int64, error)

	// PurgeDigests deletes at most limit entries about events with smaller ids from the digests that have them.
	PurgeDigests(ctx context.Context, before string, limit int) (int64, error)
}

// RetentionInterval is the time between two runs of Maintain.
const RetentionInterval, retentionBatch = 10 * time.Minute, 1000

// Maintain makes the partitions of the coming events and deliveries, where the store has
// partitions, and deletes recorded events and ended deliveries whose retention time is over.
// Run calls it when it starts and at intervals.
func (area *Area) Maintain(ctx context.Context) error {
	now, err := area.makePartitions(ctx)
	if now.IsZero() {
		return err
	}
	return errors.Join(err, area.deleteExpired(ctx, now))
}

// makePartitions makes the partitions of the coming events and deliveries. It returns the time
// that decides which rows have expired, or zero if it is unknown. A process whose clock is wrong
// must not delete everything, so a database that has a clock of its own limits this time.
func (area *Area) makePartitions(ctx context.Context) (now core.Time, err error) {
	now, err = area.Store.PartitionEvents(ctx, area.Now(), partitionWidth(area.options.AuditRetention, eventPartitions))
	if now.IsZero() {
		return now, err
	}
	return now, errors.Join(err, area.Store.PartitionDeliveries(ctx, now, partitionWidth(area.options.DeliveryRetention, deliveryPartitions)))
}

// deleteExpired deletes recorded events and ended deliveries whose retention time is over.
// Events that have not been relayed to subscriptions yet are kept.
func (area *Area) deleteExpired(ctx context.Context, now core.Time) error {
	oldest, ended := core.FirstEventID(core.At(now.Add(-area.options.AuditRetention))), core.At(now.Add(-area.options.DeliveryRetention))
	return errors.Join(
		deleteInBatches(func() (int64, error) { return area.Store.PurgeEvents(ctx, oldest, retentionBatch) }),
		deleteInBatches(func() (int64, error) { return area.Store.PurgeEventMentions(ctx, retentionBatch) }),
		deleteInBatches(func() (int64, error) { return area.Store.PurgeDigests(ctx, oldest, retentionBatch) }),
		deleteInBatches(func() (int64, error) { return area.Store.PurgeDeliveries(ctx, ended, retentionBatch) }),
	)
}

// The time for which events and ended deliveries are kept is divided by these numbers to get
// the time that a partition covers. They are kept longer by at most this time, because
// only whole partitions are dropped. Narrower partitions would keep them for a shorter
// time, but every look-up that cannot exclude partitions visits all of them. No look-up
// of ended deliveries can.
const eventPartitions, deliveryPartitions = 12, 4

// partitionWidth returns the time that each of n partitions covers: whole days if it is more
// than a day, and otherwise whole hours.
func partitionWidth(retention time.Duration, n int) time.Duration {
	width := retention / time.Duration(n)
	if width > core.Day {
		return width.Truncate(core.Day)
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
