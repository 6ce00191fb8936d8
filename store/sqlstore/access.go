package sqlstore

import (
	"context"

	"atrium/platform"
)

// A change of a role binding names the group of the binding in its body. Therefore the index of mentions
// finds the changes of the bindings on a group since a time.

// addBindingChanges adds a select of the changes of the role bindings on groups since a time. columns can
// use the event e and its mention m, whose subject is the UID of the binding.
func (s *statement) addBindingChanges(columns string, q *platform.PastBindingQuery) *statement {
	groups := make(valueList, len(q.Groups))
	for i, uid := range q.Groups {
		groups[i] = string(uid)
	}
	return s.add("SELECT "+columns+" FROM event_mention m JOIN event e ON e.id = m.event_id WHERE m.root = ? AND m.uid ? AND m.event_id >= ?"+
		" AND e.denied = '' AND e.type ? AND e.grp ?",
		q.Groups[0].Root(), uidValueList(q.Groups), platform.FirstEventID(q.Time), valueList(platform.BindingChanges()), groups)
}

// FirstBindingChanges reads the first change since a time of each role binding that was there before.
func (s *Store) FirstBindingChanges(ctx context.Context, q platform.PastBindingQuery) (events []*platform.Event, err error) {
	order, passed := "", ">"
	if q.Backward {
		order, passed = " DESC", "<"
	}
	stmt := newEventStatement(s.dialect).addSlow(selectEvents + " WHERE e.id IN (SELECT w.id FROM (")
	stmt.addBindingChanges("e.id, e.type, m.subject, ROW_NUMBER() OVER (PARTITION BY m.subject ORDER BY e.xact, e.seq) AS place", &q)
	stmt.add(") w WHERE w.place = 1 AND w.type NOT IN (?, ?)", platform.BindingChanges()[0], platform.BindingChanges()[1])
	if q.After != "" {
		stmt.add(" AND w.subject "+passed+" ?", q.After)
	}
	stmt.add(" ORDER BY w.subject"+order+" LIMIT ?) ORDER BY e.subject"+order, int64(q.Limit)+1)
	err = s.conn.Run(ctx, stmt.build(collectEvents(&events)))
	return events, err
}

// addUnchanged adds the condition that a role binding gave its role at a time and has not changed since.
func (s *statement) addUnchanged(q *platform.PastBindingQuery) {
	s.addSlow(" AND t.create_time < ? AND (t.expire_time IS NULL OR t.expire_time > ?) AND t.uid NOT IN (", q.Time, q.Time)
	s.addBindingChanges("m.subject", q).add(")")
}

// RoleCapabilityChanges reads the events by which roles got other capabilities or were deleted since a time.
func (s *Store) RoleCapabilityChanges(ctx context.Context, roles []platform.UID, since platform.Time) ([]*platform.Event, error) {
	ends, subjects := make(valueList, len(roles)), make(valueList, len(roles))
	for i, uid := range roles {
		ends[i], subjects[i] = string(uid[len(uid)-16:]), string(uid)
	}
	q := newEventStatement(s.dialect).add(selectEvents+" WHERE substr(e.subject, length(e.subject) - 15) ? AND e.subject ? AND e.id >= ?"+
		" AND e.denied = '' AND (e.type = ? OR e.type = ? AND "+changesCapabilities+") ORDER BY e.xact, e.seq",
		ends, subjects, platform.FirstEventID(since), platform.RoleDeleted, platform.RoleUpdated)
	return s.events(ctx, q)
}

// changesCapabilities is the condition that an update of a role named its capabilities.
const changesCapabilities = `e.changes LIKE '%"field":"capabilities"%'`

// RecordedSince returns the time from which all events are stored.
func (s *Store) RecordedSince(ctx context.Context) (since platform.Time, err error) {
	q := newStatement(s.dialect).add("SELECT r.purged_before FROM relay r WHERE r.id = 1")
	err = s.conn.Run(ctx, q.build(func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		since = platform.EventTime(id)
		return err
	}))
	return since, err
}
