package main

import (
	"context"
	"log/slog"
	"net/netip"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"atrium/internal/server"
	"atrium/platform"
	"atrium/platform/iam"
)

type serveCommand struct {
	databaseFlags
	keyChangeFlags
	graphqlFlags
	limitFlags
	memoryFlags
	tlsFlags
	v1Flags
	betaFlags
	aliasFlags
	webhookFlags
	mailFlags
	feedFlags
	drainFlags
	observeFlags
	consoleFlags
	ReadDatabaseURL []string `name:"read-database-url" secret:"" sep:"none" placeholder:"URL" help:"URL of a streaming standby of the PostgreSQL database, which answers reads; may be repeated. In a variable, spaces or lines separate the URLs."`
	Addr            string   `default:"127.0.0.1:8080" help:"Address to serve on."`
	Dev             bool     `help:"Development mode: fill an empty database with demonstration data, and accept tokens of atrium token."`
	Audience        []string `default:"${audience}" help:"Audience (claim aud) of tokens for this service; may be repeated."`
	TrustIssuer     []string `placeholder:"URL" help:"Issuer to trust in addition to those that identities name; may be repeated."`
	SharedIssuer    []string `sep:"none" placeholder:"URL=PATTERN" help:"Issuer that many tenants share, and a pattern that matches the start of a subject, up to the end of the tenant's name; may be repeated. Default: GitHub Actions and GitLab."`
	PrivateIssuer   []string `placeholder:"HOST:PORT" help:"Host and port of issuers that may have a private address or use plain http; may be repeated."`
	TrustedProxy    []string `placeholder:"CIDR" help:"Network of trusted proxies, whose Forwarded and X-Forwarded-For headers name the client; may be repeated."`
	CORSOrigin      []string `name:"cors-origin" placeholder:"ORIGIN" help:"Origin whose pages may use the API, in addition to the server's own; may be repeated."`
	AllowSignup     bool     `help:"Let identities of an organization create new organizations."`
	ServiceDomain   string   `default:"atrium.dev" help:"Suffix of the domain in the details of errors."`
	Playground      bool     `default:"true" negatable:"" help:"Serve the playground at /playground."`
	Migrate         bool     `default:"true" negatable:"" help:"Apply pending migrations at startup."`

	shared  []iam.SharedIssuer
	proxies []netip.Prefix
}

// defaultAudience is the default audience of tokens for a server.
const defaultAudience = "atrium"

func (c *serveCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.checkReadURLs(f)
	c.keyChangeFlags.check(f)
	c.graphqlFlags.check(f)
	c.limitFlags.check(f)
	c.memoryFlags.check(f)
	c.tlsFlags.check(f)
	c.v1Flags.check(f)
	c.betaFlags.check(f)
	c.aliasFlags.check(f)
	c.webhookFlags.check(f)
	c.mailFlags.check(f)
	c.feedFlags.check(f)
	c.drainFlags.check(f)
	c.observeFlags.check(f)
	c.consoleFlags.check(f)
	checkAddress(f, "addr", c.Addr)
	checkAudience(f, c.Audience)
	for _, issuer := range c.TrustIssuer {
		checkIssuer(f, "trust-issuer", issuer)
		c.checkPlainIssuer(f, "trust-issuer", issuer)
	}
	for _, provider := range c.providers {
		c.checkPlainIssuer(f, provider.flag, provider.Issuer)
	}
	for _, text := range c.SharedIssuer {
		c.shared = append(c.shared, sharedIssuer(f, "shared-issuer", text))
	}
	c.checkPrivate(f, "private-issuer", c.PrivateIssuer)
	c.checkPrivate(f, "private-sink", c.PrivateSink)
	c.checkPrivate(f, "private-source", c.PrivateSource)
	for _, text := range c.TrustedProxy {
		c.proxies = append(c.proxies, network(f, "trusted-proxy", text))
	}
	for _, origin := range c.CORSOrigin {
		checkOrigin(f, "cors-origin", origin)
	}
	if !domainPattern.MatchString(c.ServiceDomain) {
		f.add("service-domain", "must be a domain name in lower case")
	}
}

// checkPlainIssuer rejects an issuer with plain http, of which the server would accept no
// tokens, unless --private-issuer names its host and port.
func (c *serveCommand) checkPlainIssuer(f *faults, flag, issuer string) {
	if strings.HasPrefix(issuer, "http://") && server.CheckIssuer(issuer, c.PrivateIssuer) != nil {
		f.add(flag, "%.200q must be an https URL, or --private-issuer must name its host and port", issuer)
	}
}

