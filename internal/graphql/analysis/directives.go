package analysis

import (
	"slices"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// Connection is the end of the names of connections.
const Connection = "Connection"

// Directives returns the directives @cost and @listSize that tell a router of a federation what
// the cost guard will count, by the names of types (Repo) and fields (Repo.readme). A router
// that adds them up never exceeds the cost of the guard, except for a list that is filtered by a
// unique name, and for a page that is larger than the largest, which is refused. What depends on the conditions, the
// order or the keys of a list, and what is read once for all parents, cannot be said by
// directives; there the guard counts more.
func Directives(schema *ast.Schema, facts Schema) map[string]ast.DirectiveList {
	d := directives{facts, schema, map[string]ast.DirectiveList{}}
	for _, name := range facts.Parts {
		d.addCost(name, 0)
	}
	for _, object := range schema.Types {
		if object.Kind != ast.Object || object.BuiltIn || strings.HasPrefix(object.Name, "__") {
			continue
		}
		for _, field := range object.Fields {
			d.describe(object, field)
		}
	}
	return d.found
}

// directives collects the directives of a schema.
type directives struct {
	Schema
	schema *ast.Schema
	found  map[string]ast.DirectiveList
}

// describe adds the directives of a field of an object. The cases are those of the cost guard (pricing.field in package limit).
func (d directives) describe(object *ast.Definition, field *ast.FieldDefinition) {
	name, kind := object.Name+"."+field.Name, d.schema.Types[field.Type.Name()]
	isList := field.Type.Elem != nil
	switch {
	case kind == nil || kind.IsLeafType():
		if cost := d.LongFields[name]; cost > 0 {
			d.addCost(name, cost)
			d.addListSize(name, isList, 1)
		}
	case strings.HasSuffix(object.Name, Connection) && isList: // the connection says how many there are
	case strings.HasSuffix(object.Name, Connection), strings.HasSuffix(object.Name, "Edge") && field.Name == "node":
		d.addCost(name, 0)
	case strings.HasSuffix(kind.Name, Connection):
		d.addPage(name, field, kind)
		d.addScan(name, object)
	default:
		d.addListSize(name, isList, max(1, d.ListRows[name]))
		d.addScan(name, object)
	}
}

// addPage adds the size of the page of a connection.
func (d directives) addPage(name string, field *ast.FieldDefinition, kind *ast.Definition) {
	var slicing, sized []string
	for _, argument := range []string{"first", "last"} {
		if field.Arguments.ForName(argument) != nil {
			slicing = append(slicing, argument)
		}
	}
	for _, rows := range []string{"nodes", "edges"} {
		if kind.Fields.ForName(rows) != nil {
			sized = append(sized, rows)
		}
	}
	d.add(name, "listSize", argument("assumedSize", number(d.DefaultPage)), argument("slicingArguments", texts(slicing)),
		argument("sizedFields", texts(sized)), argument("requireOneSlicingArgument", &ast.Value{Raw: "false", Kind: ast.BooleanValue}))
}

// addScan adds the cost of the rows that a root field reads and does not show. Those of other fields
// are read once for all parents, while a router multiplies the cost of a field.
func (d directives) addScan(name string, object *ast.Definition) {
	if cost := d.ScannedFields[name]; cost > 0 && object == d.schema.Query {
		d.addCost(name, 1+cost)
	}
}

func (d directives) addCost(name string, cost int) {
	d.add(name, "cost", argument("weight", number(cost)))
}

func (d directives) addListSize(name string, isList bool, rows int) {
	if isList {
		d.add(name, "listSize", argument("assumedSize", number(rows)))
	}
}

func (d directives) add(name, directive string, arguments ...*ast.Argument) {
	d.found[name] = append(d.found[name], &ast.Directive{Name: directive, Arguments: slices.Clip(arguments)})
}

func argument(name string, value *ast.Value) *ast.Argument {
	return &ast.Argument{Name: name, Value: value}
}

func number(n int) *ast.Value { return &ast.Value{Raw: strconv.Itoa(n), Kind: ast.IntValue} }

func texts(all []string) *ast.Value {
	list := &ast.Value{Kind: ast.ListValue}
	for _, text := range all {
		list.Children = append(list.Children, &ast.ChildValue{Value: &ast.Value{Raw: text, Kind: ast.StringValue}})
	}
	return list
}
