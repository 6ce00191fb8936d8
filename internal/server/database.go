package server

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"atrium/internal/auth"
	"atrium/internal/demo"
	"atrium/internal/telemetry"
	"atrium/internal/web"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/store"
	"atrium/store/dbfile"
)

// open opens the database, updates its schema if Migrate is set, and prepares the
// platform.
func (c *Config) open(ctx context.Context) (p *platform.Platform, closeStore func(), err error) {
	release, err := store.Acquire(c.DatabaseURL)
	if err != nil {
		return nil, nil, err
	}
	s, p, err := c.prepare(ctx)
	if err != nil {
		return nil, nil, errors.Join(err, release())
	}
	c.warnOfExposedFiles()
	return p, func() {
		_ = s.Close()
		_ = release() // the end of the process would do it too
	}, nil
}

func (c *Config) prepare(ctx context.Context) (platform.Store, *platform.Platform, error) {
	if c.Migrate {
		if err := Migrate(ctx, c.DatabaseURL, c.DirectURL, c.reportMigration); err != nil {
			return nil, nil, fmt.Errorf("migrate: %w", err)
		}
	}
	s, err := store.Open(ctx, c.DatabaseURL, store.Options{DirectURL: c.DirectURL, ReadURLs: c.ReadURLs, Credentials: c.Credentials, Logger: c.Logger, Version: c.Version, Observers: []store.Observer{c.recorder}})
	if err != nil {
		return nil, nil, err
	}
	if moved, err := s.MoveEvents(ctx); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	} else if moved {
		c.Logger.Warn("the database was restored into another server: the order of its events was repaired; run atrium admin repair to check the rest")
	}
	if err := c.warnOfSlowSearch(ctx, s); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	core := c.Core
	core.AllowIssuers = core.AllowIssuers || c.Development
	core.Observer, core.Mail = c.recorder, c.Mail != nil
	c.connections = s.ConnectionsForRequests()
	if c.MaxConcurrent == FitConcurrency {
		c.MaxConcurrent = slotsPerConnection * s.Pool().Max
	}
	c.Metrics.WatchPool(func() telemetry.Pool { return telemetry.Pool(s.Pool()) })
	if len(c.ReadURLs) > 0 {
		c.Metrics.WatchStandbys(func() ([]telemetry.Standby, map[string]int64) { return standbys(s) })
	}
	core.PrivateSinks, core.PrivateSources, core.IssuerFile = c.PrivateSinks, c.PrivateSources, auth.OrganizationFile(c.issuerGuard())
	p, err := platform.New(ctx, s, core)
	if err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	if c.Development {
		c.Logger.Warn("development mode: anyone who can read the database can create tokens for all of its data")
		if err := demo.Seed(ctx, p, s, core, c.visitorIssuer()); err != nil {
			return nil, nil, errors.Join(fmt.Errorf("demonstration data: %w", err), s.Close())
		}
	}
	c.Metrics.WatchBacklog(func() (telemetry.Backlog, error) { return backlog(p) })
	return s, p, nil
}

// visitorIssuer is who signs in the visitors of a demonstration; "" if nobody does.
func (c *Config) visitorIssuer() string {
	if !c.Demonstration || len(c.ConsoleProviders) == 0 {
		return ""
	}
	return c.ConsoleProviders[0].Issuer
}

// backlogTimeout limits how long a scrape waits for the backlog.
const backlogTimeout = 2 * time.Second

// backlog reads the backlog for the metrics. Every server does, because the one that should
// deliver may be missing.
func backlog(p *platform.Platform) (telemetry.Backlog, error) {
	ctx, cancel := context.WithTimeout(core.InBackground(context.Background()), backlogTimeout)
	defer cancel()
	found, err := p.Webhooks.Backlog(ctx)
	return telemetry.Backlog(found), err
}

