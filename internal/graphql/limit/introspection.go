package limit

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/graphql/analysis"
	"atrium/internal/graphql/refusal"
)

// introspection allows introspection to callers with a token, unless it is off. Callers
// whom readSDL accepts may read _service, which a gateway of a federation needs, even
// then.
type introspection struct {
	off     bool
	isKnown func(context.Context) bool
	readSDL func(context.Context) error
}

// check rejects operations that read the schema without permission.
func (i introspection) check(ctx context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	known := i.isKnown(ctx)
	operation.DisableIntrospection = !known
	for field := range analysis.SelectedFields(operation.Operation.SelectionSet, operation.Variables) {
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
