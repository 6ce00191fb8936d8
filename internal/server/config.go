package server

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/netip"
	"runtime/debug"
	"time"

	"atrium/internal/auth"
	"atrium/internal/rest"
	"atrium/internal/rpc"
	"atrium/internal/telemetry"
	"atrium/internal/web"
	"atrium/internal/webhook"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/intake"
	"atrium/resolvers"
	"atrium/store"
)

// A SignInProvider is an OpenID provider at which people sign in to the console.
type SignInProvider = web.SignInProvider

// A MailServer is the server of the operator that takes mail.
type MailServer = webhook.MailServer

// ParseMailServer reads the URL of a mail server. Its errors do not show the URL, which may have a password.
func ParseMailServer(server string) (*MailServer, error) { return webhook.ParseMailServer(server) }

// A Config configures a server. The caller must have checked its values.
type Config struct {
	Address     string // host:port to listen on
	DatabaseURL string
	DirectURL   string   // URL that leads past a pooler to the same database; "" means none
	ReadURLs    []string // URLs of streaming standbys that answer reads

	// Credentials are asked for each new connection to PostgreSQL, by the URL as it is above.
	Credentials map[string]store.Credentials
	Migrate     bool             // whether missing migrations are applied first
	Core        platform.Options // options of the core; PrivateSinks and Development override some
	Version     string           // version of the program
	Logger      *slog.Logger

	// Development fills an empty database with the demonstration organization. It
	// also accepts tokens that anyone who can read the database can create.
	Development bool

	// Demonstration refuses a database in development mode that has no demonstration.
	Demonstration bool

	Audience       []string       // names of this service in the aud of tokens
	TrustedIssuers []string       // issuers that are trusted in addition to those in the database
	PrivateIssuers []string       // host:port of issuers that may have private addresses or use plain http
	PrivateSinks   []string       // host:port of event sinks that may have private addresses or use plain http
	PrivateSources []string       // host:port of sources that may have private addresses, use plain http, or another port than 443
	TrustedProxies []netip.Prefix // networks of proxies, whose Forwarded and X-Forwarded-For name the clients
	Origins        []string       // origins of pages that may use the API
	Certificate    *Certificate
	V1             *V1 // nil means that v1 is not served

	// V2beta1 says whether v2beta1 is deprecated.
	V2beta1 Deprecation

	// PackageAliases stand for platform in the packages of gRPC services. No one begins with
	// another one, with platform or with grpc.
	PackageAliases rpc.Aliases

	RateLimit, RateBurst, MaxInFlight int // limits of a caller; a RateLimit or MaxInFlight of 0 means no limit
	Memory                            core.MemoryLimits

	// MaxUpload is the largest upload of an import, in bytes; 0 means rest.DefaultUpload.
	MaxUpload int64

	// SharedIdentities are the identities whose tokens many people share, such as those of gateways.
	SharedIdentities []core.UID

	// MaxConcurrent is how many requests are worked on at the same time; others wait for a
	// moment. 0 means no limit, and FitConcurrency as many as the connections to the
	// database suggest.
	MaxConcurrent int
	connections   int // of the database, which requests use at the same time; 0 means no limit

	ServiceDomain string // suffix of the domain of errors
	GraphQL       GraphQL

	// Domains are the domains that are subgraphs of their own; nil means all, unless GraphQL
	// executes only trusted documents.
	Domains []string

	// NoPlayground turns the playground off.
	NoPlayground bool

	// NoConsole turns the console off. People sign in to the console at one of
	// ConsoleProviders. If there are none, they enter a token.
	NoConsole        bool
	ConsoleProviders []SignInProvider

	// SchemaReaders are the identities that may read the SDL even if GraphQL
	// hides the schema, such as gateways and tools that compose schemas.
	SchemaReaders []core.UID

	Webhooks  bool   // whether this process delivers events
	Sources   bool   // whether this process reads sources
	PublicURL string // URL of the service in events and tokens; "" means that of Address

	// Mail is the server that takes mail; nil means that no mail can be sent.
	Mail *MailServer

	// Feeds are the sources of the operator. Without SetFeeds, those that there are stay as they are.
	Feeds    []intake.Feed
	SetFeeds bool

	// DrainDelay is how long the server continues to serve after the shutdown
	// began, while /readyz answers 503. DrainTimeout is how long running requests
	// have after that; 0 means DefaultDrainTimeout.
	DrainDelay, DrainTimeout time.Duration

	// IdleTimeout is how long a connection without requests stays open; 0 means
	// DefaultIdleTimeout.
	IdleTimeout time.Duration

	// Started is called once, when the server begins to answer requests.
	Started func(Start) error

	// Metrics receives the metrics of the server; nil discards them. They are
	// served at MetricsAddress, which must be private. If MetricsOptional is set,
	// the server starts even if it cannot listen there.
	Metrics         *telemetry.Metrics
	MetricsAddress  string
	MetricsOptional bool

	// Traces records the spans of requests; nil records nothing.
	Traces *telemetry.Traces

	// Slow is the duration above which a request or a statement is logged as a
	// warning; 0 logs none.
	Slow time.Duration

	listening []netip.AddrPort // addresses of this process, which no outgoing request reaches

	recorder *recorder
	draining <-chan struct{} // closed when the shutdown begins; nil means never
	ready    *readiness      // set by Run; nil means that no metrics show it
}

