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

// NewExecutor returns an executor of documents over p. Each response has loaders
// of its own, so that no caller sees objects that were read for another caller or
// before a change. The executor calls around for each field that reads, with the
// number of objects that have the field; around may be nil.
func NewExecutor(p *platform.Platform, errors *Presenter, around func(ctx context.Context, object, field string, objects int) (context.Context, func(error))) *executor.Executor {
	return NewExecutorOf(p, errors, func(resolvers graph.ResolverRoot, start func(context.Context) context.Context) graphql.ExecutableSchema {
		return execute.NewEngine(graph.NewSchema(resolvers), engineOptions(p, start, around))
	})
}

// engineOptions connects the engine with p.
func engineOptions(p *platform.Platform, start func(context.Context) context.Context, around func(ctx context.Context, object, field string, objects int) (context.Context, func(error))) execute.EngineOptions {
	return execute.EngineOptions{
		Start: start, Gather: p.Gather, Around: around, Count: countBytes,
		StartEvent: func(ctx context.Context, event any) context.Context { return withBurst(ctx, p, event) },
	}
}

// NewExecutorOf returns an executor over p with the engine that newEngine returns.
// start returns the context of a response, and that of each field of a mutation.
func NewExecutorOf(p *platform.Platform, errors *Presenter, newEngine func(resolvers graph.ResolverRoot, start func(context.Context) context.Context) graphql.ExecutableSchema) *executor.Executor {
	start := func(ctx context.Context) context.Context { return withReads(ctx, p) }
	x := executor.New(newEngine(root{p}, start))
	x.SetErrorPresenter(errors.Present)
	x.SetRecoverFunc(panicError)
	x.AroundResponses(func(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
		return next(start(ctx))
	})
	return x
}

// Limits returns the facts of the schema that the document limits need.
func Limits() limit.Schema {
	return limit.Schema{
		DefaultPage: platform.DefaultPageSize, MaxPage: platform.MaxPageSize,
		Parts:      []string{"SeverityCount"},
		LongFields: longFields, UniqueNames: uniqueNames, Watched: slices.Collect(maps.Keys(longTexts)),
	}
}

// uniqueNames names the lists in which a name identifies at most one object,
// each with the argument that limits the list to children of one parent.
var uniqueNames = map[string]string{
	"Query.groups": "childrenOf", "Query.repos": "childrenOf", "Query.tags": "childrenOf",
	"Group.children": "", "Group.repos": "directOnly", "Repo.tags": "",
}

// Schema returns the schema that documents are validated against.
func Schema() *ast.Schema { return graph.Schema() }
