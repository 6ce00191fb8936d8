package sqlstore

import (
	"context"
	"maps"
	"slices"

	"atrium/platform"
)

// Deliveries have no counters, because millions of them are inserted and deleted.
var deliveries = newTable(&table[*platform.Delivery, *platform.DeliveryFilter]{
	name: "delivery", uncounted: true,
	uid:      func(d *platform.Delivery) platform.UID { return d.UID },
	enclosed: parentUID,
	columns: []column[*platform.Delivery]{
		{"t.uid", "", func(d *platform.Delivery) any { return keyOf(&d.UID) }},
		{"t.event_id", "", func(d *platform.Delivery) any { return &d.EventID }},
		{"t.event_type", "", func(d *platform.Delivery) any { return &d.EventType }},
		{"t.state", "state", func(d *platform.Delivery) any { return (*string)(&d.State) }},
		{"t.stage", "stage", func(d *platform.Delivery) any { return (*int32)(&d.Stage) }},
		{"t.ticket", "ticket", func(d *platform.Delivery) any { return &d.Ticket }},
		{"t.attempts", "attempts", func(d *platform.Delivery) any { return &d.Attempts }},
		{"t.last_status", "lastStatus", func(d *platform.Delivery) any { return &d.LastStatus }},
		{"t.last_error", "lastError", func(d *platform.Delivery) any { return &d.LastError }},
		{"t.last_answer", "lastAnswer", func(d *platform.Delivery) any { return &d.LastAnswer }},
		{"t.last_attempt_time", "lastAttemptTime", func(d *platform.Delivery) any { return timeColumn{&d.LastAttemptTime} }},
		{"t.next_attempt_time", "nextAttemptTime", func(d *platform.Delivery) any { return timeColumn{&d.NextAttemptTime} }},
		{"t.create_time", "", func(d *platform.Delivery) any { return timeColumn{&d.CreateTime} }},
		{"t.update_time", "", func(d *platform.Delivery) any { return timeColumn{&d.UpdateTime} }},
	},
	where: func(f *platform.DeliveryFilter, s *statement) {
		if f.State != "" {
			s.add(" AND t.state = ?", string(f.State))
		}
		if f.Event != "" {
			s.add(" AND t.event_id = ?", f.Event)
		}
	},
})

// Deliveries returns the table of deliveries.
func (s tables) Deliveries() platform.Table[*platform.Delivery, *platform.DeliveryFilter] {
	return newReader(deliveries, s)
}

// DeliveryWriter returns what changes the table.
func (tx *transaction) DeliveryWriter() platform.RowWriter[*platform.Delivery] {
	return newWriter(deliveries, tx)
}

// ReadyDeliveries lists the deliveries that can be queued. The SQL in this file
// contains stages as literal numbers, so that it matches partial indexes and partitions.
func (s *Store) ReadyDeliveries(ctx context.Context, limit int) ([]platform.Ticket, error) {
	q := s.dialect.statement()
	q.add("SELECT d.uid, d.ticket FROM delivery d WHERE d.stage = 1 ORDER BY d.next_attempt_time, d.uid LIMIT ?", int64(limit))
	var ready []platform.Ticket
	err := s.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var t platform.Ticket
		err := scan(keyOf(&t.Delivery), &t.Number)
		ready = append(ready, t)
		return err
	}))
	return ready, err
}

// OldestWaiting reads the oldest of what waits. Each statement is one look-up in an index. SQLite
// would compare (xact, seq) with a position only by xact, which is the same for all its events.
func (s *Store) OldestWaiting(ctx context.Context) (event, delivery platform.Time, err error) {
	const xact, seq = "(SELECT r.xact FROM relay r WHERE r.id = 1)", "(SELECT r.seq FROM relay r WHERE r.id = 1)"
	var run []*Statement
	for _, after := range []string{"e.xact = " + xact + " AND e.seq > " + seq, "e.xact > " + xact} {
		q := s.dialect.eventStatement().add("SELECT e.time FROM event e WHERE e.denied = '' AND " + after).notPassed(xact)
		run = append(run, q.add(" ORDER BY e.xact, e.seq LIMIT 1").build(func(scan func(...any) error) error {
			var recorded platform.Time
			err := scan(timeColumn{&recorded})
			if event.IsZero() {
				event = recorded
			}
			return err
		}))
	}
	for _, stages := range []string{"= 1", "IN (2, 3)"} {
		q := s.dialect.statement().add("SELECT d.next_attempt_time FROM delivery d WHERE d.stage " + stages + " ORDER BY d.next_attempt_time LIMIT 1")
		run = append(run, q.build(func(scan func(...any) error) error {
			var due platform.Time
			err := scan(timeColumn{&due})
			if delivery.IsZero() || due.Before(delivery.Time) {
				delivery = due
			}
			return err
		}))
	}
	err = s.conn.Run(ctx, run...)
	return event, delivery, err
}

