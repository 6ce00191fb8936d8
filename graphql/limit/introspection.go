package limit

import (
	"context"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/graphql/refusal"
)

// introspection allows introspection to callers with a token, unless it is off. If it
// is off, only the callers whom readSDL accepts may read the gateway's _service, which
// a federation needs.
type introspection struct {
	off     bool
	isKnown func(context.Context) bool
	readSDL func(context.Context) error
}

// check rejects operations that read the schema without permission.
func (i introspection) check(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	known := i.isKnown(ctx)
	operation.DisableIntrospection = !known
	if !selectsSchema(operation.Operation.SelectionSet) {
		return nil
	}
	for _, field := range graphql.CollectFields(operation, operation.Operation.SelectionSet, nil) {
		switch field.Name {
		case "__schema", "__type":
			if i.off {
				return gqlerror.WrapIfUnwrapped(&refusal.Error{
					Code: refusal.PermissionDenied, Reason: "INTROSPECTION_OFF", Message: "Permission denied: introspection is off",
				})
			}
		case "_service":
			if err := i.readSDL(ctx); err != nil {
				return gqlerror.WrapIfUnwrapped(err)
			}
		default:
			continue
		}
		if !known {
			return gqlerror.WrapIfUnwrapped(refusal.NewUnauthenticated("introspection needs a bearer token"))
		}
	}
	return nil
}

// selectsSchema reports whether a selection names a field that reads the schema, even
// if @skip or @include leaves it out.
func selectsSchema(set ast.SelectionSet) bool {
	return slices.ContainsFunc(set, func(selected ast.Selection) bool {
		switch selected := selected.(type) {
		case *ast.Field:
			return selected.Name == "__schema" || selected.Name == "__type" || selected.Name == "_service"
		case *ast.InlineFragment:
			return selectsSchema(selected.SelectionSet)
		case *ast.FragmentSpread: // the validator has resolved it and has excluded cycles
			return selected.Definition == nil || selectsSchema(selected.Definition.SelectionSet)
		default:
			return true
		}
	})
}
