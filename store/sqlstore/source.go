package sqlstore

import (
	"atrium/platform/core"
	"atrium/platform/intake"
	"atrium/store/sqlstore/sourcequeue"
	"atrium/store/sqlstore/table"
)

var sources = table.New(&table.Definition[*intake.Source, *intake.SourceFilter]{
	Name:           "source",
	HasUniqueNames: true,
	UID:            func(s *intake.Source) core.UID { return s.UID },
	LiesIn:         parentUID,
	IsRootless:     core.UID.IsRoot,
	CostlyColumns:  map[string]table.CostlyColumn{"t.marks": {Field: core.SourceMarks}},
	Columns: []table.Column[*intake.Source]{
		{SQL: "t.uid", To: func(s *intake.Source) any { return table.UIDOf(&s.UID) }},
		{SQL: "t.name", Field: "name", To: func(s *intake.Source) any { return &s.Name }},
		{SQL: "t.type", To: func(s *intake.Source) any { return (*string)(&s.Type) }},
		{SQL: "t.url", Field: "url", To: func(s *intake.Source) any { return &s.URL }},
		{SQL: "t.ecosystems", Field: "ecosystems", To: func(s *intake.Source) any { return table.JSONOf(&s.Ecosystems) }},
		{SQL: "t.patterns", Field: "patterns", To: func(s *intake.Source) any { return table.JSONOf(&s.Patterns) }},
		{SQL: "t.prune", Field: "prune", To: func(s *intake.Source) any { return &s.Prune }},
		{SQL: "t.pause", Field: "interval", To: func(s *intake.Source) any { return (*int64)(&s.Interval) }},
		{SQL: "t.credentials", Field: "credentials", To: func(s *intake.Source) any { return table.JSONOf(&s.Credentials) }},
		{SQL: "t.password", Field: "password", To: func(s *intake.Source) any { return &s.EncryptedPassword }},
		{SQL: "t.paused", Field: "paused", To: func(s *intake.Source) any { return &s.Paused }},
		{SQL: "t.create_time", To: func(s *intake.Source) any { return table.TimeOf(&s.CreateTime) }},
		{SQL: "t.update_time", To: func(s *intake.Source) any { return table.TimeOf(&s.UpdateTime) }},
		{SQL: "t.state", Field: "state", To: func(s *intake.Source) any { return (*string)(&s.State) }},
		{SQL: "t.next_run_time", Field: "nextRunTime", To: func(s *intake.Source) any { return table.TimeOf(&s.NextRunTime) }},
		{SQL: "t.last_run_time", Field: "lastRunTime", To: func(s *intake.Source) any { return table.TimeOf(&s.LastRunTime) }},
		{SQL: "t.last_success_time", Field: "lastSuccessTime", To: func(s *intake.Source) any { return table.TimeOf(&s.LastSuccessTime) }},
		{SQL: "t.failing_since", Field: "failingSince", To: func(s *intake.Source) any { return table.TimeOf(&s.FailingSince) }},
		{SQL: "t.failures", Field: "failures", To: func(s *intake.Source) any { return &s.Failures }},
		{SQL: "t.last_run", Field: "lastRun", To: func(s *intake.Source) any { return table.JSONOf(&s.LastRun) }},
		{SQL: "t.marks", Field: "marks", To: func(s *intake.Source) any { return table.JSONOf(&s.Marks) }},
		{SQL: "t.ticket", Field: "ticket", To: func(s *intake.Source) any { return &s.Ticket }},
		{SQL: "t.lease_time", Field: "lease", To: func(s *intake.Source) any { return table.TimeOf(&s.Lease) }},
		{SQL: "t.cancel_asked", Field: "cancelAsked", To: func(s *intake.Source) any { return &s.CancelAsked }},
	},
	Where: func(f *intake.SourceFilter, s *table.Statement) {
		s.AddName(f.Name)
		if f.Type != "" {
			s.Add(" AND t.type = ?", string(f.Type))
		}
		if f.State != "" {
			s.Add(" AND t.state = ?", string(f.State))
		}
		s.AddChanged(&f.ChangeFilter)
	},
})

// sourceTables returns the sources and their queue.
func sourceTables() intake.Tables {
	return intake.Tables{Sources: sources, Queries: sourcequeue.New(sources)}
}
