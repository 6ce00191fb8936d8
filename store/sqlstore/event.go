package sqlstore

import (
	"context"
	"encoding/json"
	"sync"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/eventlog"
	"atrium/store/sqlstore/partition"
	"atrium/store/sqlstore/table"
)

// Record adds events.
func (tx *transaction) Record(events ...*core.Event) { tx.events = append(tx.events, events...) }

// eventColumns lists the columns written for every event. Its capacity equals its
// length, so that appending copies it.
var eventColumns = []string{"id", "type", "root", "g2", "g3", "subject", "grp", "actor", "actor_subject", "body", "time", "denied", "changes"}

// textOrNull returns a UID as the table of events stores it: as a text, or NULL.
func textOrNull(u core.UID) any {
	if u == "" {
		return nil
	}
	return string(u)
}

// encodeChanges returns the stored form of changes: "" if there are none.
func encodeChanges(changes []core.EventChange) string {
	if len(changes) == 0 {
		return ""
	}
	encoded, _ := json.Marshal(changes) // cannot fail for names and valid JSON
	return string(encoded)
}

// recordEvents returns the statements that store the events of a transaction. It inserts
// many events with COPY.
func (tx *transaction) recordEvents(ctx context.Context) ([]*dbconn.Statement, error) {
	var run []*dbconn.Statement
	var values [][]any
	var mentions mentions
	for _, e := range tx.events {
		actor, err := json.Marshal(eventlog.ActorRow{EventActor: e.Actor, Cause: e.Cause})
		if err != nil {
			return nil, err
		}
		row := []any{e.ID, e.Type, string(e.Subject.Root()), textOrNull(e.Subject.Enclosing(2)), textOrNull(e.Subject.Enclosing(3)), string(e.Subject), string(e.Group), string(actor), e.Actor.Subject, string(e.Body), e.Time, e.Denied, encodeChanges(e.Changes)}
		if e.Denial == "" {
			values = append(values, row)
			mentions.add(e)
			continue
		}
		run = append(run, tx.countDenial(e, row)...)
	}
	run = append(run, mentions.insert(tx.Dialect)...)
	if len(values) >= table.CopyThreshold {
		return run, tx.Conn.Copy(ctx, "event", eventColumns, values)
	}
	for _, v := range values {
		run = append(run, table.InsertStatement(tx.Dialect, "event", eventColumns, v))
	}
	return run, nil
}

const insertMentions = "INSERT INTO event_mention (root, uid, subject, event_id) SELECT "

// mentions are rows of event_mention, which finds events by the resources that they mention.
type mentions struct {
	roots, uids, subjects [][]byte
	events                []string
}

func (m *mentions) add(e *core.Event) {
	for _, uid := range e.Mentions() {
		m.roots, m.uids, m.subjects = append(m.roots, table.PackUID(e.Subject.Root())), append(m.uids, table.PackUID(uid)), append(m.subjects, table.PackUID(e.Subject))
		m.events = append(m.events, e.ID)
	}
}

// insert returns the statement that stores the rows, or none if there is no row.
func (m *mentions) insert(d *dbconn.Dialect) []*dbconn.Statement {
	if len(m.events) == 0 {
		return nil
	}
	q := table.NewStatement(d).Add(insertMentions + "p.root, p.uid, p.subject, p.event_id FROM ")
	q.Add(q.Parents(dbconn.ParentColumn{Name: "root", Bytes: m.roots}, dbconn.ParentColumn{Name: "uid", Bytes: m.uids},
		dbconn.ParentColumn{Name: "subject", Bytes: m.subjects}, dbconn.ParentColumn{Name: "event_id", Texts: m.events}))
	return []*dbconn.Statement{q.Build(nil)}
}

// countDenial returns the statements that combine equal denials into one row. The first one
// makes the row if there is none, and waits for a transaction that is making it. A
// single statement could do both only with a unique index of all partitions.
func (tx *transaction) countDenial(e *core.Event, row []any) []*dbconn.Statement {
	first := table.InsertStatement(tx.Dialect, "event", append(eventColumns, "times", "denial"), append(row, int64(0), e.Denial))
	first.SQL += " ON CONFLICT DO NOTHING"
	begin := core.At(e.Time.Truncate(core.DenialInterval))
	count := table.NewStatement(tx.Dialect).Add("UPDATE event SET times = times + ? WHERE denial = ? AND id >= ? AND id < ?",
		int64(e.Count), e.Denial, core.FirstEventID(begin), core.FirstEventID(core.At(begin.Add(core.DenialInterval))))
	run := []*dbconn.Statement{first, count.Build(nil)}
	for _, uid := range e.Mentions() { // the event is not stored if it is equal to an earlier one
		run = append(run, table.NewStatement(tx.Dialect).Add(insertMentions+"?, ?, ?, e.id FROM event e WHERE e.id = ?", e.Subject.Root(), uid, e.Subject, e.ID).Build(nil))
	}
	return run
}

