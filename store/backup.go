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
	if err := sqlite.Check(ctx, from, from); err != nil {
		return err
	}
	return sqlite.Backup(ctx, from, to)
}

// CheckBackup fails unless the copy of a backup at path can be restored: it must be undamaged
// and not written by a newer version. Errors call it name.
func CheckBackup(ctx context.Context, path, name string) error {
	if err := sqlite.Check(ctx, path, name); err != nil {
		return err
	}
	states, err := Migrations(ctx, "sqlite:"+path)
	switch {
	case err != nil:
		return err
	case len(states) == 0 || !states[0].Applied:
		return errors.New(name + " is a SQLite database, but not one of Atrium; name a file that `atrium backup` made")
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
