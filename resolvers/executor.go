package resolvers

import (
	"context"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/graphql/limit"
	"atrium/platform"
)

// NewExecutor executes documents over p. Each response reads for itself, so
// that nobody is shown what was read for someone else or before a change.
func NewExecutor(p *platform.Platform, errors *Presenter) *executor.Executor {
	x := executor.New(graph.NewExecutableSchema(graph.Config{Resolvers: root{p}}))
	x.SetErrorPresenter(errors.Present)
	x.SetRecoverFunc(caught)
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

// Limits are what the limits on documents must know of the schema.
func Limits() limit.Schema {
	return limit.Schema{
		DefaultPage: platform.DefaultPageSize, MaxPage: platform.MaxPageSize,
		LongFields: longFields, Watched: slices.Collect(maps.Keys(longTexts)),
	}
}

// Schema is the executable schema without anything behind it: enough to check
// documents by.
func Schema() graphql.ExecutableSchema { return graph.NewExecutableSchema(graph.Config{}) }
