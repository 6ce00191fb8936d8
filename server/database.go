package server

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"atrium/auth"
	"atrium/demo"
	"atrium/events"
	"atrium/platform"
	"atrium/store"
	"atrium/store/dbfile"
	"atrium/telemetry"
)

// open takes the database for this server and prepares the platform over it,
// with its schema up to date.
func (c *Config) open(ctx context.Context) (p *platform.Platform, closeStore func(), err error) {
	release, err := store.Acquire(c.DatabaseURL)
	if err != nil {
		return nil, nil, err
	}
	s, p, err := c.prepare(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	c.warnOfExposed()
	return p, func() {
		_ = s.Close()
		_ = release() // the end of the process would do it too
	}, nil
}

func (c *Config) prepare(ctx context.Context) (platform.Store, *platform.Platform, error) {
	if c.Migrate {
		if err := Migrate(ctx, c.DatabaseURL, c.DirectURL); err != nil {
			return nil, nil, fmt.Errorf("migrate: %w", err)
		}
	}
	s, err := store.Open(ctx, c.DatabaseURL, store.Options{DirectURL: c.DirectURL, Logger: c.Logger, Observers: []store.Observer{c.recorder}})
	if err != nil {
		return nil, nil, err
	}
	if moved, err := s.MoveEvents(ctx); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	} else if moved {
		c.Logger.Warn("the database was restored into another server: the order of its events was repaired; run atrium repair to check the rest")
	}
	if err := c.warnOfSlowSearch(ctx, s); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	core := c.Core
	core.AllowIssuers = core.AllowIssuers || c.Development
	core.Observer = c.recorder
	c.Metrics.WatchPool(func() telemetry.Pool { return telemetry.Pool(s.Pool()) })
	core.PrivateSinks, core.IssuerFile = c.AllowHosts, auth.OrganisationFile(c.AllowHosts)
	p, err := platform.New(ctx, s, core)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return s, p, nil
}

// Migrate applies the missing migrations of a database and of its queue of
// deliveries. Several replicas may do it at once. It migrates by the direct URL, if
// there is one, because a pooler keeps limits for long statements away.
func Migrate(ctx context.Context, databaseURL, directURL string) error {
	if directURL != "" {
		if err := store.CheckDirect(ctx, databaseURL, directURL); err != nil {
			return err
		}
		databaseURL = directURL
	}
	if err := store.Migrate(ctx, databaseURL); err != nil {
		return err
	}
	return events.Migrate(ctx, databaseURL)
}

// warnOfExposed warns of files of the database that others may read, such as an
// older program has made.
func (c *Config) warnOfExposed() {
	path, embedded := strings.CutPrefix(c.DatabaseURL, "sqlite:")
	if !embedded {
		return
	}
	for _, file := range append(dbfile.FindExposed(path), dbfile.FindExposed(events.QueueFile(path))...) {
		c.Logger.Warn("others may read a file of the database, which holds keys: run chmod 600 on it", "file", file.Path, "mode", file.Mode.String())
	}
}

// warnOfSlowSearch warns of a PostgreSQL database without the index that searches
// need.
func (c *Config) warnOfSlowSearch(ctx context.Context, s interface {
	IsSearchIndexed(ctx context.Context) (bool, error)
}) error {
	indexed, err := s.IsSearchIndexed(ctx)
	if err == nil && !indexed {
		c.Logger.Warn("searches have no index and read every row of an organisation, for four seconds at most: have an administrator of the database run " +
			"CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin; and then run atrium migrate up")
	}
	return err
}

// development is what there is in development mode only.
type development struct {
	issuer       *auth.Issuer // its tokens are accepted
	organisation platform.UID // of the demonstration; "" in a database that has none
}

// development fills an empty database and makes the development issuer. Outside
// development mode it gives nil.
func (c *Config) development(ctx context.Context, p *platform.Platform) (*development, error) {
	if !c.Development {
		return nil, nil
	}
	c.Logger.Warn("development mode: whoever reads the database can make tokens for everything in it")
	if err := demo.Seed(ctx, p); err != nil {
		return nil, fmt.Errorf("demonstration data: %w", err)
	}
	organisation, err := demo.Organisation(ctx, p)
	if err != nil {
		return nil, err
	}
	issuer, err := DevelopmentIssuer(ctx, p)
	return &development{issuer, organisation}, err
}

// DevelopmentIssuer makes tokens for servers in development mode over the
// database of p, which keeps its key.
func DevelopmentIssuer(ctx context.Context, p *platform.Platform) (*auth.Issuer, error) {
	key, err := p.DevelopmentKey(ctx)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("no server has run on this database in development mode, whose key signs such tokens; run: atrium serve --dev")
	}
	return auth.NewDevelopmentIssuer(key, nil)
}
