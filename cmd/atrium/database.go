package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"

	"atrium/platform"
	"atrium/store"
)

// databaseFlags name the database.
type databaseFlags struct {
	DatabaseURL string `name:"database-url" group:"Database:" secret:"" default:"${database_url}" help:"Database: sqlite:PATH or postgres://..."`

	DatabasePasswordCommand string `name:"database-password-command" group:"Database:" placeholder:"COMMAND" help:"Command that prints the password for the PostgreSQL URLs, such as a short-lived token of a cloud provider; spaces separate its arguments. It runs before a connection is opened, at most once a minute."`

	DatabaseDirectURL string `name:"database-direct-url" group:"Database:" secret:"" placeholder:"URL" help:"URL of the same PostgreSQL database that bypasses a connection pooler (PgBouncer); for migrations and notifications."`
}

const defaultDatabaseURL = "sqlite:atrium.db"

func (d *databaseFlags) check(f *faults) {
	path, embedded := d.file()
	if embedded && d.DatabasePasswordCommand != "" {
		f.add("database-password-command", "needs a PostgreSQL database")
	}
	switch {
	case d.DatabaseDirectURL == "":
	case embedded:
		f.add("database-direct-url", "needs a PostgreSQL database")
	case !isPostgres(d.DatabaseDirectURL):
		f.add("database-direct-url", "must start with postgres://")
	}
	switch {
	case embedded && (path == "" || strings.Contains(path, ":memory:")):
		f.add("database-url", "must name a file, such as %s", defaultDatabaseURL)
	case !embedded && !isPostgres(d.DatabaseURL):
		// The message does not show the URL, because it may contain a password.
		f.add("database-url", "must start with sqlite: or postgres://")
	}
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// file returns the path of an embedded database. embedded is false for PostgreSQL.
func (d *databaseFlags) file() (path string, embedded bool) {
	return strings.CutPrefix(d.DatabaseURL, "sqlite:")
}

// A database is an open store with its platform.
type database struct {
	*platform.Platform
	store platform.Store
}

// open opens a database whose migrations have been applied. It fails if some are pending.
func (d *databaseFlags) open(ctx context.Context, o platform.Options) (*database, error) {
	s, err := store.Open(ctx, d.DatabaseURL, store.Options{})
	if err != nil {
		return nil, err
	}
	p, err := platform.New(ctx, s, o)
	if err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return &database{p, s}, nil
}

func (d *database) close() { _ = d.store.Close() }

// openExisting opens a database for commands that need existing data. It neither creates
// a database nor changes its schema, which a server may be using.
func (d *databaseFlags) openExisting(ctx context.Context, o platform.Options) (*database, error) {
	if err := d.exists(); err != nil {
		return nil, err
	}
	return d.open(ctx, o)
}

// exists fails if there is no database, or only an empty file. A mistyped path must not become a new file.
func (d *databaseFlags) exists() error {
	if path, embedded := d.file(); embedded {
		if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && info.Size() == 0 {
			return fmt.Errorf("there is no database %s; create it with `atrium admin migrate up`, or name another with --database-url", path)
		}
	}
	return nil
}
