package sqlstore

import (
	"context"
	"encoding/json"
	"sync"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
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

// An actorRow is what an event keeps of who made a change, and in what request.
type actorRow struct {
	core.EventActor
	Cause string `json:"traceparent,omitempty"`
}

// recordEvents returns the statements that store the events of a transaction. It inserts
// many events with COPY.
func (tx *transaction) recordEvents(ctx context.Context) ([]*dbconn.Statement, error) {
	var run []*dbconn.Statement
	var values [][]any
	var mentions mentions
	for _, e := range tx.events {
		actor, err := json.Marshal(actorRow{e.Actor, e.Cause})
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

// EventsAfter reads the next events of organisations.
func (queries) EventsAfter(ctx context.Context, on core.Conn, roots []core.UID, after core.EventPosition, limit int) ([]*core.Event, error) {
	s := tablesOf(on)
	q := s.selectEventsAfter(roots, after)
	q.Add(" AND "+s.Dialect.NoEarlierWriters+" ORDER BY e.xact, e.seq LIMIT ?", int64(limit))
	return s.events(ctx, q)
}

// EventsToRelay reads the next events of all organisations, and denied changes, in one statement that decides once which are
// settled: otherwise a later event of one would pass an earlier one of the other. NoEarlierWriters reads the locks of the
// moment, so it can change while a statement runs. Which partitions have denied changes is not noted, so all of them are
// searched for these.
func (queries) EventsToRelay(ctx context.Context, in core.Tx, after core.EventPosition, limit int) ([]*core.Event, error) {
	tx := transactionOf(in)
	q := newEventStatement(tx.Dialect).Add("SELECT * FROM (SELECT * FROM (")
	for i, denied := range []string{"= ''", "<> ''"} {
		if i > 0 {
			q.Add(") m UNION ALL SELECT * FROM (")
		}
		q.Add(selectEvents+" WHERE e.denied "+denied+" AND (e.xact, e.seq) > (?, ?)", after.Transaction, after.Number)
		if i == 0 {
			partition.ExcludePassed(q, after.Transaction)
		}
		q.Add(" ORDER BY e.xact, e.seq LIMIT ?", int64(limit))
	}
	q.Add(") d) e WHERE "+tx.Dialect.NoEarlierWriters+" ORDER BY e.xact, e.seq LIMIT ?", int64(limit))
	return tx.tables.events(ctx, q)
}

// EventsUpTo reads the next events of organisations up to a position that EventsAfter has
// reached. Unlike EventsAfter, it never leaves some out because of a running transaction.
func (queries) EventsUpTo(ctx context.Context, on core.Conn, roots []core.UID, after, upTo core.EventPosition, limit int) ([]*core.Event, error) {
	s := tablesOf(on)
	q := s.selectEventsAfter(roots, after)
	q.Add(" AND (e.xact, e.seq) <= (?, ?) ORDER BY e.xact, e.seq LIMIT ?", upTo.Transaction, upTo.Number, int64(limit))
	return s.events(ctx, q)
}

// selectEventsAfter begins a statement that selects the events of organisations after a
// position.
func (s tables) selectEventsAfter(roots []core.UID, after core.EventPosition) *table.Statement {
	q := newEventStatement(s.Dialect)
	q.Add(selectEvents + " WHERE e.denied = ''")
	switch len(roots) {
	case 0:
	case 1:
		q.Add(" AND e.root = ?", string(roots[0])) // an index has the events of one organisation in order
	default:
		texts := make(table.Keys, len(roots))
		for i, root := range roots {
			texts[i] = string(root)
		}
		q.Add(" AND e.root ?", texts)
	}
	return partition.ExcludePassed(q.Add(" AND (e.xact, e.seq) > (?, ?)", after.Transaction, after.Number), after.Transaction)
}

const (
	selectEvents    = selectEventTo + "e.body, e.changes" + selectEventFrom + "event e"
	selectEventTo   = "SELECT e.xact, e.seq, e.id, e.type, e.subject, e.grp, e.actor, "
	selectEventFrom = ", e.time, e.denied, e.times FROM "
)

// newEventStatement begins a statement that reads events.
func newEventStatement(d *dbconn.Dialect) *table.Statement {
	s := table.NewStatement(d)
	s.Plan = dbconn.PlanOnceAlways
	return s
}

func (s tables) events(ctx context.Context, q *table.Statement) (events []*core.Event, err error) {
	err = s.Conn.Run(ctx, q.Build(collectEvents(&events)))
	return events, err
}

// collectEvents returns a function that appends the events that it scans.
func collectEvents(into *[]*core.Event) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		e, body, changes := new(core.Event), "", ""
		var actor actorRow
		err := scan(&e.Position.Transaction, &e.Position.Number, &e.ID, &e.Type, (*string)(&e.Subject), (*string)(&e.Group), table.JSONOf(&actor), &body, &changes, table.TimeOf(&e.Time), &e.Denied, &e.Count)
		e.Body, e.Actor, e.Cause = json.RawMessage(body), actor.EventActor, actor.Cause
		if err == nil && changes != "" {
			err = json.Unmarshal([]byte(changes), &e.Changes)
		}
		*into = append(*into, e)
		return err
	}
}

// Event reads an event, or returns nil if there is none.
func (s *Store) Event(ctx context.Context, id string) (*core.Event, error) {
	found, err := s.events(ctx, newEventStatement(s.Dialect).Add(selectEvents+" WHERE e.id = ?", id))
	if err != nil || len(found) == 0 {
		return nil, err
	}
	return found[0], nil
}

// EventPosition finds the position of an event, or of the newest one if id is "".
func (s tables) EventPosition(ctx context.Context, id string) (at core.EventPosition, found bool, err error) {
	if id != "" {
		return s.eventPosition(ctx, newEventStatement(s.Dialect).Add("SELECT e.xact, e.seq FROM event e WHERE e.denied = '' AND e.id = ?", id))
	}
	selectNewest := func(q *table.Statement) *table.Statement {
		return q.Add(" AND " + s.Dialect.NoEarlierWriters + " ORDER BY e.xact DESC, e.seq DESC LIMIT 1")
	}
	const selectMade = "SELECT e.xact, e.seq FROM event e WHERE e.denied = ''"
	if s.Dialect.Partitions {
		at, found, err = s.eventPosition(ctx, selectNewest(partition.ExcludePassed(newEventStatement(s.Dialect).Add(selectMade), partition.NewestSealed)))
	}
	if err == nil && !found {
		at, found, err = s.eventPosition(ctx, selectNewest(newEventStatement(s.Dialect).Add(selectMade)))
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