// standbys returns the states of the standbys and the fallbacks for the metrics.
func standbys(s interface {
	Standbys() ([]store.StandbyState, map[string]int64)
}) ([]telemetry.Standby, map[string]int64) {
	states, fallbacks := s.Standbys()
	all := make([]telemetry.Standby, len(states))
	for i, one := range states {
		all[i] = telemetry.Standby(one)
	}
	return all, fallbacks
}

// Migrate applies the pending migrations of a database.
// Several replicas may call it at the same time. It uses the direct URL, if there is
// one, because a pooler prevents it from raising the time limits of statements. report, if
// it is not nil, is called before and after each migration.
func Migrate(ctx context.Context, databaseURL, directURL string, report func(store.MigrationStep)) error {
	if directURL != "" {
		if err := store.CheckDirect(ctx, databaseURL, directURL); err != nil {
			return err
		}
		databaseURL = directURL
	}
	return store.Migrate(ctx, databaseURL, report)
}

// reportMigration tells the operator how far a migration is, since a large database may take hours.
func (c *Config) reportMigration(step store.MigrationStep) {
	c.Metrics.NotePendingMigrations(step.Pending)
	if step.Applied {
		c.Logger.Info("a migration was applied", "version", step.Version, "name", step.Name, "ms", milliseconds(step.Took), "pending", step.Pending)
		return
	}
	c.Logger.Info("a migration begins", "version", step.Version, "name", step.Name, "pending", step.Pending)
}

// warnOfExposedFiles logs a warning if other users may read a file of the database. Older
// versions of the program created such files.
func (c *Config) warnOfExposedFiles() {
	path, embedded := strings.CutPrefix(c.DatabaseURL, "sqlite:")
	if !embedded {
		return
	}
	for _, file := range dbfile.FindExposed(path) {
		c.Logger.Warn("other users can read a database file, which contains keys; run chmod 600 on it", "file", file.Path, "mode", file.Mode.String())
	}
}

// warnOfSlowSearch warns of a PostgreSQL database without the index that searches
// need.
func (c *Config) warnOfSlowSearch(ctx context.Context, s interface {
	IsSearchIndexed(ctx context.Context) (bool, error)
}) error {
	indexed, err := s.IsSearchIndexed(ctx)
	if err == nil && !indexed {
		c.Logger.Warn("searches have no index and read every row of an organization, for at most four seconds: ask a database administrator to run " +
			"CREATE EXTENSION pg_trgm; CREATE EXTENSION btree_gin; and then run atrium admin migrate up")
	}
	return err
}

// development holds what exists only in development mode.
type development struct {
	issuer       *auth.Issuer // the issuer whose tokens are accepted
	organization core.UID     // the demonstration organization; "" if the database has none
	link         *web.SignInLink
}

// signInLink returns the link of a server in development mode, and nil for any other.
func (d *development) signInLink() *web.SignInLink {
	if d == nil {
		return nil
	}
	return d.link
}

var errNoDemonstration = errors.New("the database has data of other organizations, which development mode would open to anyone who can read the database; name another with --database-url")

// development creates the development issuer, and the link that signs in. It returns
// nil outside development mode.
func (c *Config) development(ctx context.Context, p *platform.Platform) (*development, error) {
	if !c.Development {
		return nil, nil
	}
	organization, err := demo.Organization(ctx, p)
	if err != nil {
		return nil, err
	}
	if c.Demonstration && organization == "" {
		return nil, errNoDemonstration
	}
	issuer, err := DevelopmentIssuer(ctx, p)
	return &development{issuer, organization, web.NewSignInLink()}, err
}

// DevelopmentIssuer returns the issuer of tokens for development servers on the
// database of p. Its key is stored in the database.
func DevelopmentIssuer(ctx context.Context, p *platform.Platform) (*auth.Issuer, error) {
	key, err := p.DevelopmentKey(ctx)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("the database has no key for development tokens, because no development server has used it; run: atrium serve --dev")
	}
	return auth.NewDevelopmentIssuer(key, nil)
}
