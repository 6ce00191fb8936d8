package resolvers

import (
	"bytes"
	"context"
	"io"
	"log/slog"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/handler"
	"github.com/99designs/gqlgen/graphql/handler/extension"
	"github.com/99designs/gqlgen/graphql/handler/lru"
	"github.com/99designs/gqlgen/graphql/handler/transport"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/platform"
)

// Options are the settings of the endpoint; the zero value serves.
type Options struct {
	ServiceDomain string       // what ErrorInfo.domain ends in; "" is atrium.dev
	Logger        *slog.Logger // of errors whose cause the client is not shown; nil: nobody
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

// New serves GraphQL over p: POST, and GET for queries. It takes the caller
// from the request's context (platform.WithActor), and the id that its errors
// name from the X-Request-Id header of the answer, both set by whoever calls
// it.
func New(p *platform.Platform, o Options) http.Handler {
	s := handler.New(graph.NewExecutableSchema(graph.Config{Resolvers: root{p}}))
	s.AddTransport(transport.GET{})
	s.AddTransport(transport.POST{})
	s.SetQueryCache(lru.New[*ast.QueryDocument](cachedQueries))
	s.SetErrorPresenter(o.present)
	s.SetRecoverFunc(caught)
	s.Use(extension.Introspection{})
	s.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		return next(withReads(ctx, p))
	})
	s.AroundRootFields(func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		if graphql.GetOperationContext(ctx).Operation.Operation == ast.Mutation {
			ctx = withReads(ctx, p) // each one shows what those before it changed
		}
		return next(ctx)
	})
	return bounded(s)
}

const (
	cachedQueries = 1000
	maxBody       = 1 << 20
)

// bounded refuses large bodies, and keeps the request's id for errors.
func bounded(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxBody))
		if err != nil {
			w.Header().Set("Content-Type", "application/json")
			w.WriteHeader(http.StatusRequestEntityTooLarge)
			_, _ = io.WriteString(w, `{"errors":[{"message":"The request body is larger than 1 MiB, or was cut short.","extensions":{"code":"BAD_REQUEST"}}]}`)
			return
		}
		r = r.WithContext(context.WithValue(r.Context(), requestIDKey{}, w.Header().Get("X-Request-Id")))
		r.Body = io.NopCloser(bytes.NewReader(body))
		next.ServeHTTP(w, r)
	})
}

type requestIDKey struct{}

func requestID(ctx context.Context) string {
	id, _ := ctx.Value(requestIDKey{}).(string)
	return id
}
