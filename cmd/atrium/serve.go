package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"slices"

	"atrium/auth"
	"atrium/events"
	"atrium/platform"
	"atrium/rest"
	"atrium/store"
	"atrium/store/dbfile"
)

type serveCommand struct {
	databaseFlags
	keyFlags
	graphqlFlags
	limitFlags
	answerFlags
	tlsFlags
	v1Flags
	webhookFlags
	Addr          string   `default:"127.0.0.1:8080" help:"Address to serve on."`
	Dev           bool     `help:"Development mode: demonstration data in an empty database, tokens by atrium token."`
	Audience      []string `default:"${audience}" help:"Name of this service in the aud of tokens; several may be given."`
	TrustIssuer   []string `placeholder:"URL" help:"Issuer to trust beside those that identities name; several may be given."`
	SharedIssuer  []string `sep:"none" placeholder:"URL=PATTERN" help:"Issuer of many tenants, and what matches the start of a subject up to the end of the tenant's name; several may be given. GitHub Actions and GitLab unless given."`
	AllowHost     []string `placeholder:"HOST" help:"Host, at any port or as HOST:PORT, that may be private or plain http as issuer and event sink; several may be given."`
	CORSOrigin    []string `name:"cors-origin" placeholder:"ORIGIN" help:"Origin of pages that may use the API beside the server's own; several may be given."`
	AllowSignup   bool     `help:"Let identities of an organisation make new ones."`
	ServiceDomain string   `default:"atrium.dev" help:"What the domain of errors ends in."`
	Migrate       bool     `default:"true" negatable:"" help:"Bring the database up to date first."`
	LogLevel      string   `default:"info" help:"debug, info, warn or error."`

	level  slog.Level
	shared []platform.SharedIssuer
}

// defaultAudience is what tokens for a server call it unless told otherwise.
const defaultAudience = "atrium"

func (c *serveCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyFlags.check(f)
	c.graphqlFlags.check(f)
	c.limitFlags.check(f)
	c.answerFlags.check(f)
	c.tlsFlags.check(f)
	c.v1Flags.check(f)
	c.webhookFlags.check(f)
	checkAddress(f, "addr", c.Addr)
	if len(c.Audience) == 0 || slices.Contains(c.Audience, "") {
		f.add("audience", "must not be empty")
	}
	for _, issuer := range c.TrustIssuer {
		checkIssuer(f, "trust-issuer", issuer)
	}
	for _, text := range c.SharedIssuer {
		c.shared = append(c.shared, sharedIssuer(f, "shared-issuer", text))
	}
	for _, host := range c.AllowHost {
		checkHost(f, "allow-host", host)
	}
	for _, origin := range c.CORSOrigin {
		checkOrigin(f, "cors-origin", origin)
	}
	if !domainPattern.MatchString(c.ServiceDomain) {
		f.add("service-domain", "must be a domain name in lower case")
	}
	if c.level.UnmarshalText([]byte(c.LogLevel)) != nil {
		f.add("log-level", "must be debug, info, warn or error")
	}
}

// run serves until ctx ends.
func (c *serveCommand) run(ctx context.Context, p program) error {
	logger := slog.New(slog.NewJSONHandler(p.stderr, &slog.HandlerOptions{Level: c.level}))
	last := &shutdown{within: shutdownTimeout, logger: logger}
	return last.bound(ctx, func(ctx context.Context, end func()) error { return c.serve(ctx, end, p, last, logger) })
}

