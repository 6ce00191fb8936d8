package server

import (
	"context"
	"errors"
	"time"

	"atrium/platform"
	"atrium/platform/intake"
	"atrium/platform/webhooks"
	"atrium/store"
)

// A Status is what an operator wants to know of a database and of the servers that use it.
type Status struct {
	*store.Status
	Migrations []store.MigrationState
	Backlog    webhooks.Backlog
	Now        time.Time        // time of the database
	Sources    []*intake.Source // those that fail, and then those that were not read for longest
}

// ReadStatus reads the state of a database, and changes nothing in it, with at most most organizations and subscriptions. It returns an
// error if the schema is not that of this program.
func ReadStatus(ctx context.Context, url string, most int) (*Status, error) {
	migrations, err := store.Migrations(ctx, url)
	if err != nil {
		return nil, err
	}
	s, err := store.Open(ctx, url, store.Options{})
	if err != nil {
		return nil, err
	}
	status, err := readStatus(ctx, s, most)
	if err := errors.Join(err, s.Close()); err != nil {
		return nil, err
	}
	status.Migrations = migrations
	return status, nil
}

type statusReader interface {
	platform.Store
	Status(ctx context.Context, most int) (*store.Status, error)
}

func readStatus(ctx context.Context, s statusReader, most int) (*Status, error) {
	found, err := s.Status(ctx, most)
	if err != nil {
		return nil, err
	}
	backlog, err := webhooks.ReadBacklog(ctx, s)
	if err != nil {
		return nil, err
	}
	now, err := s.Now(ctx)
	if err != nil {
		return nil, err
	}
	read, err := s.Tables().Sources.AllSources(ctx, s, most)
	return &Status{Status: found, Backlog: backlog, Now: now.Time, Sources: read}, err
}
