package analysis

import (
	"iter"

	"github.com/vektah/gqlparser/v2/ast"
)

// SelectedFields returns the fields of a selection set with those of its fragments, unless
// @skip or @include leaves them out. A field that is written twice is returned twice. A
// fragment that is spread several times is visited once: fragments that spread the next one
// twice would otherwise double the visits with each level. The document must be valid.
func SelectedFields(set ast.SelectionSet, variables map[string]any) iter.Seq[*ast.Field] {
	return func(yield func(*ast.Field) bool) { (&fieldWalk{variables: variables, yield: yield}).visit(set) }
}

// A fieldWalk visits the fields of one selection set.
type fieldWalk struct {
	variables map[string]any
	yield     func(*ast.Field) bool
	visited   map[string]bool // names of the fragments that were visited
}

// visit returns false if the walk has ended.
func (w *fieldWalk) visit(set ast.SelectionSet) bool {
	for _, selected := range set {
		goesOn := true
		switch selected := selected.(type) {
		case *ast.Field:
			goesOn = !isIncluded(selected.Directives, w.variables) || w.yield(selected)
		case *ast.InlineFragment:
			goesOn = !isIncluded(selected.Directives, w.variables) || w.visit(selected.SelectionSet)
		case *ast.FragmentSpread:
			goesOn = !isIncluded(selected.Directives, w.variables) || w.visitFragment(selected)
		}
		if !goesOn {
			return false
		}
	}
	return true
}

// visitFragment visits a fragment that was not visited before. The validator has resolved
// it and has excluded cycles.
func (w *fieldWalk) visitFragment(spread *ast.FragmentSpread) bool {
	if w.visited[spread.Name] {
		return true
	}
	if w.visited == nil {
		w.visited = map[string]bool{}
	}
	w.visited[spread.Name] = true
	return w.visit(spread.Definition.SelectionSet)
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
