// Package store opens the store that a URL names.
// It only selects the engine. It must not contain SQL or rules.
package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"

	"atrium/store/dbfile"
	"atrium/store/pgpool"
	"atrium/store/postgres"
	"atrium/store/sqlite"
	"atrium/store/sqlstore"
	"atrium/store/sqlstore/dbconn"
)

// Options are the settings of a store. The zero value is valid.
type Options struct {
	// MaxConnections is the size of the pool on PostgreSQL, unless the URL has
	// pool_max_conns; 0 means four times the cores.
	MaxConnections int32
	// QueryMode is pgx's default_query_exec_mode on PostgreSQL; "" means the best one
	// that works.
	QueryMode string
	// DirectURL leads past a pooler to the same PostgreSQL database; "" if there
	// is none.
	DirectURL string
	// ReadURLs lead to streaming standbys of the PostgreSQL database, which answer reads.
	ReadURLs []string
	// Logger receives what a pooler does not support, and which standbys answer; nil
	// discards these messages.
	Logger *slog.Logger
	// Credentials are asked for each new connection to PostgreSQL, by URL; without an entry,
	// those of the URL are used.
	Credentials map[string]Credentials
	// Version is that of the program, which the names of its connections to PostgreSQL have;
	// "" leaves it out.
	Version string
	// Observers are notified of each round trip to the database.
	Observers []dbconn.Observer
}

// Credentials return the user and the password of a new connection.
type Credentials = pgpool.Credentials

// SetPassword returns a PostgreSQL URL with another password.
func SetPassword(url, password string) (string, error) { return pgpool.SetPassword(url, password) }

// ReadCredentials returns the user and the password of a PostgreSQL URL.
func ReadCredentials(url string) (user, password string, err error) {
	return pgpool.ReadCredentials(url)
}

// Statement is one SQL statement that was sent.
type Statement = dbconn.Statement

// Observer is notified of each round trip to the database.
type Observer = dbconn.Observer

// StandbyState describes a standby.
type StandbyState = dbconn.StandbyState

// PoolState describes the use of the connections.
type PoolState = dbconn.PoolState

// Status is the state of the database, for its operator.
type Status = sqlstore.Status

// Open connects to postgres://... or sqlite:PATH. It fails if the schema is older or
// newer than this program; Migrate updates an older one.
func Open(ctx context.Context, url string, o Options) (*sqlstore.Store, error) {
	engine, err := open(ctx, url, o)
	if err != nil {
		return nil, err
	}
	s := sqlstore.New(engine, o.Observers...)
	if err := s.CheckSchema(ctx); err != nil {
		return nil, errors.Join(err, s.Close())
	}
	return s, nil
}

// Acquire locks an embedded database for one server until release is called.
// Two servers on one file would not notice each other's events. Acquire does nothing
// for PostgreSQL, which can serve many.
func Acquire(url string) (release func() error, err error) {
	if path, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
		return dbfile.Acquire(path)
	}
	return func() error { return nil }, nil
}

// TemporaryFolder returns the folder of an embedded database if the system has none for temporary files, and "" otherwise.
func TemporaryFolder(url string) string {
	if path, embedded := strings.CutPrefix(url, "sqlite:"); embedded {
		return dbfile.TemporaryFolder(path)
	}
	return ""
}

// Migrate migrates the schema to the version of this program. Several replicas may
// call it at the same time. It fails if a newer program has migrated the database. report,
// if it is not nil, is called before and after each migration.
func Migrate(ctx context.Context, url string, report func(MigrationStep)) error {
	return useMigrator(ctx, url, func(engine dbconn.Engine, m *dbconn.Migrator) error {
		m.Report = report
		s := sqlstore.New(engine)
		if err := s.CheckMigratable(ctx); err != nil {
			return err
		}
		if s.CheckSchema(ctx) != nil { // It lacks migrations. Otherwise, Migrate must not wait for a newer program that migrates.
			if err := m.Up(ctx); err != nil {
				return err
			}
		}
		return sqlstore.MakeSearchIndexes(ctx, engine.Dialect(), m)
	})
}

// CheckDirect fails unless a direct URL leads to the same PostgreSQL database and
// schema as the URL of a pooler.
func CheckDirect(ctx context.Context, url, directURL string) error {
	return pgpool.CheckDirect(ctx, url, directURL)
}

// HidePassword returns a URL with xxxxx in place of its passwords. isSafe is false if it is
// not known where in the URL a password is.
func HidePassword(url string) (shown string, isSafe bool) {
	if strings.HasPrefix(url, "sqlite:") {
		return url, true
	}
	return pgpool.HidePassword(url)
}

// MigrationStep says how far a migration of the schema is.
type MigrationStep = dbconn.MigrationStep

// MigrationState describes one migration.
type MigrationState = dbconn.MigrationState

// Migrations lists the migrations and whether they have been applied, and changes nothing. If a newer
// program has applied others, it returns both the list and an error.
func Migrations(ctx context.Context, url string) (states []MigrationState, err error) {
	err = useMigrator(ctx, url, func(engine dbconn.Engine, m *dbconn.Migrator) error {
		s := sqlstore.New(engine)
		migrated, err := s.IsMigrated(ctx)
		if err != nil {
			return err
		}
		if !migrated { // Asking for the status would make the table of migrations.
			states = m.ListAll()
			return nil
		}
		if states, err = m.Status(ctx); err != nil {
			return err
		}
		return s.CheckMigratable(ctx)
	})
	return states, err
}

// open opens the engine that a URL names.
func open(ctx context.Context, url string, o Options) (dbconn.Engine, error) {
	switch {
	case strings.HasPrefix(url, "postgres://"), strings.HasPrefix(url, "postgresql://"):
		return postgres.Open(ctx, url, postgres.Options{MaxConnections: o.MaxConnections, QueryMode: o.QueryMode, DirectURL: o.DirectURL, ReadURLs: o.ReadURLs, Logger: o.Logger, Credentials: o.Credentials, Version: o.Version})
	case strings.HasPrefix(url, "sqlite:"):
		if len(o.ReadURLs) > 0 {
			return nil, errors.New("a SQLite database has no standbys; remove --read-database-url, or use PostgreSQL")
		}
		return sqlite.Open(ctx, strings.TrimPrefix(url, "sqlite:"))
	default:
		return nil, errors.New("the database URL must start with postgres:// or sqlite:; correct --database-url")
	}
}

// useMigrator calls use with a Migrator, which it closes afterwards.
func useMigrator(ctx context.Context, url string, use func(dbconn.Engine, *dbconn.Migrator) error) error {
	engine, err := open(ctx, url, Options{})
	if err != nil {
		return err
	}
	defer func() { _ = engine.Close() }()
	m, err := engine.Migrator(sqlstore.Migrations(engine.Dialect()))
	if err != nil {
		return err
	}
	defer func() { _ = m.Close() }()
	return postgres.ExplainMigration(use(engine, m))
}
