package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"fmt"
	"math"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A Migrator migrates the schema of one database.
type Migrator struct {
	db       *sql.DB
	dialect  *Dialect
	provider *goose.Provider
	lock     MigrationLock
}

// A MigrationLock excludes other replicas until release is called.
type MigrationLock func(ctx context.Context) (release func(), err error)

// NewMigrator makes a Migrator, which owns db. Without a lock, a replica that conflicts
// with another one tries again, and finds what the other has done.
//
// The lock is not given to the library, which makes the table of its versions before
// it takes a lock.
func NewMigrator(db *sql.DB, dialect *Dialect, engine goose.Dialect, lock MigrationLock) (*Migrator, error) {
	migrations, err := migrations(dialect)
	if err != nil {
		return nil, err
	}
	provider, err := goose.NewProvider(engine, db, nil, goose.WithGoMigrations(migrations...), goose.WithDisableGlobalRegistry(true))
	if err != nil {
		return nil, err
	}
	return &Migrator{db, dialect, provider, lock}, nil
}

// afterSQL maps migration numbers to steps that cannot be written in SQL. They run
// after the file of the migration.
var afterSQL = map[int64]func(context.Context, *sql.Tx, *Dialect) error{
	6:  rekeyPatterns,
	12: rateAdvisories,
	14: fillSearchTexts,
	17: noteFixTimes,
	35: countDeprecated,
}

// onlineMigrations maps migration numbers to functions that run the file of the migration
// themselves, in steps beside running servers.
var onlineMigrations = map[int64]func(file string, dialect *Dialect) *goose.GoFunc{
	10: packUIDs,
	32: addScopeKeys,
	33: partitionEvents,
	34: partitionDeliveries,
	36: indexEventTypes,
}

// migrations reads the SQL files, adapted to a dialect.
func migrations(dialect *Dialect) ([]*goose.Migration, error) {
	files, err := listMigrations()
	if err != nil {
		return nil, err
	}
	var all []*goose.Migration
	for _, file := range files {
		text, err := migrationFiles.ReadFile(file.name)
		if err != nil {
			return nil, err
		}
		ddl := dialect.LimitLockWait + dialect.DDL.Replace(string(text))
		if change := onlineMigrations[file.version]; change != nil {
			all = append(all, goose.NewGoMigration(file.version, change(string(text), dialect), nil))
			continue
		}
		all = append(all, goose.NewGoMigration(file.version, &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, ddl)
			if then := afterSQL[file.version]; err == nil && then != nil {
				err = then(ctx, tx, dialect)
			}
			return err
		}}, nil))
	}
	return all, nil
}

// Up applies the pending migrations. Several replicas may call it at the same time.
func (m *Migrator) Up(ctx context.Context) error { return m.UpTo(ctx, math.MaxInt64) }

// UpTo applies the pending migrations up to a version, as an older program would
// have done.
func (m *Migrator) UpTo(ctx context.Context, version int64) error {
	if m.lock == nil {
		return m.tryUpTo(ctx, version)
	}
	release, err := m.lock(ctx)
	if err != nil {
		return err
	}
	defer release()
	_, err = m.provider.UpTo(ctx, version)
	return err
}

// migrationTries limits the attempts to migrate a database without a lock.
const migrationTries = 5

func (m *Migrator) tryUpTo(ctx context.Context, version int64) error {
	for try := 1; ; try++ {
		_, err := m.provider.UpTo(ctx, version)
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

// MakeSearchIndexes creates the indexes of searches that the database lacks.
func (m *Migrator) MakeSearchIndexes(ctx context.Context) error {
	if m.dialect.Trigrams {
		return nil
	}
	for _, sql := range searchIndexes() {
		if _, err := m.db.ExecContext(ctx, sql); err != nil {
			return fmt.Errorf("make the search index; those that exist remain, and the next migrate up makes the others: %w", err)
		}
	}
	return nil
}

// MigrationState describes one migration.
type MigrationState struct {
	Version   int64
	Name      string // name of what the migration does, such as uid_bytes
	Applied   bool
	AppliedAt time.Time // zero means that the migration is not applied
}

// Status lists all migrations in order.
func (m *Migrator) Status(ctx context.Context) ([]MigrationState, error) {
	found, err := m.provider.Status(ctx)
	if err != nil {
		return nil, err
	}
	names, err := migrationNames()
	if err != nil {
		return nil, err
	}
	states := make([]MigrationState, len(found))
	for i, s := range found {
		states[i] = MigrationState{s.Source.Version, names[s.Source.Version], s.State == goose.StateApplied, s.AppliedAt.UTC()}
	}
	return states, nil
}

// Close ends the connection.
func (m *Migrator) Close() error { return m.db.Close() }
