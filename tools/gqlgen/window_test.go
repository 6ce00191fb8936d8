package main

import (
	"go/types"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

func TestResolversOfListsTakeTheirWindowTogether(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
type Query { widgets(within: ID, first: Int, skip: Int): WidgetConnection, parts(first: Int): [Part!] }
type WidgetConnection { nodes: [Part!] }
type Part { name: String }`})
	if err := bundleWindows(schema); err != nil {
		t.Fatal(err)
	}
	defer codegen.ClearInlineArgsMetadata()
	for field, want := range map[string]string{
		"widgets": `scalar.Window{First: arguments["first"].(any), Skip: arguments["skip"].(any)}, arguments["within"].(any)`,
		"parts":   `arguments["first"].(any)`,
	} {
		definition := schema.Query.Fields.ForName(field)
		read := &codegen.Field{FieldDefinition: definition, Object: &codegen.Object{Definition: schema.Query}}
		for _, a := range definition.Arguments {
			read.Args = append(read.Args, &codegen.FieldArgument{ArgumentDefinition: a, TypeReference: &config.TypeReference{GO: types.NewInterfaceType(nil, nil)}})
		}
		if got := strings.Join(resolverArguments(read), ", "); got != want {
			t.Errorf("the resolver of %s is given %s, want %s", field, got, want)
		}
	}
	if n := len(schema.Query.Fields.ForName("widgets").Arguments); n != 3 {
		t.Errorf("the field has %d arguments, want the 3 that clients see", n)
	}
}
