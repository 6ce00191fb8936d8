package sqlite

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
)

// Backup copies a consistent state of the database into a new file that only its
// owner may read. The database can be used in the meantime.
func Backup(ctx context.Context, path, to string) error {
	made, err := os.CreateTemp(filepath.Dir(to), ".backup-*.db") // with mode 0600
	if err != nil {
		return fmt.Errorf("cannot create the backup %s: %w", to, errors.Unwrap(err))
	}
	defer func() { _ = os.Remove(made.Name()) }()
	if err := made.Close(); err != nil {
		return err
	}
	if err := copyInto(ctx, path, made.Name()); err != nil {
		return fmt.Errorf("cannot create the backup %s: %w", to, err)
	}
	if err := syncFile(made.Name()); err != nil {
		return err
	}
	return os.Rename(made.Name(), to)
}

// copyInto copies the database into an empty file, in one read transaction.
func copyInto(ctx context.Context, path, to string) error {
	db, err := connect(path, "")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	_, err = db.ExecContext(ctx, "VACUUM INTO ?", to)
	return err
}

// syncFile flushes a file to disk, so that it survives a power failure.
func syncFile(path string) error {
	file, err := os.OpenFile(path, os.O_RDWR, 0)
	if err != nil {
		return err
	}
	return errors.Join(file.Sync(), file.Close())
}

// Check fails if a file is damaged or is not a SQLite database.
func Check(ctx context.Context, path string) error {
	db, err := connect(path, "&_pragma=query_only(1)")
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	result := ""
	if err := db.QueryRowContext(ctx, "PRAGMA integrity_check(1)").Scan(&result); err != nil {
		return explainError(path, err)
	}
	if result != "ok" {
		return fmt.Errorf("%s is damaged: %s", path, result)
	}
	return nil
}
