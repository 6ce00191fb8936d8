package sqlstore

import (
	"context"
	"maps"
	"slices"

	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/eventlog"
	"atrium/store/sqlstore/partition"
	"atrium/store/sqlstore/table"
)

// Deliveries have no counters, because millions of them are inserted and deleted.
var deliveries = table.New(&table.Definition[*webhooks.Delivery, *webhooks.DeliveryFilter]{
	Name: "delivery", IsUncounted: true, SortedBy: "uid",
	UID:    func(d *webhooks.Delivery) core.UID { return d.UID },
	LiesIn: parentUID,
	Columns: []table.Column[*webhooks.Delivery]{
		{SQL: "t.uid", To: func(d *webhooks.Delivery) any { return table.UIDOf(&d.UID) }},
		{SQL: "t.event_id", To: func(d *webhooks.Delivery) any { return &d.EventID }},
		{SQL: "t.event_type", To: func(d *webhooks.Delivery) any { return &d.EventType }},
		{SQL: "t.events", To: func(d *webhooks.Delivery) any { return &d.Events }},
		{SQL: "t.state", Field: "state", To: func(d *webhooks.Delivery) any { return (*string)(&d.State) }},
		{SQL: "t.stage", Field: "stage", To: func(d *webhooks.Delivery) any { return (*int32)(&d.Stage) }},
		{SQL: "t.ticket", Field: "ticket", To: func(d *webhooks.Delivery) any { return &d.Ticket }},
		{SQL: "t.lease_time", Field: "lease", To: func(d *webhooks.Delivery) any { return table.TimeOf(&d.Lease) }},
		{SQL: "t.attempts", Field: "attempts", To: func(d *webhooks.Delivery) any { return &d.Attempts }},
		{SQL: "t.last_status", Field: "lastStatus", To: func(d *webhooks.Delivery) any { return &d.LastStatus }},
		{SQL: "t.last_error", Field: "lastError", To: func(d *webhooks.Delivery) any { return &d.LastError }},
		{SQL: "t.last_answer", Field: "lastAnswer", To: func(d *webhooks.Delivery) any { return &d.LastAnswer }},
		{SQL: "t.last_attempt_time", Field: "lastAttemptTime", To: func(d *webhooks.Delivery) any { return table.TimeOf(&d.LastAttemptTime) }},
		{SQL: "t.next_attempt_time", Field: "nextAttemptTime", To: func(d *webhooks.Delivery) any { return table.TimeOf(&d.NextAttemptTime) }},
		{SQL: "t.create_time", To: func(d *webhooks.Delivery) any { return table.TimeOf(&d.CreateTime) }},
		{SQL: "t.update_time", To: func(d *webhooks.Delivery) any { return table.TimeOf(&d.UpdateTime) }},
	},
	Where: func(f *webhooks.DeliveryFilter, s *table.Statement) {
		if f.State != "" {
			s.Add(" AND t.state = ?", string(f.State))
		}
		if f.Event != "" {
			s.Add(" AND t.event_id = ?", f.Event)
		}
		s.AddChanged(&f.ChangeFilter)
	},
})

// The SQL in this file contains stages as literal numbers, so that it matches partial indexes
// and partitions.

// isDue is the condition that a delivery is due and has no lease that lasts longer than now.
// There are few leases, so it is no condition of an index.
const isDue = "d.stage = 1 AND d.next_attempt_time <= ? AND d.lease_time <= ?"

// DueDeliveries lists the oldest deliveries that are due.
func (s *Store) DueDeliveries(ctx context.Context, now core.Time, limit int) (due []core.UID, next core.Time, err error) {
	oldest := table.NewStatement(s.Dialect).Add("SELECT d.uid FROM delivery d WHERE "+isDue+" ORDER BY d.next_attempt_time, d.event_id LIMIT ?", now, now, int64(limit))
	following := table.NewStatement(s.Dialect).Add("SELECT d.next_attempt_time FROM delivery d WHERE d.stage = 1 AND d.next_attempt_time > ? ORDER BY d.next_attempt_time LIMIT 1", now)
	err = s.Conn.Run(ctx, oldest.Build(collectUIDs(&due)), following.Build(func(scan func(...any) error) error { return scan(table.TimeOf(&next)) }))
	return due, next, err
}

