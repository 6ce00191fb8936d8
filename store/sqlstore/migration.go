package sqlstore

import (
	"context"
	"embed"
	"fmt"
	"io/fs"

	"atrium/store/sqlstore/dbconn"
)

//go:embed migrations
var migrationFiles embed.FS

// Migrations returns the migrations of a dialect: the schema, and each change of it since
// the first release. CONTRIBUTING says how to write one.
func Migrations(d *dbconn.Dialect) fs.FS {
	files, err := fs.Sub(migrationFiles, "migrations/"+d.Migrations)
	if err != nil {
		panic(err) // The path is invalid.
	}
	return files
}

// MakeSearchIndexes creates the indexes of searches that the database lacks.
func MakeSearchIndexes(ctx context.Context, d *dbconn.Dialect, m *dbconn.Migrator) error {
	if d.Trigrams {
		return nil
	}
	for _, sql := range searchIndexes() {
		if err := m.Exec(ctx, sql); err != nil {
			return fmt.Errorf("make the search index; those that exist remain, and the next `atrium admin migrate up` makes the others: %w", err)
		}
	}
	return nil
}
