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

// databaseFlags say where the data is; every command but version has them.
type databaseFlags struct {
	DatabaseURL string `name:"database-url" secret:"" default:"${database_url}" help:"Database: sqlite:PATH or postgres://..."`

	DatabaseDirectURL string `name:"database-direct-url" secret:"" placeholder:"URL" help:"URL of the same PostgreSQL database that leads past a pooler (pgbouncer); for migrations and notifications."`
}

const defaultDatabaseURL = "sqlite:atrium.db"

func (d *databaseFlags) check(f *faults) {
	path, embedded := d.file()
	switch {
	case d.DatabaseDirectURL == "":
	case embedded:
		f.add("database-direct-url", "is for PostgreSQL")
	case !isPostgres(d.DatabaseDirectURL):
		f.add("database-direct-url", "must start with postgres://")
	}
	switch {
	case embedded && (path == "" || strings.Contains(path, ":memory:")):
		f.add("database-url", "must name a file, such as %s", defaultDatabaseURL)
	case !embedded && !isPostgres(d.DatabaseURL):
		// The URL is not shown: it may hold a password.
		f.add("database-url", "must start with sqlite: or postgres://")
	}
}

func isPostgres(url string) bool {
	return strings.HasPrefix(url, "postgres://") || strings.HasPrefix(url, "postgresql://")
}

// file is the path of an embedded database.
func (d *databaseFlags) file() (path string, embedded bool) {
	return strings.CutPrefix(d.DatabaseURL, "sqlite:")
}

// A database is an open store and the platform over it.
type database struct {
	*platform.Platform
	store platform.Store
}

// open prepares the platform over a database whose schema is up to date.
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

// openExisting is open for commands that have nothing to do in an empty
// database. They neither make one nor change its schema under a server.
func (d *databaseFlags) openExisting(ctx context.Context, o platform.Options) (*database, error) {
	if err := d.exists(); err != nil {
		return nil, err
	}
	return d.open(ctx, o)
}

// exists refuses a mistyped path, which must not become a new file.
func (d *databaseFlags) exists() error {
	if path, embedded := d.file(); embedded {
		if _, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("there is no database %s; create it with `atrium serve`, or name another with --database-url", path)
		}
	}
	return nil
}
