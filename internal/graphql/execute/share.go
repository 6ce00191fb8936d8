package execute

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// equalSubscriptions identifies the subscriptions that have the same data for an event, if their callers
// may see the same: those of one document, with equal variables below the field that has the events.
type equalSubscriptions struct {
	plan      *plan
	variables string
}

func newEqualSubscriptions(p *plan, operation *graphql.OperationContext) equalSubscriptions {
	used := usedVariables{of: operation.Variables, values: map[string]any{}}
	for _, selected := range p.root.fields[0].collected.Selections {
		used.addSelected(selected)
	}
	variables, _ := json.Marshal(used.values) // they were decoded from JSON
	return equalSubscriptions{p, string(variables)}
}

// usedVariables are the variables in a part of a document.
type usedVariables struct{ of, values map[string]any }

func (u usedVariables) addSelected(selected ast.Selection) {
	var below ast.SelectionSet
	switch selected := selected.(type) {
	case *ast.Field:
		u.addArguments(selected.Arguments)
		u.addDirectives(selected.Directives)
		below = selected.SelectionSet
	case *ast.InlineFragment:
		u.addDirectives(selected.Directives)
		below = selected.SelectionSet
	case *ast.FragmentSpread:
		u.addDirectives(selected.Directives)
		below = selected.Definition.SelectionSet
	}
	for _, each := range below {
		u.addSelected(each)
	}
}

func (u usedVariables) addDirectives(directives ast.DirectiveList) {
	for _, directive := range directives {
		u.addArguments(directive.Arguments)
	}
}

func (u usedVariables) addArguments(arguments ast.ArgumentList) {
	for _, argument := range arguments {
		u.addValue(argument.Value)
	}
}

func (u usedVariables) addValue(value *ast.Value) {
	if value.Kind == ast.Variable {
		u.values[value.Raw] = u.of[value.Raw]
	}
	for _, child := range value.Children {
		u.addValue(child.Value)
	}
}

// isSharable reports whether all fields of the selection that read, and those below, are Sharable.
func (s *selection) isSharable() bool {
	return !slices.ContainsFunc(s.fields, func(f *plannedField) bool {
		return f.Resolve != nil && !f.Sharable || slices.ContainsFunc(f.selections(), func(below *selection) bool { return !below.isSharable() })
	})
}

// maxSharedBytes limits data that is kept for other subscriptions, because no budget counts it.
const maxSharedBytes = 4 << 10

// isSharable reports whether the data of a response may be used for other subscriptions. Errors belong to
// one response, and a client that leaves ends what is read for it.
func isSharable(ctx context.Context, data []byte) bool {
	return len(data) <= maxSharedBytes && ctx.Err() == nil && graphql.GetErrors(ctx) == nil
}