// DueDeliveriesInTurn lists deliveries of the next subscriptions. The recursion looks up each
// subscription in an index, and so steps over its deliveries, however many they are. The
// condition stage < 4 prevents PostgreSQL from using the index of the oldest deliveries of
// all subscriptions, which has another condition.
func (s *Store) DueDeliveriesInTurn(ctx context.Context, now core.Time, after core.UID, subscriptions, share int) (due []core.UID, last core.UID, err error) {
	const next = "SELECT d.parent FROM delivery d WHERE d.stage < 4 AND d.parent > "
	q := table.NewStatement(s.Dialect).Add("WITH RECURSIVE line(parent, n) AS (SELECT ("+next+"? ORDER BY d.parent LIMIT 1), 1", after)
	q.Add(" UNION ALL SELECT ("+next+"l.parent ORDER BY d.parent LIMIT 1), l.n + 1 FROM line l WHERE l.parent IS NOT NULL AND l.n < ?)", int64(subscriptions))
	q.Add(" SELECT l.n, l.parent FROM line l UNION ALL SELECT 0, t.uid FROM ")
	page := q.Follow()
	page.Add("t.stage < 4 AND t.parent = l.parent AND t.next_attempt_time <= ? AND t.lease_time <= ? ORDER BY t.next_attempt_time, t.event_id LIMIT ?", now, now, int64(share))
	q.AddPerParent("line l", "delivery", "t.uid", page)
	visited := 0
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var n int64
		var uid core.UID
		switch err := scan(&n, table.UIDOf(&uid)); {
		case err != nil:
			return err
		case n == 0:
			due = append(due, uid)
		case uid != "":
			visited, last = visited+1, max(last, uid)
		}
		return nil
	}))
	if visited < subscriptions {
		last = ""
	}
	return due, last, err
}

// OldestWaiting reads the oldest of what waits. Each statement is one look-up in an index. SQLite
// would compare (xact, seq) with a position only by xact, which is the same for all its events.
func (s *Store) OldestWaiting(ctx context.Context) (event, delivery core.Time, err error) {
	const xact, seq = "(SELECT r.xact FROM relay r WHERE r.id = 1)", "(SELECT r.seq FROM relay r WHERE r.id = 1)"
	var run []*dbconn.Statement
	for _, after := range []string{"e.xact = " + xact + " AND e.seq > " + seq, "e.xact > " + xact} {
		q := partition.ExcludePassed(eventlog.NewStatement(s.Dialect).Add("SELECT e.time FROM event e WHERE e.denied = '' AND "+after), xact)
		run = append(run, q.Add(" ORDER BY e.xact, e.seq LIMIT 1").Build(func(scan func(...any) error) error {
			var recorded core.Time
			err := scan(table.TimeOf(&recorded))
			if event.IsZero() {
				event = recorded
			}
			return err
		}))
	}
	q := table.NewStatement(s.Dialect).Add("SELECT d.next_attempt_time FROM delivery d WHERE d.stage = 1 ORDER BY d.next_attempt_time LIMIT 1")
	run = append(run, q.Build(func(scan func(...any) error) error { return scan(table.TimeOf(&delivery)) }))
	err = s.Conn.Run(ctx, run...)
	return event, delivery, err
}

