package partition

import (
	"context"
	"errors"
	"fmt"
	"math"
	"time"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// On PostgreSQL, the table of events consists of partitions by the id of the event, which
// begins with its time. The key is the id, because
//   - a look-up by id visits one partition,
//   - the audit log is in the order of ids, so a page visits the partitions one after the
//     other and stops when it is full,
//   - ids are unique over all partitions only if they are the key.
//
// The feed is in the order of transactions (xact, seq), which is about the same order, but
// clocks differ. Therefore a feed must not guess from its position which partitions
// can follow. The table event_partition says it. An hour after the end of a partition,
// PartitionEvents seals it: from then on, last_xact is the highest transaction of its
// events. A feed excludes sealed partitions whose last_xact it has passed (ExcludePassed).
// An event with an id that lies in a sealed partition, because a clock is wrong, opens
// the partition again by a trigger, in its own transaction. So it is never excluded. The
// partition is sealed anew later. Sealing takes a lock on the partition that excludes
// writers, so no transaction that began to write before it remains unnoticed.
//
// The partitions have no gaps. event_past has all ids before those of the oldest other
// partition, and event_future all ids after those of the newest one. Thus no clock makes
// a write fail. A default partition could do this too, but PostgreSQL cannot read a table
// with a default partition in the order of its key, partition after partition.
// Normally both are empty. In a new database, event_future begins in 2020: the server makes the
// first partitions of it.
//
// Denials have an index of their own in each partition, because a unique index of the
// whole table would have to contain the id. Equal denials are of the same minute, and
// partitions begin with whole minutes, so equal denials lie in the same partition.
const (
	pastEvents   = "event_past"
	futureEvents = "event_future"

	// sealAfter is the time from the end of a partition until it is sealed. Clocks rarely
	// differ by more.
	sealAfter = time.Hour

	// clockTolerance is how much later than the clock of the database a clock may be.
	// Otherwise, a process with a wrong clock could make partitions for years ahead.
	clockTolerance = 24 * time.Hour

	// openPartition and emptyPartition are values of last_xact.
	openPartition  = math.MaxInt64
	emptyPartition = -math.MaxInt64
)

// An eventPartition is a row of event_partition. It has the ids from first to end.
type eventPartition struct {
	name       string
	first, end string // end is "" for the last partition
	lastXact   int64
}

// ExcludePassed adds the condition that the partition of an event e can have events after a
// transaction. xact is an argument or an SQL expression.
func ExcludePassed(s *table.Statement, xact any) *table.Statement {
	if !s.Dialect.Partitions {
		return s
	}
	s.Add(" AND e.id >= (SELECT COALESCE(min(p.first_id), '') FROM event_partition p WHERE p.last_xact >= ")
	if sql, ok := xact.(string); ok {
		return s.Add(sql + ")")
	}
	return s.Add("?)", xact)
}

// NewestSealed is the transaction of the newest event of the sealed partitions.
var NewestSealed = fmt.Sprintf("(SELECT max(q.last_xact) FROM event_partition q WHERE q.last_xact < %d)", openPartition)

// listEventPartitions reads the partitions, in the order of their ids, and the clock of the
// database.
func (ps Partitions) listEventPartitions(ctx context.Context, conn dbconn.Conn) (all []eventPartition, now time.Time, err error) {
	list := table.NewStatement(ps.db.Dialect()).Add("SELECT p.name, p.first_id, p.last_xact FROM event_partition p ORDER BY p.first_id").Build(func(scan func(...any) error) error {
		var p eventPartition
		err := scan(&p.name, &p.first, &p.lastXact)
		if n := len(all); n > 0 {
			all[n-1].end = p.first
		}
		all = append(all, p)
		return err
	})
	clock := table.NewStatement(ps.db.Dialect()).Add("SELECT CAST(EXTRACT(EPOCH FROM now()) AS bigint)").Build(func(scan func(...any) error) error {
		var seconds int64
		err := scan(&seconds)
		now = time.Unix(seconds, 0)
		return err
	})
	err = conn.Run(ctx, list, clock)
	return all, now, err
}

// PartitionEvents makes the partitions of the coming events, and seals those that have
// ended. It returns now, or an earlier time that the clock of the database allows.
func (ps Partitions) PartitionEvents(ctx context.Context, now core.Time, width time.Duration) (used core.Time, err error) {
	if !ps.db.Dialect().Partitions {
		return now, nil
	}
	for {
		all, clock, err := ps.listEventPartitions(ctx, ps.db)
		if err != nil {
			return used, err
		}
		if latest := clock.Add(clockTolerance); now.After(latest) {
			now = core.At(latest)
		}
		used = now
		future := all[len(all)-1].first
		if len(nextEventEnds(future, now.Time, width)) == 0 {
			return used, ps.sealEventPartitions(ctx, all, core.FirstEventID(core.At(now.Add(-sealAfter))))
		}
		err = ps.changePartitions(ctx, "event", func(conn *dbconn.Tx) error {
			all, _, err := ps.listEventPartitions(ctx, conn) // another process may have made them
			if err != nil {
				return err
			}
			first := all[len(all)-1].first
			return ps.addEventPartitions(ctx, conn, first, nextEventEnds(first, now.Time, width))
		})
		if err != nil {
			return used, fmt.Errorf("make the partitions of the coming events: %w", err)
		}
	}
}

// nextEventEnds returns the ends of the partitions that are to be made of event_future,
// which begins at an id.
func nextEventEnds(first string, now time.Time, width time.Duration) []time.Time {
	return nextEnds(core.EventTime(first).Time, now, width)
}

// addEventPartitions makes partitions of the beginning of event_future, and moves their events
// into them.
func (ps Partitions) addEventPartitions(ctx context.Context, conn *dbconn.Tx, first string, ends []time.Time) error {
	ends, err := ps.limitEventEnds(ctx, conn, ends)
	if err != nil || len(ends) == 0 {
		return err
	}
	run := []string{"ALTER TABLE event DETACH PARTITION " + futureEvents}
	for _, end := range ends {
		name, next := "event_"+core.EventTime(first).UTC().Format("20060102_150405"), core.FirstEventID(core.At(end))
		run = append(run, makeEventPartition(name, "'"+first+"'", next)...)
		run = append(run, "INSERT INTO event_partition (name, first_id) VALUES ('"+name+"', '"+first+"')")
		first = next
	}
	return execEach(ctx, conn, append(run,
		"INSERT INTO event OVERRIDING SYSTEM VALUE SELECT * FROM "+futureEvents+" WHERE id < '"+first+"'",
		"DELETE FROM "+futureEvents+" WHERE id < '"+first+"'",
		"ALTER TABLE event ATTACH PARTITION "+futureEvents+" FOR VALUES FROM ('"+first+"') TO (MAXVALUE)",
		"UPDATE event_partition SET first_id = '"+first+"' WHERE name = '"+futureEvents+"'",
	)...)
}

// limitEventEnds returns the ends up to which about movedRows events must be moved.
func (ps Partitions) limitEventEnds(ctx context.Context, conn *dbconn.Tx, ends []time.Time) ([]time.Time, error) {
	q := table.NewStatement(ps.db.Dialect()).Add("SELECT e.id FROM "+futureEvents+" e ORDER BY e.id OFFSET ? LIMIT 1", int64(movedRows))
	var limit time.Time
	err := conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		if core.IsEventID(id) {
			limit = core.EventTime(id).Truncate(core.DenialInterval).Add(core.DenialInterval)
		}
		return err
	}))
	return limitEnds(ends, limit), err
}

