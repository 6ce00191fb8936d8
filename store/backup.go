package store

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"atrium/store/sqlite"
	"atrium/store/sqlstore"
)

// errNotAFile is the error of backup and restore for PostgreSQL, which has its own
// tools for them.
var errNotAFile = errors.New("backup and restore are for SQLite; use pg_dump and pg_restore with PostgreSQL, and then `atrium admin repair` (see the guide, Back up and restore)")

// Backup copies an embedded database into a file. A server may use the database in the
// meantime. The file is not written if the database is not one of Atrium.
func Backup(ctx context.Context, url, to string) error {
	path, embedded := strings.CutPrefix(url, "sqlite:")
	if !embedded {
		return errNotAFile
	}
	if err := sqlite.CheckOrigin(ctx, path); err != nil {
		return err
	}
	return sqlite.Backup(ctx, path, to, func(copied string) error {
		return checkOrigin(ctx, copied, path, "name another with --database-url")
	})
}

// checkOrigin fails if the copy of a database is not one of Atrium. The error calls the
// database name, and ends with advice.
func checkOrigin(ctx context.Context, copied, name, advice string) error {
	engine, err := sqlite.OpenCopy(copied)
	if err != nil {
		return err
	}
	migrated, err := sqlstore.New(engine).IsMigrated(ctx)
	if err := errors.Join(err, engine.Close()); err != nil {
		return err
	}
	if !migrated {
		return fmt.Errorf("%s is a SQLite database, but not one of Atrium; %s", name, advice)
	}
	return nil
}

// adviseBackup says which file can be restored.
const adviseBackup = "name a file that `atrium admin backup` made"

// CopyWithLog copies a database file with the changes in its log, unless it is damaged. It
// replaces the file at to.
func CopyWithLog(ctx context.Context, from, to string) error {
	if err := sqlite.Check(ctx, from, from); err != nil {
		return err
	}
	return sqlite.Backup(ctx, from, to, func(copied string) error { return checkOrigin(ctx, copied, from, adviseBackup) })
}

// CheckBackup fails unless the copy of a backup at path can be restored: it must be undamaged
// and not written by a newer version. Errors call it name.
func CheckBackup(ctx context.Context, path, name string) error {
	if err := sqlite.Check(ctx, path, name); err != nil {
		return err
	}
	if err := checkOrigin(ctx, path, name, adviseBackup); err != nil {
		return err
	}
	_, err := Migrations(ctx, "sqlite:"+path)
	return err
}

// PathOf returns the path of the file of an embedded database.
func PathOf(url string) (string, error) {
	path, embedded := strings.CutPrefix(url, "sqlite:")
	if !embedded {
		return "", errNotAFile
	}
	return path, nil
}
