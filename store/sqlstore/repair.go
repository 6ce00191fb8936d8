package sqlstore

import (
	"context"
	"math"

	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/eventlog"
	"atrium/store/sqlstore/table"
)

// MoveEvents repairs the order of events in a database that was restored into
// another server. Events are ordered by transaction ids, and a new server starts
// counting them again. The ids of restored events would be in the future, and new
// events would come before them and would never be read. MoveEvents moves all
// events and the relay position before the present, in their order. It reports
// whether that was necessary.
func (s *Store) MoveEvents(ctx context.Context) (moved bool, err error) {
	newest, next, err := s.newestTransaction(ctx, s.Conn)
	if err != nil || newest < next {
		return false, err
	}
	err = s.engine.Write(ctx, func(tx *dbconn.Tx) error {
		if err := tx.LockCounters(ctx); err != nil { // this also removes the time limit of statements
			return err
		}
		// Another process may have moved them while this one waited for the lock.
		newest, next, err := s.newestTransaction(ctx, tx)
		if moved = err == nil && newest >= next; !moved {
			return err
		}
		q := func() *table.Statement { return table.NewStatement(s.Dialect) }
		if err := s.partitions.OpenEvents(ctx, tx); err != nil {
			return err
		}
		return tx.Run(ctx,
			// Events recorded since the restore have higher numbers and stay.
			q().Add("UPDATE event SET xact = xact - ? WHERE seq <= (SELECT max(f.seq) FROM event f WHERE f.xact >= ?)", newest, next).Build(nil),
			q().Add("UPDATE relay SET xact = xact - ? WHERE id = 1", newest).Build(nil),
		)
	})
	return moved && err == nil, err
}

// newestTransaction returns the highest transaction id of events and the relay
// position, and the lowest id that the next transaction can have.
func (s *Store) newestTransaction(ctx context.Context, conn dbconn.Conn) (newest, next int64, err error) {
	if s.Dialect.NextTransaction == "" {
		return 0, math.MaxInt64, nil // transactions have no ids
	}
	q := eventlog.NewStatement(s.Dialect)
	q.Add("SELECT GREATEST(r.xact, (SELECT max(e.xact) FROM event e WHERE e.denied = '')), " + s.Dialect.NextTransaction + " FROM relay r WHERE r.id = 1")
	err = conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(&newest, &next) }))
	return newest, next, err
}
