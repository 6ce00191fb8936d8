package eventlog

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// EventLog reads a page of the log, the newest first.
func (l Log) EventLog(ctx context.Context, a events.AuditQuery) ([]*core.Event, error) {
	var events []*core.Event
	var run []*dbconn.Statement
	if a.IDs != nil {
		for branches := range slices.Chunk(a.Scope.Branches, table.MaxBranches) {
			run = append(run, l.selectByID(a, branches).Build(Collect(&events)))
		}
	} else {
		for parts := range slices.Chunk(splitLog(a), table.MaxBranches) {
			run = append(run, l.logPage(a, parts).Build(Collect(&events)))
		}
	}
	if err := l.source.Conn.Run(ctx, run...); err != nil || len(run) < 2 {
		return events, err
	}
	slices.SortFunc(events, func(x, y *core.Event) int {
		if a.Backward {
			x, y = y, x
		}
		return cmp.Compare(y.ID, x.ID)
	})
	events = slices.CompactFunc(events, func(x, y *core.Event) bool { return x.ID == y.ID })
	return events[:min(len(events), a.Limit+1)], nil
}

// A logPart is the log of a branch, with the events of one type or of all types, in which a
// resource occurs in one way.
type logPart struct {
	query  events.AuditQuery
	branch core.Branch
	role   logRole
}

// A logRole is a way in which the resource of a query occurs in an event.
type logRole int

const (
	anyRole   logRole = iota // the query has no resource
	asSubject                // the event is about the resource
	asActor                  // the resource has caused the event
	asMention                // the resource stands in the body or in the changes
)

// resource returns the resource of a query and the ways in which it can occur.
func resource(a events.AuditQuery) (core.UID, []logRole) {
	switch {
	case a.Subject != "":
		return a.Subject, []logRole{asSubject, asActor, asMention}
	case a.Target != "":
		return a.Target, []logRole{asSubject, asMention}
	default:
		return "", []logRole{anyRole}
	}
}

// splitLog splits a query by branches, and by the ways in which its resource occurs, because each
// way has its own index. A query without a resource is also split by types if one statement can
// read all parts, because the indexes have the events of one type in order, but not those of
// several.
func splitLog(a events.AuditQuery) (parts []logPart) {
	uid, roles := resource(a)
	branches, types := a.Scope.Branches, [][]string{a.Types}
	if each := slices.Compact(slices.Sorted(slices.Values(a.Types))); uid == "" && len(each) > 1 && len(each)*len(branches) <= table.MaxBranches {
		types = slices.Collect(slices.Chunk(each, 1))
	}
	for _, b := range branches {
		for _, t := range types {
			for _, role := range roles {
				part := logPart{a, b, role}
				part.query.Types = t
				parts = append(parts, part)
			}
		}
	}
	return parts
}

// add adds a select of the ids of a part, without its end.
func (p logPart) add(q *table.Statement) {
	q.Add("SELECT ")
	switch uid, _ := resource(p.query); p.role {
	case asMention:
		p.addMentions(q, uid)
		return
	case asSubject:
		// The index contains the last segment of the subject.
		q.Add("e.id FROM event e WHERE substr(e.subject, length(e.subject) - 15) = ? AND e.subject = ? AND ", string(uid[len(uid)-16:]), string(uid))
	case asActor:
		q.Add("e.id FROM event e WHERE ")
		addActor(q, string(uid), p.branch)
		q.Add(" AND ")
	default:
		q.Add("e.id FROM event e WHERE ")
	}
	AddConditions(q, p.query, p.branch)
}

