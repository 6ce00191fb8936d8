package limit

import (
	"reflect"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/graphql/analysis"
	"atrium/internal/graphql/refusal"
)

// The functions of this file compute how arguments and directives change the cost of
// a field.

// rows returns the maximum number of rows on the page of a connection.
func (p *pricing) rows(f *ast.Field) int {
	if p.isNamed(f) {
		return 1
	}
	if p.argument(f, "first") == nil && p.argument(f, "last") == nil {
		return p.DefaultPage
	}
	return min(max(0, p.number(f, "first"), p.number(f, "last")), p.MaxPage)
}

// isNamed reports whether a list is filtered by a name that is unique in it.
func (p *pricing) isNamed(f *ast.Field) bool {
	condition, unique := p.UniqueNames[p.nameOf(f)]
	if !unique {
		return false
	}
	if condition != "" {
		if given := p.argument(f, condition); given == nil || given == false {
			return false
		}
	}
	where, _ := p.argument(f, "where").(map[string]any)
	name, _ := where["name"].(string)
	return name != ""
}

// keys returns how many objects a field requests by key: the length of the list among
// its arguments. Without such a list, it is Schema.ListRows, or 1. If an optional list is
// absent, the field returns everything; that counts as a page.
func (p *pricing) keys(f *ast.Field) int {
	most := max(1, p.ListRows[p.nameOf(f)])
	for _, argument := range f.Definition.Arguments {
		if argument.Type.Elem == nil || f.Definition.Type.Elem == nil {
			continue
		}
		given := p.argument(f, argument.Name)
		if given == nil && !argument.Type.NonNull {
			most = max(most, p.DefaultPage)
		}
		n := length(given)
		if exceeds(n, p.Keys) {
			p.refuse(NewExceeded(argument.Name, p.Keys, n))
		}
		most = max(most, n)
	}
	return most
}

// countChanged returns how many objects a mutation changes: the number of requests or uids in its
// input, or 1 if it has neither.
func (p *pricing) countChanged(f *ast.Field) int {
	input, _ := p.argument(f, "input").(map[string]any)
	return max(1, length(input["requests"]), length(input["uids"]))
}

// argument returns the value of an argument, or nil if it is absent or null.
func (p *pricing) argument(f *ast.Field, name string) any {
	if given := f.Arguments.ForName(name); given != nil {
		value, _ := given.Value.Value(p.operation.Variables)
		return value
	}
	if defined := f.Definition.Arguments.ForName(name); defined != nil {
		value, _ := defined.DefaultValue.Value(nil)
		return value
	}
	return nil
}

// check rejects literals that pass validation but have no value, such as a number
// beyond 64 bits, because gqlparser panics on them. It also rejects empty texts.
func (p *pricing) check(f *ast.Field) {
	for _, argument := range f.Arguments {
		if _, err := argument.Value.Value(p.operation.Variables); err != nil {
			p.refuse(refusal.NewInvalid(argument.Name, "must be within the range of its type"))
		}
	}
	p.refuseEmpty(f)
}

// number returns the value of a numeric argument, from a literal or from a decoded
// variable. It returns 0 for any other value.
func (p *pricing) number(f *ast.Field, name string) int {
	switch n := p.argument(f, name).(type) {
	case int64:
		return int(min(n, maxCount))
	case int:
		return n
	default:
		return 0
	}
}

// length returns the length of a list. A single value counts as a list of one.
func length(value any) int {
	if value == nil {
		return 0
	}
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
		return list.Len()
	}
	return 1
}

// isIncluded reports whether @skip and @include keep a selection. gqlgen panics on a
// condition that is not a Boolean.
func (p *pricing) isIncluded(directives ast.DirectiveList) bool {
	included, ok := analysis.IsIncluded(directives, p.operation.Variables)
	if !ok {
		p.refuse(refusal.NewInvalid("if", "must be a Boolean"))
	}
	return included
}
