package analysis

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// SemanticNonNull is the name of the directive with which clients make types that are not null.
const SemanticNonNull = "semanticNonNull"

// NonNullLevels returns at which levels a nullable field is null only together with an error: 0 is the
// field itself, 1 the items of its list. Such are, whatever the schema says: root fields, connections, and
// what is counted of them. Of all others the schema says it where they stand, and with no levels that a
// field of these is null without an error, too.
func NonNullLevels(schema *ast.Schema, object *ast.Definition, field *ast.FieldDefinition) (levels []int) {
	if said := field.Directives.ForName(SemanticNonNull); said != nil {
		list, isList := said.ArgumentMap(nil)["levels"].([]any)
		if !isList {
			return []int{0}
		}
		for _, level := range list {
			if n, isNumber := level.(int64); isNumber {
				levels = append(levels, int(n))
			}
		}
		return levels
	}
	name := field.Type.Name()
	isRoot := object == schema.Query || object == schema.Mutation || object == schema.Subscription
	isCounted := strings.HasSuffix(name, Connection) || strings.HasSuffix(name, "Facets") || strings.HasSuffix(name, "Summary")
	if field.Type.NonNull || strings.HasPrefix(field.Name, "_") || !isRoot && !isCounted {
		return nil
	}
	return []int{0}
}

// NonNullDirective returns the directive that says the levels, or nil if there are none.
func NonNullDirective(levels []int) *ast.Directive {
	d := &ast.Directive{Name: SemanticNonNull}
	switch {
	case len(levels) == 0:
		return nil
	case len(levels) > 1 || levels[0] != 0:
		list := &ast.Value{Kind: ast.ListValue}
		for _, level := range levels {
			list.Children = append(list.Children, &ast.ChildValue{Value: number(level)})
		}
		d.Arguments = ast.ArgumentList{argument("levels", list)}
	}
	return d
}