// addMentions selects the ids of events that mention a resource. The conditions of the event are
// in an expression, so that no plan starts with the events.
func (p logPart) addMentions(q *table.Statement, uid core.UID) {
	q.Add("m.event_id AS id FROM event_mention m WHERE m.uid = ?", uid)
	if p.branch.Relation != core.Everything {
		q.Add(" AND m.root = ?", p.branch.UID.Root())
	}
	if p.branch.UID.Depth() > 1 {
		q.Add(" AND m.subject >= ? AND m.subject < ?", table.PackUID(p.branch.UID), table.PastSubtree(p.branch.UID))
	}
	addIDBounds(q, p.query, "m.event_id")
	q.Add(" AND (SELECT 1 FROM event e WHERE e.id = m.event_id AND ")
	addEventConditions(q, p.query, p.branch)
	q.Add(") = 1")
}

// logPage builds a statement that reads a page from several parts. Each part returns at
// most as many rows as the page can need.
func (l Log) logPage(a events.AuditQuery, parts []logPart) *table.Statement {
	return addPage(NewStatement(l.source.Dialect).Add(SelectTo+longOfEvents(a.Without)+SelectFrom+"event e WHERE "), a, parts)
}

// addPage adds the condition, the order and the limit of a page.
func addPage(q *table.Statement, a events.AuditQuery, parts []logPart) *table.Statement {
	order, limit := " ORDER BY e.id DESC LIMIT ?", int64(a.Limit)+1
	if a.Backward {
		order = " ORDER BY e.id LIMIT ?"
	}
	if len(parts) == 1 {
		AddConditions(q, parts[0].query, parts[0].branch) // one part has no resource
		return q.Add(order, limit)
	}
	q.Add("e.id IN (SELECT e.id FROM (")
	for i, part := range parts {
		if i > 0 {
			q.Add(" UNION ") // an event can be in several parts
		}
		q.Add("SELECT * FROM (")
		part.add(q)
		q.Add(strings.ReplaceAll(order, "e.id", "id")+") e", limit)
	}
	return q.Add(") e"+order+")"+order, limit, limit)
}

// CountEvents counts the events of a page by what they have in common.
func (l Log) CountEvents(ctx context.Context, a events.AuditQuery) (counts []events.AuditCount, err error) {
	q := NewStatement(l.source.Dialect).Add("SELECT e.actor_subject, e.type, e.grp, CASE WHEN e.denied = '' THEN 0 ELSE 1 END, COUNT(*), CAST(SUM(e.times) AS BIGINT), MIN(e.time)")
	q.Add(" FROM (SELECT e.actor_subject, e.type, e.grp, e.denied, e.times, e.time FROM event e WHERE ")
	addPage(q, a, splitLog(a)).Add(") e GROUP BY 1, 2, 3, 4")
	err = l.source.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var c events.AuditCount
		var denied int64
		err := scan(&c.Actor, &c.Type, (*string)(&c.Group), &denied, &c.Rows, &c.Count, table.TimeOf(&c.Oldest))
		c.Denied = denied == 1
		counts = append(counts, c)
		return err
	}))
	return counts, err
}

// CountLog counts the events of a page.
func (l Log) CountLog(ctx context.Context, a events.AuditQuery) (count int, oldest string, err error) {
	q := NewStatement(l.source.Dialect).Add("SELECT COUNT(*), COALESCE(MIN(e.id), '') FROM (SELECT e.id FROM event e WHERE ")
	q = addPage(q, a, splitLog(a)).Add(") e")
	err = l.source.Conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(&count, &oldest) }))
	return count, oldest, err
}

// longOfEvents returns the columns of long texts, with empty values instead of those
// that a read leaves out.
func longOfEvents(without core.CostlyFields) string {
	body, changes := "e.body", "e.changes"
	if without.HasAny(core.EventBodies) {
		body = "''"
	}
	if without.HasAny(core.EventChanges) {
		changes = "''"
	}
	return body + ", " + changes
}