// EventsAfter reads the next events of organizations.
func (queries) EventsAfter(ctx context.Context, on core.Conn, roots []core.UID, after core.EventPosition, limit int) ([]*core.Event, error) {
	s := tablesOf(on)
	q := s.selectEventsAfter(roots, after)
	q.Add(" AND "+s.Dialect.NoEarlierWriters+" ORDER BY e.xact, e.seq LIMIT ?", int64(limit))
	return s.events(ctx, q)
}

// EventsToRelay reads the next events of all organizations, and denied changes, in one statement that decides once which are
// settled: otherwise a later event of one would pass an earlier one of the other. NoEarlierWriters reads the locks of the
// moment, so it can change while a statement runs. Which partitions have denied changes is not noted, so all of them are
// searched for these.
func (queries) EventsToRelay(ctx context.Context, in core.Tx, after core.EventPosition, limit int) ([]*core.Event, error) {
	tx := transactionOf(in)
	q := eventlog.NewStatement(tx.Dialect).Add("SELECT * FROM (SELECT * FROM (")
	for i, denied := range []string{"= ''", "<> ''"} {
		if i > 0 {
			q.Add(") m UNION ALL SELECT * FROM (")
		}
		q.Add(eventlog.Select+" WHERE e.denied "+denied+" AND (e.xact, e.seq) > (?, ?)", after.Transaction, after.Number)
		if i == 0 {
			partition.ExcludePassed(q, after.Transaction)
		}
		q.Add(" ORDER BY e.xact, e.seq LIMIT ?", int64(limit))
	}
	q.Add(") d) e WHERE "+tx.Dialect.NoEarlierWriters+" ORDER BY e.xact, e.seq LIMIT ?", int64(limit))
	return tx.tables.events(ctx, q)
}

// EventsUpTo reads the next events of organizations up to a position that EventsAfter has
// reached. Unlike EventsAfter, it never leaves some out because of a running transaction.
func (queries) EventsUpTo(ctx context.Context, on core.Conn, roots []core.UID, after, upTo core.EventPosition, limit int) ([]*core.Event, error) {
	s := tablesOf(on)
	q := s.selectEventsAfter(roots, after)
	q.Add(" AND (e.xact, e.seq) <= (?, ?) ORDER BY e.xact, e.seq LIMIT ?", upTo.Transaction, upTo.Number, int64(limit))
	return s.events(ctx, q)
}

// selectEventsAfter begins a statement that selects the events of organizations after a
// position.
func (s tables) selectEventsAfter(roots []core.UID, after core.EventPosition) *table.Statement {
	q := eventlog.NewStatement(s.Dialect)
	q.Add(eventlog.Select + " WHERE e.denied = ''")
	switch len(roots) {
	case 0:
	case 1:
		q.Add(" AND e.root = ?", string(roots[0])) // an index has the events of one organization in order
	default:
		texts := make(table.Keys, len(roots))
		for i, root := range roots {
			texts[i] = string(root)
		}
		q.Add(" AND e.root ?", texts)
	}
	return partition.ExcludePassed(q.Add(" AND (e.xact, e.seq) > (?, ?)", after.Transaction, after.Number), after.Transaction)
}

func (s tables) events(ctx context.Context, q *table.Statement) (events []*core.Event, err error) {
	err = s.Conn.Run(ctx, q.Build(eventlog.Collect(&events)))
	return events, err
}

