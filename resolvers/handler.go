package resolvers

import (
	"context"
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/platform"
)

// Options are the settings of the endpoint; the zero value serves.
type Options struct {
	ServiceDomain string       // what ErrorInfo.domain ends in; "" is atrium.dev
	Logger        *slog.Logger // of errors whose cause the client is not shown; nil: nobody

	Limits     *Limits           // of documents; nil: DefaultLimits
	Transport  *Transport        // bounds of the transports; nil: DefaultTransport
	Trusted    *TrustedDocuments // the only documents that are executed; nil: any
	HideSchema bool              // no introspection, and no suggestions in errors

	// SchemaReaders are the identities that are given the SDL where the schema
	// is hidden: those of gateways and tools that compose schemas.
	SchemaReaders []platform.UID

	// Authorize gives ctx with the caller that the values of an Authorization
	// header prove. It checks the token in a websocket's first message; nil:
	// the request for a websocket must prove its caller itself.
	Authorize func(ctx context.Context, authorization []string) (context.Context, error)
	// Admit counts an operation that comes over a websocket, which whoever
	// counts requests sees the start of only. Leave ends it; nil: any may come.
	Admit func(ctx context.Context) (leave func(), err error)
	// Origins are those beside the endpoint's own that may open websockets:
	// host or scheme://host, with the wildcards of path.Match.
	Origins []string
	// Closing ends streams and websockets when it is closed, so that a server
	// that shuts down need not wait for them.
	Closing <-chan struct{}
}

func (o Options) serviceDomain() string {
	if o.ServiceDomain == "" {
		return "atrium.dev"
	}
	return o.ServiceDomain
}

func (o Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

// New serves GraphQL over p (endpoint). It takes the caller from the request's
// context (platform.WithActor), and the id that its errors name from the
// X-Request-Id header of the answer, both set by whoever calls it.
func New(p *platform.Platform, o Options) http.Handler {
	e := newEndpoint(o.executor(p), o)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		e.ServeHTTP(w, r.WithContext(context.WithValue(r.Context(), requestIDKey{}, w.Header().Get("X-Request-Id"))))
	})
}

// executor executes documents within their limits, each response with reads of
// its own.
func (o Options) executor(p *platform.Platform) *executor.Executor {
	x := executor.New(graph.NewExecutableSchema(graph.Config{Resolvers: root{p}}))
	x.SetErrorPresenter(o.present)
	x.SetRecoverFunc(caught)
	o.guard(x)
	x.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		return next(withReads(ctx, p))
	})
	x.AroundRootFields(func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
			ctx = withReads(ctx, p) // each one shows what those before it changed
		}
		return measured(ctx, next(ctx))
	})
	return x
}

type requestIDKey struct{}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
