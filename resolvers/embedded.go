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

// embedded answers an edge to what its row shows already, after the check that
// a read would make. It answers false where more is selected than the row shows.
func embedded[T any](ctx context.Context, uid platform.UID, check func(context.Context, platform.UID) error, shown T) (*T, bool, error) {
	if uid == "" || !selectsOnly(graphql.GetFieldContext(ctx).Field.Selections, boundFields) {
		return nil, false, nil
	}
	if err := check(ctx, uid); err != nil {
		return nil, true, err
	}
	return &shown, true, nil
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
