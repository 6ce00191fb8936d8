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

	"atrium/server"
	"atrium/store"
)

type backupCommand struct {
	databaseFlags
	File      string `arg:"" help:"File to make."`
	Overwrite bool   `help:"Replace the file if it exists."`
}

// Help tells what the flags cannot.
func (c *backupCommand) Help() string {
	return `Copies a SQLite database into one file, as it is at one moment, while a server goes on using it. The file holds keys and
secrets, and only its owner may read it. The queue of deliveries (atrium.queue.db) is not part of it: a server makes it anew
of what the database says has not been delivered. With PostgreSQL use pg_dump.

Example:
  atrium backup backups/$(date +%F).db`
}

func (c *backupCommand) run(ctx context.Context, p program) error {
	if err := c.exists(); err != nil {
		return err
	}
	if _, err := os.Stat(c.File); err == nil && !c.Overwrite {
		return fmt.Errorf("there is a file %s already; name another, or add --overwrite", c.File)
	}
	if folder := filepath.Dir(c.File); !isFolder(folder) {
		return fmt.Errorf("there is no folder %s", folder)
	}
	if err := store.Backup(ctx, c.DatabaseURL, c.File); err != nil {
		return err
	}
	info, err := os.Stat(c.File)
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(p.stdout, "backed up into %s (%d bytes)\n", c.File, info.Size())
	return err
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}

type restoreCommand struct {
	databaseFlags
	keyFlags
	File    string `arg:"" help:"Backup to restore."`
	Replace bool   `help:"Restore over a database that is there, which is kept under another name."`
}

func (c *restoreCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyFlags.check(f)
}

// Help tells what the flags cannot.
func (c *restoreCommand) Help() string {
	return `Puts a backup of a SQLite database in the place of --database-url. No server may run on it. The backup is checked, brought
up to the schema of this program and repaired first; one that is damaged, of a newer program or encrypted with another key
replaces nothing.

What happened after the backup is gone. Events that were delivered after it may be delivered again, under the same ce-id.
With PostgreSQL use pg_restore, and then atrium repair.`
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
		if _, err := fmt.Fprintf(p.stdout, "the database that was there is now %s\n", repair.Kept); err != nil {
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

// Help tells what the flags cannot.
func (c *repairCommand) Help() string {
	return `Checks a database after pg_restore, before servers are started on it: that its keys, which also seal page tokens, can be
read; that its counters are right; and that its events are in the order of the PostgreSQL server that they are in now. What
is not is repaired. A server repairs the order of events by itself when it starts.`
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
