package dbconn

import (
	"context"
	"database/sql"
	"io/fs"
	"path"
	"strings"
	"time"

	"github.com/pressly/goose/v3"
)

// A Migrator migrates the schema of one database.
type Migrator struct {
	db       *sql.DB
	provider *goose.Provider
	lock     MigrationLock
}

// A MigrationLock excludes other replicas until release is called.
type MigrationLock func(ctx context.Context) (release func(), err error)

// NewMigrator makes a Migrator for the migrations in files. It owns db. Without a lock, a
// replica that conflicts with another one tries again, and finds what the other has done.
//
// The lock is not given to the library, which makes the table of its versions before
// it takes a lock.
func NewMigrator(db *sql.DB, engine goose.Dialect, files fs.FS, lock MigrationLock) (*Migrator, error) {
	provider, err := goose.NewProvider(engine, db, files, goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	return &Migrator{db, provider, lock}, nil
}

// Up applies the pending migrations. Several replicas may call it at the same time.
func (m *Migrator) Up(ctx context.Context) error {
	if m.lock == nil {
		return m.tryUp(ctx)
	}
	release, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, err = m.provider.Up(ctx)
	return err
}

// migrationTries limits the attempts to migrate a database without a lock.
const migrationTries = 5

func (m *Migrator) tryUp(ctx context.Context) error {
	for try := 1; ; try++ {
		_, err := m.provider.Up(ctx)
		if err == nil || try == migrationTries {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * 100 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
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

// Status lists all migrations in order.
func (m *Migrator) Status(ctx context.Context) ([]MigrationState, error) {
	found, err := m.provider.Status(ctx)
	if err != nil {
		return nil, err
	}
	states := make([]MigrationState, len(found))
	for i, s := range found {
		_, name, _ := strings.Cut(strings.TrimSuffix(path.Base(s.Source.Path), ".sql"), "_")
		states[i] = MigrationState{s.Source.Version, name, s.State == goose.StateApplied, s.AppliedAt.UTC()}
	}
	return states, nil
}

// Close ends the connection.
func (m *Migrator) Close() error { return m.db.Close() }
