package partition

import (
	"context"
	"fmt"
	"time"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// On PostgreSQL, the table of deliveries consists of partitions by (stage, update_time).
// delivery_active has the deliveries that have not ended. A delivery that ends moves to
// the partition of the time at which it ended, and returns if it is sent again. So the
// queue stays small, and its many dead rows need no vacuum of the ended deliveries. Retention
// drops partitions of ended deliveries. Moving a delivery costs PostgreSQL a third more than
// changing it in place.
//
// The statements of the queue contain literal stages, so PostgreSQL reads delivery_active
// only. Lists, and look-ups by uid, visit all partitions, so these are few.
//
// A statement that waits for a row which then moves fails, and its transaction is repeated.
// So that this is rare, whoever changes deliveries locks their subscriptions first.
//
// The partitions have no gaps, so that no clock makes a write fail. delivery_past
// follows delivery_active, and covers the time whose partitions were dropped.
// delivery_future covers the time after the newest partition. Normally both are empty.
const (
	pastDeliveries   = "delivery_past"
	futureDeliveries = "delivery_future"
)

// A deliveryPartition is a row of delivery_partition. The partition ends where the next one
// begins.
type deliveryPartition struct {
	name  string
	first core.Time
}

// listDeliveryPartitions reads the partitions of ended deliveries, in the order of their
// times. The last one is delivery_future.
func (ps Partitions) listDeliveryPartitions(ctx context.Context, conn dbconn.Conn) (all []deliveryPartition, err error) {
	list := table.NewStatement(ps.db.Dialect()).Add("SELECT p.name, p.first_time FROM delivery_partition p ORDER BY p.first_time")
	err = conn.Run(ctx, list.Build(func(scan func(...any) error) error {
		var p deliveryPartition
		err := scan(&p.name, table.TimeOf(&p.first))
		all = append(all, p)
		return err
	}))
	return all, err
}

// PartitionDeliveries makes the partitions of the deliveries that will end.
func (ps Partitions) PartitionDeliveries(ctx context.Context, now core.Time, width time.Duration) error {
	if !ps.db.Dialect().Partitions {
		return nil
	}
	for {
		all, err := ps.listDeliveryPartitions(ctx, ps.db)
		if err != nil {
			return err
		}
		future := all[len(all)-1].first
		if len(nextEnds(future.Time, now.Time, width)) == 0 {
			return nil
		}
		err = ps.changeDeliveryPartitions(ctx, func(conn *dbconn.Tx, all []deliveryPartition) error { // another process may have made them
			first := all[len(all)-1].first.Time
			return ps.addDeliveryPartitions(ctx, conn, first, nextEnds(first, now.Time, width))
		})
		if err != nil {
			return fmt.Errorf("make the partitions of ended deliveries: %w", err)
		}
	}
}

// changeDeliveryPartitions changes the partitions of deliveries in a transaction that
// locks the table.
func (ps Partitions) changeDeliveryPartitions(ctx context.Context, change func(*dbconn.Tx, []deliveryPartition) error) error {
	return ps.changePartitions(ctx, "delivery", func(conn *dbconn.Tx) error {
		all, err := ps.listDeliveryPartitions(ctx, conn)
		if err != nil {
			return err
		}
		return change(conn, all)
	})
}

// addDeliveryPartitions makes partitions of the beginning of delivery_future, and moves
// their deliveries into them.
func (ps Partitions) addDeliveryPartitions(ctx context.Context, conn *dbconn.Tx, first time.Time, ends []time.Time) error {
	ends, err := ps.limitDeliveryEnds(ctx, conn, ends)
	if err != nil || len(ends) == 0 {
		return err
	}
	run := []string{"ALTER TABLE delivery DETACH PARTITION " + futureDeliveries}
	for _, end := range ends {
		run = append(run, makeDeliveryPartition("delivery_"+first.UTC().Format("20060102_150405"), first, end)...)
		first = end
	}
	return execEach(ctx, conn, append(run,
		"INSERT INTO delivery SELECT * FROM "+futureDeliveries+" WHERE update_time < "+quoteTime(first),
		"DELETE FROM "+futureDeliveries+" WHERE update_time < "+quoteTime(first),
		"ALTER TABLE delivery ATTACH PARTITION "+futureDeliveries+" FOR VALUES FROM (4, "+quoteTime(first)+") TO (MAXVALUE, MAXVALUE)",
		"UPDATE delivery_partition SET first_time = "+quoteTime(first)+" WHERE name = '"+futureDeliveries+"'",
	)...)
}

// limitDeliveryEnds returns the ends up to which about movedRows deliveries must be moved.
func (ps Partitions) limitDeliveryEnds(ctx context.Context, conn *dbconn.Tx, ends []time.Time) ([]time.Time, error) {
	q := table.NewStatement(ps.db.Dialect()).Add("SELECT d.update_time FROM "+futureDeliveries+" d ORDER BY d.update_time OFFSET ? LIMIT 1", int64(movedRows))
	var limit time.Time
	err := conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var at core.Time
		err := scan(table.TimeOf(&at))
		limit = at.Truncate(time.Second).Add(time.Second)
		return err
	}))
	return limitEnds(ends, limit), err
}

