package sqlite

import (
	"errors"
	"fmt"

	"modernc.org/sqlite"
	lib "modernc.org/sqlite/lib"
)

// explainBackup explains in plain words why a backup cannot be read.
func explainBackup(name string, err error) error {
	var said *sqlite.Error
	if errors.As(err, &said) {
		switch said.Code() & 0xff {
		case lib.SQLITE_NOTADB:
			return fmt.Errorf("%s is not a SQLite database; name a file that `atrium admin backup` made", name)
		case lib.SQLITE_CORRUPT:
			return fmt.Errorf("the backup %s is damaged; restore another", name)
		}
	}
	return fmt.Errorf("cannot read the backup %s: %w", name, err)
}

// explainError explains in plain words why a file cannot be opened.
func explainError(path string, err error) error {
	var said *sqlite.Error
	if !errors.As(err, &said) {
		return fmt.Errorf("cannot open the database %s: %w", path, err)
	}
	switch said.Code() & 0xff {
	case lib.SQLITE_NOTADB:
		return fmt.Errorf("%s is not a SQLite database; name another file with --database-url", path)
	case lib.SQLITE_CANTOPEN:
		return fmt.Errorf("the database %s cannot be opened: it is a folder, or this user may not read and write it and its folder", path)
	case lib.SQLITE_READONLY:
		return fmt.Errorf("the database %s cannot be written: this user may only read it or its folder", path)
	case lib.SQLITE_CORRUPT:
		return fmt.Errorf("the database %s is damaged; restore a backup of it", path)
	case lib.SQLITE_BUSY, lib.SQLITE_LOCKED:
		return fmt.Errorf("the database %s is locked by another program; end that program, or its transaction", path)
	}
	return fmt.Errorf("cannot open the database %s: %w", path, err)
}
