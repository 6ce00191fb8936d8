package rest

import (
	"maps"
	"net/url"
	"reflect"
	"slices"
	"strings"

	"atrium/edge"
	"atrium/platform"
)

// A parameter is one that a route takes in its query.
type parameter struct {
	name     string       // as documented; its other spelling is accepted too
	of       reflect.Type // of its value, or of one of its values
	repeated bool         // may be given many times
	required bool
	fallback any    // what its absence means; nil: nothing is asked
	pattern  string // of its value; "": any
}

// updateMask names the fields that an update changes.
var updateMask = parameter{name: "updateMask", of: reflect.TypeFor[string]()}

// maskOf reads the mask; nil where there is none.
func maskOf(query url.Values) []string { return platform.SplitMask(query.Get(updateMask.name)) }

// decodeQuery sorts the values of a query by the documented names of known
// parameters. A parameter that the route does not take is a violation, since a
// typo must not widen a list; so is one given twice that has one value.
func decodeQuery(raw string, known []parameter) (url.Values, []platform.Violation) {
	var malformed []platform.Violation
	add := func(field, description string) {
		malformed = append(malformed, platform.Violation{Field: field, Description: description})
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
		add(truncateForMessage(name), "is not a parameter of this operation")
	}
	return values, malformed
}

// spellings are page_size and pageSize, once where they are the same.
func (p parameter) spellings() []string {
	return slices.Compact([]string{edge.SnakeCase(p.name), platform.CamelCase(p.name)})
}

// truncateForMessage cuts what a client sent to a length fit for an error.
func truncateForMessage(s string) string {
	const most = 100
	if len(s) > most {
		s = s[:most] + "..."
	}
	return strings.ToValidUTF8(s, "")
}
