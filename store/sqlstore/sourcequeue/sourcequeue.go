// Package sourcequeue has the statements about sources that are due, held or have run.
package sourcequeue

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/intake"
	"atrium/store/sqlstore/table"
)

// A Table is the table of sources.
type Table = table.Table[*intake.Source, *intake.SourceFilter]

// Queries has the statements.
type Queries struct{ sources Table }

// New returns the statements over the table of sources.
func New(sources Table) Queries { return Queries{sources} }

// DueSources lists sources that are due. A source that is not to be read has the zero time, and one of the operator an empty root.
func (Queries) DueSources(ctx context.Context, on core.Conn, now core.Time, of intake.Share, limit int) (due []core.UID, next core.Time, err error) {
	s := table.SourceOf(on)
	ready := table.NewStatement(s.Dialect).Add("SELECT t.uid FROM source t WHERE t.next_run_time > ? AND t.next_run_time <= ? AND t.lease_time <= ?", core.Time{}, now, now)
	if of.OfOperator {
		ready.Add(" AND t.root = ?", core.UID(""))
	} else {
		for _, root := range append([]core.UID{""}, of.Busy...) {
			ready.Add(" AND t.root <> ?", root)
		}
	}
	ready.Add(" ORDER BY t.next_run_time, t.uid LIMIT ?", int64(limit))
	later := table.NewStatement(s.Dialect).Add("SELECT t.next_run_time FROM source t WHERE t.next_run_time > ? ORDER BY t.next_run_time LIMIT 1", now)
	err = s.Conn.Run(ctx, ready.Build(func(scan func(...any) error) error {
		var uid core.UID
		err := scan(table.UIDOf(&uid))
		due = append(due, uid)
		return err
	}), later.Build(func(scan func(...any) error) error { return scan(table.TimeOf(&next)) }))
	return due, next, err
}

// RenewSources extends the leases of valid tickets. A process holds few.
func (Queries) RenewSources(ctx context.Context, in core.Tx, tickets []intake.Ticket, until core.Time) (valid []intake.Held, err error) {
	s := table.SourceOf(in)
	for _, t := range tickets {
		q := table.NewStatement(s.Dialect).Add("UPDATE source SET lease_time = ? WHERE uid = ? AND ticket = ? AND state = ? RETURNING cancel_asked", until, t.Source, t.Number, string(intake.Running))
		err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
			held := intake.Held{Ticket: t}
			err := scan(&held.IsCancelled)
			valid = append(valid, held)
			return err
		}))
		if err != nil {
			return nil, err
		}
	}
	return valid, nil
}

// AddRun stores the report of a run, and removes the oldest ones.
func (Queries) AddRun(ctx context.Context, in core.Tx, source core.UID, run *intake.SourceRun, keep int) error {
	s := table.SourceOf(in)
	add := table.NewStatement(s.Dialect).Add("INSERT INTO source_run (source, number, report) VALUES (?, ?, ?) ON CONFLICT (source, number) DO UPDATE SET report = excluded.report",
		source, int64(run.Number), table.JSONText(run))
	remove := table.NewStatement(s.Dialect).Add("DELETE FROM source_run WHERE source = ? AND number <= ?", source, int64(run.Number)-int64(keep))
	return s.Conn.Run(ctx, add.Build(nil), remove.Build(nil))
}

// Runs reads reports. The number of those of a source is limited by AddRun.
func (Queries) Runs(ctx context.Context, on core.Conn, of []core.UID) (map[core.UID][]*intake.SourceRun, error) {
	s := table.SourceOf(on)
	found := map[core.UID][]*intake.SourceRun{}
	q := table.NewStatement(s.Dialect).Add("SELECT r.source, r.report FROM source_run r WHERE r.source ? ORDER BY r.source, r.number DESC", table.UIDKeys(of))
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var uid core.UID
		run := &intake.SourceRun{}
		err := scan(table.UIDOf(&uid), table.JSONOf(run))
		found[uid] = append(found[uid], run)
		return err
	}))
	return found, err
}

// OperatorSources reads the sources without an organization.
func (q Queries) OperatorSources(ctx context.Context, on core.Conn) ([]*intake.Source, error) {
	return q.read(ctx, on, table.NewStatement(table.SourceOf(on).Dialect), func(s *table.Statement) { s.Add(" WHERE t.root = ? ORDER BY t.name", core.UID("")) })
}

// AllSources reads sources of everybody.
func (q Queries) AllSources(ctx context.Context, on core.Conn, limit int) ([]*intake.Source, error) {
	return q.read(ctx, on, table.NewStatement(table.SourceOf(on).Dialect), func(s *table.Statement) {
		s.Add(" ORDER BY (t.failures = 0), t.last_success_time, t.uid LIMIT ?", int64(limit))
	})
}

// read reads sources without their marks, of which a source can have a hundred kilobytes.
func (q Queries) read(ctx context.Context, on core.Conn, s *table.Statement, which func(*table.Statement)) (found []*intake.Source, err error) {
	all := q.sources.ProjectWithout(core.SourceMarks)
	which(s.Add("SELECT " + all.Selected + " FROM source t"))
	err = table.SourceOf(on).Conn.Run(ctx, s.Build(all.Collect(&found)))
	return found, err
}
