package store

import (
	"context"
	"errors"
	"strings"

	"atrium/store/sqlite"
)

// errNotAFile is the error of backup and restore for PostgreSQL, which has its own
// tools for them.
var errNotAFile = errors.New("backup and restore are for SQLite; use pg_dump and pg_restore with PostgreSQL, and then `atrium repair` (see the guide, Operating)")

// Backup copies an embedded database into a new file. A server may use the
// database in the meantime.
func Backup(ctx context.Context, url, to string) error {
	path, embedded := strings.CutPrefix(url, "sqlite:")
	if !embedded {
		return errNotAFile
	}
	return sqlite.Backup(ctx, path, to)
}

// CopyWithLog copies a database file with the changes in its log, unless it is damaged. It
// replaces the file at to.
func CopyWithLog(ctx context.Context, from, to string) error {
	if err := sqlite.Check(ctx, from); err != nil {
		return err
	}
	return sqlite.Backup(ctx, from, to)
}

// CheckBackup fails unless a file can be restored: it must be undamaged and not
// written by a newer version.
func CheckBackup(ctx context.Context, path string) error {
	if err := sqlite.Check(ctx, path); err != nil {
		return err
	}
	states, err := Migrations(ctx, "sqlite:"+path)
	switch {
	case err != nil:
		return err
	case len(states) == 0 || !states[0].Applied:
		return errors.New(path + " is a SQLite database, but not one of Atrium")
	}
	return nil
}

// PathOf returns the path of the file of an embedded database.
func PathOf(url string) (string, error) {
	path, embedded := strings.CutPrefix(url, "sqlite:")
	if !embedded {
		return "", errNotAFile
	}
	return path, nil
}
