package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Backup copies a consistent state of the database into a new file that only its
// owner may read. The database can be used in the meantime; only to open and to close it, Backup waits for
// its turn. If check rejects the copy, the file is not written. Errors do not name the new file.
func Backup(ctx context.Context, path, to string, check func(copied string) error) error {
	made, err := os.CreateTemp(filepath.Dir(to), ".backup-*.db") // with mode 0600
	if err != nil {
		return errors.Unwrap(err) // without the name of the temporary file
	}
	defer func() { _ = os.Remove(made.Name()) }()
	if err := made.Close(); err != nil {
		return err
	}
	if err := copyInto(ctx, path, made.Name()); err != nil {
		return err
	}
	if err := check(made.Name()); err != nil {
		return err
	}
	if err := syncFile(made.Name()); err != nil {
		return err
	}
	return os.Rename(made.Name(), to)
}

// copyInto copies the database into an empty file, in one read transaction.
func copyInto(ctx context.Context, path, to string) error {
	e, err := Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { _ = e.Close() }()
	if _, err = e.writer.ExecContext(ctx, "VACUUM INTO ?", to); err != nil {
		return explainError(path, err)
	}
	return nil
}

// syncFile flushes a file to disk, so that it survives a power failure.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Check fails if a backup is damaged or is not a SQLite database. Errors call it name, because
// the file at path may be a copy of it.
func Check(ctx context.Context, path, name string) error {
	db, err := connect(path, "&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	result := ""
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return explainBackup(name, err)
	}
	if result != "ok" {
		return fmt.Errorf("the backup %s is damaged: %s; restore another", name, result)
	}
	return nil
}
