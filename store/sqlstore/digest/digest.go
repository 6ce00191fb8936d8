// Package digest has the statements about digests: deliveries of several events in one message. The table digest_event says
// which events a digest has.
package digest

import (
	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// Extend adds to the number of events of the digest that collects them for a subscription, and returns its UID. A digest that
// is due, or was claimed, collects no more.
func Extend(d *dbconn.Dialect, subscription core.UID, events int, now core.Time) *table.Statement {
	const isOpen = "stage = 1 AND ticket = 0 AND events > 0 AND next_attempt_time > ?"
	q := table.NewStatement(d).Add("UPDATE delivery SET events = events + ? WHERE "+isOpen, int64(events), now)
	q.Add(" AND uid IN (SELECT c.uid FROM delivery c WHERE c.stage < 4 AND c.parent = ? AND c.next_attempt_time > ? AND c.ticket = 0 AND c.events > 0", subscription, now)
	return q.Add(" ORDER BY c.next_attempt_time, c.event_id LIMIT 1) RETURNING uid")
}

// Add notes the events of a digest.
func Add(d *dbconn.Dialect, digest core.UID, events []string) *table.Statement {
	q := table.NewStatement(d).Add("INSERT INTO digest_event (parent, delivery, event_id) SELECT p.parent, p.delivery, p.event_id FROM ")
	parents, digests := make([][]byte, len(events)), make([][]byte, len(events))
	for i := range events {
		parents[i], digests[i] = table.PackUID(digest.Parent()), table.PackUID(digest)
	}
	return q.Add(q.Parents(dbconn.ParentColumn{Name: "parent", Bytes: parents}, dbconn.ParentColumn{Name: "delivery", Bytes: digests}, dbconn.ParentColumn{Name: "event_id", Texts: events}))
}

// Join restricts a statement that selects from event e to the next events of a digest.
func Join(q *table.Statement, digest core.UID, after string, limit int) *table.Statement {
	q.Add(" JOIN digest_event m ON m.event_id = e.id WHERE m.parent = ? AND m.delivery = ? AND m.event_id > ?", digest.Parent(), digest, after)
	return q.Add(" ORDER BY m.event_id LIMIT ?", int64(limit))
}

// Purge deletes some rows about events with smaller ids.
func Purge(d *dbconn.Dialect, before string, limit int) *table.Statement {
	const key = "(parent, delivery, event_id)"
	return table.NewStatement(d).Add("DELETE FROM digest_event WHERE "+key+" IN (SELECT m.parent, m.delivery, m.event_id FROM digest_event m WHERE m.event_id < ? ORDER BY m.event_id LIMIT ?)", before, int64(limit))
}
