package main

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atrium/internal/server"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store"
)

type migrateUpCommand struct{ databaseFlags }

func (c *migrateUpCommand) run(ctx context.Context, p program) error {
	report := func(step store.MigrationStep) {
		if step.Applied {
			_, _ = fmt.Fprintf(p.stdout, "%05d %-14s applied in %s\n", step.Version, step.Name, step.Took.Round(time.Millisecond))
			return
		}
		_, _ = fmt.Fprintf(p.stdout, "%05d %-14s begins; %d pending\n", step.Version, step.Name, step.Pending)
	}
	if err := server.Migrate(ctx, c.DatabaseURL, c.DatabaseDirectURL, report); err != nil {
		return err
	}
	_, err := fmt.Fprintln(p.stdout, "the database is up to date")
	return err
}

type migrateStatusCommand struct {
	databaseFlags
	outputFlags
}

func (c *migrateStatusCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.outputFlags.check(f)
}

// Help returns the detailed help.
func (*migrateStatusCommand) Help() string {
	return `With -o json it is a list of objects: version (a number), name, applied, and appliedTime, which is left out while the migration is pending.`
}

// A reportedMigration is a migration for programs.
type reportedMigration struct {
	Version     int64     `json:"version"`
	Name        string    `json:"name"`
	Applied     bool      `json:"applied"`
	AppliedTime core.Time `json:"appliedTime,omitzero"`
}

func (c *migrateStatusCommand) run(ctx context.Context, p program) error {
	if err := c.exists(); err != nil {
		return err
	}
	migrations, refused := store.Migrations(ctx, c.DatabaseURL)
	if c.isJSON() {
		reported := []reportedMigration{}
		for _, m := range migrations {
			one := reportedMigration{Version: m.Version, Name: m.Name, Applied: m.Applied}
			if m.Applied {
				one.AppliedTime = core.At(m.AppliedAt)
			}
			reported = append(reported, one)
		}
		return errors.Join(writeJSON(p.stdout, reported), refused)
	}
	for _, m := range migrations {
		state := "pending"
		if m.Applied {
			state = "applied " + m.AppliedAt.Format(time.RFC3339)
		}
		if _, err := fmt.Fprintf(p.stdout, "%05d %-14s %s\n", m.Version, m.Name, state); err != nil {
			return err
		}
	}
	return refused
}

type recountCommand struct{ databaseFlags }

// Help returns the detailed help.
func (c *recountCommand) Help() string {
	return `Counts all rows, and corrects the counters that give the totals of lists. Servers may run meanwhile. Requests that create
or delete rows wait until the command has ended, and fail if they have waited too long. On SQLite, all changes wait.`
}

func (c *recountCommand) run(ctx context.Context, p program) error {
	db, err := c.openExisting(ctx, platform.Options{NoSecrets: true})
	if err != nil {
		return err
	}
	defer db.close()
	wrong, err := db.store.Recount(ctx)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "%d counters were corrected\n", wrong)
	return err
}
