package eventlog

import (
	"encoding/json"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// A Log reads the log of events in other ways than feeds do.
type Log struct{ source table.Source }

// New returns the log of a database.
func New(source table.Source) Log { return Log{source} }

// What selects events, so that Collect scans them: Select is SelectTo, two columns of long texts, SelectFrom and the table.
const (
	Select     = SelectTo + "e.body, e.changes" + SelectFrom + "event e"
	SelectTo   = "SELECT e.xact, e.seq, e.id, e.type, e.subject, e.grp, e.actor, "
	SelectFrom = ", e.time, e.denied, e.times FROM "
)

// NewStatement begins a statement that reads events.
func NewStatement(d *dbconn.Dialect) *table.Statement {
	s := table.NewStatement(d)
	s.Plan = dbconn.PlanOnceAlways
	return s
}

// An ActorRow is what an event keeps of who made a change, and in what request.
type ActorRow struct {
	core.EventActor
	Cause string `json:"traceparent,omitempty"`
}

// Collect returns a function that appends the events that it scans.
func Collect(into *[]*core.Event) func(scan func(...any) error) error {
	return func(scan func(...any) error) error {
		e, body, changes := new(core.Event), "", ""
		var actor ActorRow
		err := scan(&e.Position.Transaction, &e.Position.Number, &e.ID, &e.Type, (*string)(&e.Subject), (*string)(&e.Group), table.JSONOf(&actor), &body, &changes, table.TimeOf(&e.Time), &e.Denied, &e.Count)
		e.Body, e.Actor, e.Cause = json.RawMessage(body), actor.EventActor, actor.Cause
		if err == nil && changes != "" {
			err = json.Unmarshal([]byte(changes), &e.Changes)
		}
		*into = append(*into, e)
		return err
	}
}
