package dbconn

import (
	"context"
	"database/sql"
	"io/fs"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// A Migrator migrates the schema of one database.
type Migrator struct {
	// Report, if it is not nil, is called before and after each migration.
	Report func(MigrationStep)

	db       *sql.DB
	provider *goose.Provider
	lock     MigrationLock
}

// A MigrationStep says how far a migration of the schema is.
type MigrationStep struct {
	Version int64
	Name    string
	Applied bool          // whether the migration has been applied, and not only begun
	Took    time.Duration // how long that took
	Pending int           // number of migrations that are not applied yet
}

// A MigrationLock excludes other replicas until release is called.
type MigrationLock func(ctx context.Context) (release func(), err error)

// NewMigrator makes a Migrator for the migrations in files. It owns db.
//
// The lock is not given to the library, which makes the table of its versions before
// it takes a lock.
func NewMigrator(db *sql.DB, engine goose.Dialect, files fs.FS, lock MigrationLock) (*Migrator, error) {
	provider, err := goose.NewProvider(engine, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	return &Migrator{db: db, provider: provider, lock: lock}, nil
}

// Up applies the pending migrations. Several replicas may call it at the same time.
func (m *Migrator) Up(ctx context.Context) error {
	release, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	return m.apply(ctx)
}

// apply applies the pending migrations, one after the other.
func (m *Migrator) apply(ctx context.Context) error {
	states, err := m.Status(ctx)
	if err != nil {
		return err
	}
	pending := slices.DeleteFunc(states, func(s MigrationState) bool { return s.Applied })
	for i, next := range pending {
		step := MigrationStep{Version: next.Version, Name: next.Name, Pending: len(pending) - i}
		m.report(step)
		start := time.Now()
		if _, err := m.provider.UpByOne(ctx); err != nil {
			return err
		}
		step.Applied, step.Took, step.Pending = true, time.Since(start), step.Pending-1
		m.report(step)
	}
	return nil
}

func (m *Migrator) report(step MigrationStep) {
	if m.Report != nil {
		m.Report(step)
	}
}

// Exec runs a statement, outside of any transaction.
func (m *Migrator) Exec(ctx context.Context, statement string) error {
	_, err := m.db.ExecContext(ctx, statement)
	return err
}

// MigrationState describes one migration.
type MigrationState struct {
	Version   int64
	Name      string // part of the file name after the number, such as schema
	Applied   bool
	AppliedAt time.Time // zero means that the migration is not applied
}

// ListAll lists all migrations in order, as those of a database without any.
func (m *Migrator) ListAll() []MigrationState {
	var states []MigrationState
	for _, s := range m.provider.ListSources() {
		_, name, _ := strings.Cut(strings.TrimSuffix(path.Base(s.Path), ".sql"), "_")
		states = append(states, MigrationState{Version: s.Version, Name: name})
	}
	return states
}

// Status lists all migrations in order. It makes the table of migrations, if the database has none.
func (m *Migrator) Status(ctx context.Context) ([]MigrationState, error) {
	found, err := m.provider.Status(ctx)
	if err != nil {
		return nil, err
	}
	states := m.ListAll()
	for i, s := range found {
		states[i].Applied, states[i].AppliedAt = s.State == goose.StateApplied, s.AppliedAt.UTC()
	}
	return states, nil
}

// Close ends the connection.
func (m *Migrator) Close() error { return m.db.Close() }
