package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/platform"
)

// bindingFields are the fields of its identity, group and role that every role
// binding is read with. A selection of nothing else needs no second read.
var bindingFields = map[string]bool{"__typename": true, "id": true, "uid": true, "name": true, "description": true}

// bindingHasSelection reports whether a role binding already holds every field
// that is selected of the edge that ctx resolves.
func bindingHasSelection(ctx context.Context) bool {
	return selectsOnly(graphql.GetFieldContext(ctx).Field.Selections, bindingFields)
}

// answerFromBindings answers an edge of role bindings from the bindings
// themselves, after the access check that a read would make. It answers nil
// where a binding has no uid for the edge.
func answerFromBindings[T any](ctx context.Context, bindings []*platform.RoleBinding, uid func(*platform.RoleBinding) platform.UID, check func(context.Context, platform.UID) error, show func(*platform.RoleBinding) T) ([]*T, error) {
	shown, n := make([]T, len(bindings)), 0
	return forEach(bindings, func(b *platform.RoleBinding) (*T, error) {
		if uid(b) == "" {
			return nil, nil
		}
		if err := check(ctx, uid(b)); err != nil {
			return nil, err
		}
		to := &shown[n]
		*to, n = show(b), n+1
		return to, nil
	})
}

// selectsOnly reports whether the selections name no other field than these. It
// ignores @skip and @include.
func selectsOnly(selections ast.SelectionSet, fields map[string]bool) bool {
	for _, selection := range selections {
		allowed := false
		switch selection := selection.(type) {
		case *ast.Field:
			allowed = fields[selection.Name]
		case *ast.InlineFragment:
			allowed = selectsOnly(selection.SelectionSet, fields)
		case *ast.FragmentSpread: // the validator has resolved it and has excluded cycles
			allowed = selection.Definition != nil && selectsOnly(selection.Definition.SelectionSet, fields)
		}
		if !allowed {
			return false
		}
	}
	return true
}
