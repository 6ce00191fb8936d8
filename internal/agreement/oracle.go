package agreement

import (
	"context"
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/internal/graphql/analysis"
	"atrium/internal/graphql/execute"
	"atrium/internal/oracle"
)

// An Oracle is gqlgen's executor for the schema. Its introspection shows the client
// schema, but it executes documents of the whole schema.
type Oracle struct {
	// AroundFields is called for each field of each object; it may be nil.
	AroundFields graphql.FieldMiddleware

	executor graphql.ExecutableSchema
	options  execute.EngineOptions
}

var _ execute.Engine = (*Oracle)(nil)

// Missing says why there is no oracle. It is "" if there is one.
func Missing() string {
	if oracle.New == nil {
		return "the executors are not compared: run `make test`, or `make oracle` and then go test with -tags=oracle"
	}
	return ""
}

// NewOracle returns an Oracle over resolvers. It panics if the oracle is missing.
func NewOracle(resolvers graph.ResolverRoot, o execute.EngineOptions) *Oracle {
	return &Oracle{executor: oracle.New(resolvers, graph.ClientSchema()), options: o}
}

// Schema returns the whole schema.
func (*Oracle) Schema() *ast.Schema { return graph.Schema() }

// Mutate executes a mutation.
func (o *Oracle) Mutate(ctx context.Context, operation *graphql.OperationContext) []byte {
	return o.Query(ctx, operation)
}

// Query executes a query.
func (o *Oracle) Query(ctx context.Context, operation *graphql.OperationContext) []byte {
	data, _ := o.Subscribe(ctx, operation)(ctx)
	return data
}

// Subscribe opens the source of a subscription.
func (o *Oracle) Subscribe(ctx context.Context, operation *graphql.OperationContext) execute.Next {
	selectEverything(operation)
	operation.ResolverMiddleware = o.AroundFields
	if operation.ResolverMiddleware == nil {
		operation.ResolverMiddleware = func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }
	}
	operation.RootResolverMiddleware = func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		if operation.Operation.Operation == ast.Mutation {
			ctx = o.options.Start(ctx)
		}
		return next(ctx)
	}
	respond := o.executor.Exec(ctx)
	return func(ctx context.Context) ([]byte, bool) {
		response := respond(o.options.Start(ctx))
		if response == nil {
			return nil, false
		}
		return response.Data, true
	}
}

// Recycle does nothing.
func (*Oracle) Recycle([]byte) {}

// selectEverything makes resolvers read all columns, so that the comparison also shows
// whether the tested executor leaves out a column that an answer needs. Only
// platform.BindingRules stay left out, because no field stands for them.
func selectEverything(operation *graphql.OperationContext) {
	found := analysis.FindingsOf(operation)
	if found == nil {
		return
	}
	all := *found
	all.Selected = everyField()
	all.Keep(operation)
}

// everyField returns the names of the fields of all types, such as Repo.readme.
var everyField = sync.OnceValue(func() (names []string) {
	for _, object := range graph.Schema().Types {
		for _, field := range object.Fields {
			names = append(names, object.Name+"."+field.Name)
		}
	}
	return names
})
