package cases

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/platform/core"
)

// The functions of this file convert inputs to the spelling of the schema.

// enumName returns the value of an enum for a wire name. It leaves other values unchanged,
// so that the schema rejects them.
func (p graphQL) enumName(enum, wire string) string {
	if enum == "Capability" {
		if c, err := core.ParseCapability(wire); err == nil {
			return strings.ToUpper(strings.ReplaceAll(string(c), ".", "_"))
		}
	}
	if enum == "VexJustification" {
		return strings.ToUpper(wire)
	}
	return strings.TrimPrefix(wire, enumPrefixes[enum])
}

func (p graphQL) inputType(mutation string) *ast.Definition {
	field := p.schema.Mutation.Fields.ForName(mutation)
	if field == nil || field.Arguments.ForName("input") == nil {
		return nil
	}
	return p.schema.Types[field.Arguments.ForName("input").Type.Name()]
}

// input returns a value for an input type.
func (p graphQL) input(definition *ast.Definition, value fields) fields {
	input := fields{}
	for name, member := range value {
		if apps, ok := member.(fields); ok && name == "appInstallations" {
			member = installations(apps)
		}
		if labels, ok := member.(fields); ok && name == "labels" {
			member = labelList(labels)
		}
		if renamed, ok := inputNames[name]; ok {
			name = renamed
		}
		input[name] = member
		if definition == nil {
			continue
		}
		if field := definition.Fields.ForName(name); field != nil {
			input[name] = p.inputValue(p.schema.Types[field.Type.Name()], member)
		}
	}
	return input
}

// labelList converts labels to a list, as in the schema.
func labelList(labels fields) []any {
	list := []any{}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		list = append(list, fields{"key": key, "value": labels[key]})
	}
	return list
}

// installations converts a map of installations by app to a list, as in the schema.
func installations(apps fields) []any {
	list := []any{}
	for _, id := range slices.Sorted(maps.Keys(apps)) {
		app, _ := apps[id].(fields)
		list = append(list, app.with(fields{"appId": id}))
	}
	return list
}

func (p graphQL) inputValue(definition *ast.Definition, value any) any {
	switch v := value.(type) {
	case fields:
		if definition.Kind == ast.InputObject {
			return p.input(definition, v)
		}
	case []any:
		all := make([]any, len(v))
		for i := range v {
			all[i] = p.inputValue(definition, v[i])
		}
		return all
	case []string:
		return p.inputValue(definition, normalize(v))
	case string:
		switch {
		case definition.Kind == ast.Enum:
			return p.enumName(definition.Name, v)
		case definition.Name == "LabelConditionInput":
			key, value, hasValue := strings.Cut(v, "=")
			if !hasValue {
				return fields{"key": key}
			}
			return fields{"key": key, "value": value}
		}
	}
	return value
}

// listArguments converts the parameters of an operation to arguments of a list.
func (p graphQL) listArguments(rpc string, list *ast.FieldDefinition, params fields) fields {
	arguments, where := fields{}, fields{}
	var filter *ast.Definition
	if list != nil && list.Arguments.ForName("where") != nil {
		filter = p.schema.Types[list.Arguments.ForName("where").Type.Name()]
	}
	var excluded []string
	for name, value := range params {
		if class, isClass := excludedClasses[name]; isClass {
			if value == false {
				excluded = append(excluded, class)
			}
			continue
		}
		if name == "uidp.children_of" {
			arguments["directOnly"] = true
		}
		argument, known := argumentNames[name]
		if !known {
			argument = camelCase(name)
			if list != nil && list.Arguments.ForName(argument) == nil {
				argument = "where." + argument
			}
		}
		if renamed, ok := filterNames[rpc+"."+name]; ok {
			argument = "where." + renamed
		}
		filterName, isFilter := strings.CutPrefix(argument, "where.")
		switch {
		case argument == "orderBy":
			by, direction, _ := strings.Cut(value.(string), " ")
			arguments[argument] = fields{"field": strings.ToUpper(by), "direction": strings.ToUpper(cmp.Or(direction, "asc"))}
		case isFilter:
			where[filterName] = value
		default:
			arguments[argument] = value
		}
	}
	if len(where) > 0 || excluded != nil {
		input := p.input(filter, where)
		if excluded != nil {
			input["excludeClasses"] = excluded
		}
		arguments["where"] = input
	}
	return arguments
}

// excludedClasses has the classes of tags that the graph excludes, by the parameters that include them.
var excludedClasses = map[string]string{"include_dates": "DATE", "include_epochs": "EPOCH", "include_referrers": "REFERRER"}

// canAsk reports whether a list of a kind has the parameters in a protocol. The graph has one place, and cuts no page in silence.
func (k *kind) canAsk(p protocol, params fields) bool {
	if p.name() != "graphql" {
		return true
	}
	size, _ := params["page_size"].(int)
	below, directly, above, inRoot := params["uidp.descendants_of"], params["uidp.children_of"], params["uidp.ancestors_of"], params["uidp.in_root"]
	hasRoots := k.name == "Group" || k.name == "Role" || k.name == "Source"
	return (size <= core.MaxPageSize || size > math.MaxInt32) && above == nil && (below == nil || directly == nil) && (inRoot != true || hasRoots && below == nil)
}

// literals returns arguments in the syntax of a document.
func literals(arguments fields) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(arguments)) {
		text := asJSON(arguments[name])
		if where, ok := arguments[name].(fields); ok && name == "where" { // It is an object of GraphQL, whose values are texts.
			text = "{" + strings.Trim(literals(where), "()") + "}"
		}
		if order, ok := arguments[name].(fields); ok && name == "orderBy" { // Its values are two enums.
			text = fmt.Sprintf("{field: %s, direction: %s}", order["field"], order["direction"])
		}
		all = append(all, name+": "+text)
	}
	return parenthesise(all)
}
