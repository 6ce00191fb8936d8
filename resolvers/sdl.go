package resolvers

import (
	"cmp"
	"path"
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"atrium/graph"
	"atrium/internal/graphql/analysis"
)

// newerDirectives defines what the specification has had only since 2021 and 2025: older readers of the
// schema do not know it by themselves.
const newerDirectives = `"Exposes a URL that specifies the behavior of this scalar."
directive @specifiedBy("The URL that specifies the behavior of this scalar." url: String!) on SCALAR
"Indicates exactly one field must be supplied and this field must not be null."
directive @oneOf on INPUT_OBJECT
`

// SDL returns the schema that clients need, as a complete document. It omits the
// directives that only gateways need, which read them from `_service { sdl }`.
func SDL() string {
	schema := *graph.Schema()
	schema.SchemaDirectives = nil
	return newerDirectives + formatSchema(schema, func(_ string, own ast.DirectiveList) ast.DirectiveList {
		return slices.DeleteFunc(own, func(d *ast.Directive) bool { return d.Name == "key" || d.Name == "shareable" })
	})
}

// SubgraphSDL returns the schema that gateways need.
var SubgraphSDL = sync.OnceValue(func() string { return subgraphSDL(graph.Schema()) })

// subgraphSDL writes a schema for gateways: with the directives of federation, with the
// costs that the server counts (analysis.Directives), and with the area of each type and each root
// field as its tag. It omits @oneOf, which Apollo's composition refuses as unknown: then Atrium
// checks it, and the router does not.
func subgraphSDL(schema *ast.Schema) string {
	costs := analysis.Directives(schema, Limits())
	return formatSchema(*schema, func(name string, own ast.DirectiveList) ast.DirectiveList {
		own = slices.DeleteFunc(own, func(d *ast.Directive) bool { return d.Name == "oneOf" })
		if area := areaOfElement(schema, name); area != "" {
			own = append(own, &ast.Directive{Name: "tag", Arguments: ast.ArgumentList{{Name: "name", Value: &ast.Value{Raw: area, Kind: ast.StringValue}}}})
		}
		return append(own, costs[name]...)
	})
}

// formatSchema writes a schema. change returns the directives of a type (Repo) or a field
// (Repo.name), and is given a copy of those that it has in the source.
func formatSchema(schema ast.Schema, change func(name string, own ast.DirectiveList) ast.DirectiveList) string {
	types := make(map[string]*ast.Definition, len(schema.Types))
	for name, shared := range schema.Types {
		definition := *shared
		definition.Directives = change(name, slices.Clone(definition.Directives))
		definition.Fields = make(ast.FieldList, len(shared.Fields))
		for i, shared := range shared.Fields {
			field := *shared
			field.Directives = change(name+"."+field.Name, slices.Clone(field.Directives))
			definition.Fields[i] = &field
		}
		types[name] = &definition
	}
	schema.Types = types
	var sdl strings.Builder
	formatter.NewFormatter(&sdl).FormatSchema(&schema)
	return sdl.String()
}

// areaOfElement returns the area of a type, or of a root field such as Query.repos; "" means that
// it belongs to all areas, or that it has the area of its type.
func areaOfElement(schema *ast.Schema, name string) string {
	kind, member, isField := strings.Cut(name, ".")
	definition := schema.Types[kind]
	isRoot := definition == schema.Query || definition == schema.Mutation || definition == schema.Subscription
	switch {
	case isField != isRoot || definition.BuiltIn || definition.Position == nil:
		return ""
	case isField:
		if area := areaOfField(definition.Fields.ForName(member)); area != requestArea {
			return area
		}
		return ""
	}
	file := strings.TrimSuffix(path.Base(definition.Position.Src.Name), ".graphqls")
	return cmp.Or(areas[file], areas[strings.ToLower(kind[:1])+kind[1:]])
}