// checkPrivate rejects texts that are no host:port, and the addresses of this process,
// which no issuer and no sink may have.
func (c *serveCommand) checkPrivate(f *faults, flag string, hosts []string) {
	for _, host := range hosts {
		checkHost(f, flag, host)
		if host != "" && (host == c.Addr || host == c.metricsAddress(c.Dev)) {
			f.add(flag, "%.200q is an address of this server itself, to which it sends no requests", host)
		}
	}
}

// checkReadURLs checks the URLs of standbys. The faults do not show them, because they may
// contain passwords. A URL may contain commas, so white space separates those in a variable.
func (c *serveCommand) checkReadURLs(f *faults) {
	c.ReadDatabaseURL = strings.Fields(strings.Join(c.ReadDatabaseURL, " "))
	_, embedded := c.file()
	switch {
	case len(c.ReadDatabaseURL) == 0:
	case embedded:
		f.add("read-database-url", "needs a PostgreSQL database: SQLite has no standbys")
	case slices.ContainsFunc(c.ReadDatabaseURL, func(url string) bool { return !isPostgres(url) }):
		f.add("read-database-url", "must start with postgres://")
	}
}

// run serves until ctx ends.
func (c *serveCommand) run(ctx context.Context, p program) error {
	return c.serve(ctx, p, func(*server.Config) {})
}

// serve is run with a configuration that change has changed.
func (c *serveCommand) serve(ctx context.Context, p program, change func(*server.Config)) error {
	if !c.Migrate { // starting the server would create a database
		if err := c.exists(); err != nil {
			return err
		}
	}
	signal.Ignore(syscall.SIGPIPE) // the server continues if the reader of its log has ended
	limitMemory(c.memoryLimit(), serverGCPercent)
	logs := newLogBuffer(terminalOf(p.stderr))
	defer logs.flush()
	config := c.config(p, c.logger(logs, isTerminal(p.stderr)))
	change(&config)
	config.Metrics.WatchLog(logs.lost.Load)
	traces, end, err := startTraces(ctx, p, config.Logger)
	if err != nil {
		return err
	}
	defer end()
	config.Traces = traces
	return server.Run(ctx, config)
}

// config returns the configuration of the server.
func (c *serveCommand) config(p program, logger *slog.Logger) server.Config {
	rate, inFlight := c.limitFlags.limits(c.Dev)
	metrics, metricsAddress := c.metrics(c.Dev)
	return server.Config{
		Address: c.Addr, DatabaseURL: c.DatabaseURL, DirectURL: c.DatabaseDirectURL, ReadURLs: c.ReadDatabaseURL, Credentials: c.credentials(p), Migrate: c.Migrate, Version: version, Logger: logger, Development: c.Dev, NoPlayground: !c.Playground,
		NoConsole: !c.Console, ConsoleProviders: c.consoleFlags.signInProviders(),
		Core: platform.Options{
			AllowSignup: c.AllowSignup, EncryptionKey: c.key, NextEncryptionKey: c.newKey, SinkPorts: c.SinkPort, SharedIssuers: c.shared, Logger: logger,
			AuditRetention: c.auditRetention(c.Dev), DeliveryRetention: c.DeliveryRetention, MailInterval: c.MailInterval,
		},
		Audience: c.Audience, TrustedIssuers: c.TrustIssuer, PrivateIssuers: c.PrivateIssuer, PrivateSinks: c.PrivateSink, PrivateSources: c.PrivateSource, TrustedProxies: c.proxies, Origins: c.CORSOrigin,
		Certificate: c.certificate, V1: c.v1(), V2beta1: c.deprecation, PackageAliases: c.GRPCPackageAlias,
		RateLimit: rate, RateBurst: c.RateBurst, MaxInFlight: inFlight, SharedIdentities: c.limitFlags.identities, MaxConcurrent: c.MaxConcurrent, MaxUpload: int64(c.MaxUpload) << 20, Memory: c.memory(),
		ServiceDomain: c.ServiceDomain, GraphQL: c.settings, Domains: c.Domains, SchemaReaders: c.readers,
		Webhooks: c.Webhooks, Sources: c.Sources, Feeds: c.feeds, SetFeeds: len(c.Feeds) > 0, Mail: c.mailFlags.server, PublicURL: c.PublicURL, DrainDelay: c.DrainDelay, DrainTimeout: c.DrainTimeout, IdleTimeout: c.IdleTimeout,
		Metrics: metrics, MetricsAddress: metricsAddress, MetricsOptional: c.MetricsAddr == nil, Slow: c.Slow,
		Started: func(at server.Start) error { return c.greet(p, at) },
	}
}
