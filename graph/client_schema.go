// Package graph is what the engine knows of the schema: how each field is read,
// how arguments are decoded, and the schema itself. Its other files come from
// tools/gqlgen. It must not decide anything about a kind.
package graph

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// onDirectives is a location of directives that no published version of the specification has. gqlparser
// adds it to what it parses, and clients that check locations then refuse the whole schema.
const onDirectives = ast.DirectiveLocation("DIRECTIVE_DEFINITION")

// loadSchema parses the schema, which `make generate` has packed.
func loadSchema(packed []byte) *ast.Schema {
	schema := gqlparser.MustLoadSchema(unpackSources(packed)...)
	locations := schema.Types["__DirectiveLocation"]
	locations.EnumValues = slices.DeleteFunc(locations.EnumValues, func(v *ast.EnumValueDefinition) bool { return v.Name == string(onDirectives) })
	for _, directive := range schema.Directives {
		directive.Locations = slices.DeleteFunc(directive.Locations, func(l ast.DirectiveLocation) bool { return l == onDirectives })
	}
	return schema
}

// unpackSources reads the text of the schema.
func unpackSources(packed []byte) (sources []*ast.Source) {
	r, err := gzip.NewReader(bytes.NewReader(packed))
	if err == nil {
		err = json.NewDecoder(r).Decode(&sources)
	}
	if err != nil {
		panic(err) // cannot happen: the file is generated
	}
	return sources
}

// ClientSchema is the schema as clients see it by introspection: without what
// federation adds for gateways, which ask for that by `_service { sdl }`, and
// without what is not served.
func ClientSchema() *ast.Schema { return clientSchema() }

var clientSchema = sync.OnceValue(func() *ast.Schema { return HideFederation(parsedSchema()) })

// HideFederation returns a schema as clients see it by introspection.
func HideFederation(whole *ast.Schema) *ast.Schema {
	shown := *whole
	shown.Types = maps.Clone(whole.Types)
	maps.DeleteFunc(shown.Types, func(_ string, d *ast.Definition) bool { return isOfFederation(d.Position) })
	query := *whole.Query
	query.Fields = nil
	for _, field := range whole.Query.Fields {
		if !isOfFederation(field.Position) {
			query.Fields = append(query.Fields, field)
		}
	}
	shown.Query, shown.Types[query.Name] = &query, &query
	shown.Directives = maps.Clone(whole.Directives)
	maps.DeleteFunc(shown.Directives, func(name string, d *ast.DirectiveDefinition) bool {
		return name == "defer" || name == "semanticNonNull" || isOfFederation(d.Position) // applied directives are not shown
	})
	return &shown
}

// isOfFederation reports what gqlgen adds for federation.
func isOfFederation(at *ast.Position) bool {
	return at != nil && at.Src != nil && strings.Contains(at.Src.Name, "federation/")
}
