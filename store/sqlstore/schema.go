package sqlstore

import (
	"context"
	"fmt"
	"io/fs"
	"slices"

	"github.com/pressly/goose/v3"

	"atrium/platform/core"
	"atrium/store/sqlstore/table"
)

// knownMigrations lists the numbers of the migrations that this program knows, in order. The
// first is 0, which stands for an empty database.
func (s tables) knownMigrations() ([]int64, error) {
	files, err := fs.Glob(Migrations(s.Dialect), "*.sql")
	if err != nil {
		return nil, err
	}
	known := []int64{0}
	for _, file := range files {
		version, err := goose.NumericComponent(file)
		if err != nil {
			return nil, fmt.Errorf("the migration %s: %w", file, err)
		}
		known = append(known, version)
	}
	return known, nil
}

// CheckSchema fails if the schema of the database is not that of this program.
// Another version may have migrated the database.
func (s tables) CheckSchema(ctx context.Context) error {
	return s.compareSchema(ctx, true)
}

// CheckMigratable fails if this program cannot migrate the database, because a newer
// version has migrated it.
func (s tables) CheckMigratable(ctx context.Context) error {
	return s.compareSchema(ctx, false)
}

// IsMigrated reports whether the database has any migration.
func (s tables) IsMigrated(ctx context.Context) (bool, error) {
	applied, err := s.appliedMigrations(ctx)
	return len(applied) > 1, err
}

// compareSchema fails if the database has a migration that this program does not know or,
// if complete is set, lacks one.
func (s tables) compareSchema(ctx context.Context, complete bool) error {
	known, err := s.knownMigrations()
	if err != nil {
		return err
	}
	applied, err := s.appliedMigrations(ctx)
	if err != nil {
		return err
	}
	program, database := known[len(known)-1], slices.Max(applied)
	if slices.ContainsFunc(applied, func(version int64) bool { return !slices.Contains(known, version) }) {
		return schemaError("The database has schema %05d, and this program supports schemas up to %05d. If a newer atrium has migrated the database, run that one, or restore an older backup. If a build before 0.1.0 created the database, no release can open it: begin with an empty database.", database, program)
	}
	if complete && slices.ContainsFunc(known, func(version int64) bool { return !slices.Contains(applied, version) }) {
		return schemaError("The database has schema %05d and this program needs schema %05d: run `atrium admin migrate up`, or `atrium serve` without --no-migrate.", database, program)
	}
	return nil
}

func schemaError(format string, versions ...any) error {
	return &core.Error{Code: core.CodeFailedPrecondition, Reason: "SCHEMA_MISMATCH", Message: fmt.Sprintf(format, versions...)}
}

// appliedMigrations lists the migrations that the database has. The first is 0,
// which stands for an empty database.
//
// It checks whether the table exists before it reads it: another starting replica
// can create the table between two statements, and nobody ever drops it.
func (s tables) appliedMigrations(ctx context.Context) ([]int64, error) {
	applied, exists := []int64{0}, false
	q := table.NewStatement(s.Dialect).Add(s.Dialect.TableExists, "goose_db_version")
	err := s.Conn.Run(ctx, q.Build(func(func(...any) error) error { exists = true; return nil }))
	if err != nil || !exists {
		return applied, err
	}
	q = table.NewStatement(s.Dialect).Add("SELECT version_id FROM goose_db_version WHERE is_applied AND version_id > 0 ORDER BY version_id")
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		var version int64
		err := scan(&version)
		applied = append(applied, version)
		return err
	}))
	return applied, err
}
