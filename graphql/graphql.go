// Package graphql is a GraphQL endpoint for any executable schema. It combines its
// subpackages: transports, limits on documents, and execution. It knows no kind of the
// platform and no permissions; its options identify callers and present errors.
package graphql

import (
	"context"
	"net/http"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graphql/execute"
	"atrium/graphql/limit"
	"atrium/graphql/transport"
)

// Options are the settings of an endpoint.
type Options struct {
	Settings
	Schema    limit.Schema                    // what the limits must know of it
	ReadSDL   func(ctx context.Context) error // refuses a caller who may not read the SDL
	Budget    execute.Budget                  // of what responses hold in memory; nil: nobody counts
	CheckJSON func(value []byte) error        // see transport.Options
	Present   graphql.ErrorPresenterFunc

	// Observe is told of each operation before it is executed, in the context
	// that Observe gives, and gives what is called after its one response; a
	// subscription ends with its context. Either may be nil: nobody is told.
	Observe func(ctx context.Context, o Operation) (_ context.Context, end func(*graphql.Response))

	// Identify gives the caller of a request; the zero Caller is nobody.
	Identify func(ctx context.Context) transport.Caller
	// Authorize, Admit, Origins and Closing are those of transport.Options.
	Authorize func(ctx context.Context, authorization []string) (context.Context, error)
	Admit     func(ctx context.Context) (leave func(), err error)
	Origins   []string
	Closing   <-chan struct{}
}

// Settings are the settings of an operator.
type Settings struct {
	Limits     limit.Limits
	Bounds     transport.Bounds
	Trusted    *limit.TrustedDocuments // the only documents that are executed; nil: any
	HideSchema bool                    // no introspection, and no suggestions in errors
}

// DefaultSettings allow the standard introspection query and large dashboards.
func DefaultSettings() Settings {
	return Settings{Limits: limit.DefaultLimits(), Bounds: transport.DefaultBounds()}
}

// New serves the operations of x, within limits.
func New(x *executor.Executor, o Options) http.Handler {
	limit.Guard(x, limit.Options{
		Limits: o.Limits, Schema: o.Schema, Trusted: o.Trusted, HideSchema: o.HideSchema,
		IsKnown: func(ctx context.Context) bool { return o.Identify(ctx) != transport.Caller{} },
		ReadSDL: o.ReadSDL,
	})
	x.SetErrorPresenter(o.Present)
	if o.Observe != nil {
		x.AroundOperations(func(ctx context.Context, next graphql.OperationHandler) graphql.ResponseHandler {
			ctx, end := o.Observe(ctx, describeOperation(graphql.GetOperationContext(ctx)))
			respond := next(ctx)
			if end == nil {
				return respond
			}
			return func(ctx context.Context) (response *graphql.Response) {
				defer func() { end(response) }()
				return respond(ctx)
			}
		})
	}
	return transport.New(x, transport.Options{
		Bounds: o.Bounds, Present: o.Present, Identify: o.Identify, Budget: o.Budget, CheckJSON: o.CheckJSON,
		Authorize: o.Authorize, Admit: o.Admit, Origins: o.Origins, Closing: o.Closing,
	})
}

// An Operation describes an operation before it is executed.
type Operation struct {
	Name           string
	Type           string // query, mutation or subscription
	IsSubscription bool
	Cost           int
}

func describeOperation(o *graphql.OperationContext) Operation {
	return Operation{Name: o.Operation.Name, Type: string(o.Operation.Operation), IsSubscription: o.Operation.Operation == ast.Subscription, Cost: limit.Cost(o)}
}
