package limit

import (
	"encoding/json"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
	"github.com/vektah/gqlparser/v2/validator/core"
)

// coerceVariables returns the variables of a request, with each scalar and enum in the form
// that the specification demands of its type. gqlparser accepts other values, such as "1" as
// an Int and a value of an enum in another case, refuses the integer 1.0, and names a wrong
// value in its errors. It checks everything else afterwards.
func (g *Guard) coerceVariables(operation *ast.OperationDefinition, given map[string]any) (map[string]any, *gqlerror.Error) {
	coerced := make(map[string]any, len(given))
	for _, variable := range operation.VariableDefinitions {
		value, isGiven := given[variable.Variable]
		if !isGiven {
			continue
		}
		var err *gqlerror.Error
		path := ast.Path{ast.PathName("variable"), ast.PathName(variable.Variable)}
		if coerced[variable.Variable], err = g.coerce(value, variable.Type, path); err != nil {
			return nil, err
		}
	}
	return coerced, nil
}

// nameVariable adds to the message of an error which variable is invalid, and which part of it.
func nameVariable(err *gqlerror.Error) *gqlerror.Error {
	if len(err.Path) > 1 { // the first element is "variable"
		err.Message = `Variable "$` + err.Path[1:].String() + `": ` + err.Message
	}
	return err
}

// coerce returns a value as its type demands. path leads to the value.
func (g *Guard) coerce(value any, declared *ast.Type, path ast.Path) (any, *gqlerror.Error) {
	definition := g.schema.Types[declared.Name()]
	switch {
	case value == nil || definition == nil:
		return value, nil // gqlparser checks whether it may be null
	case declared.Elem != nil:
		return g.coerceList(value, declared.Elem, path)
	case definition.Kind == ast.InputObject:
		return g.coerceObject(value, definition, path)
	default:
		coerced, fault := coerceLeaf(value, definition)
		if fault == "" {
			return coerced, nil
		}
		name, _ := value.(string)
		return nil, gqlerror.ErrorPathf(path, "%s", fmt.Sprintf(fault, show(value))+g.suggest("Did you mean the enum value", name, valueNames(definition)))
	}
}

// suggest returns the end of an error: which of the names that exist may be meant. The texts are those of
// errors about literals. It is empty if the schema is hidden, or if the name is longer than any that exists.
func (g *Guard) suggest(question, name string, names []string) string {
	if g.introspection.off || len(name) > maxShown {
		return ""
	}
	var e gqlerror.Error
	core.SuggestListQuoted(question, name, names)(&e)
	return e.Message
}

func fieldNames(definition *ast.Definition) []string {
	names := make([]string, len(definition.Fields))
	for i, field := range definition.Fields {
		names[i] = field.Name
	}
	return names
}

func valueNames(definition *ast.Definition) []string {
	names := make([]string, len(definition.EnumValues))
	for i, value := range definition.EnumValues {
		names[i] = value.Name
	}
	return names
}

// coerceList coerces the elements of a list. A single value counts as a list of one.
func (g *Guard) coerceList(value any, element *ast.Type, path ast.Path) (any, *gqlerror.Error) {
	list, isList := value.([]any)
	if !isList {
		return g.coerce(value, element, path)
	}
	coerced := make([]any, len(list))
	for i := range list {
		var err *gqlerror.Error
		if coerced[i], err = g.coerce(list[i], element, append(path, ast.PathIndex(i))); err != nil {
			return nil, err
		}
	}
	return coerced, nil
}

// coerceObject coerces the members of an input.
func (g *Guard) coerceObject(value any, definition *ast.Definition, path ast.Path) (any, *gqlerror.Error) {
	members, isObject := value.(map[string]any)
	if !isObject {
		return nil, gqlerror.ErrorPathf(path, "Expected value of type %q to be an object: %s", definition.Name, show(value))
	}
	coerced := make(map[string]any, len(members))
	for name, member := range members {
		field := definition.Fields.ForName(name)
		if field == nil && name != "__typename" { // gqlparser permits it
			fault := fmt.Sprintf("Field %s is not defined by type %q.", show(name), definition.Name)
			return nil, gqlerror.ErrorPathf(append(path, ast.PathName(name)), "%s", fault+g.suggest("Did you mean", name, fieldNames(definition)))
		}
		if field == nil {
			coerced[name] = member
			continue
		}
		var err *gqlerror.Error
		if coerced[name], err = g.coerce(member, field.Type, append(path, ast.PathName(name))); err != nil {
			return nil, err
		}
	}
	return coerced, nil
}

