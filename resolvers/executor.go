package resolvers

import (
	"context"
	"maps"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/graphql/execute"
	"atrium/graphql/limit"
	"atrium/platform"
)

// NewExecutor executes documents over p. Each response reads for itself, so
// that nobody is shown what was read for someone else or before a change.
// Around is told of each field that reads; nil: nobody is.
func NewExecutor(p *platform.Platform, errors *Presenter, around func(ctx context.Context, object, field string, objects int) (context.Context, func(error))) *executor.Executor {
	start := func(ctx context.Context) context.Context { return withReads(ctx, p) }
	x := executor.New(execute.NewEngine(graph.NewSchema(root{p}), execute.EngineOptions{
		Start: start, Beside: p.Beside, Around: around, Count: countBytes,
		StartEvent: func(ctx context.Context, event any) context.Context { return withBurst(ctx, p, event) },
	}))
	x.SetErrorPresenter(errors.Present)
	x.SetRecoverFunc(caught)
	x.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		return next(start(ctx))
	})
	return x
}

// Limits are what the limits on documents must know of the schema.
func Limits() limit.Schema {
	return limit.Schema{
		DefaultPage: platform.DefaultPageSize, MaxPage: platform.MaxPageSize,
		Parts:      []string{"SeverityCount"},
		LongFields: longFields, UniqueNames: uniqueNames, Watched: slices.Collect(maps.Keys(longTexts)),
	}
}

// uniqueNames are the lists of children, among which names are unique.
var uniqueNames = map[string]string{
	"Query.groups": "childrenOf", "Query.repos": "childrenOf", "Query.tags": "childrenOf",
	"Group.children": "", "Group.repos": "directOnly", "Repo.tags": "",
}

// Schema is the schema that documents are checked by.
func Schema() *ast.Schema { return graph.Schema() }
