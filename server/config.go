// Package server is the HTTP server: it opens the database, applies the same
// authentication, limits and guards to every protocol, and serves until it is stopped.
// A plain struct configures it, so that the command line and the tests start the same
// server. It contains no rules of the product: those are in package platform.
package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"time"

	"atrium/auth"
	"atrium/events"
	"atrium/platform"
	"atrium/rest"
	"atrium/telemetry"
)

// A Config configures a server. The caller must have checked its values.
type Config struct {
	Address     string // host:port
	DatabaseURL string
	DirectURL   string           // past a pooler to the same database; ""
	Migrate     bool             // apply missing migrations first
	Core        platform.Options // but for what AllowHosts and Development decide
	Version     string           // of the program
	Logger      *slog.Logger

	// Development fills an empty database with the demonstration, and accepts
	// tokens that anybody who reads the database can make.
	Development bool

	Audience       []string // names of this service in the aud of tokens
	TrustedIssuers []string // beside those that the database names
	AllowHosts     []string // issuers and sinks that may be private or plain http
	Origins        []string // of pages that may use the API
	Certificate    *Certificate
	V1             *V1 // nil: v1 is not served

	RateLimit, RateBurst, MaxInFlight int // of a caller; a limit or flight of 0 is any
	Answers                           platform.AnswerLimits

	ServiceDomain string // what the domain of errors ends in
	GraphQL       GraphQL

	// NoPlayground serves no page to write queries in.
	NoPlayground bool

	// SchemaReaders are the identities that may read the SDL where GraphQL
	// hides the schema: those of gateways and tools that compose schemas.
	SchemaReaders []platform.UID

	Webhooks  bool   // deliver events from here
	PublicURL string // of this service, in what it sends; "": that of Address

	// DrainDelay is how long the server goes on after it was told to end, while
	// /readyz answers 503. DrainTimeout is how long requests under way have after
	// that; 0 is DefaultDrainTimeout.
	DrainDelay, DrainTimeout time.Duration

	// Started is called once, as soon as requests are answered.
	Started func(Start) error

	// Metrics count what the server does, and are served at MetricsAddress, which
	// must be private; nil: neither. Where MetricsOptional is set, an address
	// that is taken is no error.
	Metrics         *telemetry.Metrics
	MetricsAddress  string
	MetricsOptional bool

	// Traces record what requests are made of; nil: nothing is.
	Traces *telemetry.Traces

	// Slow is what a request or a statement may take without a warning in the
	// log; 0: anything.
	Slow time.Duration

	recorder *recorder
	draining <-chan struct{} // closed when the server was told to end; nil: never

	deliverer *events.Deliverer // of this server, which sets it; nil: webhooks are delivered elsewhere
}

// A Start describes a server that has started.
type Start struct {
	URL          string
	Organisation platform.UID // of the demonstration; "" where there is none
}

// Run serves until ctx ends.
func Run(ctx context.Context, c Config) error {
	c.DrainTimeout = cmp.Or(c.DrainTimeout, DefaultDrainTimeout)
	c.draining, c.recorder = ctx.Done(), c.newRecorder()
	last := &shutdown{within: c.ShutdownTimeout(), logger: c.Logger}
	return last.bound(ctx, func(ctx context.Context, end func()) error { return c.run(ctx, end, last) })
}

// run binds the port, opens the database behind it and serves until ctx ends.
// It calls end where it ends by itself.
func (c *Config) run(ctx context.Context, end func(), last *shutdown) error {
	listener, err := c.listen(ctx)
	if err != nil {
		return err
	}
	endMetrics, err := c.serveMetrics(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer endMetrics()
	serving, stop := linger(ctx, c.DrainDelay, c.Logger)
	defer stop()
	closing, served := make(chan struct{}), make(chan error, 1)
	front := newFront(c.answerOptions(), c.recorder)
	server := newServer(front, c.Certificate, c.Logger)
	go func() {
		served <- serve(serving, wrapListener(listener, server, c.ServiceDomain, c.Logger), server, func() { close(closing) }, c.DrainTimeout, c.Logger)
	}()
	p, dev, closeStore, err := c.openWithin(ctx, last)
	if err != nil {
		stop()
		return errors.Join(endedEarly(ctx, err), <-served)
	}
	defer closeStore()
	url := c.url(listener.Addr())
	deliver, err := c.delivery(serving, p, c.issuer(url))
	if err == nil {
		front.show(c.handler(p, dev, c.issuer(url), closing))
		err = c.started(url, dev)
	}
	if err != nil {
		stop()
		return errors.Join(endedEarly(ctx, err), <-served)
	}
	defer last.background(serving, "work beside requests", p.Run)()
	defer last.background(serving, "the delivery of webhooks", deliver)()
	defer end()
	c.Logger.Info("serving", "url", url, "address", listener.Addr().String(), "version", c.Version)
	return <-served
}

// endedEarly is err, unless the server was told to end before it had started.
func endedEarly(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// openWithin opens the database. The shutdown knows of it until closeStore has
// returned.
func (c *Config) openWithin(ctx context.Context, last *shutdown) (*platform.Platform, *development, func(), error) {
	ended := last.begin("connections to the database")
	p, closeStore, err := c.open(ctx)
	if err != nil {
		ended()
		return nil, nil, nil, err
	}
	closeAll := func() { closeStore(); ended() }
	dev, err := c.development(ctx, p)
	if err != nil {
		closeAll()
		return nil, nil, nil, err
	}
	return p, dev, closeAll, nil
}

// started tells whoever started the server where it is.
func (c *Config) started(url string, dev *development) error {
	if c.Started == nil {
		return nil
	}
	s := Start{URL: url}
	if dev != nil {
		s.Organisation = dev.organisation
	}
	return c.Started(s)
}

// url is that of a server at address, as a browser on this machine reaches it.
func (c *Config) url(address net.Addr) string {
	scheme, host := "http", address.String()
	if c.Certificate != nil {
		scheme = "https"
	}
	if tcp, ok := address.(*net.TCPAddr); ok && tcp.IP.IsUnspecified() {
		host = fmt.Sprintf("localhost:%d", tcp.Port)
	}
	return scheme + "://" + host
}

// Handler answers every request as a server of this configuration does, over a
// platform that is open already. It accepts the tokens of issuer, if there is
// one, as in development mode.
func Handler(p *platform.Platform, c Config, issuer *auth.Issuer) http.Handler {
	var dev *development
	if issuer != nil {
		dev = &development{issuer: issuer}
	}
	c.recorder = c.newRecorder()
	return c.handler(p, dev, c.PublicURL, nil)
}

// handler puts together what answers requests. Its streams end with closing.
// issuer names the service in what it sends.
func (c *Config) handler(p *platform.Platform, dev *development, issuer string, closing <-chan struct{}) http.Handler {
	options := auth.Options{Observe: c.Metrics.Authentication, Directory: p, Audience: c.Audience, Issuers: c.TrustedIssuers, AllowHosts: c.AllowHosts, Logger: c.Logger}
	if dev != nil {
		options.Development = dev.issuer
	}
	answers := c.answerOptions()
	routes := guarded(c.routes(p, auth.New(options), dev, issuer, closing, answers), c.Origins, answers)
	return watched(bounded(c.V1.beside(routes, answers), refusing(answers)), answers, c.recorder)
}

// answerOptions are the settings of what is answered outside of GraphQL.
func (c *Config) answerOptions() rest.Options {
	return rest.Options{ServiceDomain: c.ServiceDomain, Version: c.Version, Logger: c.Logger}
}
