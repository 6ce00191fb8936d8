package resolvers

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"atrium/graph"
)

// SDL returns the schema that clients need, as a complete document. It omits the
// directives that only gateways need, which read them from `_service { sdl }`.
func SDL() string {
	schema := *graph.Schema()
	schema.SchemaDirectives = nil
	types := make(map[string]*ast.Definition, len(schema.Types))
	for name, shared := range schema.Types {
		definition := *shared
		definition.Directives = slices.Clone(definition.Directives)
		definition.Directives = slices.DeleteFunc(definition.Directives, func(d *ast.Directive) bool {
			return d.Name == "key" || d.Name == "shareable"
		})
		types[name] = &definition
	}
	schema.Types = types
	var sdl strings.Builder
	formatter.NewFormatter(&sdl).FormatSchema(&schema)
	return sdl.String()
}