// CountWaiting counts the deliveries that have not been attempted and are not held.
func (tx *transaction) CountWaiting(ctx context.Context, subscriptions []platform.UID) (map[platform.UID]int, error) {
	q := tx.dialect.statement()
	q.add("SELECT d.parent, count(*) FROM delivery d WHERE d.stage IN (1, 2) AND d.parent ? GROUP BY d.parent", uidValueList(subscriptions))
	waiting := map[platform.UID]int{}
	err := tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var uid platform.UID
		var n int64
		err := scan(keyOf(&uid), &n)
		waiting[uid] = int(n)
		return err
	}))
	return waiting, err
}

// MarkQueued moves ready deliveries to their queued stage.
func (tx *transaction) MarkQueued(ctx context.Context, tickets []platform.Ticket) error {
	return tx.updateByTicket(ctx, "UPDATE delivery SET stage = CASE WHEN attempts = 0 THEN 2 ELSE 3 END WHERE stage = 1", tickets)
}

// Requeue makes deliveries ready again, with the next ticket.
func (tx *transaction) Requeue(ctx context.Context, tickets []platform.Ticket) error {
	return tx.updateByTicket(ctx, "UPDATE delivery SET stage = 1, ticket = ticket + 1 WHERE stage IN (1, 2, 3)", tickets)
}

// updateByTicket updates the deliveries with valid tickets. It needs one statement for
// each ticket number, and there are few different numbers.
func (tx *transaction) updateByTicket(ctx context.Context, update string, tickets []platform.Ticket) error {
	uids := map[int64][]platform.UID{}
	for _, t := range tickets {
		uids[t.Number] = append(uids[t.Number], t.Delivery)
	}
	var run []*Statement
	for _, number := range slices.Sorted(maps.Keys(uids)) {
		run = append(run, tx.dialect.statement().add(update+" AND ticket = ? AND uid ?", number, uidKeyList(uids[number])).build(nil))
	}
	return tx.conn.Run(ctx, run...)
}

// ReleaseNextHeld makes the oldest held delivery of a subscription ready.
func (tx *transaction) ReleaseNextHeld(ctx context.Context, subscription platform.UID) error {
	q := tx.dialect.statement()
	q.add("UPDATE delivery SET stage = 1 WHERE stage = 0 AND uid = (SELECT d.uid FROM delivery d WHERE d.parent = ? AND d.stage = 0 ORDER BY d.event_id LIMIT 1)", subscription)
	return tx.conn.Run(ctx, q.build(nil))
}

// OverdueDeliveries returns the next queued deliveries that are overdue since a time.
func (tx *transaction) OverdueDeliveries(ctx context.Context, due platform.Time, after platform.OverdueDelivery, limit int) (overdue []platform.OverdueDelivery, err error) {
	q := tx.dialect.statement()
	q.add("SELECT d.uid, d.next_attempt_time FROM delivery d WHERE d.stage IN (2, 3) AND d.next_attempt_time < ?", due)
	q.add(" AND (d.next_attempt_time, d.uid) > (?, ?) ORDER BY d.next_attempt_time, d.uid LIMIT ?", after.At, after.UID, int64(limit))
	err = tx.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var d platform.OverdueDelivery
		err := scan(keyOf(&d.UID), timeColumn{&d.At})
		overdue = append(overdue, d)
		return err
	}))
	return overdue, err
}

// RequeueLost makes deliveries ready that are overdue.
func (tx *transaction) RequeueLost(ctx context.Context, due platform.Time, deliveries []platform.UID) error {
	q := tx.dialect.statement()
	q.add("UPDATE delivery SET stage = 1 WHERE stage IN (2, 3) AND next_attempt_time < ? AND uid ?", due, uidKeyList(deliveries))
	return tx.conn.Run(ctx, q.build(nil))
}

