package server

import (
	"context"
	"errors"
	"fmt"
	"time"

	"atrium/events"
	"atrium/platform"
	"atrium/store"
	"atrium/store/dbfile"
)

// A Repair is the result of checking a restored database.
type Repair struct {
	EventsMoved bool          // the order of events was that of another server
	Counters    int64         // that were wrong
	Newest      platform.Time // of the events; zero where there are none
	Kept        string        // where the database is that was replaced; ""
}

// RestoreOptions are the options of Restore.
type RestoreOptions struct {
	File        string // a backup
	DatabaseURL string // sqlite:PATH
	Key         []byte // that encrypts the secrets of the backup; nil: one that it holds
	Replace     bool   // a database that is there
	Exists      bool   // whether there is one
}

// Restore replaces an embedded database by a backup. It checks and repairs a copy of the
// backup first, so that a bad backup replaces nothing.
func Restore(ctx context.Context, o RestoreOptions) (*Repair, error) {
	path, err := store.PathOf(o.DatabaseURL)
	if err != nil {
		return nil, err
	}
	if o.Exists && !o.Replace {
		return nil, fmt.Errorf("the database %s exists already; use --replace to restore over it and keep it under another name", path)
	}
	release, err := store.Acquire(o.DatabaseURL)
	if err != nil {
		return nil, err
	}
	defer func() { _ = release() }()
	copied, err := dbfile.Copy(o.File, path)
	if err != nil {
		return nil, fmt.Errorf("copying the backup failed: %w", err)
	}
	defer dbfile.Remove(copied)
	repair, err := prepareCopy(ctx, copied, o.Key)
	if err != nil {
		return nil, err
	}
	suffix := time.Now().UTC().Format(".before-20060102-150405")
	if repair.Kept, err = dbfile.Replace(path, copied, suffix); err != nil {
		return nil, err
	}
	// The queue is made anew of the deliveries that have not ended: an older one
	// would lack some of them.
	return repair, dbfile.SetAside(events.QueueFile(path), suffix)
}

// prepareCopy checks the copy of a backup, brings it up to date and repairs it.
func prepareCopy(ctx context.Context, path string, key []byte) (*Repair, error) {
	if err := store.CheckBackup(ctx, path); err != nil {
		return nil, fmt.Errorf("the backup cannot be restored: %w", err)
	}
	url := "sqlite:" + path
	if err := store.Migrate(ctx, url); err != nil {
		return nil, err
	}
	repair, err := RepairDatabase(ctx, url, key)
	if err != nil {
		return nil, err
	}
	return repair, store.Backup(ctx, url, path) // without files beside it
}

// RepairDatabase checks a database after it was restored: that its keys, which
// also seal page tokens, can be read; that its counters are right; and that its
// events are in the order of the server that it is in now.
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

// newestEvent gives the time of the newest event.
func newestEvent(ctx context.Context, s platform.Store) (platform.Time, error) {
	at, found, err := s.EventPosition(ctx, "")
	if err != nil || !found {
		return platform.Time{}, err
	}
	at.Number--
	newest, err := s.EventsAfter(ctx, nil, at, 1)
	if err != nil || len(newest) == 0 {
		return platform.Time{}, err
	}
	return newest[0].Time, nil
}
