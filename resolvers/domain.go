package resolvers

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/99designs/gqlgen/graphql/introspection"
	"github.com/99designs/gqlgen/plugin/federation/fedruntime"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/internal/graphql/execute"
	"atrium/platform"
)

// Domains lists the service areas, each of which is a subgraph of its own.
func Domains() []string {
	var all []string
	for _, k := range platform.Kinds() {
		if !slices.Contains(all, k.Area) {
			all = append(all, k.Area)
		}
	}
	return all
}

// DomainSDL returns the schema of one domain that gateways need. The schemas of all domains compose
// into that of SubgraphSDL.
func DomainSDL(domain string) string { return subgraphSDL(project(graph.Schema(), domain)) }

// NewDomainEngine returns an engine as NewEngine does, for the schema of one domain.
func NewDomainEngine(p *platform.Platform, domain string, around Around) execute.Engine {
	resolvers, options := Connect(p)
	options.Around = around
	whole := newSchema(resolvers)
	return execute.NewEngine(showSubgraph(&execute.Schema{Schema: project(whole.Schema, domain), Objects: whole.Objects}), options)
}

// entityDomain is the domain of the root fields that read an object by its global id. They are in
// one domain, because a gateway would ask any of several.
const entityDomain = "iam"

// A projection collects the types of a domain.
//
// A field belongs to the domain of its type, except for one that returns a type which belongs to
// another domain and is no entity, such as Group.repos: that belongs to the other domain. An entity
// of another domain has its keys and the fields that belong to this domain. All other types are the
// same in each domain that uses them, and shareable.
type projection struct {
	whole  *ast.Schema
	domain string
	types  map[string]*ast.Definition
}

// project returns the part of a schema that belongs to a domain.
func project(whole *ast.Schema, domain string) *ast.Schema {
	p := projection{whole, domain, map[string]*ast.Definition{}}
	for name, definition := range whole.Types {
		if definition.BuiltIn || p.isRoot(definition) || isEntity(definition) && len(p.listOwned(definition)) > 0 {
			p.include(name)
		}
	}
	p.include("ErrorExtensions") // no field leads to it
	if union := p.types["_Entity"]; union != nil {
		union.Types = slices.DeleteFunc(slices.Clone(union.Types), func(name string) bool { return p.types[name] == nil || !p.isResolvable(p.whole.Types[name]) })
	}
	return p.schema()
}

// schema returns the schema of the collected types.
func (p projection) schema() *ast.Schema {
	part := *p.whole
	part.Types, part.PossibleTypes, part.Implements = p.types, map[string][]*ast.Definition{}, map[string][]*ast.Definition{}
	root := func(whole *ast.Definition) *ast.Definition {
		if own := p.types[whole.Name]; len(own.Fields) > 0 {
			return own
		}
		delete(p.types, whole.Name)
		return nil
	}
	part.Query, part.Mutation, part.Subscription = root(p.whole.Query), root(p.whole.Mutation), root(p.whole.Subscription)
	for _, definition := range p.types {
		for _, name := range definition.Interfaces {
			part.AddPossibleType(name, definition)
			part.AddImplements(definition.Name, p.types[name])
		}
		for _, name := range definition.Types {
			part.AddPossibleType(definition.Name, p.types[name])
			part.AddImplements(name, definition)
		}
		if definition.Kind == ast.Object {
			part.AddPossibleType(definition.Name, definition)
		}
	}
	return &part
}

// include collects a type, and the types that its fields use.
func (p projection) include(name string) {
	whole := p.whole.Types[name]
	if whole == nil || p.types[name] != nil {
		return
	}
	own := *whole
	p.types[name] = &own
	own.Fields = p.fields(whole)
	own.Directives = p.directives(whole)
	for _, name := range own.Interfaces {
		p.include(name)
	}
	for _, name := range own.Types {
		if name != "" && own.Name != "_Entity" {
			p.include(name)
		}
	}
	for _, field := range own.Fields {
		p.include(field.Type.Name())
		if result := p.whole.Types[field.Type.Name()]; result != nil && result.Kind == ast.Interface {
			for _, implementing := range p.whole.PossibleTypes[result.Name] {
				p.include(implementing.Name)
			}
		}
		for _, argument := range field.Arguments {
			p.include(argument.Type.Name())
		}
	}
}

// fields returns the fields of a type that a domain has.
func (p projection) fields(whole *ast.Definition) (own ast.FieldList) {
	owned := p.listOwned(whole)
	for _, shared := range whole.Fields {
		isKey := isEntity(whole) && isKeyField(whole, shared.Name)
		if !isKey && !slices.Contains(owned, shared.Name) {
			continue
		}
		field := *shared
		if isKey || whole == p.whole.Query && areaOfElement(p.whole, "Query."+field.Name) == "" {
			field.Directives = append(slices.Clone(field.Directives), shareable(field.Position))
		}
		own = append(own, &field)
	}
	return own
}

// listOwned lists the fields of a type that belong to the domain, without the keys of entities.
func (p projection) listOwned(whole *ast.Definition) (names []string) {
	for _, field := range whole.Fields {
		if isEntity(whole) && isKeyField(whole, field.Name) {
			continue
		}
		if owner := p.ownerOf(whole, field); owner == "" || owner == p.domain {
			names = append(names, field.Name)
		}
	}
	return names
}

