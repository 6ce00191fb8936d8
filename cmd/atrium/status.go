package main

import (
	"context"
	"fmt"
	"io"
	"text/tabwriter"
	"time"

	"atrium/internal/server"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

type statusCommand struct {
	databaseFlags
	outputFlags
	Most int `default:"10" help:"How many organizations, subscriptions and sources are listed at most."`
}

func (c *statusCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.outputFlags.check(f)
	if c.Most < 1 {
		f.add("most", "must be at least 1")
	}
}

// Help returns the detailed help.
func (*statusCommand) Help() string {
	return `Prints the state of the database, across all organizations: its schema and size, the programs that are connected to it and its
standbys (PostgreSQL, as far as the user of the URL may see them), what waits to be delivered, the organizations with the most rows,
the subscriptions whose sinks fail, and the sources that servers read: the ones that fail, and the ones that were not read for the longest time. Servers may run meanwhile.

With -o json it is an object: program, time, schema (version, name, appliedTime), databaseBytes, deliveries (waiting, lateSeconds), oldestEventSeconds,
failingSinks, failingSubscriptions (uid, host, failingSince, disableTime, disableReason), sources (uid, name, type, state, lastSuccessTime, nextRunTime,
failingSince, error, stale), organizations (uid, name, rows), programs (name, address, connections, since) and standbys (name, address, state,
lagSeconds). Lists are never null, ages are in seconds, and a time that is not known is left out.`
}

func (c *statusCommand) run(ctx context.Context, p program) error {
	if err := c.exists(); err != nil {
		return err
	}
	status, err := server.ReadStatus(ctx, c.DatabaseURL, c.Most)
	if err != nil {
		return err
	}
	if c.isJSON() {
		return writeJSON(p.stdout, newStatusReport(status))
	}
	newest := status.Migrations[len(status.Migrations)-1]
	table := tabwriter.NewWriter(p.stdout, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintf(table, "program\t%s\n", version)
	_, _ = fmt.Fprintf(table, "schema\t%05d %s, applied %s\n", newest.Version, newest.Name, newest.AppliedAt.Format(time.RFC3339))
	_, _ = fmt.Fprintf(table, "database\t%.1f MB\n", float64(status.Size)/1e6)
	_, _ = fmt.Fprintf(table, "deliveries\t%d wait; the first is late by %s\n", status.Queued, status.Backlog.Delivery.Round(time.Millisecond))
	_, _ = fmt.Fprintf(table, "events\tthe first that has not been relayed is %s old\n", status.Backlog.Event.Round(time.Millisecond))
	_, _ = fmt.Fprintf(table, "sinks\t%d fail or are disabled\n", status.Failing)
	printConnected(table, status)
	printLists(table, status)
	return table.Flush()
}

// printConnected prints the programs that are connected to the database, and its standbys.
func printConnected(table io.Writer, status *server.Status) {
	if len(status.Clients) > 0 {
		_, _ = fmt.Fprintln(table, "\nPROGRAM\tADDRESS\tCONNECTIONS\tSINCE")
	}
	for _, c := range status.Clients {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%s\n", c.Name, c.Address, c.Connections, c.Since)
	}
	if len(status.Standbys) > 0 {
		_, _ = fmt.Fprintln(table, "\nSTANDBY\tADDRESS\tSTATE\tLAG")
	}
	for _, s := range status.Standbys {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%.1f s\n", s.Name, s.Address, s.State, s.Lag)
	}
}

// printLists prints the largest organizations and the failing subscriptions.
func printLists(table io.Writer, status *server.Status) {
	_, _ = fmt.Fprintln(table, "\nORGANIZATION\tNAME\tROWS")
	for _, t := range status.Tenants {
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\n", t.Organization, t.Name, t.Rows)
	}
	if len(status.Sinks) > 0 {
		_, _ = fmt.Fprintln(table, "\nSUBSCRIPTION\tHOST\tFAILS SINCE\tDISABLED")
	}
	for _, s := range status.Sinks {
		since, disabled := "", ""
		if !s.FailingSince.IsZero() {
			since = s.FailingSince.String()
		}
		if !s.Disabled.IsZero() {
			disabled = s.Disabled.String() + " " + s.DisableReason
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\n", s.Subscription, webhooks.SinkHost(s.Sink), since, disabled)
	}
	if len(status.Sources) > 0 {
		_, _ = fmt.Fprintln(table, "\nSOURCE\tNAME\tTYPE\tSTATE\tLAST READ\tERROR")
	}
	for _, s := range newReportedSources(status) {
		read, state := "never", s.State
		if !s.LastSuccessTime.IsZero() {
			read = s.LastSuccessTime.String()
		}
		if s.Stale {
			state += ", old"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%s\t%s\t%s\t%s\n", s.UID, s.Name, s.Type, state, read, s.Error)
	}
}

// A statusReport is the page for programs.
type statusReport struct {
	Program       string               `json:"program"`
	Time          core.Time            `json:"time"`
	Schema        reportedSchema       `json:"schema"`
	DatabaseBytes int64                `json:"databaseBytes"`
	Deliveries    reportedDeliveries   `json:"deliveries"`
	EventSeconds  float64              `json:"oldestEventSeconds"`
	FailingSinks  int64                `json:"failingSinks"`
	Subscriptions []reportedSink       `json:"failingSubscriptions"`
	Sources       []reportedSource     `json:"sources"`
	Organizations []reportedTenant     `json:"organizations"`
	Programs      []reportedConnection `json:"programs"`
	Standbys      []reportedStandby    `json:"standbys"`
}

type reportedSchema struct {
	Version int64     `json:"version"`
	Name    string    `json:"name"`
	Applied core.Time `json:"appliedTime"`
}

type reportedDeliveries struct {
	Waiting     int64   `json:"waiting"`
	LateSeconds float64 `json:"lateSeconds"`
}

type reportedSink struct {
	UID           core.UID  `json:"uid"`
	Host          string    `json:"host"`
	FailingSince  core.Time `json:"failingSince,omitzero"`
	DisableTime   core.Time `json:"disableTime,omitzero"`
	DisableReason string    `json:"disableReason,omitempty"`
}

type reportedSource struct {
	UID             core.UID  `json:"uid"` // without a group if it is for all organizations
	Name            string    `json:"name"`
	Type            string    `json:"type"`
	State           string    `json:"state"`
	LastSuccessTime core.Time `json:"lastSuccessTime,omitzero"`
	NextRunTime     core.Time `json:"nextRunTime,omitzero"`
	FailingSince    core.Time `json:"failingSince,omitzero"`
	Error           string    `json:"error,omitempty"`
	Stale           bool      `json:"stale"` // it was not read for three of its intervals
}

func newReportedSources(status *server.Status) []reportedSource {
	all := []reportedSource{}
	for _, s := range status.Sources {
		r := reportedSource{s.UID, s.Name, s.Type.Short(), s.State.Short(), s.LastSuccessTime, s.NextRunTime, s.FailingSince, "", s.IsStale(core.At(status.Now))}
		if s.LastRun != nil {
			r.Error = s.LastRun.Error
		}
		all = append(all, r)
	}
	return all
}

type reportedTenant struct {
	UID  core.UID `json:"uid"`
	Name string   `json:"name"`
	Rows int64    `json:"rows"`
}

type reportedConnection struct {
	Name        string    `json:"name"`
	Address     string    `json:"address"`
	Connections int64     `json:"connections"`
	Since       core.Time `json:"since,omitzero"`
}

type reportedStandby struct {
	Name       string  `json:"name"`
	Address    string  `json:"address"`
	State      string  `json:"state"`
	LagSeconds float64 `json:"lagSeconds"`
}

func newStatusReport(s *server.Status) statusReport {
	newest := s.Migrations[len(s.Migrations)-1]
	r := statusReport{
		Program: version, Time: core.At(s.Now),
		Schema:        reportedSchema{newest.Version, newest.Name, core.At(newest.AppliedAt)},
		DatabaseBytes: s.Size,
		Deliveries:    reportedDeliveries{s.Queued, s.Backlog.Delivery.Seconds()},
		EventSeconds:  s.Backlog.Event.Seconds(),
		FailingSinks:  s.Failing,
		Sources:       newReportedSources(s),
		Subscriptions: []reportedSink{}, Organizations: []reportedTenant{}, Programs: []reportedConnection{}, Standbys: []reportedStandby{},
	}
	for _, sink := range s.Sinks {
		r.Subscriptions = append(r.Subscriptions, reportedSink{sink.Subscription, webhooks.SinkHost(sink.Sink), sink.FailingSince, sink.Disabled, sink.DisableReason})
	}
	for _, t := range s.Tenants {
		r.Organizations = append(r.Organizations, reportedTenant{t.Organization, t.Name, t.Rows})
	}
	for _, c := range s.Clients {
		r.Programs = append(r.Programs, reportedConnection(c))
	}
	for _, b := range s.Standbys {
		r.Standbys = append(r.Standbys, reportedStandby{b.Name, b.Address, b.State, b.Lag})
	}
	return r
}
