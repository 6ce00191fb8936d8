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

// bindingEvents returns the conditions of the changes of role bindings on a group since a time, for an event with an
// alias. The index event_log_binding has the bounds of the types, and nothing that was denied.
func bindingEvents(alias string) string {
	return strings.ReplaceAll("e.grp = ? AND e.denied = '' AND e.type >= 'dev.atrium.api.iam.rolebindings.' AND e.type < 'dev.atrium.api.iam.rolebindings/'"+
		" AND e.type <> ? AND e.id >= ?", "e.", alias+".")
}

// FirstBindingChanges reads the first change since a time of each role binding that was there before. It walks along the
// index to the end of the page, and looks for an earlier change of each binding in it.
func (l Log) FirstBindingChanges(ctx context.Context, q events.PastBindingQuery) (changes []*core.Event, err error) {
	order, passed := "", ">"
	if q.Backward {
		order, passed = " DESC", "<"
	}
	var run []*dbconn.Statement
	for _, group := range q.Groups {
		conditions := []any{string(group), events.BindingConfirmed, core.FirstEventID(q.Time)}
		page := NewStatement(l.source.Dialect).Add(Select+" WHERE "+bindingEvents("e"), conditions...)
		for _, made := range events.BindingMade() {
			page.Add(" AND e.type <> ?", made)
		}
		page.Add(" AND "+table.Confirm("NOT EXISTS (SELECT 1 FROM event f WHERE f.subject = e.subject AND (f.xact, f.seq) < (e.xact, e.seq) AND "+bindingEvents("f")+")"), conditions...)
		if q.After != "" {
			page.Add(" AND e.subject "+passed+" ?", string(q.After))
		}
		run = append(run, page.Add(" ORDER BY e.subject"+order+" LIMIT ?", int64(q.Limit)).Build(Collect(&changes)))
	}
	if err := l.source.Conn.Run(ctx, run...); err != nil {
		return nil, err
	}
	slices.SortFunc(changes, func(x, y *core.Event) int {
		if q.Backward {
			x, y = y, x
		}
		return cmp.Compare(x.Subject, y.Subject)
	})
	return changes[:min(len(changes), q.Limit)], nil
}

// RoleCapabilityChanges reads the events by which roles got other capabilities or were deleted since a time.
func (l Log) RoleCapabilityChanges(ctx context.Context, roles []core.UID, since core.Time) (changes []*core.Event, err error) {
	ends, subjects := make(table.Values, len(roles)), make(table.Values, len(roles))
	for i, uid := range roles {
		ends[i], subjects[i] = string(uid[len(uid)-16:]), string(uid)
	}
	q := NewStatement(l.source.Dialect).Add(Select+" WHERE substr(e.subject, length(e.subject) - 15) ? AND e.subject ? AND e.id >= ?"+
		" AND e.denied = '' AND (e.type = ? OR e.type = ? AND "+changesCapabilities+") ORDER BY e.xact, e.seq",
		ends, subjects, core.FirstEventID(since), events.RoleDeleted, events.RoleUpdated)
	err = l.source.Conn.Run(ctx, q.Build(Collect(&changes)))
	return changes, err
}

// changesCapabilities is the condition that an update of a role named its capabilities.
const changesCapabilities = `e.changes LIKE '%"field":"capabilities"%'`

// RecordedSince returns the time from which all events are stored.
func (l Log) RecordedSince(ctx context.Context) (since core.Time, err error) {
	q := table.NewStatement(l.source.Dialect).Add("SELECT r.purged_before FROM relay r WHERE r.id = 1")
	err = l.source.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var id string
		err := scan(&id)
		since = core.EventTime(id)
		return err
	}))
	return since, err
}