// ownerOf returns the domain that a field belongs to, or "" for each that has its type.
func (p projection) ownerOf(parent *ast.Definition, field *ast.FieldDefinition) string {
	result := p.whole.Types[field.Type.Name()]
	switch {
	case p.isRoot(parent):
		if owner := domainOfElement(p.whole, parent.Name+"."+field.Name); owner != "" || result.Name != "Node" {
			return owner
		}
		return entityDomain
	case !isEntity(parent):
		return ""
	case result != nil && result.IsCompositeType() && !isEntity(result):
		if owner := domainOfElement(p.whole, result.Name); owner != "" {
			return owner
		}
	}
	return areaOfElement(p.whole, parent.Name)
}

// domainOfElement returns the domain of a type or a root field. Operations are too few for a domain of their own.
func domainOfElement(schema *ast.Schema, name string) string {
	area := areaOfElement(schema, name)
	if area == "operations" {
		return "registry"
	}
	return area
}

// directives returns the directives of a type in the domain.
func (p projection) directives(whole *ast.Definition) ast.DirectiveList {
	own := slices.Clone(whole.Directives)
	switch {
	case isEntity(whole) && !p.isResolvable(whole):
		key := *own.ForName("key")
		key.Arguments = append(slices.Clone(key.Arguments), &ast.Argument{Name: "resolvable", Value: &ast.Value{Raw: "false", Kind: ast.BooleanValue}})
		own[slices.Index(own, own.ForName("key"))] = &key
	case whole.Kind == ast.Object && !isEntity(whole) && !p.isRoot(whole) && own.ForName("shareable") == nil:
		own = append(own, shareable(whole.Position))
	}
	return own
}

// isResolvable reports whether a gateway may ask the domain for an entity.
func (p projection) isResolvable(entity *ast.Definition) bool { return len(p.listOwned(entity)) > 0 }

func (p projection) isRoot(d *ast.Definition) bool {
	return d == p.whole.Query || d == p.whole.Mutation || d == p.whole.Subscription
}

func isEntity(d *ast.Definition) bool { return d.Directives.ForName("key") != nil }

// isKeyField reports whether each domain that has an entity has the field: its keys and its global id.
func isKeyField(entity *ast.Definition, name string) bool {
	keys := strings.Fields(entity.Directives.ForName("key").Arguments.ForName("fields").Value.Raw)
	return name == "id" || slices.Contains(keys, name)
}

func shareable(at *ast.Position) *ast.Directive {
	return &ast.Directive{Name: "shareable", Position: at}
}

// showSubgraph lets `_service` and introspection answer what is in the schema, and `_entities` only what is an entity in it.
func showSubgraph(schema *execute.Schema) *execute.Schema {
	sdl := sync.OnceValue(func() string { return subgraphSDL(schema.Schema) })
	objects, query := maps.Clone(schema.Objects), *schema.Objects["Query"]
	query.Fields = maps.Clone(query.Fields)
	service := *query.Fields["_service"]
	service.Resolve = func(context.Context, []any, map[string]any) ([]any, error) {
		return execute.One(fedruntime.Service{SDL: sdl()}, nil, execute.Struct)
	}
	query.Fields["_service"], objects["Query"] = &service, &query
	shown := sync.OnceValue(func() *ast.Schema { return graph.HideFederation(schema.Schema) })
	introspect := func(name string, answer func(arguments map[string]any) any) {
		whole := *query.Fields[name]
		own := whole
		own.Resolve = func(ctx context.Context, parents []any, arguments map[string]any) ([]any, error) {
			if _, err := whole.Resolve(ctx, parents, arguments); err != nil { // as for callers without a token
				return nil, err
			}
			return []any{answer(arguments)}, nil
		}
		query.Fields[name] = &own
	}
	introspect("__schema", func(map[string]any) any { return introspection.WrapSchema(shown()) })
	introspect("__type", func(arguments map[string]any) any {
		name, _ := arguments["name"].(string)
		return execute.Pointer(introspection.WrapTypeFromDef(shown(), shown().Types[name]))
	})
	if whole := query.Fields["_entities"]; whole != nil {
		entities := *whole
		entities.Resolve = func(ctx context.Context, parents []any, arguments map[string]any) ([]any, error) {
			return whole.Resolve(ctx, parents, withoutStrangers(schema.Schema, arguments))
		}
		query.Fields["_entities"] = &entities
	}
	return &execute.Schema{Schema: schema.Schema, Objects: objects}
}

// withoutStrangers takes the type from each representation of what is no entity in a schema, so that it is
// refused like one of no type at all.
func withoutStrangers(schema *ast.Schema, arguments map[string]any) map[string]any {
	given, _ := arguments["representations"].([]map[string]any)
	own := slices.Clone(given)
	for i, representation := range own {
		if name, _ := representation["__typename"].(string); !slices.Contains(schema.Types["_Entity"].Types, name) {
			own[i] = maps.Clone(representation)
			delete(own[i], "__typename")
		}
	}
	return map[string]any{"representations": own}
}