// Event reads an event, or returns nil if there is none.
func (s *Store) Event(ctx context.Context, id string) (*core.Event, error) {
	found, err := s.events(ctx, eventlog.NewStatement(s.Dialect).Add(eventlog.Select+" WHERE e.id = ?", id))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// EventPosition finds the position of an event, or of the newest one if id is "".
func (s tables) EventPosition(ctx context.Context, id string) (at core.EventPosition, found bool, err error) {
	if id != "" {
		return s.eventPosition(ctx, eventlog.NewStatement(s.Dialect).Add("SELECT e.xact, e.seq FROM event e WHERE e.denied = '' AND e.id = ?", id))
	}
	selectNewest := func(q *table.Statement) *table.Statement {
		return q.Add(" AND " + s.Dialect.NoEarlierWriters + " ORDER BY e.xact DESC, e.seq DESC LIMIT 1")
	}
	const selectMade = "SELECT e.xact, e.seq FROM event e WHERE e.denied = ''"
	if s.Dialect.Partitions {
		at, found, err = s.eventPosition(ctx, selectNewest(partition.ExcludePassed(eventlog.NewStatement(s.Dialect).Add(selectMade), partition.NewestSealed)))
	}
	if err == nil && !found {
		at, found, err = s.eventPosition(ctx, selectNewest(eventlog.NewStatement(s.Dialect).Add(selectMade)))
	}
	return at, found, err
}

func (s tables) eventPosition(ctx context.Context, q *table.Statement) (at core.EventPosition, found bool, err error) {
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		found = true
		return scan(&at.Transaction, &at.Number)
	}))
	return at, found, err
}

// notifyStored wakes those who wait for an event, in this process and in others.
func (s *Store) notifyStored() {
	s.changed.notify()
	select {
	case s.stored <- struct{}{}:
	default: // a notification is already pending
	}
}

// A notifier wakes all who wait for the next event.
type notifier struct {
	lock sync.Mutex
	next chan struct{}
}

// Changed returns a channel that is closed when the next event may exist.
func (s *Store) Changed() <-chan struct{} {
	s.changed.lock.Lock()
	defer s.changed.lock.Unlock()
	if s.changed.next == nil {
		s.changed.next = make(chan struct{})
	}
	return s.changed.next
}

func (c *notifier) notify() {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}

// PurgeEvents deletes events that are older than an id and have been relayed. It repeats the
// id, so that PostgreSQL visits only the partitions before it.
func (s *Store) PurgeEvents(ctx context.Context, before string, limit int) (int64, error) {
	_, err := s.purge(ctx, eventlog.NewStatement(s.Dialect).Add("UPDATE relay SET purged_before = ? WHERE id = 1 AND purged_before < ? AND EXISTS (SELECT 1 FROM event e WHERE e.id < ?)", before, before, before))
	if err != nil {
		return 0, err
	}
	if before, err = s.partitions.DropEvents(ctx, before, s.isRelayed); err != nil {
		return 0, err
	}
	return s.purge(ctx, eventlog.NewStatement(s.Dialect).Add("DELETE FROM event WHERE id < ? AND id IN (SELECT e.id FROM event e WHERE e.id < ?"+
		" AND (e.xact, e.seq) <= (SELECT r.xact, r.seq FROM relay r WHERE r.id = 1) ORDER BY e.id LIMIT ?)", before, before, int64(limit)))
}

// isRelayed reports whether all events before an id have been relayed.
func (s *Store) isRelayed(ctx context.Context, conn dbconn.Conn, before string) (bool, error) {
	at, err := readRelayPosition(ctx, conn, s.Dialect)
	if err != nil {
		return false, err
	}
	relayed := true
	for _, denied := range []string{"= ''", "<> ''"} {
		waiting := eventlog.NewStatement(s.Dialect).Add("SELECT 1 FROM event e WHERE e.denied "+denied+" AND e.id < ? AND (e.xact, e.seq) > (?, ?) LIMIT 1", before, at.Transaction, at.Number)
		if err := conn.Run(ctx, waiting.Build(func(func(...any) error) error { relayed = false; return nil })); err != nil {
			return false, err
		}
	}
	return relayed, nil
}

// PurgeEventMentions deletes mentions that are older than all events. No id begins with g.
func (s *Store) PurgeEventMentions(ctx context.Context, limit int) (int64, error) {
	return s.purge(ctx, eventlog.NewStatement(s.Dialect).Add("DELETE FROM event_mention WHERE event_id IN (SELECT m.event_id FROM event_mention m"+
		" WHERE m.event_id < COALESCE((SELECT min(e.id) FROM event e), 'g') ORDER BY m.event_id LIMIT ?)", int64(limit)))
}