// makeEventPartition returns the statements that make a partition. first is a literal or
// MINVALUE.
func makeEventPartition(name, first, end string) []string {
	return []string{
		"CREATE TABLE " + name + " PARTITION OF event FOR VALUES FROM (" + first + ") TO ('" + end + "')",
		"CREATE UNIQUE INDEX " + name + "_denial ON " + name + " (denial) WHERE denial IS NOT NULL",
	}
}

// sealEventPartitions seals the open partitions that end before an id. A partition that is
// vacuumed cannot be locked, and does not keep the others from being sealed.
func (ps Partitions) sealEventPartitions(ctx context.Context, all []eventPartition, before string) (failed error) {
	for _, p := range all {
		if p.end == "" || p.end > before || p.lastXact != openPartition {
			continue
		}
		err := ps.tryPartitions(ctx, func(conn *dbconn.Tx) error { return execEach(ctx, conn, sealEventPartition(p.name)...) })
		if err != nil {
			failed = errors.Join(failed, fmt.Errorf("seal the partition %s of events: %w", p.name, err))
		}
	}
	return failed
}

// sealEventPartition returns the statements that seal a partition. The first waits for
// transactions that write into it.
func sealEventPartition(name string) []string {
	return []string{
		"CREATE OR REPLACE TRIGGER event_late AFTER INSERT ON " + name + " FOR EACH ROW WHEN (NEW.denied = '') EXECUTE FUNCTION open_event_partition()",
		fmt.Sprintf("UPDATE event_partition SET last_xact = (SELECT COALESCE(max(e.xact), %d) FROM %s e WHERE e.denied = '') WHERE name = '%[2]s'", emptyPartition, name),
	}
}

