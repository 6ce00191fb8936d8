package limit

import (
	"fmt"
	"reflect"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// checkEnums rejects variables with a text that is not a value of its enum. gqlparser
// accepts such a text if it differs from a value in its case only, and no resolver knows
// it. The variables must be valid otherwise.
func (g *Guard) checkEnums(operation *ast.OperationDefinition, variables map[string]any) *gqlerror.Error {
	for _, variable := range operation.VariableDefinitions {
		path := ast.Path{ast.PathName("variable"), ast.PathName(variable.Variable)}
		if err := g.checkEnumsIn(variables[variable.Variable], variable.Type, path); err != nil {
			return err
		}
	}
	return nil
}

// checkEnumsIn checks the enums in a value of a type. path leads to the value.
func (g *Guard) checkEnumsIn(value any, declared *ast.Type, path ast.Path) *gqlerror.Error {
	if value == nil {
		return nil
	}
	if declared.Elem != nil {
		list := reflect.ValueOf(value)
		if list.Kind() != reflect.Slice { // a single value counts as a list of one
			return g.checkEnumsIn(value, declared.Elem, path)
		}
		for i := range list.Len() {
			if err := g.checkEnumsIn(list.Index(i).Interface(), declared.Elem, append(path, ast.PathIndex(i))); err != nil {
				return err
			}
		}
		return nil
	}
	switch definition := g.schema.Types[declared.NamedType]; definition.Kind {
	case ast.Enum:
		if name := fmt.Sprint(value); definition.EnumValues.ForName(name) == nil {
			return gqlerror.ErrorPathf(path, "%s is not a valid %s", name, definition.Name)
		}
	case ast.InputObject:
		members, _ := value.(map[string]any)
		for _, field := range definition.Fields {
			if err := g.checkEnumsIn(members[field.Name], field.Type, append(path, ast.PathName(field.Name))); err != nil {
				return err
			}
		}
	}
	return nil
}
