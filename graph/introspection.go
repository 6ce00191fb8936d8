package graph

import (
	"slices"

	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/vektah/gqlparser/v2/ast"
)

// kindsWith lists the kinds of types that have members of each name. Those of all other types
// are null, as the specification says.
var kindsWith = map[string][]ast.DefinitionKind{
	"fields":        {ast.Object, ast.Interface},
	"interfaces":    {ast.Object, ast.Interface},
	"possibleTypes": {ast.Interface, ast.Union},
	"enumValues":    {ast.Enum},
	"inputFields":   {ast.InputObject},
}

// hasMembers reports whether a type has members of a name, even if their list is empty.
func hasMembers(t *introspection.Type, name string) bool {
	return slices.Contains(kindsWith[name], ast.DefinitionKind(t.Kind()))
}
