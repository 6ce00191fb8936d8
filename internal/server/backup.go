package server

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"atrium/store"
	"atrium/store/dbfile"
)

// Backup copies an embedded database into a file, while servers may use the database. It
// replaces an existing file only if overwrite is set, and never one of a database.
func Backup(ctx context.Context, databaseURL, to string, overwrite bool) error {
	path, err := store.PathOf(databaseURL)
	if err != nil {
		return err
	}
	if to == "" {
		return errors.New("the name of the backup is empty; name a file")
	}
	if folder := filepath.Dir(to); !isFolder(folder) {
		return fmt.Errorf("there is no folder %s", folder)
	}
	if dbfile.IsFileOf(path, to) {
		return fmt.Errorf("the file %s belongs to the database; name another", to)
	}
	if err := checkReplaceable(to, overwrite); err != nil {
		return err
	}
	if err := store.Backup(ctx, databaseURL, to); err != nil {
		return fmt.Errorf("cannot create the backup %s: %w", to, err)
	}
	return nil
}

// checkReplaceable fails if a backup must not be written to a path.
func checkReplaceable(to string, overwrite bool) error {
	if side, found := dbfile.FindLog(to); found {
		return fmt.Errorf("%s is a database that a program uses, or its last changes are in %s; name another file", to, side)
	}
	_, missing := os.Lstat(to) // of a symbolic link too, because the backup replaces it
	if errors.Is(missing, fs.ErrNotExist) {
		return nil
	}
	if info, err := os.Stat(to); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("%s is not a regular file; name another", to)
	}
	if !overwrite {
		return fmt.Errorf("the file %s already exists; name another, or add --overwrite", to)
	}
	return nil
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
