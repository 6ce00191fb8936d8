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
	if a.IDs != nil {
		for branches := range slices.Chunk(a.Scope.Branches(), maxBranches) {
			run = append(run, s.selectByID(a, branches).build(collectEvents(&events)))
		}
	} else {
		for parts := range slices.Chunk(splitLog(a), maxBranches) {
			run = append(run, s.logPage(a, parts).build(collectEvents(&events)))
		}
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

// A logPart is the log of a branch, with the events of one type or of all types.
type logPart struct {
	query  platform.AuditQuery
	branch platform.Branch
}

// splitLog splits a query by branches. It also splits it by types if one statement can read all
// parts, because the indexes have the events of one type in order, but not those of several.
func splitLog(a platform.AuditQuery) (parts []logPart) {
	branches, types := a.Scope.Branches(), [][]string{a.Types}
	if each := slices.Compact(slices.Sorted(slices.Values(a.Types))); len(each) > 1 && len(each)*len(branches) <= maxBranches {
		types = slices.Collect(slices.Chunk(each, 1))
	}
	for _, b := range branches {
		for _, t := range types {
			part := logPart{a, b}
			part.query.Types = t
			parts = append(parts, part)
		}
	}
	return parts
}

// logPage builds a statement that reads a page from several parts. Each part returns at
// most as many rows as the page can need.
func (s *Store) logPage(a platform.AuditQuery, parts []logPart) *statement {
	q := s.dialect.statement()
	order, limit := " ORDER BY e.id DESC LIMIT ?", int64(a.Limit)+1
	if a.Backward {
		order = " ORDER BY e.id LIMIT ?"
	}
	q.add(selectEventTo + longOfEvents(a.Without) + selectEventFrom + "event e WHERE ")
	if len(parts) == 1 {
		addLogConditions(q, parts[0].query, parts[0].branch)
		return q.add(order, limit)
	}
	q.add("e.id IN (SELECT e.id FROM (")
	for i, part := range parts {
		if i > 0 {
			q.add(" UNION ALL ")
		}
		q.add("SELECT * FROM (SELECT e.id FROM event e WHERE ")
		addLogConditions(q, part.query, part.branch)
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

// selectByID builds a statement that reads the events with the ids of a query, if they belong to
// one of the branches. It forces a plan that starts with the ids, because a plan that starts
// with a branch may read millions of rows. The lowest and the highest id exclude partitions.
func (s *Store) selectByID(a platform.AuditQuery, branches []platform.Branch) *statement {
	q := s.dialect.statement()
	q.add("WITH e AS MATERIALIZED (SELECT e.* FROM event e WHERE e.id ? AND e.id >= ? AND e.id <= ?) ", valueList(a.IDs), slices.Min(a.IDs), slices.Max(a.IDs))
	q.add(selectEventTo + longOfEvents(a.Without) + selectEventFrom + "e WHERE (")
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

// frequentEvent is the type of most events, because imports record one for each tag. The
// indexes of types leave it out: a page of this type is soon found among all events.
const frequentEvent = "dev.atrium.api.platform.registry.tag.created.v1"

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
	switch len(a.Types) {
	case 0:
	case 1:
		q.add(" AND e.type = ?", a.Types[0])
	default:
		q.add(" AND e.type ?", valueList(a.Types))
	}
	if len(a.Types) > 0 && !slices.Contains(a.Types, frequentEvent) {
		q.add(" AND e.type <> '" + frequentEvent + "'") // the indexes of types have this condition
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
