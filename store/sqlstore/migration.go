package sqlstore

import (
	"context"
	"database/sql"
	"embed"
	"math"
	"time"

	"github.com/pressly/goose/v3"
)

//go:embed migrations/*.sql
var migrationFiles embed.FS

// A Migrator brings the schema of one database up to date.
type Migrator struct {
	db       *sql.DB
	dialect  *Dialect
	provider *goose.Provider
	tries    int
}

// NewMigrator makes a Migrator, which owns db. tries is how often it tries:
// once, where options lock other replicas out. Where nothing does, the one
// that lost finds on its next try what another has done meanwhile.
func NewMigrator(db *sql.DB, dialect *Dialect, engine goose.Dialect, tries int, options ...goose.ProviderOption) (*Migrator, error) {
	migrations, err := migrations(dialect)
	if err != nil {
		return nil, err
	}
	options = append(options, goose.WithGoMigrations(migrations...), goose.WithDisableGlobalRegistry(true))
	provider, err := goose.NewProvider(engine, db, nil, options...)
	if err != nil {
		return nil, err
	}
	return &Migrator{db, dialect, provider, tries}, nil
}

// afterSQL is what a migration does beside its file, by its number: what SQL
// cannot say.
var afterSQL = map[int64]func(context.Context, *sql.Tx, *Dialect) error{
	6:  rekeyPatterns,
	12: rateAdvisories,
	14: fillSearchTexts,
	17: noteFixTimes,
}

// migrations reads the files of SQL, in the words of a dialect.
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
		ddl := dialect.DDL.Replace(string(text))
		if file.version == 10 {
			all = append(all, goose.NewGoMigration(file.version, packUIDs(string(text), dialect), nil))
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

// Up applies what is missing. Several replicas may do it at once.
func (m *Migrator) Up(ctx context.Context) error {
	if err := m.UpTo(ctx, math.MaxInt64); err != nil || m.dialect.Trigrams {
		return err
	}
	_, err := m.db.ExecContext(ctx, makeSearchIndex)
	return err
}

// UpTo applies what is missing up to a version, as an older program would have.
func (m *Migrator) UpTo(ctx context.Context, version int64) error {
	for try := 1; ; try++ {
		_, err := m.provider.UpTo(ctx, version)
		if err == nil || try == m.tries {
			return err
		}
		select {
		case <-time.After(time.Duration(try) * 100 * time.Millisecond):
		case <-ctx.Done():
			return err
		}
	}
}

// MigrationState tells of one migration.
type MigrationState struct {
	Version   int64
	Name      string // of what it does, such as uid_bytes
	Applied   bool
	AppliedAt time.Time // zero where it is not applied
}

// Status tells of every migration, in order.
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
