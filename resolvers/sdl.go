package resolvers

import (
	"cmp"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/formatter"

	"atrium/graph"
	"atrium/internal/graphql/analysis"
)

// newerDirectives defines what the specification has had only since 2021, or, as @tag, that of
// federation has: older readers of the schema do not know it by themselves.
const newerDirectives = `"Exposes a URL that specifies the behavior of this scalar."
directive @specifiedBy("The URL that specifies the behavior of this scalar." url: String!) on SCALAR
"Names a property of a field: experimental, if it may change in any release, with all that only it leads to."
directive @tag("The property." name: String!) repeatable on FIELD_DEFINITION
`

// SDL returns the schema that clients need, as a complete document. It omits the
// directives that only gateways need, which read them from `_service { sdl }`.
func SDL() string {
	schema := *graph.Schema()
	schema.SchemaDirectives = nil
	whole := func(description string) string { return description }
	return newerDirectives + formatSchema(schema, whole, func(name string, own ast.DirectiveList) ast.DirectiveList {
		own = slices.DeleteFunc(own, func(d *ast.Directive) bool {
			return d.Name == "key" || d.Name == "shareable" || d.Name == analysis.SemanticNonNull
		})
		if object, field := elementOf(&schema, name); field != nil && object.Kind == ast.Object {
			if d := analysis.NonNullDirective(analysis.NonNullLevels(&schema, object, field)); d != nil {
				own = append(own, d)
			}
		}
		return own
	})
}

// elementOf returns the type and the field of a name such as Repo.name; the field is nil for the name of a type.
func elementOf(schema *ast.Schema, name string) (*ast.Definition, *ast.FieldDefinition) {
	kind, member, _ := strings.Cut(name, ".")
	definition := schema.Types[kind]
	return definition, definition.Fields.ForName(member)
}

// SubgraphSDL returns the schema that gateways need.
var SubgraphSDL = sync.OnceValue(func() string { return subgraphSDL(graph.Schema()) })

// subgraphSDL writes a schema for gateways: with the directives of federation, with the
// costs that the server counts (analysis.Directives), and with the area of each type and each root
// field as its tag. Its descriptions are short, because routers and their registries
// send, compare and keep the whole text: clients read all of it from SDL. It omits @semanticNonNull too, which composition would leave out of
// what clients of the router see.
func subgraphSDL(schema *ast.Schema) string {
	costs := analysis.Directives(schema, Limits())
	known := *schema
	known.Directives = maps.Clone(schema.Directives)
	delete(known.Directives, analysis.SemanticNonNull)
	return formatSchema(known, shortDescriptions(graph.Schema()), func(name string, own ast.DirectiveList) ast.DirectiveList {
		own = slices.DeleteFunc(own, func(d *ast.Directive) bool { return d.Name == analysis.SemanticNonNull })
		if area := areaOfElement(schema, name); area != "" {
			own = append(own, &ast.Directive{Name: "tag", Arguments: ast.ArgumentList{{Name: "name", Value: &ast.Value{Raw: area, Kind: ast.StringValue}}}})
		}
		return append(own, costs[name]...)
	})
}

// shortDescriptions returns a function that shortens the descriptions of a schema to their first
// sentence. A sentence that several elements have, such as those of the arguments for paging, is left out. The domains
// are shortened by the whole schema, so that each element has one description.
func shortDescriptions(schema *ast.Schema) func(description string) string {
	uses := map[string]int{}
	count := func(description string) string {
		uses[firstSentence(description)]++
		return description
	}
	for _, definition := range schema.Types {
		describe(definition, count)
	}
	return func(description string) string {
		if first := firstSentence(description); uses[first] == 1 {
			return first
		}
		return ""
	}
}

// firstSentence returns the text up to the first full stop or semicolon.
func firstSentence(description string) string {
	words := strings.Fields(description)
	for i, word := range words {
		if strings.HasSuffix(word, ".") || strings.HasSuffix(word, ";") {
			words = words[:i+1]
			break
		}
	}
	return strings.TrimSuffix(strings.Join(words, " "), ";")
}

// describe returns a copy of a type, whose descriptions are what change makes of them.
func describe(shared *ast.Definition, change func(description string) string) *ast.Definition {
	definition := *shared
	definition.Description = change(definition.Description)
	definition.Fields = mapEach(definition.Fields, func(shared *ast.FieldDefinition) *ast.FieldDefinition {
		field := *shared
		field.Description = change(field.Description)
		field.Arguments = mapEach(field.Arguments, func(shared *ast.ArgumentDefinition) *ast.ArgumentDefinition {
			argument := *shared
			argument.Description = change(argument.Description)
			return &argument
		})
		return &field
	})
	definition.EnumValues = mapEach(definition.EnumValues, func(shared *ast.EnumValueDefinition) *ast.EnumValueDefinition {
		value := *shared
		value.Description = change(value.Description)
		return &value
	})
	return &definition
}

// formatSchema writes a schema. text returns what to write of a description. change returns the directives
// of a type (Repo) or a field (Repo.name), and is given a copy of those that it has in the source.
func formatSchema(schema ast.Schema, text func(description string) string, change func(name string, own ast.DirectiveList) ast.DirectiveList) string {
	types := make(map[string]*ast.Definition, len(schema.Types))
	for name, shared := range schema.Types {
		definition := describe(shared, text)
		definition.Directives = change(name, slices.Clone(definition.Directives))
		for _, field := range definition.Fields {
			field.Directives = change(name+"."+field.Name, slices.Clone(field.Directives))
		}
		types[name] = definition
	}
	schema.Types = types
	var sdl strings.Builder
	formatter.NewFormatter(&sdl).FormatSchema(&schema)
	return blockString.ReplaceAllStringFunc(sdl.String(), quote)
}

// blockString is a description as the formatter writes it: always in lines of its own.
var blockString = regexp.MustCompile(`(?s)"""\n.*?\n\t*"""`)

// quote writes a block string of one line as a string.
func quote(block string) string {
	text := strings.TrimSpace(strings.Trim(block, `"`))
	if strings.ContainsAny(text, "\"\\\n") {
		return block
	}
	return `"` + text + `"`
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
