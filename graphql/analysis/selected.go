package analysis

import (
	"iter"

	"github.com/vektah/gqlparser/v2/ast"
)

// SelectedFields returns the fields of a selection set with those of its fragments, unless
// @skip or @include leaves them out. A field that is selected twice is returned twice. The
// document must be valid.
func SelectedFields(set ast.SelectionSet, variables map[string]any) iter.Seq[*ast.Field] {
	return func(yield func(*ast.Field) bool) { yieldFields(set, variables, yield) }
}

func yieldFields(set ast.SelectionSet, variables map[string]any, yield func(*ast.Field) bool) bool {
	for _, selected := range set {
		goesOn := true
		switch selected := selected.(type) {
		case *ast.Field:
			goesOn = !isIncluded(selected.Directives, variables) || yield(selected)
		case *ast.InlineFragment:
			goesOn = !isIncluded(selected.Directives, variables) || yieldFields(selected.SelectionSet, variables, yield)
		case *ast.FragmentSpread: // the validator has resolved it and has excluded cycles
			goesOn = !isIncluded(selected.Directives, variables) || yieldFields(selected.Definition.SelectionSet, variables, yield)
		}
		if !goesOn {
			return false
		}
	}
	return true
}

// isIncluded treats a condition that is not a Boolean as false.
func isIncluded(directives ast.DirectiveList, variables map[string]any) bool {
	included, _ := IsIncluded(directives, variables)
	return included
}

// IsIncluded reports whether @skip and @include keep a selection. ok is false if a
// condition is not a Boolean: some such values pass validation.
func IsIncluded(directives ast.DirectiveList, variables map[string]any) (included, ok bool) {
	include, isBoolean := condition(directives.ForName("include"), true, variables)
	skip, areBoolean := condition(directives.ForName("skip"), false, variables)
	return include && !skip, isBoolean && areBoolean
}

func condition(directive *ast.Directive, without bool, variables map[string]any) (value, ok bool) {
	if directive == nil {
		return without, true
	}
	given, _ := directive.Arguments.ForName("if").Value.Value(variables)
	value, ok = given.(bool)
	return value, ok
}