// serve serves until ctx ends. It calls end where it ends by itself.
func (c *serveCommand) serve(ctx context.Context, end func(), p program, last *shutdown, logger *slog.Logger) error {
	ended := last.begin("connections to the database")
	defer ended()
	if !c.Migrate { // which would make a database
		if err := c.exists(); err != nil {
			return err
		}
	}
	release, err := store.Take(c.DatabaseURL)
	if err != nil {
		return err
	}
	defer func() { _ = release() }() // the end of the process would do it too
	db, err := c.prepare(ctx, logger)
	if err != nil {
		return err
	}
	defer db.close()
	c.warnOfExposed(logger)
	dev, err := c.development(ctx, db, logger)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Addr)
	if err != nil {
		return err
	}
	deliver, err := c.delivery(ctx, db, listener.Addr(), logger)
	if err == nil {
		err = c.greet(p, dev, listener.Addr())
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	c.boundMemory()
	closing := make(chan struct{})
	handler := c.handler(db, dev, c.issuer(listener.Addr()), closing, logger)
	defer last.background(ctx, "work beside requests", db.Run)()
	defer last.background(ctx, "the delivery of webhooks", deliver)()
	defer end()
	if c.certificate == nil {
		listener = refusingListener{listener, c.ServiceDomain}
	}
	return serve(ctx, listener, newServer(handler, c.certificate, logger), func() { close(closing) }, logger)
}

// warnOfExposed warns of files of the database that others may read, such as an
// older program has made.
func (c *serveCommand) warnOfExposed(logger *slog.Logger) {
	path, embedded := c.file()
	if !embedded {
		return
	}
	for _, file := range append(dbfile.FindExposed(path), dbfile.FindExposed(events.QueueFile(path))...) {
		logger.Warn("others may read a file of the database, which holds keys: run chmod 600 on it", "file", file.Path, "mode", file.Mode.String())
	}
}

// prepare opens the database, with its schema up to date.
func (c *serveCommand) prepare(ctx context.Context, logger *slog.Logger) (*database, error) {
	if c.Migrate {
		if err := c.migrate(ctx); err != nil {
			return nil, fmt.Errorf("migrate: %w", err)
		}
	}
	return c.open(ctx, platform.Options{
		AllowSignup: c.AllowSignup, EncryptionKey: c.key, PrivateSinks: c.AllowHost, SinkPorts: c.SinkPort, Logger: logger,
		AuditRetention: c.AuditRetention, DeliveryRetention: c.DeliveryRetention,
		AllowIssuers: c.Dev, SharedIssuers: c.shared, IssuerFile: auth.OrganisationFile(c.AllowHost),
	})
}

// development is what there is in development mode only.
type development struct {
	issuer       *auth.Issuer // its tokens are good then
	organisation platform.UID // of the demonstration; "" in a database that has none
}

// development switches development mode on and fills an empty database.
// Without --dev it gives nil.
func (c *serveCommand) development(ctx context.Context, db *database, logger *slog.Logger) (*development, error) {
	if !c.Dev {
		return nil, nil
	}
	logger.Warn("development mode: whoever reads the database can make tokens for everything in it")
	if err := seedDemo(ctx, db.Platform); err != nil {
		return nil, fmt.Errorf("demonstration data: %w", err)
	}
	organisation, err := demoOrganisation(ctx, db.Platform)
	if err != nil {
		return nil, err
	}
	issuer, err := developmentIssuer(ctx, db.Platform)
	return &development{issuer, organisation}, err
}

func developmentIssuer(ctx context.Context, p *platform.Platform) (*auth.Issuer, error) {
	key, err := p.DevelopmentKey(ctx)
	if err != nil {
		return nil, err
	}
	if key == nil {
		return nil, errors.New("no server has run on this database in development mode, whose key signs such tokens; run: atrium serve --dev")
	}
	return auth.NewDevelopmentIssuer(key, nil)
}

// handler puts together what answers requests. Its streams end with closing.
// Issuer names the service in what it sends.
func (c *serveCommand) handler(db *database, dev *development, issuer string, closing <-chan struct{}, logger *slog.Logger) http.Handler {
	options := auth.Options{Directory: db, Audience: c.Audience, Issuers: c.TrustIssuer, AllowHosts: c.AllowHost, Logger: logger}
	if dev != nil {
		options.Development = dev.issuer
	}
	answers := rest.Options{ServiceDomain: c.ServiceDomain, Version: version, Logger: logger}
	routes := guarded(c.routes(db.Platform, auth.New(options), dev, issuer, closing, answers), c.CORSOrigin, answers)
	return watched(bounded(c.beside(routes, answers), refusing(answers)), answers)
}
