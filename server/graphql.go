package server

import (
	"context"
	"net/http"
	"slices"

	"atrium/auth"
	"atrium/edge"
	"atrium/graphql"
	"atrium/graphql/limit"
	"atrium/graphql/transport"
	"atrium/platform"
	"atrium/resolvers"
)

// GraphQL are the settings of the GraphQL endpoint.
type GraphQL = graphql.Settings

// DefaultGraphQL let the standard introspection query through, and any
// dashboard.
func DefaultGraphQL() GraphQL { return graphql.DefaultSettings() }

// TrustedDocuments are the only documents that an endpoint executes.
type TrustedDocuments = limit.TrustedDocuments

// ReadTrustedDocuments reads a manifest: a JSON object of documents by their
// id. Each must be valid.
func ReadTrustedDocuments(path string) (*TrustedDocuments, error) {
	return limit.ReadTrustedDocuments(path, resolvers.Schema())
}

// graphql serves the graph over p. Admit counts operations that come over a
// websocket.
func (c *Config) graphql(p *platform.Platform, verifier *auth.Verifier, admit func(context.Context) (func(), error), closing <-chan struct{}) http.Handler {
	presenter := &resolvers.Presenter{Errors: edge.Errors{ServiceDomain: c.ServiceDomain, Logger: c.Logger}, RequestID: requestID}
	return graphql.New(resolvers.NewExecutor(p, presenter, c.recorder.around()), graphql.Options{
		Settings:  c.GraphQL,
		Schema:    resolvers.Limits(),
		ReadSDL:   c.mayReadSDL,
		Budget:    resolvers.Budget{},
		CheckJSON: platform.CheckJSON,
		Present:   c.recorder.noted(presenter.Present),
		Observe:   c.recorder.observe,
		Identify:  identify,
		Authorize: verifier.Authorize,
		Admit:     admit,
		Origins:   socketOrigins(c.Origins),
		Closing:   closing,
	})
}

// mayReadSDL is the error of a caller who may not read the SDL: it needs what
// introspection needs and, where that is off, an identity among SchemaReaders.
func (c *Config) mayReadSDL(ctx context.Context) error {
	actor := platform.ActorOf(ctx)
	switch {
	case actor == nil:
		return platform.Unauthenticated("the schema needs a bearer token")
	case !c.GraphQL.HideSchema:
		return nil
	case slices.ContainsFunc(actor.Identities, func(uid platform.UID) bool { return slices.Contains(c.SchemaReaders, uid) }):
		return nil
	default:
		return &platform.Error{
			Code: platform.CodePermissionDenied, Reason: "INTROSPECTION_OFF",
			Message: "Permission denied: the schema is shown only to identities that the operator names (--schema-reader)",
		}
	}
}

// identify tells the transports who calls.
func identify(ctx context.Context) transport.Caller {
	actor := platform.ActorOf(ctx)
	if actor == nil {
		return transport.Caller{}
	}
	return transport.Caller{Key: actor.Key(), Expires: actor.Expires}
}

// requestID returns the ID that the response and its errors show.
func requestID(ctx context.Context) string {
	if trace := platform.TraceOf(ctx); trace != nil {
		return trace.ID
	}
	return ""
}