// OpenEvents opens all partitions of events, because the transactions of their events change.
func (ps Partitions) OpenEvents(ctx context.Context, conn *dbconn.Tx) error {
	if !ps.db.Dialect().Partitions {
		return nil
	}
	return conn.Run(ctx, table.NewStatement(ps.db.Dialect()).Add("UPDATE event_partition SET last_xact = ?", int64(openPartition)).Build(nil))
}

// A RelayCheck reports whether all events before an id have been relayed.
type RelayCheck func(ctx context.Context, conn dbconn.Conn, before string) (bool, error)

// DropEvents drops the partitions whose ids are all before an id, the oldest first, if all events
// before their ends have been relayed. event_past then ends where the next partition begins. It
// returns the id before which events must be deleted one by one.
func (ps Partitions) DropEvents(ctx context.Context, before string, isRelayed RelayCheck) (deleteBefore string, err error) {
	if !ps.db.Dialect().Partitions {
		return before, nil
	}
	for {
		all, _, err := ps.listEventPartitions(ctx, ps.db)
		if err != nil {
			return "", err
		}
		oldest, future := all[1], all[len(all)-1]
		relayed := false
		if oldest.end != "" && oldest.end <= before {
			if relayed, err = isRelayed(ctx, ps.db, oldest.end); err != nil {
				return "", err
			}
		}
		switch {
		case relayed:
			err = ps.changePartitions(ctx, "event", func(conn *dbconn.Tx) error { return ps.dropOldestEvents(ctx, conn, oldest, isRelayed) })
		case before > future.first: // partitions could not be made in time
			return before, nil
		default:
			return min(before, oldest.first), nil
		}
		if err != nil {
			return "", fmt.Errorf("drop the partition %s of events: %w", oldest.name, err)
		}
	}
}

// dropOldestEvents drops a partition and event_past, and makes an empty event_past, unless
// another process has changed the partition or some of its events must be relayed.
func (ps Partitions) dropOldestEvents(ctx context.Context, conn *dbconn.Tx, oldest eventPartition, isRelayed RelayCheck) error {
	current, _, err := ps.listEventPartitions(ctx, conn)
	if err != nil || current[1] != oldest {
		return err
	}
	if relayed, err := isRelayed(ctx, conn, oldest.end); err != nil || !relayed {
		return err
	}
	run := append([]string{"DROP TABLE " + pastEvents + ", " + oldest.name, "DELETE FROM event_partition WHERE name = '" + oldest.name + "'"},
		makeEventPartition(pastEvents, "MINVALUE", oldest.end)...)
	return execEach(ctx, conn, append(run, sealEventPartition(pastEvents)...)...)
}
