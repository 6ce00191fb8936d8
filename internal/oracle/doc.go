// Package oracle is gqlgen's own executor for the schema. Tests compare ours with it, and
// nothing else may use it. Its code is as long as half of the program, so it is not
// committed: `make oracle` generates it beside this file. Only a build with the tag oracle
// contains it, so that stale code does not disturb other builds. `make test` does both.
package oracle

import (
	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
)

// New returns the executor over resolvers. Its introspection shows a schema. New is nil if
// the build does not contain the generated code.
var New func(resolvers graph.ResolverRoot, shown *ast.Schema) graphql.ExecutableSchema
