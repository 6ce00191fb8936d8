package sqlstore

import (
	"context"
	"encoding/json"
	"sync"

	"atrium/platform"
)

// Record adds events.
func (tx *transaction) Record(events ...*platform.Event) { tx.events = append(tx.events, events...) }

var eventColumns = []string{"id", "type", "root", "subject", "grp", "actor", "body", "time"}

// recordEvents gives the statements that store a transaction's events; many
// are copied at once.
func (tx *transaction) recordEvents(ctx context.Context) ([]*Statement, error) {
	values := make([][]any, len(tx.events))
	for i, e := range tx.events {
		actor, err := json.Marshal(e.Actor)
		if err != nil {
			return nil, err
		}
		values[i] = []any{e.ID, e.Type, string(e.Subject.Root()), string(e.Subject), string(e.Group), string(actor), string(e.Body), e.Time}
	}
	if len(values) >= bulk {
		return nil, tx.conn.Copy(ctx, "event", eventColumns, values)
	}
	run := make([]*Statement, len(values))
	for i, v := range values {
		run[i] = tx.dialect.insert("event", eventColumns, v)
	}
	return run, nil
}

// EventsAfter reads the next events of organisations.
func (s tables) EventsAfter(ctx context.Context, roots []platform.UID, after platform.EventPosition, limit int) ([]*platform.Event, error) {
	q := s.dialect.statement()
	q.add("SELECT e.xact, e.seq, e.id, e.type, e.subject, e.grp, e.actor, e.body, e.time FROM event e WHERE ")
	if len(roots) == 1 {
		q.add("e.root = ?", string(roots[0])) // an index has these in order
	} else {
		q.add("e.root ?", uidList(roots))
	}
	q.add(" AND (e.xact, e.seq) > (?, ?) AND "+s.dialect.Settled+" ORDER BY e.xact, e.seq LIMIT ?", after.Transaction, after.Number, int64(limit))
	var events []*platform.Event
	err := s.conn.Run(ctx, q.done(func(scan func(...any) error) error {
		e, body := new(platform.Event), ""
		err := scan(&e.Position.Transaction, &e.Position.Number, &e.ID, &e.Type, (*string)(&e.Subject), (*string)(&e.Group), jsonColumn{&e.Actor}, &body, timeColumn{&e.Time})
		e.Body = json.RawMessage(body)
		events = append(events, e)
		return err
	}))
	return events, err
}

// EventPosition finds the place of an event, or of the newest.
func (s tables) EventPosition(ctx context.Context, id string) (at platform.EventPosition, found bool, err error) {
	q := s.dialect.statement()
	q.add("SELECT e.xact, e.seq FROM event e WHERE ")
	if id == "" {
		q.add(s.dialect.Settled + " ORDER BY e.xact DESC, e.seq DESC LIMIT 1")
	} else {
		q.add("e.id = ?", id)
	}
	err = s.conn.Run(ctx, q.done(func(scan func(...any) error) error {
		found = true
		return scan(&at.Transaction, &at.Number)
	}))
	return at, found, err
}

// tell wakes who waits for an event, in this process and in others.
func (s *Store) tell() {
	s.changed.tell()
	select {
	case s.stored <- struct{}{}:
	default: // they are about to be told anyway
	}
}

// changed wakes all who wait for the next event.
type changed struct {
	lock sync.Mutex
	next chan struct{}
}

// Changed is closed when the next event may be there.
func (s *Store) Changed() <-chan struct{} {
	s.changed.lock.Lock()
	defer s.changed.lock.Unlock()
	if s.changed.next == nil {
		s.changed.next = make(chan struct{})
	}
	return s.changed.next
}

func (c *changed) tell() {
	c.lock.Lock()
	defer c.lock.Unlock()
	if c.next != nil {
		close(c.next)
		c.next = nil
	}
}
