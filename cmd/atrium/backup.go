package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"atrium/internal/server"
)

type backupCommand struct {
	databaseFlags
	File      string `arg:"" help:"File to create."`
	Overwrite bool   `help:"Replace the file if it exists."`

	BeforeUpgrade bool `help:"Back up into the folder FILE, once for each version of the program. Do nothing if there is no database yet, or with PostgreSQL."`
}

// Help returns the detailed help.
func (c *backupCommand) Help() string {
	return `Copies a consistent snapshot of a SQLite database into one file. A server may use the database meanwhile. The file contains
keys and secrets, so only its owner may read it. With PostgreSQL use pg_dump.

Example:
  atrium admin backup backups/$(date +%F).db

A service can run this before each start, so that a new version of the program backs up before it migrates:
  atrium admin backup --before-upgrade backups`
}

// prepareUpgrade finds the file for the backup before an upgrade. isNeeded is false if there is nothing to back up.
func (c *backupCommand) prepareUpgrade() (isNeeded bool, err error) {
	path, embedded := c.file()
	if !embedded {
		return false, nil
	}
	if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
		return false, nil
	}
	if err := os.MkdirAll(c.File, 0o700); err != nil {
		return false, errors.New(explainFileError(err))
	}
	c.File = filepath.Join(c.File, "before-"+version+".db")
	_, err = os.Stat(c.File)
	return errors.Is(err, fs.ErrNotExist), nil
}

func (c *backupCommand) run(ctx context.Context, p program) error {
	if c.BeforeUpgrade {
		if isNeeded, err := c.prepareUpgrade(); err != nil || !isNeeded {
			return err
		}
	}
	if err := c.exists(); err != nil {
		return err
	}
	if err := server.Backup(ctx, c.DatabaseURL, c.File, c.Overwrite); err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "backed up to %s (%d bytes)\n", c.File, info.Size())
	return err
}

type restoreCommand struct {
	databaseFlags
	keyFlags
	File    string `arg:"" help:"Backup to restore."`
	Replace bool   `help:"Replace an existing database, and keep it under another name."`
}

func (c *restoreCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyFlags.check(f)
}

// Help returns the detailed help.
func (c *restoreCommand) Help() string {
	return `Replaces the SQLite database of --database-url with a backup. Stop all servers that use the database first. The command checks
the backup, applies pending migrations to it and repairs it. If the backup is damaged, comes from a newer program or is
encrypted with another key, the command fails and replaces nothing.

Changes made after the backup are lost. Events that were delivered after it may be delivered again, with the same ce-id.
With PostgreSQL use pg_restore, and then atrium admin repair.`
}

func (c *restoreCommand) run(ctx context.Context, p program) error {
	if _, err := os.Stat(c.File); errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("there is no file %s", c.File)
	}
	path, _ := c.file()
	_, missing := os.Stat(path)
	repair, err := server.Restore(ctx, server.RestoreOptions{File: c.File, DatabaseURL: c.DatabaseURL, Key: c.key, Replace: c.Replace, Exists: missing == nil})
	if err != nil {
		return err
	}
	if repair.Kept != "" {
		if _, err := fmt.Fprintf(p.stdout, "the previous database is now %s\n", repair.Kept); err != nil {
			return err
		}
	}
	return writeRepair(p.stdout, repair)
}

type repairCommand struct {
	databaseFlags
	keyFlags
}

func (c *repairCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyFlags.check(f)
}

// Help returns the detailed help.
func (c *repairCommand) Help() string {
	return `Checks and repairs a database after pg_restore, before servers start. The command fails if it cannot read the keys, which
also seal page tokens. It corrects wrong counters, and changes the order of the events to that of the current PostgreSQL
server. A server repairs only the order of the events by itself when it starts.`
}

func (c *repairCommand) run(ctx context.Context, p program) error {
	if err := c.exists(); err != nil {
		return err
	}
	repair, err := server.RepairDatabase(ctx, c.DatabaseURL, c.key)
	if err != nil {
		return err
	}
	return writeRepair(p.stdout, repair)
}

func writeRepair(out io.Writer, r *server.Repair) error {
	newest := "there are no events"
	if !r.Newest.IsZero() {
		newest = "the newest event is of " + r.Newest.Format(time.RFC3339)
	}
	order := "in order"
	if r.EventsMoved {
		order = "moved into the order of this server"
	}
	_, err := fmt.Fprintf(out, "the keys can be read; %d counters were corrected; events are %s; %s\n", r.Counters, order, newest)
	return err
}
