package execute

import (
	"sync"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
)

// Limits of the cached plans.
const (
	// maxConditions limits the Boolean variables of @skip and @include. The plans of an
	// operation with more variables are not kept.
	maxConditions   = 6
	maxPlanFields   = 4_000    // largest number of fields in a plan that is kept
	maxPlannedBytes = 32 << 20 // largest estimated memory of all plans that are kept
	plannedBytes    = 1 << 10  // estimated memory of a field in a plan, with its part of the document
)

// plans caches the plans of repeated documents. The cache is cleared when it is too
// large.
type plans struct {
	lock  sync.Mutex
	known map[*ast.OperationDefinition]*operationPlans
	bytes int
}

// operationPlans holds the plans of one operation by the values of the Boolean
// variables of @skip and @include.
type operationPlans struct {
	conditions []string
	byValues   [1 << maxConditions]*plan
}

// find returns the plan of an operation.
func (p *plans) find(schema *Schema, operation *graphql.OperationContext) *plan {
	p.lock.Lock()
	known := p.known[operation.Operation]
	p.lock.Unlock()
	if known == nil {
		known = &operationPlans{conditions: conditionsOf(operation)}
	}
	if len(known.conditions) > maxConditions {
		return schema.plan(operation)
	}
	values := known.values(operation.Variables)
	p.lock.Lock()
	planned := known.byValues[values]
	p.lock.Unlock()
	if planned == nil {
		planned = schema.plan(operation)
		p.keep(operation.Operation, known, values, planned)
	}
	return planned
}

func (p *plans) keep(operation *ast.OperationDefinition, known *operationPlans, values int, planned *plan) {
	if planned.fields > maxPlanFields {
		return
	}
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.known == nil || p.bytes > maxPlannedBytes {
		p.known, p.bytes = map[*ast.OperationDefinition]*operationPlans{}, 0
	}
	if other := p.known[operation]; other != nil {
		known = other
	}
	p.known[operation] = known
	known.byValues[values] = planned
	p.bytes += len(known.byValues)*8 + planned.fields*plannedBytes
}

// values encodes the values of the conditions as one bit each.
func (o *operationPlans) values(variables map[string]any) (number int) {
	for i, name := range o.conditions {
		if isTrue, _ := variables[name].(bool); isTrue {
			number |= 1 << i
		}
	}
	return number
}

// conditionsOf returns the names of the variables of @skip and @include in an
// operation and in the fragments of its document.
func conditionsOf(operation *graphql.OperationContext) []string {
	var names conditionNames
	names.add(operation.Operation.SelectionSet)
	for _, fragment := range operation.Doc.Fragments {
		names.add(fragment.SelectionSet)
	}
	return names
}

type conditionNames []string

func (n *conditionNames) add(set ast.SelectionSet) {
	for _, selected := range set {
		switch selected := selected.(type) {
		case *ast.Field:
			n.addDirectives(selected.Directives)
			n.add(selected.SelectionSet)
		case *ast.InlineFragment:
			n.addDirectives(selected.Directives)
			n.add(selected.SelectionSet)
		case *ast.FragmentSpread:
			n.addDirectives(selected.Directives)
		}
	}
}

func (n *conditionNames) addDirectives(directives ast.DirectiveList) {
	for _, directive := range directives {
		for _, argument := range directive.Arguments {
			if (directive.Name == "skip" || directive.Name == "include") && argument.Value.Kind == ast.Variable {
				n.addName(argument.Value.Raw)
			}
		}
	}
}

func (n *conditionNames) addName(name string) {
	for _, known := range *n {
		if known == name {
			return
		}
	}
	*n = append(*n, name)
}
