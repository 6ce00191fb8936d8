package main

import (
	"fmt"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/vektah/gqlparser/v2/ast"
)

// windowType is the Go type of the arguments that all lists have. Resolvers take them together.
const windowType = "scalar.Window"

// bundleWindows makes the resolvers of connections take a window. gqlgen bundles the arguments that it has expanded
// from an input with @inlineArguments. Clients see no such input: gqlgen expands it in a schema that has nothing else.
func bundleWindows(whole *ast.Schema) error {
	window := &ast.Definition{Kind: ast.InputObject, Name: "Window"}
	for _, name := range []string{"orderBy", "first", "after", "last", "before", "skip"} {
		window.Fields = append(window.Fields, &ast.FieldDefinition{Name: name})
	}
	model := ast.ArgumentList{{Name: "model", Value: &ast.Value{Kind: ast.StringValue, Raw: "atrium/graph/" + windowType}}}
	window.Directives = ast.DirectiveList{{Name: "goModel", Arguments: model}}
	bundled := ast.ArgumentDefinitionList{{Name: "window", Type: ast.NamedType(window.Name, nil), Directives: ast.DirectiveList{{Name: "inlineArguments"}}}}

	lists := &ast.Schema{Types: map[string]*ast.Definition{window.Name: window}}
	for name, object := range whole.Types {
		part := &ast.Definition{Kind: object.Kind, Name: name}
		for _, field := range object.Fields {
			if strings.HasSuffix(field.Type.Name(), "Connection") && field.Arguments.ForName("first") != nil {
				part.Fields = append(part.Fields, &ast.FieldDefinition{Name: field.Name, Arguments: bundled})
			}
		}
		if len(part.Fields) > 0 {
			lists.Types[name] = part
		}
	}
	return codegen.ExpandInlineArguments(lists)
}

// resolverArguments returns the code of the arguments that a resolver takes, its window first.
func resolverArguments(f *codegen.Field) (code []string) {
	window := codegen.GetInlineArgsMetadata(f.Object.Name, f.Name)
	var members []string
	for _, a := range f.Args {
		if window != nil && slices.Contains(window.ExpandedArgs, a.Name) {
			members = append(members, templates.ToGo(a.Name)+": "+argument(a))
		} else {
			code = append(code, argument(a))
		}
	}
	if window != nil {
		code = slices.Insert(code, 0, fmt.Sprintf("%s{%s}", windowType, strings.Join(members, ", ")))
	}
	return code
}
