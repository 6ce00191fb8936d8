package limit

import (
	"context"
	"encoding/json"
	"reflect"
	"strconv"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/graphql/refusal"
)

// A costGuard refuses an operation that costs more than Limits.Cost, and tells
// in extensions.cost what one costs. An object costs 1; a connection costs 1,
// and what lies under its nodes and edges as often as its page has rows; fields
// that are given keys cost as much for each; scalars cost nothing. What is
// selected twice counts twice. Each selection set is visited once: gqlgen's own
// guard visits fragments as often as they are spread.
type costGuard struct {
	Limits
	Pages
	schema *ast.Schema
}

// costExtension is where the cost is kept until the response, and shown.
const costExtension = "cost"

// What reading the schema costs, which has no pages to count.
const (
	schemaCost = 1000
	typeCost   = 100
)

// ExtensionName names the extension to the executor.
func (*costGuard) ExtensionName() string { return "CostGuard" }

// Validate takes the schema that operations are for.
func (g *costGuard) Validate(schema graphql.ExecutableSchema) error {
	g.schema = schema.Schema()
	return nil
}

// MutateOperationContext prices an operation that is valid.
func (g *costGuard) MutateOperationContext(_ context.Context, operation *graphql.OperationContext) *gqlerror.Error {
	p := pricing{costGuard: g, operation: operation, fragments: map[string]price{}}
	cost := p.set(operation.Operation.SelectionSet).flat
	operation.Stats.SetExtension(costExtension, cost)
	if p.refused != nil {
		return p.refused
	}
	if over(cost, g.Cost) {
		return Exceed("cost", g.Cost, cost)
	}
	return nil
}

// InterceptResponse shows the cost, with every answer but the events of a
// subscription.
func (g *costGuard) InterceptResponse(ctx context.Context, next graphql.ResponseHandler) *graphql.Response {
	if graphql.HasOperationContext(ctx) {
		operation := graphql.GetOperationContext(ctx)
		cost, priced := operation.Stats.GetExtension(costExtension).(int)
		if priced && operation.Operation.Operation != ast.Subscription {
			graphql.RegisterExtension(ctx, costExtension, map[string]int{"requested": cost, "limit": g.Cost})
		}
	}
	return next(ctx)
}

// A price is what a selection set costs: flat, and for each row where it is
// that of a connection. So what a fragment costs does not depend on the page
// that it is spread in, and is found once.
type price struct{ flat, row int }

func (p price) plus(q price) price {
	return price{min(p.flat+q.flat, maxCount), min(p.row+q.row, maxCount)}
}

func times(n, cost int) int { return min(n*cost, maxCount) }

// pricing is the pricing of one operation.
type pricing struct {
	*costGuard
	operation *graphql.OperationContext
	fragments map[string]price
	refused   *gqlerror.Error // what no price can be found for
}

func (p *pricing) set(set ast.SelectionSet) (sum price) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			if p.included(x.Directives) {
				sum = sum.plus(p.field(x))
			}
		case *ast.InlineFragment:
			if p.included(x.Directives) {
				sum = sum.plus(p.set(x.SelectionSet))
			}
		case *ast.FragmentSpread:
			if p.included(x.Directives) {
				sum = sum.plus(p.fragment(x.Name))
			}
		}
	}
	return sum
}

func (p *pricing) fragment(name string) price {
	cost, known := p.fragments[name]
	if !known {
		cost = p.set(p.operation.Doc.Fragments.ForName(name).SelectionSet)
		p.fragments[name] = cost
	}
	return cost
}

// field prices a field by the shape of its type.
func (p *pricing) field(f *ast.Field) price {
	p.check(f)
	switch f.Name {
	case "__schema":
		return price{flat: schemaCost}
	case "__type":
		return price{flat: typeCost}
	}
	kind := p.schema.Types[f.Definition.Type.Name()]
	if kind == nil || kind.IsLeafType() {
		return price{}
	}
	inside := p.set(f.SelectionSet)
	parent := f.ObjectDefinition.Name
	switch {
	case strings.HasSuffix(parent, "Connection") && (f.Name == "nodes" || f.Name == "edges"):
		return price{row: 1 + inside.flat}
	case strings.HasSuffix(parent, "Connection"), strings.HasSuffix(parent, "Edge") && f.Name == "node":
		return price{flat: inside.flat} // pageInfo; the edge has been counted
	case strings.HasSuffix(kind.Name, "Connection"):
		return price{flat: min(1+inside.flat+times(p.rows(f), inside.row), maxCount)}
	default:
		return price{flat: times(p.keys(f), 1+inside.flat)}
	}
}

// rows is how many rows the page of a connection may have.
func (p *pricing) rows(f *ast.Field) int {
	asked := max(p.number(f, "first"), p.number(f, "last"))
	if asked <= 0 {
		return p.DefaultPage
	}
	return min(asked, p.MaxPage)
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
// number beyond 64 bits: gqlgen panics at them.
func (p *pricing) check(f *ast.Field) {
	for _, argument := range f.Arguments {
		if _, err := argument.Value.Value(p.operation.Variables); err != nil {
			p.refuse(refusal.NewInvalid(argument.Name, "must be within the range of its type"))
		}
	}
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

func (p *pricing) refuse(err error) {
	if p.refused == nil {
		p.refused = gqlerror.WrapIfUnwrapped(err)
	}
}