// makeDeliveryPartition returns the statements that make a partition of ended deliveries.
// Its primary key and its unique index cannot be those of the whole table, which would have to
// contain the columns by which it is partitioned.
func makeDeliveryPartition(name string, first, end time.Time) []string {
	return []string{
		"CREATE TABLE " + name + " PARTITION OF delivery FOR VALUES FROM (4, " + quoteTime(first) + ") TO (4, " + quoteTime(end) + ")",
		"ALTER TABLE " + name + " ADD CONSTRAINT " + name + "_uid PRIMARY KEY (uid)",
		"CREATE UNIQUE INDEX " + name + "_parent_event ON " + name + " (parent, event_id)",
		"INSERT INTO delivery_partition (name, first_time) VALUES ('" + name + "', " + quoteTime(first) + ")",
	}
}

// quoteTime returns a time, in whole seconds, as a literal.
func quoteTime(at time.Time) string { return "'" + at.UTC().Format(time.RFC3339) + "'" }

// DropDeliveries drops the partitions of deliveries that ended before a time. It
// returns the time before which deliveries must be deleted one by one.
func (ps Partitions) DropDeliveries(ctx context.Context, before core.Time) (deleteBefore core.Time, err error) {
	if !ps.db.Dialect().Partitions {
		return before, nil
	}
	for {
		all, err := ps.listDeliveryPartitions(ctx, ps.db)
		if err != nil {
			return deleteBefore, err
		}
		if countOldPartitions(all, before) == 0 {
			return limitDeletion(all, before), nil
		}
		if err := ps.changeDeliveryPartitions(ctx, func(conn *dbconn.Tx, all []deliveryPartition) error {
			return dropOldDeliveries(ctx, conn, all, countOldPartitions(all, before))
		}); err != nil {
			return deleteBefore, fmt.Errorf("drop the partitions of old deliveries: %w", err)
		}
	}
}

// countOldPartitions counts the partitions of deliveries that all ended before a time. It
// returns 0 if delivery_past is the only one, which stays.
func countOldPartitions(all []deliveryPartition, before core.Time) (n int) {
	for n < len(all)-1 && !all[n+1].first.After(before.Time) {
		n++
	}
	if n == 1 && all[0].name == pastDeliveries {
		return 0
	}
	return n
}

// limitDeletion returns the time before which deliveries must be deleted one by one. It is
// the beginning of the first partition that will be dropped, unless partitions could not be
// made in time.
func limitDeletion(all []deliveryPartition, before core.Time) core.Time {
	first, future := all[0], all[len(all)-1]
	if first.name == pastDeliveries {
		first = all[1]
	}
	if before.After(future.first.Time) || before.Before(first.first.Time) {
		return before
	}
	return first.first
}

// dropOldDeliveries drops the first n partitions, and makes a delivery_past that covers
// them.
func dropOldDeliveries(ctx context.Context, conn *dbconn.Tx, all []deliveryPartition, n int) error {
	if n == 0 { // another process has dropped them
		return nil
	}
	var run []string
	for _, p := range all[:n] {
		run = append(run, "DROP TABLE "+p.name, "DELETE FROM delivery_partition WHERE name = '"+p.name+"'")
	}
	return execEach(ctx, conn, append(run, makeDeliveryPartition(pastDeliveries, all[0].first.Time, all[n].first.Time)...)...)
}
