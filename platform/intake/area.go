package intake

import (
	"context"

	"atrium/platform/core"
	"atrium/platform/secrets"
)

// Options are the settings of sources.
type Options struct {
	Private  []string // host:port of sources that may have private addresses, use plain http, or use another port than 443
	Observer Observer
}

// An Observer receives measurements of runs. Its methods must return immediately.
type Observer interface {
	// SourceRan is called after each run, with the type of the source and what came of it.
	SourceRan(of string, run SourceRun)
}

// An Area has the operations on sources.
type Area struct {
	*core.Core
	tables  Tables
	options Options
	secrets *secrets.Secrets

	Sources Sources
}

// New returns the area.
func New(c *core.Core, tables Tables, secrets *secrets.Secrets, options Options) *Area {
	area := &Area{Core: c, tables: tables, secrets: secrets, options: options}
	rows := core.NewCollection(c, area.sourceKind(), sourceKeyFilter, tables.Sources)
	area.Sources = Sources{rows.Resources(), rows, area}
	return area
}

// Tables has the sources and their runs.
type Tables struct {
	Sources core.Table[*Source, *SourceFilter]
	Queries
}

// Queries read and write sources in other ways than a Table does.
type Queries interface {
	// DueSources lists sources of a share that are due and that no process holds, those first that have been due for longest. next is when
	// the first of the others is due, or zero.
	DueSources(ctx context.Context, on core.Conn, now core.Time, of Share, limit int) (due []core.UID, next core.Time, err error)
	// RenewSources extends leases, and returns those of the tickets that are still valid, with whether somebody wants their run to end.
	RenewSources(ctx context.Context, tx core.Tx, tickets []Ticket, until core.Time) ([]Held, error)

	// AddRun stores the report of a run, and removes the oldest of the source beyond a number.
	AddRun(ctx context.Context, tx core.Tx, source core.UID, run *SourceRun, keep int) error
	// Runs reads the reports of sources, the newest first.
	Runs(ctx context.Context, on core.Conn, sources []core.UID) (map[core.UID][]*SourceRun, error)

	// OperatorSources reads the sources that are for all organizations.
	OperatorSources(ctx context.Context, on core.Conn) ([]*Source, error)
	// AllSources reads up to limit sources of all organizations and of the operator, those first that fail, and then those that
	// were not read for longest.
	AllSources(ctx context.Context, on core.Conn, limit int) ([]*Source, error)
}
