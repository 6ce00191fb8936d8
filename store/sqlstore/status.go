package sqlstore

import (
	"context"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// A Status is the state of the database, for its operator. It shows all organizations.
type Status struct {
	Size     int64 // bytes
	Queued   int64 // deliveries that wait for an attempt
	Failing  int64 // subscriptions whose sink fails or that are disabled
	Tenants  []Tenant
	Sinks    []FailingSink
	Clients  []Client  // programs that are connected; nil if one process has the whole database
	Standbys []Standby // nil if there are none, or if the user may not see them
}

// A Tenant is an organization with the number of its rows of all kinds.
type Tenant struct {
	Organization core.UID
	Name         string
	Rows         int64
}

// A FailingSink is a subscription whose sink fails, or that was disabled.
type FailingSink struct {
	Subscription  core.UID
	Sink          string
	FailingSince  core.Time // zero if only Disabled is known
	Disabled      core.Time // zero if it still gets events
	DisableReason string
}

// A Client is a program that is connected to the database.
type Client struct {
	Name, Address string
	Connections   int64
	Since         core.Time // when its oldest connection began
}

// A Standby is a copy of the database, with the seconds by which it lags behind.
type Standby struct {
	Name, Address, State string
	Lag                  float64
}

// Status reads the state of the database: at most most tenants and sinks, the largest and the longest failing
// first. It reads the counters of all organizations and every subscription, so only the operator may call it.
func (s *Store) Status(ctx context.Context, most int) (*Status, error) {
	found := &Status{}
	const unwell = " FROM subscription s WHERE s.failing_since > ? OR s.disable_time > ?"
	never := core.Time{}
	one := func(into *int64, sql string, args ...any) *dbconn.Statement {
		return table.NewStatement(s.Dialect).AddSlow(sql, args...).Build(func(scan func(...any) error) error { return scan(into) })
	}
	run := []*dbconn.Statement{
		one(&found.Size, "SELECT "+s.Dialect.Size),
		one(&found.Queued, "SELECT COUNT(*) FROM delivery d WHERE d.stage = 1"),
		one(&found.Failing, "SELECT COUNT(*)"+unwell, never, never),
		s.largestTenants(most, &found.Tenants),
		table.NewStatement(s.Dialect).AddSlow("SELECT s.uid, s.sink, s.failing_since, s.disable_time, s.disable_reason"+unwell+" ORDER BY CASE WHEN s.failing_since > ? THEN s.failing_since ELSE s.disable_time END, s.uid LIMIT ?", never, never, never, int64(most)).
			Build(func(scan func(...any) error) error {
				var f FailingSink
				err := scan(table.UIDOf(&f.Subscription), &f.Sink, table.TimeOf(&f.FailingSince), table.TimeOf(&f.Disabled), &f.DisableReason)
				found.Sinks = append(found.Sinks, f)
				return err
			}),
	}
	if s.Dialect.Clients != "" {
		run = append(run, s.clients(&found.Clients), s.standbys(&found.Standbys))
	}
	if err := s.Conn.Run(ctx, run...); err != nil {
		return nil, err
	}
	return found, s.nameTenants(ctx, found.Tenants)
}

// nameTenants reads the names of organizations. One that was deleted meanwhile has none.
func (s *Store) nameTenants(ctx context.Context, tenants []Tenant) error {
	if len(tenants) == 0 {
		return nil
	}
	run := make([]*dbconn.Statement, len(tenants))
	for i := range tenants {
		run[i] = table.NewStatement(s.Dialect).Add("SELECT t.name FROM grp t WHERE t.uid = ?", tenants[i].Organization).
			Build(func(scan func(...any) error) error { return scan(&tenants[i].Name) })
	}
	return s.Conn.Run(ctx, run...)
}

// largestTenants reads the organizations that have most rows. The scope of an organization
// is its UID in hex digits; such a UID without an organization is a library, which has only versions.
func (s *Store) largestTenants(most int, into *[]Tenant) *dbconn.Statement {
	q := table.NewStatement(s.Dialect).AddSlow("SELECT c.scope, CAST(SUM(c.n) AS BIGINT) FROM counter c WHERE LENGTH(c.scope) = ? AND c.kind <> ? GROUP BY c.scope ORDER BY 2 DESC, 1 LIMIT ?", int64(2*table.RootLength), int64(artifactVersions.Number), int64(most))
	return q.Build(func(scan func(...any) error) error {
		var scope string
		var t Tenant
		err := scan(&scope, &t.Rows)
		t.Organization = core.UID(scope)
		*into = append(*into, t)
		return err
	})
}

func (s *Store) clients(into *[]Client) *dbconn.Statement {
	return table.NewStatement(s.Dialect).Add(s.Dialect.Clients).Build(func(scan func(...any) error) error {
		var c Client
		err := scan(&c.Name, &c.Address, &c.Connections, table.TimeOf(&c.Since))
		*into = append(*into, c)
		return err
	})
}

func (s *Store) standbys(into *[]Standby) *dbconn.Statement {
	return table.NewStatement(s.Dialect).Add(s.Dialect.Replication).Build(func(scan func(...any) error) error {
		var b Standby
		err := scan(&b.Name, &b.Address, &b.State, &b.Lag)
		*into = append(*into, b)
		return err
	})
}
