// Package graphql is a GraphQL endpoint for any executable schema. It combines its
// subpackages: transports, limits on documents, and execution. It knows no kind of the
// platform and no permissions; its options identify callers and present errors.
package graphql

import (
	"context"
	"net/http"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/graphql/analysis"
	"atrium/internal/graphql/execute"
	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/transport"
)

// Options are the settings of an endpoint.
type Options struct {
	Settings
	Schema    analysis.Schema                 // facts about the schema for the limits
	ReadSDL   func(ctx context.Context) error // returns an error if the caller may not read the SDL
	Budget    execute.Budget                  // counts the memory of responses; nil counts nothing
	CheckJSON func(value []byte) error        // see transport.Options
	Present   graphql.ErrorPresenterFunc

	// Observe is called before each operation and returns the context of the operation. If
	// it also returns a function, that is called with the response. A subscription ends with
	// its context instead. Observe may be nil.
	Observe func(ctx context.Context, o Operation) (_ context.Context, end func(*graphql.Response))

	// Identify returns the caller of a request; the zero Caller is anonymous.
	Identify func(ctx context.Context) transport.Caller
	// Tallies, Authorize, Begin, Admit, Detach, Origins and Closing are those of transport.Options.
	Tallies   *transport.Tallies
	Began     func(ctx context.Context) time.Time // that of execute.Options
	Authorize func(ctx context.Context, authorization []string) (context.Context, error)
	Begin     func(ctx context.Context) context.Context
	Admit     func(ctx context.Context) (admitted context.Context, leave func(), err error)
	Detach    func(w http.ResponseWriter)
	Origins   []string
	Closing   <-chan struct{}
}

// Settings are the settings that an operator may change.
type Settings struct {
	Limits     limit.Limits
	Bounds     transport.Bounds
	Trusted    *limit.TrustedDocuments // the only documents that are executed; nil means any
	HideSchema bool                    // whether introspection, and suggestions in errors, are off
}

// DefaultSettings returns settings that allow the standard introspection query and large
// dashboards.
func DefaultSettings() Settings {
	return Settings{Limits: limit.DefaultLimits(), Bounds: transport.DefaultBounds()}
}

// New returns the handler of an endpoint that executes operations with engine.
func New(engine execute.Engine, o Options) http.Handler {
	guard := limit.NewGuard(engine.Schema(), limit.Options{
		Limits: o.Limits, Schema: o.Schema, Trusted: o.Trusted, HideSchema: o.HideSchema,
		IsKnown: func(ctx context.Context) bool { return o.Identify(ctx) != transport.Caller{} },
		ReadSDL: o.ReadSDL,
	})
	options := execute.Options{Guard: guard, Present: o.Present, Budget: o.Budget, Timeout: o.Bounds.Timeout, Began: o.Began}
	if o.Observe != nil {
		options.Observe = func(ctx context.Context, operation *graphql.OperationContext) (context.Context, func(*graphql.Response)) {
			return o.Observe(ctx, describeOperation(operation))
		}
	}
	return transport.New(execute.New(engine, options), transport.Options{
		Bounds: o.Bounds, Tallies: o.Tallies, Present: o.Present, Identify: o.Identify, CheckJSON: o.CheckJSON,
		Authorize: o.Authorize, Begin: o.Begin, Admit: o.Admit, Detach: o.Detach, Origins: o.Origins, Closing: o.Closing,
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
	return Operation{Name: o.Operation.Name, Type: string(o.Operation.Operation), IsSubscription: o.Operation.Operation == ast.Subscription, Cost: analysis.Cost(o)}
}
