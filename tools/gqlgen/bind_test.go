package main

import (
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/vektah/gqlparser/v2/ast"
)

const widgetSchema = `
interface Node { id: ID! }
type Widget implements Node { id: ID! name: String! parent: Widget! parts: PartConnection! viewerCan: Boolean! }
type Part implements Node { id: ID! }
type Size { width: Int! }
type WidgetConnection { nodes: [Widget!]! }
type PartConnection { nodes: [Part!]! }
type SizeConnection { nodes: [Size!]! }
input WidgetFilter { uids: [ID!] name: String }
input SizeFilter { uids: [ID!] }
input PartFilter { name: String }
enum WidgetOrderField { NAME }
enum Color { RED }
input WidgetOrder { field: WidgetOrderField! }
input CreateWidgetInput { name: String! size: SizeInput }
input SizeInput { width: Int }
input OtherInput { name: String }
input DeleteWidgetInput { id: ID! }
type CreateWidgetPayload { widget: Widget! widgetEdge: WidgetEdge! }
type UpdateWidgetPayload { widget: Widget! }
type DeleteWidgetPayload { deletedId: ID! }
type CreateSizePayload { size: Size! note: String }
`

// bindSchema binds a schema, beside bindings that gqlgen.yml could have.
func bindSchema(t *testing.T, schema string, models config.TypeMap) (aliases string, err error) {
	t.Helper()
	settings := config.DefaultConfig()
	settings.Models = models
	settings.Sources = []*ast.Source{{Name: "widget.graphqls", Input: schema}}
	source, err := bindByName(settings, map[string]string{"Widget": "inventory", "Part": "inventory"})
	return string(source), err
}

func TestTypesAreBoundByTheirNames(t *testing.T) {
	t.Parallel()
	models := config.TypeMap{}
	aliases, err := bindSchema(t, widgetSchema, models)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{
		"Widget": "atrium/platform/inventory.Widget", "Part": "atrium/platform/inventory.Part",
		"WidgetOrderField": "atrium/graph/scalar.OrderField", "WidgetOrder": "atrium/graph/scalar.Order",
		"CreateWidgetInput": "map[string]any", "SizeInput": "map[string]any", "DeleteWidgetInput": "atrium/graph/scalar.Delete",
		"CreateWidgetPayload": "atrium/graph/scalar.CreateWidgetPayload", "UpdateWidgetPayload": "atrium/graph/scalar.UpdateWidgetPayload",
		"DeleteWidgetPayload": "atrium/graph/scalar.Deleted",
	}
	if got := slices.Sorted(maps.Keys(models)); !slices.Equal(got, slices.Sorted(maps.Keys(want))) {
		t.Errorf("bound are %v, want %v", got, slices.Sorted(maps.Keys(want)))
	}
	for name, goType := range want {
		if got := models[name].Model; !slices.Equal(got, config.StringList{goType}) {
			t.Errorf("%s is bound to %v, want %s", name, got, goType)
		}
	}
	read := config.TypeMapField{Resolver: true}
	wantFields := map[string]config.TypeMapField{"id": {FieldName: "UID"}, "parent": read, "parts": read, "viewerCan": read}
	if got := models["Widget"].Fields; !reflect.DeepEqual(got, wantFields) {
		t.Errorf("the fields of a kind are bound as %v, want %v", got, wantFields)
	}
	wantFields = map[string]config.TypeMapField{"widget": {FieldName: "Node"}, "widgetEdge": {FieldName: "Edge"}}
	if got := models["CreateWidgetPayload"].Fields; !reflect.DeepEqual(got, wantFields) {
		t.Errorf("the fields of a payload are bound as %v, want %v", got, wantFields)
	}
	for _, line := range []string{
		"WidgetConnection = Connection[*inventory.Widget]", "WidgetEdge = Edge[*inventory.Widget]", "PartEdge = Edge[*inventory.Part]",
		"CreateWidgetPayload = Created[*inventory.Widget]", "UpdateWidgetPayload = Updated[*inventory.Widget]", "inventory.WidgetFilter\n",
	} {
		if !strings.Contains(aliases, line) {
			t.Errorf("the aliases lack %q:\n%s", line, aliases)
		}
	}
	if strings.Contains(aliases, "Size") || strings.Contains(aliases, "PartFilter") {
		t.Errorf("the aliases have types that belong to no kind, or a filter without uids:\n%s", aliases)
	}
}

func TestBindingsOfTheConfigurationStay(t *testing.T) {
	t.Parallel()
	models := config.TypeMap{
		"Widget":            {Model: config.StringList{"atrium/platform/inventory.Gadget"}, Fields: map[string]config.TypeMapField{"id": {FieldName: "Key"}}},
		"Part":              {Model: config.StringList{"atrium/graph/scalar.Part"}},
		"CreateWidgetInput": {Model: config.StringList{"atrium/graph/scalar.Create"}},
		"WidgetFilter":      {Model: config.StringList{"atrium/graph/scalar.OwnFilter"}},
	}
	aliases, err := bindSchema(t, widgetSchema, models)
	if err != nil {
		t.Fatal(err)
	}
	if got := models["Widget"]; got.Model[0] != "atrium/platform/inventory.Gadget" || got.Fields["id"].FieldName != "Key" || !got.Fields["parent"].Resolver {
		t.Errorf("Widget is bound as %v, want its own type and key, and a resolver for its parent", got)
	}
	if !strings.Contains(aliases, "WidgetConnection = Connection[*inventory.Gadget]") {
		t.Errorf("the connection does not hold the type of the configuration:\n%s", aliases)
	}
	if strings.Contains(aliases, "PartConnection") || len(models["Part"].Fields) > 0 {
		t.Errorf("a type outside of the core is treated as a kind: %v\n%s", models["Part"], aliases)
	}
	if strings.Contains(aliases, "WidgetFilter struct") {
		t.Errorf("a filter is written although the configuration has one:\n%s", aliases)
	}
	if _, bound := models["SizeInput"]; bound || models["CreateWidgetInput"].Model[0] != "atrium/graph/scalar.Create" {
		t.Error("an input of the configuration is bound to a map")
	}
}

func TestASchemaWithAMistakeIsRefused(t *testing.T) {
	t.Parallel()
	_, err := bindSchema(t, "type Widget implements {", config.TypeMap{})
	if err == nil || !strings.Contains(err.Error(), "widget.graphqls:1") {
		t.Errorf("got the error %v, want one that names the file and the line", err)
	}
}

func TestAFieldThatTheExecutorCannotReadIsRefused(t *testing.T) {
	t.Parallel()
	field := &codegen.Field{
		FieldDefinition: &ast.FieldDefinition{Name: "name"},
		Object:          &codegen.Object{Definition: &ast.Definition{Name: "Widget"}},
		GoFieldType:     codegen.GoFieldMap, GoFieldName: "Name",
	}
	code, err := generator{}.field(field)
	want := "Widget.name: give it a resolver in gqlgen.yml; the executor calls no method like Name"
	if code != "" || err == nil || err.Error() != want {
		t.Errorf("got the code %q and the error %v, want %q", code, err, want)
	}
}