// ReleaseIdle makes the first held delivery ready of subscriptions that have no others. Scalar
// subqueries search an index for each subscription. Instead of NOT EXISTS, PostgreSQL would
// compare each subscription with all deliveries that have just become ready, which its
// statistics do not contain yet.
func (tx *transaction) ReleaseIdle(ctx context.Context, limit int) (int, error) {
	q := tx.dialect.statement()
	q.add("UPDATE delivery SET stage = 1 WHERE stage = 0 AND uid IN (SELECT (SELECT d.uid FROM delivery d WHERE d.parent = s.uid AND d.stage = 0 ORDER BY d.event_id LIMIT 1)"+
		" FROM subscription s WHERE (SELECT 1 FROM delivery d WHERE d.parent = s.uid AND d.stage = 0 LIMIT 1) = 1"+
		" AND (SELECT 1 FROM delivery d WHERE d.parent = s.uid AND d.stage IN (1, 2) LIMIT 1) IS NULL LIMIT ?)", int64(limit))
	run := q.build(nil)
	err := tx.conn.Run(ctx, run)
	return int(run.Affected), err
}

// isPending is the condition that a delivery has not ended. SQLite has an index of the states of
// a subscription, and PostgreSQL finds the partition by the stage.
const isPending = "d.state IN ('PENDING', 'RETRYING') AND d.stage < 4"

// FailDeliveries ends pending deliveries of a disabled subscription as failed. The statement
// itself checks whether the subscription is disabled, so that it cannot end a delivery that was
// made after somebody enabled the subscription.
func (tx *transaction) FailDeliveries(ctx context.Context, subscription platform.UID, reason string, at platform.Time, limit int) (int, error) {
	q := tx.dialect.statement()
	q.add("UPDATE delivery SET state = ?, stage = 4, last_error = ?, next_attempt_time = ?, update_time = ? WHERE stage < 4",
		string(platform.DeliveryFailed), reason, platform.Time{}, at)
	q.add(" AND uid IN (SELECT d.uid FROM delivery d WHERE d.parent = ? AND "+isPending, subscription)
	q.add(" AND EXISTS (SELECT 1 FROM subscription s WHERE s.uid = ? AND s.disable_reason <> '') LIMIT ?)", subscription, int64(limit))
	run := q.build(nil)
	err := tx.conn.Run(ctx, run)
	return int(run.Affected), err
}

// DisabledWithPending returns the disabled subscriptions that have pending deliveries.
func (tx *transaction) DisabledWithPending(ctx context.Context) (found []platform.UID, err error) {
	q := tx.dialect.statement().add("SELECT s.uid FROM subscription s WHERE s.disable_reason <> '' AND EXISTS (SELECT 1 FROM delivery d WHERE d.parent = s.uid AND " + isPending + ")")
	err = tx.conn.Run(ctx, q.build(collectUIDs(&found)))
	return found, err
}

// collectUIDs returns a function that appends the UIDs that it scans.
func collectUIDs(into *[]platform.UID) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var uid platform.UID
		err := scan(keyOf(&uid))
		*into = append(*into, uid)
		return err
	}
}

// PurgeDeliveries removes deliveries that ended before a time. It repeats the time, so that
// no partitions of later deliveries are searched for the uids.
func (s *Store) PurgeDeliveries(ctx context.Context, before platform.Time, limit int) (int64, error) {
	if s.dialect.Partitions {
		var err error
		if before, err = s.dropDeliveryPartitions(ctx, before); err != nil {
			return 0, err
		}
	}
	return s.purge(ctx, s.dialect.statement().add("DELETE FROM delivery WHERE stage = 4 AND update_time < ? AND uid IN (SELECT d.uid FROM delivery d WHERE d.stage = 4 AND d.update_time < ? ORDER BY d.update_time LIMIT ?)", before, before, int64(limit)))
}

// purge runs a delete with a limit, and returns the number of removed rows.
func (s *Store) purge(ctx context.Context, q *statement) (removed int64, err error) {
	err = s.engine.Write(ctx, func(conn TxConn) error {
		run := q.build(nil)
		err := conn.Run(ctx, run)
		removed = run.Affected
		return err
	})
	return removed, err
}

// RelayPosition returns the position of the last relayed event.
func (tx *transaction) RelayPosition(ctx context.Context) (platform.EventPosition, error) {
	return readRelayPosition(ctx, tx.conn, tx.dialect)
}

func readRelayPosition(ctx context.Context, conn Conn, dialect *Dialect) (at platform.EventPosition, err error) {
	q := dialect.statement().add("SELECT r.xact, r.seq FROM relay r WHERE r.id = 1")
	err = conn.Run(ctx, q.build(func(scan func(...any) error) error { return scan(&at.Transaction, &at.Number) }))
	return at, err
}

// SetRelayPosition stores the position of the last relayed event.
func (tx *transaction) SetRelayPosition(ctx context.Context, at platform.EventPosition) error {
	q := tx.dialect.statement().add("UPDATE relay SET xact = ?, seq = ? WHERE id = 1", at.Transaction, at.Number)
	return tx.conn.Run(ctx, q.build(nil))
}
