package resolvers

import (
	"context"
	"errors"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/internal/graphql/refusal"
	"atrium/platform/fieldmask"
)

// placesOf returns the place of each violation: in the variables, if the request was refused before
// it was executed, and otherwise in the arguments of the field. What lies in neither, such as the
// document, has an empty place.
func placesOf(ctx context.Context, cause error, violations []fieldmask.Violation) [][]any {
	places := make([][]any, len(violations))
	var refused *refusal.Error
	_ = errors.As(cause, &refused)
	field := graphql.GetFieldContext(ctx)
	for i, v := range violations {
		switch {
		case refused != nil && i < len(refused.Violations) && refused.Violations[i].Path != nil:
			places[i] = refused.Violations[i].Path
		case field != nil && field.Field.Definition != nil:
			places[i] = placeOf(field.Field.Definition.Arguments, v.Field)
		}
		if places[i] == nil {
			places[i] = []any{}
		}
	}
	return places
}

// placeOf returns the place of what a violation names, such as input, requests, 2 and digest for
// "requests[2].digest". It goes as far as the types of the arguments do, so that each part exists in
// the schema; of a scalar that is a map, the last part is a key.
func placeOf(arguments ast.ArgumentDefinitionList, name string) []any {
	parts := splitName(name)
	for _, a := range arguments {
		if a.Name == parts[0] {
			return append([]any{a.Name}, placeIn(a.Type, parts[1:])...)
		}
	}
	for _, a := range arguments {
		if definition := inputOf(a.Type); definition != nil && (a.Name == "input" || definition.Fields.ForName(parts[0].(string)) != nil) { //nolint:forcetypeassert // a name begins with a text
			return append([]any{a.Name}, placeIn(a.Type, parts)...)
		}
	}
	return nil
}

// placeIn returns those of the parts that lie in a value of a type.
func placeIn(t *ast.Type, parts []any) []any {
	place := []any{}
	for i, part := range parts {
		name, isName := part.(string)
		definition := inputOf(t)
		switch {
		case !isName && t.Elem != nil:
			t = t.Elem
		case isName && definition != nil && definition.Fields.ForName(name) != nil:
			t = definition.Fields.ForName(name).Type
		case isName && t.Elem == nil && t.NamedType == "StringMap" && i == len(parts)-1:
		default:
			return place
		}
		place = append(place, part)
	}
	return place
}

// inputOf returns the input object that a type is, or nil.
func inputOf(t *ast.Type) *ast.Definition {
	if definition := graph.Schema().Types[t.NamedType]; definition != nil && definition.Kind == ast.InputObject {
		return definition
	}
	return nil
}

// splitName splits the name of a field into its parts: texts, and the indices of items. A key in
// backticks is one part.
func splitName(name string) (parts []any) {
	for rest := name; ; {
		part, after, more := cutPart(rest)
		if list := indexed.FindStringSubmatch(part); list != nil {
			n, _ := strconv.Atoi(list[2])
			parts = append(parts, list[1], n)
		} else {
			parts = append(parts, strings.Trim(part, "`"))
		}
		if !more {
			return parts
		}
		rest = after
	}
}

// cutPart cuts a name at the first dot that is not in backticks.
func cutPart(name string) (part, after string, more bool) {
	if quoted, isQuoted := strings.CutPrefix(name, "`"); isQuoted {
		if key, rest, closed := strings.Cut(quoted, "`"); closed {
			after, more = strings.CutPrefix(rest, ".")
			return key, after, more
		}
	}
	return strings.Cut(name, ".")
}
