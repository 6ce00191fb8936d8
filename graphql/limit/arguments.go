package limit

import (
	"encoding/json"
	"reflect"
	"strconv"

	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graphql/refusal"
)

// What the arguments and directives of a field say of its price.

// rows is how many rows the page of a connection may have.
func (p *pricing) rows(f *ast.Field) int {
	if p.isNamed(f) {
		return 1
	}
	asked := max(p.number(f, "first"), p.number(f, "last"))
	if asked <= 0 {
		return p.DefaultPage
	}
	return min(asked, p.MaxPage)
}

// isNamed reports whether a list is asked for one name that is unique in it.
func (p *pricing) isNamed(f *ast.Field) bool {
	condition, unique := p.UniqueNames[f.ObjectDefinition.Name+"."+f.Name]
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

// keys is how many objects a field is asked for by key: the length of the list
// among its arguments, 1 where there is none. A list that may be absent narrows
// what comes whole without it: that counts as a page.
func (p *pricing) keys(f *ast.Field) int {
	most := 1
	for _, argument := range f.Definition.Arguments {
		if argument.Type.Elem == nil || f.Definition.Type.Elem == nil {
			continue
		}
		given := p.argument(f, argument.Name)
		if given == nil && !argument.Type.NonNull {
			most = max(most, p.DefaultPage)
		}
		n := length(given)
		if over(n, p.Keys) {
			p.refuse(Exceed(argument.Name, p.Keys, n))
		}
		most = max(most, n)
	}
	return most
}

// argument is the value of an argument; nil where it is not given, and where
// it has none.
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

// check refuses literals that pass validation and have no value, such as a
// number beyond 64 bits: gqlgen panics at them. It refuses empty texts too.
func (p *pricing) check(f *ast.Field) {
	for _, argument := range f.Arguments {
		if _, err := argument.Value.Value(p.operation.Variables); err != nil {
			p.refuse(refusal.NewInvalid(argument.Name, "must be within the range of its type"))
		}
	}
	p.refuseEmpty(f)
}

// number is an argument that is a number, as a literal and all decoders of
// variables give it; 0 for what is none.
func (p *pricing) number(f *ast.Field, name string) int {
	switch n := p.argument(f, name).(type) {
	case int64:
		return int(min(n, maxCount))
	case int:
		return n
	case float64:
		return int(max(0, min(n, maxCount)))
	case json.Number:
		asked, _ := strconv.Atoi(n.String())
		return asked
	case string: // taken for a number where one is expected
		asked, _ := strconv.Atoi(n)
		return asked
	default:
		return 0
	}
}

// length is that of a list; a value alone is taken for a list of it.
func length(value any) int {
	if value == nil {
		return 0
	}
	if list := reflect.ValueOf(value); list.Kind() == reflect.Slice {
		return list.Len()
	}
	return 1
}

// included tells what @skip and @include leave in.
func (p *pricing) included(directives ast.DirectiveList) bool {
	return p.condition(directives.ForName("include"), true) && !p.condition(directives.ForName("skip"), false)
}

// condition is what a directive says. Some of what is no Boolean passes
// validation, and gqlgen panics at it.
func (p *pricing) condition(directive *ast.Directive, without bool) bool {
	if directive == nil {
		return without
	}
	value, _ := directive.Arguments.ForName("if").Value.Value(p.operation.Variables)
	condition, ok := value.(bool)
	if !ok {
		p.refuse(refusal.NewInvalid("if", "must be a Boolean"))
	}
	return condition
}
