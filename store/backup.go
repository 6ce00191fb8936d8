package store

import (
	"context"
	"errors"
	"strings"

	"atrium/store/sqlite"
)

// errNotAFile is the answer to a wish that PostgreSQL has programs of its own
// for.
var errNotAFile = errors.New("backup and restore are for SQLite; use pg_dump and pg_restore with PostgreSQL, and then `atrium repair` (see the guide, Operating)")

// Backup copies an embedded database into a new file, beside a server that runs.
func Backup(ctx context.Context, url, to string) error {
	path, embedded := strings.CutPrefix(url, "sqlite:")
	if !embedded {
		return errNotAFile
	}
	return sqlite.Backup(ctx, path, to)
}

// CheckBackup reports whether a file can be restored: it is whole, and not of a
// newer program.
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

// PathOf gives the file of an embedded database.
func PathOf(url string) (string, error) {
	path, embedded := strings.CutPrefix(url, "sqlite:")
	if !embedded {
		return "", errNotAFile
	}
	return path, nil
}
