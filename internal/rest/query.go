package rest

import (
	"maps"
	"net/url"
	"reflect"
	"slices"

	"atrium/internal/apierror"
	"atrium/platform/fieldmask"
)

// A parameter is a query parameter of a route.
type parameter struct {
	name      string       // the documented name; the other spelling is accepted too
	valueType reflect.Type // type of the value, or of one of the values
	repeated  bool         // whether the parameter may be given several times
	required  bool
	fallback  any    // default value; nil means none
	pattern   string // regular expression for the value; "" means any value
}

// updateMask is the parameter that lists the fields to change.
var updateMask = parameter{name: "updateMask", valueType: reflect.TypeFor[string]()}

// maskOf returns the mask, or nil if there is none.
func maskOf(query url.Values) []string { return fieldmask.SplitMask(query.Get(updateMask.name)) }

// decodeQuery returns the values of a query by the documented names of parameters. An
// unknown parameter is a violation, because a typing error must not extend a list. So
// is a repeated parameter that allows one value.
func decodeQuery(raw string, known []parameter) (url.Values, []fieldmask.Violation) {
	var malformed []fieldmask.Violation
	add := func(field, description string) {
		malformed = append(malformed, fieldmask.Violation{Field: field, Description: description})
	}
	given, err := url.ParseQuery(raw)
	if err != nil {
		add("query", "must be name=value pairs, URL-encoded")
	}
	values := url.Values{}
	for _, p := range known {
		for _, name := range p.spellings() {
			values[p.name] = append(values[p.name], given[name]...)
			delete(given, name)
		}
		switch n := len(values[p.name]); {
		case n == 0:
			delete(values, p.name)
		case n > 1 && !p.repeated:
			add(p.name, "must be given once")
			delete(values, p.name)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(given)) {
		add(fieldmask.TruncateForMessage(name), "is not a parameter of this operation")
	}
	return values, malformed
}

// spellings returns both spellings of a name, such as page_size and pageSize, or one if
// they are equal.
func (p parameter) spellings() []string {
	return slices.Compact([]string{apierror.SnakeCase(p.name), fieldmask.CamelCase(p.name)})
}
