// Package server is the HTTP server: it opens the database, puts every protocol
// behind the same authentication, limits and guards, and serves until it is
// told to stop. It is configured by a plain struct, so that the command line
// and the tests start the same server. It decides nothing about the product:
// that is for package platform.
package server

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"

	"atrium/auth"
	"atrium/events"
	"atrium/platform"
	"atrium/rest"
)

// A Config is how a server is to run. Whoever fills it in has checked it.
type Config struct {
	Address     string // host:port
	DatabaseURL string
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

	// SchemaReaders are the identities that may read the SDL where GraphQL
	// hides the schema: those of gateways and tools that compose schemas.
	SchemaReaders []platform.UID

	Webhooks  bool   // deliver events from here
	PublicURL string // of this service, in what it sends; "": that of Address

	// Started is called once, before the first request is answered.
	Started func(Start) error

	deliverer *events.Deliverer // of this server, which sets it; nil: webhooks are delivered elsewhere
}

// A Start tells where a server is.
type Start struct {
	URL          string
	Organisation platform.UID // of the demonstration; "" where there is none
}

// Run serves until ctx ends.
func Run(ctx context.Context, c Config) error {
	last := &shutdown{within: ShutdownTimeout, logger: c.Logger}
	return last.bound(ctx, func(ctx context.Context, end func()) error { return c.run(ctx, end, last) })
}

// run serves until ctx ends. It calls end where it ends by itself.
func (c *Config) run(ctx context.Context, end func(), last *shutdown) error {
	ended := last.begin("connections to the database")
	defer ended()
	p, closeStore, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer closeStore()
	dev, err := c.development(ctx, p)
	if err != nil {
		return err
	}
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", c.Address)
	if err != nil {
		return err
	}
	url := c.url(listener.Addr())
	deliver, err := c.delivery(ctx, p, c.issuer(url))
	if err == nil {
		err = c.started(url, dev)
	}
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	closing := make(chan struct{})
	handler := c.handler(p, dev, c.issuer(url), closing)
	defer last.background(ctx, "work beside requests", p.Run)()
	defer last.background(ctx, "the delivery of webhooks", deliver)()
	defer end()
	c.Logger.Info("serving", "address", listener.Addr().String(), "version", c.Version)
	server := newServer(handler, c.Certificate, c.Logger)
	return serve(ctx, wrapListener(listener, server, c.ServiceDomain, c.Logger), server, func() { close(closing) }, c.Logger)
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
	return c.handler(p, dev, c.PublicURL, nil)
}

// handler puts together what answers requests. Its streams end with closing.
// issuer names the service in what it sends.
func (c *Config) handler(p *platform.Platform, dev *development, issuer string, closing <-chan struct{}) http.Handler {
	options := auth.Options{Directory: p, Audience: c.Audience, Issuers: c.TrustedIssuers, AllowHosts: c.AllowHosts, Logger: c.Logger}
	if dev != nil {
		options.Development = dev.issuer
	}
	answers := rest.Options{ServiceDomain: c.ServiceDomain, Version: c.Version, Logger: c.Logger}
	routes := guarded(c.routes(p, auth.New(options), dev, issuer, closing, answers), c.Origins, answers)
	return watched(bounded(c.V1.beside(routes, answers), refusing(answers)), answers)
}