// coerceLeaf returns a value as a scalar or enum, or what is wrong with it: a format whose
// argument is the value, in the words that are used of literals. Custom scalars check their
// values themselves.
func coerceLeaf(value any, definition *ast.Definition) (coerced any, fault string) {
	number, isNumber := value.(json.Number)
	text, isText := value.(string)
	integer, isInteger := wholeNumber(number)
	switch {
	case definition.Kind == ast.Enum:
		if !isText || definition.EnumValues.ForName(text) == nil {
			return nil, `Value %s does not exist in "` + definition.Name + `" enum.`
		}
	case definition.Name == "Int" && !isInteger:
		return nil, "Int cannot represent non-integer value: %s"
	case definition.Name == "Int":
		if integer < math.MinInt32 || integer > math.MaxInt32 {
			return nil, tooLong
		}
		return int64(integer), ""
	case definition.Name == "Float":
		fraction, err := number.Float64()
		if err != nil {
			return nil, "Float cannot represent non numeric value: %s"
		}
		return fraction, ""
	case definition.Name == "String" && !isText:
		return nil, "String cannot represent a non string value: %s"
	case definition.Name == "Boolean":
		if _, isBoolean := value.(bool); !isBoolean {
			return nil, "Boolean cannot represent a non boolean value: %s"
		}
	case definition.Name == "ID" && isNumber && !strings.ContainsAny(string(number), ".eE"):
		return string(number), ""
	case definition.Name == "ID" && isInteger && math.Abs(integer) < maxWhole:
		return strconv.FormatFloat(integer, 'f', -1, 64), ""
	case definition.Name == "ID" && !isText:
		return nil, "ID cannot represent a non-string and non-integer value: %s"
	case definition.Name == "UID" && !isText:
		return nil, "UID cannot represent a non-string value: %s"
	case definition.Name == "_Any":
		if _, isObject := value.(map[string]any); !isObject {
			return nil, noObject
		}
	}
	return value, ""
}

// The faults of values that gqlparser accepts in a document too.
const (
	tooLong  = "Int cannot represent non 32-bit signed integer value: %s"
	noObject = "_Any cannot represent a value that is not an object: %s"
)

// maxWhole is the largest integer below which no two integers have the same float64.
const maxWhole = 1 << 53

// wholeNumber returns the value of a number, and reports whether it is an integer, also one
// that is written as 1.0 or 1e0.
func wholeNumber(n json.Number) (value float64, isInteger bool) {
	value, err := n.Float64()
	return value, err == nil && value == math.Trunc(value)
}

// maxShown limits the bytes of a value in an error.
const maxShown = 100

// show returns a value of a variable as JSON, for errors.
func show(value any) string {
	text, _ := json.Marshal(value) // it was JSON
	if len(text) > maxShown {
		return strings.ToValidUTF8(string(text[:maxShown]), "") + "..."
	}
	return string(text)
}

// checkLiterals is the rule of validation that integers in a document have 32 bits, where
// gqlparser allows 64, and that the representation of an entity is an object.
func checkLiterals(observers *core.Events, addError core.AddErrFunc) {
	observers.OnValue(func(_ *core.Walker, value *ast.Value) {
		switch {
		case value.Definition == nil || value.Kind == ast.Variable || value.Kind == ast.ListValue:
		case value.Definition.Name == "_Any" && value.Kind != ast.ObjectValue && value.Kind != ast.NullValue:
			addError(core.Message(noObject, value.String()), core.At(value.Position))
		case value.Definition.Name == "Int" && value.Kind == ast.IntValue:
			if n, err := strconv.ParseInt(value.Raw, 10, 64); err == nil && (n < math.MinInt32 || n > math.MaxInt32) {
				addError(core.Message(tooLong, value.Raw), core.At(value.Position))
			}
		}
	})
}
