package partition

import (
	"context"
	"errors"
	"time"

	"atrium/store/sqlstore/dbconn"
)

// Partitions makes and drops the partitions of a database. If the engine has none, it changes
// nothing.
type Partitions struct{ db *dbconn.Database }

// New returns the partitions of a database.
func New(db *dbconn.Database) Partitions { return Partitions{db} }

// A change of partitions locks the whole table, and those to which it refers, for some
// milliseconds. It waits for this lock only for lockWait, because readers and writers wait behind
// it, and is tried again later.
const (
	lockWait = "SET LOCAL lock_timeout = '50ms'"
	maxTries = 10

	// movedRows limits how many rows are moved at once from the partition of the future into
	// a new one. There are such rows if partitions could not be made ahead of time.
	movedRows = 20_000
)

// nextEnds returns the ends of the partitions that are to be made of the partition of the
// future, so that it begins at least a width after now. If it began long ago, one
// partition has all of that time.
func nextEnds(first, now time.Time, width time.Duration) (ends []time.Time) {
	end := first
	if current := now.Truncate(width); current.Sub(end) > width {
		end = current
		ends = append(ends, end)
	}
	for end.Before(now.Add(width)) {
		end = end.Truncate(width).Add(width)
		ends = append(ends, end)
	}
	return ends
}

// changePartitions changes the partitions of a table in a transaction that locks the table,
// but not its partitions, of which some may be being vacuumed. Statements reach
// partitions through the table. It tries again if the lock is not free.
func (ps Partitions) changePartitions(ctx context.Context, table string, change func(*dbconn.Tx) error) error {
	return ps.tryPartitions(ctx, func(conn *dbconn.Tx) error {
		if err := execEach(ctx, conn, "LOCK TABLE ONLY "+table+" IN ACCESS EXCLUSIVE MODE"); err != nil {
			return err
		}
		return change(conn)
	})
}

func (ps Partitions) tryPartitions(ctx context.Context, change func(*dbconn.Tx) error) error {
	for try := 1; ; try++ {
		err := ps.db.Write(ctx, func(conn *dbconn.Tx) error {
			if err := execEach(ctx, conn, lockWait); err != nil {
				return err
			}
			return change(conn)
		})
		if err == nil || ctx.Err() != nil || try == maxTries || !isLockTimeout(err) {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * 20 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// isLockTimeout reports whether PostgreSQL has ended a statement that waited for a lock.
// A statement that took too long would take too long again.
func isLockTimeout(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && state.SQLState() == "55P03"
}

// execEach runs statements, each in its own round trip, because an engine may prepare those
// of one round trip before it runs the first.
func execEach(ctx context.Context, conn dbconn.Conn, statements ...string) error {
	for _, sql := range statements {
		if err := conn.Run(ctx, &dbconn.Statement{SQL: sql}); err != nil {
			return err
		}
	}
	return nil
}

// limitEnds returns the ends up to a limit, which is zero if there is none.
func limitEnds(ends []time.Time, limit time.Time) []time.Time {
	for i, end := range ends {
		if !limit.IsZero() && !end.Before(limit) {
			return append(ends[:i:i], limit)
		}
	}
	return ends
}
