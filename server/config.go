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
	"sync"

	"atrium/auth"
	"atrium/demo"
	"atrium/events"
	"atrium/platform"
	"atrium/rest"
	"atrium/store"
)

// A Config is how a server is to run. Whoever fills it in has checked it.
type Config struct {
	Address     string // host:port
	DatabaseURL string
	Migrate     bool // apply missing migrations first
	Core        platform.Options
	Version     string // of the program
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

	ServiceDomain string // what the domain of errors ends in
	GraphQL       GraphQL

	Webhooks  bool   // deliver events from here
	PublicURL string // of this service, in what it sends; "": that of Address

	// Started is called once, before the first request is answered.
	Started func(Start) error
}

// A Start tells where a server is.
type Start struct {
	URL          string
	Organisation platform.UID // of the demonstration; "" where there is none
}

// Run serves until ctx ends.
func Run(ctx context.Context, c Config) error {
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
	defer background(ctx, p.Run)()
	defer background(ctx, deliver)()
	c.Logger.Info("serving", "address", listener.Addr().String(), "version", c.Version)
	return serve(ctx, listener, newServer(handler, c.Certificate, c.Logger), func() { close(closing) }, c.Logger)
}

// open prepares the platform over the database, with its schema up to date.
func (c *Config) open(ctx context.Context) (p *platform.Platform, closeStore func(), err error) {
	if c.Migrate {
		if err := Migrate(ctx, c.DatabaseURL); err != nil {
			return nil, nil, fmt.Errorf("migrate: %w", err)
		}
	}
	s, err := store.Open(ctx, c.DatabaseURL, store.Options{})
	if err != nil {
		return nil, nil, err
	}
	if p, err = platform.New(ctx, s, c.Core); err != nil {
		return nil, nil, errors.Join(err, s.Close())
	}
	return p, func() { _ = s.Close() }, nil
}

// Migrate applies the missing migrations of a database and of its queue of
// deliveries. Several replicas may do it at once.
func Migrate(ctx context.Context, databaseURL string) error {
	if err := store.Migrate(ctx, databaseURL); err != nil {
		return err
	}
	return events.Migrate(ctx, databaseURL)
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
	return auth.NewDevelopmentIssuer(key, nil)
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
	return watched(c.V1.beside(routes, answers), answers)
}

// background runs work until ctx ends; what it gives waits for that.
func background(ctx context.Context, work func(context.Context)) (stop func()) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	running.Go(func() { work(ctx) })
	return func() {
		cancel()
		running.Wait()
	}
}
