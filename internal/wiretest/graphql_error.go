package wiretest

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/parser"
)

// CheckErrors compares the errors of a response of GraphQL with what the schema says of errors: `extensions` has the form of
// the type ErrorExtensions, and the reason of an error of a mutation is one that the description of the mutation, or that of
// the type Mutation, lists.
func CheckErrors(schema *ast.Schema, query string, response []byte) error {
	var sent struct {
		Errors []struct {
			Path       []any
			Extensions map[string]any
		}
	}
	if err := json.Unmarshal(response, &sent); err != nil {
		return nil //nolint:nilerr // who sent it tells that it is no response
	}
	for _, e := range sent.Errors {
		if err := checkShape(schema, ast.NonNullNamedType("ErrorExtensions", nil), e.Extensions, "extensions"); err != nil {
			return err
		}
		if mutation := mutationOf(schema, query, e.Path); mutation != nil && !slices.Contains(ReasonsOf(schema, mutation), fmt.Sprint(e.Extensions["reason"])) {
			return fmt.Errorf("%s fails with %v, which its description does not list", mutation.Name, e.Extensions["reason"])
		}
	}
	return nil
}

// ReasonsOf returns the reasons that the description of a mutation lists, and those of all mutations.
func ReasonsOf(schema *ast.Schema, mutation *ast.FieldDefinition) (reasons []string) {
	_, own, _ := strings.Cut(mutation.Description, "Reasons: ")
	_, common, _ := strings.Cut(schema.Mutation.Description, "these too:")
	for _, name := range strings.FieldsFunc(own+" "+common, func(r rune) bool { return strings.ContainsRune(" \n,.", r) }) {
		if schema.Types["ErrorReason"].EnumValues.ForName(name) == nil {
			return nil // it is no list of reasons
		}
		reasons = append(reasons, name)
	}
	if own == "" {
		return nil
	}
	return reasons
}

// mutationOf returns the mutation that the path of an error begins with, or nil.
func mutationOf(schema *ast.Schema, query string, path []any) *ast.FieldDefinition {
	document, err := parser.ParseQuery(&ast.Source{Input: query})
	if err != nil || len(path) != 1 {
		return nil // a longer path leads to a field of the payload
	}
	for _, operation := range document.Operations {
		for _, selected := range operation.SelectionSet {
			if field, isField := selected.(*ast.Field); isField && operation.Operation == ast.Mutation && field.Alias == path[0] {
				return schema.Mutation.Fields.ForName(field.Name)
			}
		}
	}
	return nil
}

// checkShape compares a value of JSON with a type.
func checkShape(schema *ast.Schema, t *ast.Type, value any, place string) error {
	if value == nil && t.NonNull {
		return fmt.Errorf("%s is null", place)
	}
	if value == nil {
		return nil
	}
	if t.Elem != nil {
		list, isList := value.([]any)
		if !isList {
			return fmt.Errorf("%s is no list: %v", place, value)
		}
		for i, item := range list {
			if err := checkShape(schema, t.Elem, item, fmt.Sprintf("%s[%d]", place, i)); err != nil {
				return err
			}
		}
		return nil
	}
	switch definition := schema.Types[t.NamedType]; definition.Kind {
	case ast.Object:
		return checkMembers(schema, definition, value, place)
	case ast.Enum:
		if definition.EnumValues.ForName(fmt.Sprint(value)) == nil {
			return fmt.Errorf("%s is %v, which %s does not have", place, value, t.NamedType)
		}
	case ast.Scalar:
		_, isText := value.(string)
		number, isNumber := value.(float64)
		fits := map[string]bool{"String": isText, "Int": isNumber && number == float64(int64(number)), "PathSegment": isText || isNumber, "JSON": true}
		if !fits[t.NamedType] {
			return fmt.Errorf("%s is no %s: %v", place, t.NamedType, value)
		}
	}
	return nil
}

// checkMembers compares an object of JSON with a type.
func checkMembers(schema *ast.Schema, definition *ast.Definition, value any, place string) error {
	members, isObject := value.(map[string]any)
	if !isObject {
		return fmt.Errorf("%s is no object: %v", place, value)
	}
	for name := range members {
		if definition.Fields.ForName(name) == nil {
			return fmt.Errorf("%s.%s is not in %s", place, name, definition.Name)
		}
	}
	for _, f := range definition.Fields {
		if err := checkShape(schema, f.Type, members[f.Name], place+"."+f.Name); err != nil {
			return err
		}
	}
	return nil
}
