package server

import (
	"context"
	"net/http"
	"slices"
	"sync"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/apierror"
	"atrium/internal/auth"
	"atrium/internal/graphql"
	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/transport"
	"atrium/internal/server/admission"
	"atrium/internal/web"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/resolvers"
)

// GraphQL holds the settings of the GraphQL endpoint.
type GraphQL = graphql.Settings

// DefaultGraphQL returns settings that allow the standard introspection query and large
// dashboards.
func DefaultGraphQL() GraphQL { return graphql.DefaultSettings() }

// TrustedDocuments are the only documents that an endpoint executes.
type TrustedDocuments = limit.TrustedDocuments

// ReadTrustedDocuments reads a manifest: a JSON object of documents by their
// id. Each must be valid.
func ReadTrustedDocuments(path string) (*TrustedDocuments, error) {
	return limit.ReadTrustedDocuments(path, resolvers.Schema())
}

// Domains lists the domains of the graph, each of which is a subgraph of its own.
func Domains() []string { return resolvers.Domains() }

// SubgraphSDL returns the schema of one domain that gateways compose, or that of the whole for "".
func SubgraphSDL(domain string) string {
	if domain == "" {
		return resolvers.SubgraphSDL()
	}
	return resolvers.DomainSDL(domain)
}

// graphql returns the handler of the GraphQL endpoint for p, and of those of its domains.
func (c *Config) graphql(p *platform.Platform, verifier *auth.Verifier, admitting *admission.Controller, closing <-chan struct{}) http.Handler {
	presenter := &resolvers.Presenter{Errors: apierror.Errors{ServiceDomain: c.ServiceDomain, Logger: c.Logger}, RequestID: requestID}
	settings := c.GraphQL
	if !c.NoConsole && settings.Trusted != nil {
		settings.Trusted = settings.Trusted.With(web.ConsoleDocuments())
	}
	options := graphql.Options{
		Tallies:   &transport.Tallies{},
		Settings:  settings,
		Schema:    resolvers.Limits(),
		ReadSDL:   c.mayReadSDL,
		Budget:    resolvers.Budget{},
		CheckJSON: fieldmask.CheckJSON,
		Present:   noteLimits(presenter.Present),
		Observe:   c.observeOperation(p),
		Began:     func(ctx context.Context) time.Time { return beganAt(core.TraceOf(ctx)) },
		Identify:  func(ctx context.Context) transport.Caller { return identify(ctx, admitting) },
		Authorize: verifier.Authorize,
		Begin:     c.recorder.beginOperation,
		Admit:     admitOperations(admitting),
		Detach:    admission.Detach,
		Origins:   socketOrigins(c.Origins),
		Closing:   closing,
	}
	observe := c.recorder.fieldObserver()
	whole, domains := graphql.New(resolvers.NewEngine(p, observe), options), map[string]http.Handler{}
	for _, domain := range c.servedDomains() { // Most servers are asked for the whole graph only.
		domains[graphPath+"/"+domain] = lazyHandler(func() http.Handler {
			return graphql.New(resolvers.NewDomainEngine(p, domain, observe), options)
		})
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		handler := whole
		if domain := domains[r.URL.Path]; domain != nil {
			handler = domain
		}
		handler.ServeHTTP(w, r)
	})
}

// servedDomains lists the domains that have a path of their own.
func (c *Config) servedDomains() []string {
	if c.Domains == nil && c.GraphQL.Trusted == nil {
		return resolvers.Domains()
	}
	return c.Domains
}

// lazyHandler returns a handler that is made by the first request.
func lazyHandler(build func() http.Handler) http.Handler {
	built := sync.OnceValue(build)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) { built().ServeHTTP(w, r) })
}

// observeOperation returns the function that is called before each operation. It records
// the operation, and marks queries as requests that change nothing.
func (c *Config) observeOperation(p *platform.Platform) func(context.Context, graphql.Operation) (context.Context, func(*gqlgen.Response)) {
	return func(ctx context.Context, o graphql.Operation) (context.Context, func(*gqlgen.Response)) {
		if o.Type == string(ast.Query) {
			ctx = p.AllowStandby(ctx)
		}
		return c.recorder.observe(ctx, o)
	}
}

// mayReadSDL returns an error if the caller may not read the SDL. The caller must be
// authenticated, as for introspection. If introspection is off, the caller must be one
// of SchemaReaders.
func (c *Config) mayReadSDL(ctx context.Context) error {
	actor := core.ActorOf(ctx)
	switch {
	case actor == nil:
		return core.Unauthenticated("reading the schema requires a bearer token")
	case !c.GraphQL.HideSchema:
		return nil
	case slices.ContainsFunc(actor.Identities, func(uid core.UID) bool { return slices.Contains(c.SchemaReaders, uid) }):
		return nil
	default:
		return &core.Error{
			Code: core.CodePermissionDenied, Reason: "INTROSPECTION_OFF",
			Message: "Permission denied: the schema is shown only to identities that the operator names (--schema-reader)",
		}
	}
}

// identify returns the caller for the transports.
func identify(ctx context.Context, admitting *admission.Controller) transport.Caller {
	actor := core.ActorOf(ctx)
	if actor == nil {
		return transport.Caller{}
	}
	return transport.Caller{Key: actor.Key(), People: admitting.PeopleOf(actor), Expires: actor.Expires}
}

// requestID returns the ID that the response and its errors show.
func requestID(ctx context.Context) string {
	if trace := core.TraceOf(ctx); trace != nil {
		return trace.ID
	}
	return ""
}
