package limit

import (
	"maps"
	"reflect"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/graphql/refusal"
)

// refuseEmpty rejects arguments that are empty texts. An operation treats an empty uid
// or name as absent, and would list everything for a client whose variable was not
// set. An empty cursor is accepted as the start of a list. The core checks empty texts
// in inputs, and in EmptyInputs.
func (p *pricing) refuseEmpty(f *ast.Field) {
	if f.Name == "nodes" { // returns a result for each id
		return
	}
	var empty []refusal.Violation
	for _, argument := range f.Arguments {
		defined := f.Definition.Arguments.ForName(argument.Name)
		if defined == nil || argument.Name == "after" || argument.Name == "before" || argument.Name == "input" {
			continue
		}
		if value, err := argument.Value.Value(p.operation.Variables); err == nil {
			empty = p.emptyTexts(empty, []any{argument.Name}, defined.Type, value)
		}
	}
	if len(empty) > 0 {
		p.refuse(&refusal.Error{Code: refusal.InvalidArgument, Violations: empty, Field: p.root})
	}
}

// emptyTexts adds a violation for each field of value that is an empty text or
// a list that holds one. place has the names and indices that lead to the value.
func (p *pricing) emptyTexts(found []refusal.Violation, place []any, declared *ast.Type, value any) []refusal.Violation {
	if declared.Elem != nil {
		list := reflect.ValueOf(value)
		if list.Kind() != reflect.Slice { // a single value counts as a list of one
			return p.emptyTexts(found, place, declared.Elem, value)
		}
		before := len(found)
		for i := 0; i < list.Len() && len(found) == before; i++ {
			found = p.emptyTexts(found, slices.Concat(place, []any{i}), declared.Elem, list.Index(i).Interface())
		}
		return found
	}
	switch value := value.(type) {
	case string:
		if value == "" && slices.Contains([]string{"ID", "String", "UID"}, declared.NamedType) {
			return append(found, refusal.Violation{Field: lastName(place), Description: "must not be empty", Path: place})
		}
	case map[string]any:
		definition := p.schema.Types[declared.NamedType]
		if definition == nil || slices.Contains(p.EmptyInputs, declared.NamedType) {
			return found
		}
		for _, member := range slices.Sorted(maps.Keys(value)) {
			if field := definition.Fields.ForName(member); field != nil {
				found = p.emptyTexts(found, slices.Concat(place, []any{member}), field.Type, value[member])
			}
		}
	}
	return found
}

// lastName returns the last name of a place.
func lastName(place []any) (name string) {
	for _, part := range place {
		if text, isName := part.(string); isName {
			name = text
		}
	}
	return name
}
