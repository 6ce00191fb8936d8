package sqlstore

import (
	"cmp"
	"context"
	"slices"

	"atrium/platform"
)

// EventLog reads a page of the log, the newest first.
func (s *Store) EventLog(ctx context.Context, a platform.AuditQuery) ([]*platform.Event, error) {
	var events []*platform.Event
	var run []*Statement
	for branches := range slices.Chunk(a.Scope.Branches(), maxBranches) {
		run = append(run, s.logPage(a, branches).build(collectEvents(&events)))
	}
	if err := s.conn.Run(ctx, run...); err != nil || len(run) < 2 {
		return events, err
	}
	slices.SortFunc(events, func(x, y *platform.Event) int {
		if a.Backward {
			x, y = y, x
		}
		return cmp.Compare(y.ID, x.ID)
	})
	return events[:min(len(events), a.Limit+1)], nil
}

// logPage builds a statement that reads a page from several branches. Each branch
// returns at most as many rows as the page can need.
func (s *Store) logPage(a platform.AuditQuery, branches []platform.Branch) *statement {
	q := s.dialect.statement()
	order, limit := " ORDER BY e.id DESC LIMIT ?", int64(a.Limit)+1
	if a.Backward {
		order = " ORDER BY e.id LIMIT ?"
	}
	texts := longOfEvents(a.Without)
	if a.IDs != nil {
		return selectByID(q, texts, a.IDs, branches)
	}
	q.add(selectEventTo + texts + selectEventFrom + "event e WHERE ")
	if len(branches) == 1 {
		addLogConditions(q, a, branches[0])
		return q.add(order, limit)
	}
	q.add("e.id IN (SELECT e.id FROM (")
	for i, b := range branches {
		if i > 0 {
			q.add(" UNION ALL ")
		}
		q.add("SELECT * FROM (SELECT e.id FROM event e WHERE ")
		addLogConditions(q, a, b)
		q.add(order+") e", limit)
	}
	return q.add(") e"+order+")"+order, limit, limit)
}

// longOfEvents returns the columns of long texts, with empty values instead of those
// that a read leaves out.
func longOfEvents(without platform.CostlyFields) string {
	body, changes := "e.body", "e.changes"
	if without.HasAny(platform.EventBodies) {
		body = "''"
	}
	if without.HasAny(platform.EventChanges) {
		changes = "''"
	}
	return body + ", " + changes
}

// selectByID selects the events with ids that belong to one of the branches. It
// forces a plan that starts with the ids, because a plan that starts with a branch
// may read millions of rows. The lowest and the highest id exclude partitions.
func selectByID(q *statement, texts string, ids []string, branches []platform.Branch) *statement {
	q.add("WITH e AS MATERIALIZED (SELECT e.* FROM event e WHERE e.id ? AND e.id >= ? AND e.id <= ?) ", valueList(ids), slices.Min(ids), slices.Max(ids))
	q.add(selectEventTo + texts + selectEventFrom + "e WHERE (")
	for i, b := range branches {
		if i > 0 {
			q.add(" OR ")
		}
		addEventBranch(q, b)
	}
	return q.add(")")
}

// addEventBranch adds the condition that the subject of an event is in a branch.
func addEventBranch(q *statement, b platform.Branch) {
	depth := b.UID.Depth()
	near := min(depth, len(enclosing)-1)
	if b.Relation == platform.Everything {
		q.add("1 = 1")
	} else {
		q.add("e."+enclosing[near]+" = ?", string(b.UID.Enclosing(near)))
	}
	if depth > near {
		// The texts of all UIDs within a UID sort before that UID followed by 0,
		// because 0 follows / in byte order.
		q.add(" AND e.subject >= ? AND e.subject < ?", string(b.UID), string(b.UID)+"0")
	}
}

// addLogConditions adds the conditions of a query, and that the subject of an event is in
// a branch.
func addLogConditions(q *statement, a platform.AuditQuery, b platform.Branch) {
	addEventBranch(q, b)
	if a.Actor != "" {
		if q.add(" AND e.actor_subject = ?", a.Actor); b.UID.Depth() > 1 {
			q.add(" AND e.root = ?", string(b.UID.Root())) // the index of actors contains this column
		}
	}
	passed := "<"
	if a.Backward {
		passed = ">"
	}
	for _, bound := range []struct{ compare, id string }{{passed, a.After}, {">=", a.From}, {"<", a.Before}} {
		if bound.id != "" {
			q.add(" AND e.id "+bound.compare+" ?", bound.id)
		}
	}
	if len(a.Types) > 0 {
		q.add(" AND e.type ?", valueList(a.Types))
	}
	if a.Denied != nil {
		q.add(map[bool]string{true: " AND e.denied <> ''", false: " AND e.denied = ''"}[*a.Denied])
	}
}

// PurgeEvents deletes events that are older than an id and have been relayed. It repeats the
// id, so that PostgreSQL visits only the partitions before it.
func (s *Store) PurgeEvents(ctx context.Context, before string, limit int) (int64, error) {
	if s.dialect.Partitions {
		var err error
		if before, err = s.dropEventPartitions(ctx, before); err != nil {
			return 0, err
		}
	}
	return s.purge(ctx, "DELETE FROM event WHERE id < ? AND id IN (SELECT e.id FROM event e WHERE e.id < ?"+
		" AND (e.denied <> '' OR (e.xact, e.seq) <= (SELECT r.xact, r.seq FROM relay r WHERE r.id = 1)) ORDER BY e.id LIMIT ?)", before, before, int64(limit))
}