// CheckIssuer fails if a server with these private issuers would accept no tokens of an
// issuer, because it has plain http.
func CheckIssuer(issuer string, privateIssuers []string) error {
	return auth.NewGuard(privateIssuers).CheckIssuer(issuer)
}

// issuerGuard returns the guard of requests to issuers.
func (c *Config) issuerGuard() *auth.Guard { return c.guard(c.PrivateIssuers) }

// guard returns a guard that exempts some hosts, and uses the proxy that HTTPS_PROXY names.
func (c *Config) guard(exempt []string) *auth.Guard {
	return auth.NewGuard(exempt, c.listening...).Through(http.ProxyFromEnvironment)
}

// A Start describes a server that has started.
type Start struct {
	URL          string
	Organization core.UID // the demonstration organization; "" if there is none
	SignIn       string   // the link that signs a browser in to it, once; "" outside development mode
}

// Run starts a server and serves until ctx ends. Then it shuts down gracefully.
func Run(ctx context.Context, c Config) error {
	c.DrainTimeout = cmp.Or(c.DrainTimeout, DefaultDrainTimeout)
	c.draining, c.recorder = ctx.Done(), c.newRecorder()
	defer c.recorder.refusals.flush()
	c.ready = &readiness{draining: c.draining}
	c.Metrics.WatchReady(c.ready.observe)
	if c.Certificate != nil {
		c.Metrics.WatchCertificate(func() (begin, end time.Time) {
			leaf := c.Certificate.get(c.Logger).Leaf
			return leaf.NotBefore, leaf.NotAfter
		})
		c.Certificate.get(c.Logger) // which warns of one that is too old already
	}
	last := &shutdown{within: c.ShutdownTimeout(), logger: c.Logger}
	return last.bound(ctx, func(ctx context.Context, end func()) error { return c.run(ctx, end, last) })
}

// run binds the port, opens the database and serves until ctx ends. If it ends by
// itself, it calls end.
func (c *Config) run(ctx context.Context, end func(), last *shutdown) error {
	listener, err := c.listen(ctx)
	if err != nil {
		return err
	}
	c.noteListening(listener.Addr())
	endMetrics, err := c.serveMetrics(ctx)
	if err != nil {
		return errors.Join(err, listener.Close())
	}
	defer endMetrics()
	serving, stop := c.linger(ctx)
	defer stop()
	closing, served := make(chan struct{}), make(chan error, 1)
	front := newFront(c.answerOptions(), c.recorder, c.TrustedProxies)
	server := newServer(closeConnections(resolveAliases(c.PackageAliases, front), c.draining), c.Certificate, cmp.Or(c.IdleTimeout, DefaultIdleTimeout), c.Logger)
	go func() {
		served <- serve(serving, listener, server, func() { close(closing) }, c.DrainTimeout, c.Logger)
	}()
	abandon := func(err error) error {
		front.decide()
		stop()
		return errors.Join(startError(ctx, err), <-served)
	}
	go resolvers.Schema() // It is parsed while the database is opened.
	p, dev, closeStore, err := c.openDatabase(ctx, last)
	if err != nil {
		return abandon(err)
	}
	defer closeStore()
	url := c.url(listener.Addr())
	deliver, read := c.delivery(p, c.issuer(url)), c.reading(p)
	front.show(c.handler(p, dev, c.issuer(url), closing))
	c.warnOfReach(listener.Addr(), dev)
	go debug.FreeOSMemory() // What only the start needs is a third of what an idle server has.
	if err := c.announceStart(url, dev); err != nil {
		return abandon(err)
	}
	defer last.background(serving, "background work", p.Run)()
	defer last.background(serving, "delivery of webhooks", deliver)()
	defer last.background(serving, "reading of sources", read)()
	defer end()
	c.Logger.Info("serving", "url", url, "address", listener.Addr().String(), "version", c.Version)
	return <-served
}