// ClaimDeliveries claims deliveries. The inner condition is checked again after a row is locked.
func (queries) ClaimDeliveries(ctx context.Context, in core.Tx, deliveries []core.UID, now, until core.Time) (claimed []webhooks.Ticket, err error) {
	tx := transactionOf(in)
	keys := table.UIDKeys(deliveries)
	q := table.NewStatement(tx.Dialect).Add("UPDATE delivery SET ticket = ticket + 1, lease_time = ? WHERE stage = 1 AND uid ?", until, keys)
	q.Add(" AND uid IN (SELECT d.uid FROM delivery d WHERE "+isDue+" AND d.uid ?"+tx.Dialect.SkipLocked+") RETURNING uid, ticket", now, now, keys)
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var t webhooks.Ticket
		err := scan(table.UIDOf(&t.Delivery), &t.Number)
		claimed = append(claimed, t)
		return err
	}))
	return claimed, err
}

// SetLeases changes the leases of valid tickets. It needs one statement for each ticket number,
// and there are few different numbers. A recorded attempt has removed its lease, which
// is not renewed.
func (queries) SetLeases(ctx context.Context, in core.Tx, tickets []webhooks.Ticket, until core.Time) error {
	tx := transactionOf(in)
	keys := map[int64]table.UIDKeys{}
	for _, t := range tickets {
		keys[t.Number] = append(keys[t.Number], t.Delivery)
	}
	var run []*dbconn.Statement
	for _, number := range slices.Sorted(maps.Keys(keys)) {
		q := table.NewStatement(tx.Dialect).Add("UPDATE delivery SET lease_time = ? WHERE stage = 1 AND uid ?", until, keys[number])
		q.Add(" AND uid IN (SELECT d.uid FROM delivery d WHERE d.stage = 1 AND d.lease_time > ? AND d.ticket = ? AND d.uid ?"+tx.Dialect.SkipLocked+")", core.Time{}, number, keys[number])
		run = append(run, q.Build(nil))
	}
	return tx.Conn.Run(ctx, run...)
}

// ExtendDigest adds events to the digest that collects them. The outer condition is checked again after the row is locked.
func (queries) ExtendDigest(ctx context.Context, in core.Tx, subscription core.UID, events int, now core.Time) (extended core.UID, err error) {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("UPDATE delivery SET events = events + ? WHERE stage = 1 AND ticket = 0 AND events > 0 AND next_attempt_time > ?", int64(events), now)
	q.Add(" AND uid IN (SELECT c.uid FROM delivery c WHERE c.stage < 4 AND c.parent = ? AND c.next_attempt_time > ? AND c.ticket = 0 AND c.events > 0", subscription, now)
	q.Add(" ORDER BY c.next_attempt_time, c.event_id LIMIT 1) RETURNING uid")
	err = tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(table.UIDOf(&extended)) }))
	return extended, err
}

// AddToDigest notes the events of a digest.
func (queries) AddToDigest(ctx context.Context, in core.Tx, uid core.UID, events []string) error {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("INSERT INTO digest_event (parent, delivery, event_id) SELECT p.parent, p.delivery, p.event_id FROM ")
	parents, digests := make([][]byte, len(events)), make([][]byte, len(events))
	for i := range events {
		parents[i], digests[i] = table.PackUID(uid.Parent()), table.PackUID(uid)
	}
	q.Add(q.Parents(dbconn.ParentColumn{Name: "parent", Bytes: parents}, dbconn.ParentColumn{Name: "delivery", Bytes: digests}, dbconn.ParentColumn{Name: "event_id", Texts: events}))
	return tx.Conn.Run(ctx, q.Build(nil))
}

// DigestEvents reads the next events of a digest.
func (s *Store) DigestEvents(ctx context.Context, uid core.UID, after string, limit int) ([]*core.Event, error) {
	q := eventlog.NewStatement(s.Dialect).Add(eventlog.Select + " JOIN digest_event m ON m.event_id = e.id")
	return s.events(ctx, q.Add(" WHERE m.parent = ? AND m.delivery = ? AND m.event_id > ? ORDER BY m.event_id LIMIT ?", uid.Parent(), uid, after, int64(limit)))
}

