package sqlstore

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"time"

	"atrium/platform/core"
	"atrium/platform/events"
	"atrium/platform/inventory"
	"atrium/platform/reports"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/eventlog"
	"atrium/store/sqlstore/table"
)

// AdvisoryActivity counts, per step, the advisories that were published and
// those that were fixed, without withdrawn ones.
func (queries) AdvisoryActivity(ctx context.Context, on core.Conn, a core.ActivityQuery) (counts []reports.AdvisoryCount, err error) {
	s := tablesOf(on)
	add := func(step int, opened, fixed int64) {
		counts = append(counts, reports.AdvisoryCount{Step: step, Opened: opened, Fixed: fixed})
	}
	err = s.countIntervals(ctx, s.Reads, a, add, func(q *table.Statement, b core.Branch) {
		for i, of := range []struct{ column, counted string }{{"t.create_time", ", COUNT(*), 0"}, {"t.fix_time", ", 0, COUNT(*)"}} {
			if i > 0 {
				q.AddUnion()
			}
			addInterval(q, of.column, a)
			q.AddSlow(of.counted + " FROM advisory t WHERE ")
			advisories.AddMembers(q, b)
			q.Add(" AND "+of.column+" >= ? AND "+of.column+" < ? AND t.count_class > 0 GROUP BY 1", a.From, a.To)
		}
	})
	return counts, err
}

// FindingActivity sums the changes of the number of open findings per step, from the first one until now. It counts in quarters of
// an hour, which is exact for all zones of today.
func (queries) FindingActivity(ctx context.Context, on core.Conn, a core.ActivityQuery, scopes []core.Scope, add func(scope, step int, by inventory.OpenCounts)) error {
	s := tablesOf(on)
	places := dbconn.ParentColumn{Name: "scope"}
	var indices []int
	for i, scope := range scopes {
		for _, b := range scope.Branches {
			indices, places.Bytes = append(indices, i), append(places.Bytes, table.PackUID(b.UID))
		}
	}
	if len(indices) == 0 {
		return nil
	}
	first, length := quarterNumber(a.From), max(int64(a.Length/quarter), 1)
	q := table.NewStatement(s.Dialect).AddSlow("SELECT p.i, (t.quarter - ?) / ?", first, length)
	for rank := range len(inventory.OpenCounts{}) {
		q.Add(fmt.Sprintf(", CAST(SUM(t.r%d) AS BIGINT)", rank))
	}
	q.Add(" FROM " + q.Parents(places) + " CROSS JOIN open_finding_change t WHERE t.scope = p.scope")
	q.Add(" AND t.quarter >= ? GROUP BY 1, 2", first)
	return s.Reads.Run(ctx, q.Build(func(scan func(...any) error) error {
		var place, step int64
		var by inventory.OpenCounts
		if err := scan(&place, &step, &by[0], &by[1], &by[2], &by[3], &by[4], &by[5]); err != nil {
			return err
		}
		add(indices[place-1], int(step), by)
		return nil
	}))
}

// quarter is the time for which the changes of open findings are counted together. Days of all zones begin with one.
const quarter = 15 * time.Minute

// quarterNumber returns the number of quarters of an hour from 1970 until t.
func quarterNumber(t core.Time) int64 {
	return t.UTC().Truncate(quarter).Unix() / int64(quarter/time.Second)
}

// EventActivity counts, per step, the changes that were made and those that
// were denied.
func (s *Store) EventActivity(ctx context.Context, a core.ActivityQuery) (counts []events.EventCount, err error) {
	log := events.AuditQuery{Types: a.Types, From: core.FirstEventID(a.From), Before: core.FirstEventID(a.To)}
	add := func(step int, changes, denials int64) {
		counts = append(counts, events.EventCount{Step: step, Changes: changes, Denials: denials})
	}
	err = s.countIntervals(ctx, s.Conn, a, add, func(q *table.Statement, b core.Branch) {
		addInterval(q, "e.time", a)
		q.Plan = dbconn.PlanOnceAlways
		q.Add(", CAST(SUM(CASE WHEN e.denied = '' THEN 1 ELSE 0 END) AS BIGINT), CAST(SUM(CASE WHEN e.denied = '' THEN 0 ELSE e.times END) AS BIGINT) FROM event e WHERE ")
		eventlog.AddConditions(q, log, b)
		q.Add(" GROUP BY 1")
	})
	return counts, err
}

// addInterval begins a select with the number of the step that contains a time.
func addInterval(s *table.Statement, column string, a core.ActivityQuery) {
	s.Add("SELECT ")
	s.Add(s.Dialect.Intervals(column, s.Arg(a.From), strconv.Itoa(int(a.Length.Seconds()))))
}

// countIntervals counts each branch of a scope, and reads through conn. The function count adds
// a statement that selects steps and two counts of each, and add receives them.
func (s tables) countIntervals(ctx context.Context, conn dbconn.Conn, a core.ActivityQuery, add func(step int, first, second int64), count func(*table.Statement, core.Branch)) error {
	var run []*dbconn.Statement
	for branches := range slices.Chunk(a.Scope.Branches, table.MaxBranches) {
		q := table.NewStatement(s.Dialect)
		for i, b := range branches {
			if i > 0 {
				q.AddUnion()
			}
			count(q, b)
		}
		run = append(run, q.Build(func(scan func(...any) error) error {
			var step, first, second int64
			if err := scan(&step, &first, &second); err != nil {
				return err
			}
			add(int(step), first, second)
			return nil
		}))
	}
	if len(run) == 0 {
		return nil
	}
	return conn.Run(ctx, run...)
}
