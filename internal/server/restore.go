package server

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/store"
	"atrium/store/dbfile"
)

// A Repair is the result of checking a restored database.
type Repair struct {
	EventsMoved bool      // whether the events had the order of another server
	Counters    int64     // number of corrected counters
	Newest      core.Time // time of the newest event; zero if there is none
	Kept        string    // path of the replaced database; "" if there was none
}

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	File        string // the backup
	DatabaseURL string // sqlite:PATH
	Key         []byte // key that encrypts the secrets of the backup; nil means a key in the backup itself
	Replace     bool   // whether an existing database may be replaced
	Exists      bool   // whether a database exists
}

// Restore replaces an embedded database by a backup. It checks and repairs a copy of the
// backup first, so that a bad backup replaces nothing.
func Restore(ctx context.Context, o RestoreOptions) (*Repair, error) {
	path, err := store.PathOf(o.DatabaseURL)
	if err != nil {
		return nil, err
	}
	if o.Exists && !o.Replace {
		return nil, fmt.Errorf("the database %s already exists; use --replace to replace it and keep it under another name", path)
	}
	release, err := store.Acquire(o.DatabaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = release() }()
	if info, err := os.Stat(o.File); err == nil && !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s is not a regular file; name a file that `atrium admin backup` made", o.File)
	}
	// If the path is a symbolic link, the file that it leads to is replaced, and not the link.
	database := dbfile.Resolve(path)
	copied, err := copyBackup(ctx, o.File, database)
	if err != nil {
		return nil, fmt.Errorf("the backup cannot be restored: %w", err)
	}
	defer dbfile.Remove(copied)
	repair, err := prepareCopy(ctx, copied, o.File, o.Key)
	if err != nil {
		return nil, err
	}
	suffix := dbfile.FindSuffix(time.Now().UTC().Format(".before-20060102-150405"), database)
	if repair.Kept, err = dbfile.Replace(database, copied, suffix); err != nil {
		return nil, err
	}
	return repair, nil
}

// copyBackup copies a backup into the folder of a database. If the backup is a database with
// a log, SQLite reads both, so that the copy has the changes in the log.
func copyBackup(ctx context.Context, file, path string) (copied string, err error) {
	if copied, err = dbfile.Copy(file, path); err != nil {
		return "", err
	}
	if _, found := dbfile.FindLog(file); found {
		if err := store.CopyWithLog(ctx, file, copied); err != nil {
			dbfile.Remove(copied)
			return "", err
		}
	}
	return copied, nil
}

// prepareCopy checks the copy of a backup, applies pending migrations and repairs it. Errors
// name the backup, file, and not its copy.
func prepareCopy(ctx context.Context, path, file string, key []byte) (*Repair, error) {
	if err := store.CheckBackup(ctx, path, file); err != nil {
		return nil, fmt.Errorf("the backup cannot be restored: %w", err)
	}
	url := "sqlite:" + path
	if err := store.Migrate(ctx, url, nil); err != nil {
		return nil, err
	}
	repair, err := RepairDatabase(ctx, url, key)
	if err != nil {
		return nil, err
	}
	if err := store.Backup(ctx, url, path); err != nil { // without additional files
		return nil, fmt.Errorf("cannot copy the backup %s: %w", file, err)
	}
	return repair, nil
}

// RepairDatabase checks and repairs a restored database. Its keys, which also seal page
// tokens, must be readable, its counters must be correct, and its events must have the
// order of the database server that it is now on.
func RepairDatabase(ctx context.Context, url string, key []byte) (*Repair, error) {
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return nil, err
	}
	repair, err := repairStore(ctx, s, key)
	return repair, errors.Join(err, s.Close())
}

type repairable interface {
	platform.Store
	MoveEvents(ctx context.Context) (bool, error)
}

func repairStore(ctx context.Context, s repairable, key []byte) (*Repair, error) {
	if _, err := platform.New(ctx, s, platform.Options{EncryptionKey: key}); err != nil {
		return nil, err
	}
	var repair Repair
	var err error
	if repair.EventsMoved, err = s.MoveEvents(ctx); err != nil {
		return nil, err
	}
	if repair.Counters, err = s.Recount(ctx); err != nil {
		return nil, err
	}
	repair.Newest, err = newestEvent(ctx, s)
	return &repair, err
}

// newestEvent returns the time of the newest event, or zero if there is none.
func newestEvent(ctx context.Context, s platform.Store) (core.Time, error) {
	at, found, err := s.EventPosition(ctx, "")
	if err != nil || !found {
		return core.Time{}, err
	}
	newest, err := s.Tables().Events.EventsUpTo(ctx, s, nil, core.EventPosition{Transaction: at.Transaction, Number: at.Number - 1}, at, 1)
	if err != nil || len(newest) == 0 {
		return core.Time{}, err
	}
	return newest[0].Time, nil
}