// selectByID builds a statement that reads the events with the ids of a query, if they belong to
// one of the branches. It forces a plan that starts with the ids, because a plan that starts
// with a branch may read millions of rows. The lowest and the highest id exclude partitions.
func (l Log) selectByID(a events.AuditQuery, branches []core.Branch) *table.Statement {
	q := NewStatement(l.source.Dialect)
	q.Add("WITH e AS MATERIALIZED (SELECT e.* FROM event e WHERE e.id ? AND e.id >= ? AND e.id <= ?) ", table.Values(a.IDs), slices.Min(a.IDs), slices.Max(a.IDs))
	q.Add(SelectTo + longOfEvents(a.Without) + SelectFrom + "e WHERE (")
	for i, b := range branches {
		if i > 0 {
			q.Add(" OR ")
		}
		addEventBranch(q, b)
	}
	return q.Add(")")
}

// addEventBranch adds the condition that the subject of an event is in a branch.
func addEventBranch(q *table.Statement, b core.Branch) {
	depth := b.UID.Depth()
	near := min(depth, len(table.EnclosingColumns)-1)
	if b.Relation == core.Everything {
		q.Add("1 = 1")
	} else {
		q.Add("e."+table.EnclosingColumns[near]+" = ?", string(b.UID.Enclosing(near)))
	}
	if depth > near {
		// The texts of all UIDs within a UID sort before that UID followed by 0,
		// because 0 follows / in byte order.
		q.Add(" AND e.subject >= ? AND e.subject < ?", string(b.UID), string(b.UID)+"0")
	}
}

// frequentEvent is the type of most events, because imports record one for each tag. The
// indexes of types leave it out: a page of this type is soon found among all events.
const frequentEvent = "dev.atrium.api.platform.registry.tag.created.v1"

// addActor adds the condition that an actor has caused an event of a branch.
func addActor(q *table.Statement, actor string, b core.Branch) {
	if q.Add("e.actor_subject = ?", actor); b.UID.Depth() > 1 {
		q.Add(" AND e.root = ?", string(b.UID.Root())) // the index of actors contains this column
	}
}

// AddConditions adds the conditions of a query, and that the subject of an event is in
// a branch.
func AddConditions(q *table.Statement, a events.AuditQuery, b core.Branch) {
	addEventConditions(q, a, b)
	addIDBounds(q, a, "e.id")
}

// addIDBounds adds the bounds of a page to a column of ids.
func addIDBounds(q *table.Statement, a events.AuditQuery, column string) {
	passed := "<"
	if a.Backward {
		passed = ">"
	}
	for _, bound := range []struct{ compare, id string }{{passed, a.After}, {">=", a.From}, {"<", a.Before}} {
		if bound.id != "" {
			q.Add(" AND "+column+" "+bound.compare+" ?", bound.id)
		}
	}
}

// addEventConditions adds the conditions of a query other than bounds and a resource, and that the
// subject of an event is in a branch.
func addEventConditions(q *table.Statement, a events.AuditQuery, b core.Branch) {
	addEventBranch(q, b)
	if a.Actor != "" {
		q.Add(" AND ")
		addActor(q, a.Actor, b)
	}
	switch len(a.Types) {
	case 0:
	case 1:
		q.Add(" AND e.type = ?", a.Types[0])
	default:
		q.Add(" AND e.type ?", table.Values(a.Types))
	}
	if len(a.Types) > 0 && !slices.Contains(a.Types, frequentEvent) {
		q.Add(" AND e.type <> '" + frequentEvent + "'") // the indexes of types have this condition
	}
	if a.Access {
		q.Add(" AND (e.type <> ? OR "+changesCapabilities+")", events.RoleUpdated)
	}
	if run := a.Unlike; run != nil {
		types := events.LikeTypes(run.Type)
		q.Add(" AND (e.type <> ? AND e.type <> ? OR e.actor_subject <> ?", types[0], types[1], run.Actor.Subject)
		q.Add(map[bool]string{true: " OR e.denied <> '')", false: " OR e.denied = '')"}[run.Denied == ""])
	}
	if a.Denied != nil {
		q.Add(map[bool]string{true: " AND e.denied <> ''", false: " AND e.denied = ''"}[*a.Denied])
	}
}
