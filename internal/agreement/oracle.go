package agreement

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/internal/oracle"
)

// NewOracle returns gqlgen's engine over resolvers. start returns the context of a
// response, and that of each field of a mutation.
func NewOracle(resolvers graph.ResolverRoot, start func(context.Context) context.Context) graphql.ExecutableSchema {
	shown := oracle.NewExecutableSchema(oracle.Config{Resolvers: oracle.NewResolvers(resolvers), Schema: graph.ClientSchema()})
	return wholeSchema{shown, start}
}

// A wholeSchema executes documents of the whole schema, although its introspection
// shows the client schema.
type wholeSchema struct {
	graphql.ExecutableSchema
	start func(context.Context) context.Context
}

// Schema returns the schema that documents are validated against.
func (wholeSchema) Schema() *ast.Schema { return graph.Schema() }

// Exec executes an operation. Each field of a mutation has a new context.
func (s wholeSchema) Exec(ctx context.Context) graphql.ResponseHandler {
	if operation := graphql.GetOperationContext(ctx); operation.Operation.Operation == ast.Mutation {
		around := operation.RootResolverMiddleware
		operation.RootResolverMiddleware = func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
			return around(s.start(ctx), next)
		}
	}
	return s.ExecutableSchema.Exec(ctx)
}
