package sqlstore

import (
	"context"
	"math"
)

// MoveEvents repairs the order of events in a database that was restored into
// another server. Events are in the order of their transactions' ids, and a new
// server begins to count these anew: what the restored events have would be in
// the future, and new events would come before them, where nobody looks any
// more. All events and the position of the relay are moved before the present,
// in their order. It tells whether that was needed.
func (s *Store) MoveEvents(ctx context.Context) (moved bool, err error) {
	newest, next, err := s.newestTransaction(ctx)
	if err != nil || newest < next {
		return false, err
	}
	err = s.engine.Write(ctx, func(tx TxConn) error {
		if err := tx.LockCounters(ctx); err != nil { // which also lets this take as long as it takes
			return err
		}
		q := s.dialect.statement
		return tx.Run(ctx,
			// What was recorded since the restore has higher numbers, and stays.
			q().add("UPDATE event SET xact = xact - ? WHERE seq <= (SELECT max(f.seq) FROM event f WHERE f.xact >= ?)", newest, next).done(nil),
			q().add("UPDATE relay SET xact = xact - ? WHERE id = 1", newest).done(nil),
		)
	})
	return err == nil, err
}

// newestTransaction gives the highest id of a transaction that events or the
// relay name, and the lowest that the next transaction can have.
func (s *Store) newestTransaction(ctx context.Context) (newest, next int64, err error) {
	if s.dialect.NextTransaction == "" {
		return 0, math.MaxInt64, nil // transactions have no ids
	}
	q := s.dialect.statement()
	q.add("SELECT GREATEST(r.xact, (SELECT max(e.xact) FROM event e WHERE e.denied = '')), " + s.dialect.NextTransaction + " FROM relay r WHERE r.id = 1")
	err = s.conn.Run(ctx, q.done(func(scan func(...any) error) error { return scan(&newest, &next) }))
	return newest, next, err
}