// startError returns err, or nil if the shutdown began before the server had started.
func startError(ctx context.Context, err error) error {
	if ctx.Err() == nil {
		return err
	}
	return nil
}

// openDatabase opens the database. The shutdown waits until closeStore has returned.
func (c *Config) openDatabase(ctx context.Context, last *shutdown) (*platform.Platform, *development, func(), error) {
	ended := last.begin("database connections")
	p, closeStore, err := c.open(ctx)
	if err != nil {
		ended()
		return nil, nil, nil, err
	}
	closeAll := func() { closeStore(); ended() }
	dev, err := c.development(ctx, p)
	if err == nil {
		err = c.setFeeds(ctx, p)
	}
	if err != nil {
		closeAll()
		return nil, nil, nil, err
	}
	return p, dev, closeAll, nil
}

// announceStart calls Started with the URL of the server.
func (c *Config) announceStart(url string, dev *development) error {
	if c.Started == nil {
		return nil
	}
	s := Start{URL: url}
	if dev != nil {
		s.Organization = dev.organization
		if dev.organization != "" && !c.NoConsole {
			s.SignIn = dev.link.URL(url)
		}
	}
	return c.Started(s)
}

// warnOfReach warns that others on the network reach a server in development mode.
func (c *Config) warnOfReach(address net.Addr, dev *development) {
	if tcp, ok := address.(*net.TCPAddr); dev != nil && ok && !tcp.IP.IsLoopback() {
		c.Logger.Warn("development mode: other machines can reach this server. Anyone with the link that it prints, or with one of its tokens, is the owner of all data", "address", address.String())
	}
}

// url returns the URL of a server at address, for a browser on this machine.
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

// Handler returns the handler of a server with this configuration, for a platform
// that is already open. If issuer is not nil, its tokens are accepted, as in
// development mode.
func Handler(p *platform.Platform, c Config, issuer *auth.Issuer) http.Handler {
	var dev *development
	if issuer != nil {
		dev = &development{issuer: issuer}
	}
	c.recorder = c.newRecorder()
	return resolveAliases(c.PackageAliases, c.handler(p, dev, c.PublicURL, nil))
}

// handler builds the handler of all requests. Its streams end when closing is closed.
// issuer is the public URL of the service, which tokens and events name as their
// issuer.
func (c *Config) handler(p *platform.Platform, dev *development, issuer string, closing <-chan struct{}) http.Handler {
	options := auth.Options{Observe: c.Metrics.CountAuthentication, Directory: p, Audience: c.Audience, Issuers: c.TrustedIssuers, Guard: c.issuerGuard(), Logger: c.Logger}
	if dev != nil {
		options.Development = dev.issuer
	}
	answers, verifier := c.answerOptions(), auth.New(options)
	refuse := newErrorWriter(answers)
	admitting := c.newAdmission(refuse)
	admitForwarded := func(next http.Handler) http.Handler { return admitting.AdmitForwarded(verifier, next) }
	routes := addGuards(c.routes(p, verifier, admitting, dev, issuer, closing, answers), c.Origins, answers)
	return addOuterLayers(limitHeaders(c.V1.route(routes, admitForwarded, verifier.Authorize, answers), refuse), answers, c.recorder, c.TrustedProxies)
}

// answerOptions returns the options for all responses outside of GraphQL.
func (c *Config) answerOptions() rest.Options {
	return rest.Options{ServiceDomain: c.ServiceDomain, Version: c.Version, Logger: c.Logger}
}
