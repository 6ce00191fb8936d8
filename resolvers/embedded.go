package resolvers

import (
	"context"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/platform"
)

// boundFields are what a role binding shows of its identity, group and role. It
// is always read with these fields, so who selects nothing else of such an edge
// needs no second read.
var boundFields = map[string]bool{"__typename": true, "id": true, "uid": true, "name": true, "description": true}

// showsAll reports whether a role binding shows all that is selected of the edge
// that is being resolved.
func showsAll(ctx context.Context) bool {
	return selectsOnly(graphql.GetFieldContext(ctx).Field.Selections, boundFields)
}

// shown answers an edge of role bindings with what these show already, after
// the check that a read would make. An edge without a uid leads nowhere.
func shown[T any](ctx context.Context, bindings []*platform.RoleBinding, uid func(*platform.RoleBinding) platform.UID, check func(context.Context, platform.UID) error, show func(*platform.RoleBinding) *T) ([]*T, error) {
	return forEach(bindings, func(b *platform.RoleBinding) (*T, error) {
		if uid(b) == "" {
			return nil, nil
		}
		if err := check(ctx, uid(b)); err != nil {
			return nil, err
		}
		return show(b), nil
	})
}

// selectsOnly reports whether no field but these is selected, whatever the
// conditions and directives of the selections say.
func selectsOnly(selections ast.SelectionSet, fields map[string]bool) bool {
	for _, selection := range selections {
		only := false
		switch selection := selection.(type) {
		case *ast.Field:
			only = fields[selection.Name]
		case *ast.InlineFragment:
			only = selectsOnly(selection.SelectionSet, fields)
		case *ast.FragmentSpread: // which the validator has resolved, and in which there are no cycles
			only = selection.Definition != nil && selectsOnly(selection.Definition.SelectionSet, fields)
		}
		if !only {
			return false
		}
	}
	return true
}