// PurgeDigests deletes which events digests had that have been deleted.
func (s *Store) PurgeDigests(ctx context.Context, before string, limit int) (int64, error) {
	return s.purge(ctx, table.NewStatement(s.Dialect).Add("DELETE FROM digest_event WHERE (parent, delivery, event_id) IN (SELECT m.parent, m.delivery, m.event_id FROM digest_event m"+
		" WHERE m.event_id < ? ORDER BY m.event_id LIMIT ?)", before, int64(limit)))
}

// isPending is the condition that a delivery has not ended. SQLite has an index of the states of
// a subscription, and PostgreSQL finds the partition by the stage.
const isPending = "d.state IN ('PENDING', 'RETRYING') AND d.stage < 4"

// FailDeliveries ends pending deliveries of a disabled subscription as failed. The statement
// itself checks whether the subscription is disabled, so that it cannot end a delivery that was
// made after somebody enabled the subscription.
func (queries) FailDeliveries(ctx context.Context, in core.Tx, subscription core.UID, reason string, at core.Time, limit int) (int, error) {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect)
	q.Add("UPDATE delivery SET state = ?, stage = 4, last_error = ?, next_attempt_time = ?, update_time = ? WHERE stage < 4",
		string(webhooks.DeliveryFailed), reason, core.Time{}, at)
	q.Add(" AND uid IN (SELECT d.uid FROM delivery d WHERE d.parent = ? AND "+isPending, subscription)
	q.Add(" AND EXISTS (SELECT 1 FROM subscription s WHERE s.uid = ? AND s.disable_reason <> '') LIMIT ?)", subscription, int64(limit))
	run := q.Build(nil)
	err := tx.Conn.Run(ctx, run)
	return int(run.Affected), err
}

// collectUIDs returns a function that appends the UIDs that it scans.
func collectUIDs(into *[]core.UID) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		var uid core.UID
		err := scan(table.UIDOf(&uid))
		*into = append(*into, uid)
		return err
	}
}

// PurgeDeliveries removes deliveries that ended before a time. It repeats the time, so that
// no partitions of later deliveries are searched for the uids.
func (s *Store) PurgeDeliveries(ctx context.Context, before core.Time, limit int) (int64, error) {
	before, err := s.partitions.DropDeliveries(ctx, before)
	if err != nil {
		return 0, err
	}
	return s.purge(ctx, table.NewStatement(s.Dialect).Add("DELETE FROM delivery WHERE stage = 4 AND update_time < ? AND uid IN (SELECT d.uid FROM delivery d WHERE d.stage = 4 AND d.update_time < ? ORDER BY d.update_time LIMIT ?)", before, before, int64(limit)))
}

// purge runs a delete with a limit, and returns the number of removed rows.
func (s *Store) purge(ctx context.Context, q *table.Statement) (removed int64, err error) {
	err = s.engine.Write(ctx, func(conn *dbconn.Tx) error {
		run := q.Build(nil)
		err := conn.Run(ctx, run)
		removed = run.Affected
		return err
	})
	return removed, err
}

// RelayPosition returns the position of the last relayed event.
func (queries) RelayPosition(ctx context.Context, in core.Tx) (core.EventPosition, error) {
	tx := transactionOf(in)
	return readRelayPosition(ctx, tx.Conn, tx.Dialect)
}

func readRelayPosition(ctx context.Context, conn dbconn.Conn, dialect *dbconn.Dialect) (at core.EventPosition, err error) {
	q := table.NewStatement(dialect).Add("SELECT r.xact, r.seq FROM relay r WHERE r.id = 1")
	err = conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(&at.Transaction, &at.Number) }))
	return at, err
}

// SetRelayPosition stores the position of the last relayed event.
func (queries) SetRelayPosition(ctx context.Context, in core.Tx, at core.EventPosition) error {
	tx := transactionOf(in)
	q := table.NewStatement(tx.Dialect).Add("UPDATE relay SET xact = ?, seq = ? WHERE id = 1", at.Transaction, at.Number)
	return tx.Conn.Run(ctx, q.Build(nil))
}
