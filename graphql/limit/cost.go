package limit

import (
	"context"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// A costGuard refuses an operation that costs more than Limits.Cost, and tells
// in extensions.cost what one costs. An object costs 1; a connection costs 1,
// and what lies under its nodes and edges as often as its page has rows; fields
// that are given keys cost as much for each, and a list that is asked for a name
// that is unique in it has one row (Schema.UniqueNames); scalars cost nothing, but
// for long ones (Schema.LongFields). What is selected twice counts twice. Scalars are
// counted by themselves (Limits.Values), since each takes memory. Each selection
// set is visited once: gqlgen's own guard visits fragments as often as they are
// spread.
type costGuard struct {
	Limits
	Schema
	watched map[string]bool // Schema.Watched
	schema  *ast.Schema
}

func newCostGuard(l Limits, s Schema) *costGuard {
	g := &costGuard{Limits: l, Schema: s, watched: map[string]bool{}}
	for _, field := range s.Watched {
		g.watched[field] = true
	}
	return g
}

// Where an operation keeps what was found out about it until its response. The
// cost is shown, too.
const (
	costExtension     = "cost"
	valuesExtension   = "values"
	selectedExtension = "selected"
)

// CountValues tells how many scalars the response to an operation may have, by
// the sizes of its pages; 0 where nothing has counted them.
func CountValues(operation *graphql.OperationContext) int {
	n, _ := operation.Stats.GetExtension(valuesExtension).(int)
	return n
}

// Cost tells what an operation costs; 0 where nothing has counted it.
func Cost(operation *graphql.OperationContext) int {
	n, _ := operation.Stats.GetExtension(costExtension).(int)
	return n
}

// Selects tells whether an operation selects a field of Schema.Watched anywhere;
// true where that is not known.
func Selects(operation *graphql.OperationContext, field string) bool {
	selected, known := operation.Stats.GetExtension(selectedExtension).(map[string]bool)
	return !known || selected[field]
}

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
	p := pricing{costGuard: g, operation: operation, fragments: map[string]price{}, selected: map[string]bool{}}
	whole := p.set(operation.Operation.SelectionSet)
	cost := whole.flat
	operation.Stats.SetExtension(costExtension, cost)
	operation.Stats.SetExtension(valuesExtension, whole.values)
	operation.Stats.SetExtension(selectedExtension, p.selected)
	if p.refused != nil {
		return p.refused
	}
	if over(cost, g.Cost) {
		return g.tooDear(&p, operation.Operation.SelectionSet, cost)
	}
	if over(whole.values, g.Values) {
		return Exceed("values", g.Values, whole.values)
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
type price struct {
	flat, row         int
	values, rowValues int // of scalars, which take memory each
}

func (p price) plus(q price) price {
	return price{
		min(p.flat+q.flat, maxCount), min(p.row+q.row, maxCount),
		min(p.values+q.values, maxCount), min(p.rowValues+q.rowValues, maxCount),
	}
}

func times(n, cost int) int { return min(n*cost, maxCount) }

// pricing is the pricing of one operation.
type pricing struct {
	*costGuard
	operation *graphql.OperationContext
	fragments map[string]price
	refused   *gqlerror.Error      // what no price can be found for
	root      *ast.FieldDefinition // the root field that is being priced

	selected map[string]bool      // those of Schema.Watched that were found
	prices   map[*ast.Field]price // of each field, where they are kept
}

func (p *pricing) set(set ast.SelectionSet) (sum price) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			if p.included(x.Directives) {
				cost := p.field(x)
				if p.prices != nil {
					p.prices[x] = cost
				}
				sum = sum.plus(cost)
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
	switch f.ObjectDefinition {
	case p.schema.Query, p.schema.Mutation, p.schema.Subscription:
		p.root = f.Definition
	}
	p.check(f)
	switch f.Name {
	case "__schema":
		return price{flat: schemaCost}
	case "__type":
		return price{flat: typeCost}
	}
	name := f.ObjectDefinition.Name + "." + f.Name
	if p.watched[name] {
		p.selected[name] = true
	}
	kind := p.schema.Types[f.Definition.Type.Name()]
	if kind == nil || kind.IsLeafType() {
		return price{flat: p.LongFields[name], values: 1}
	}
	inside := p.set(f.SelectionSet)
	parent := f.ObjectDefinition.Name
	switch {
	case strings.HasSuffix(parent, connection) && (f.Name == "nodes" || f.Name == "edges"):
		return price{row: 1 + inside.flat, rowValues: inside.values}
	case strings.HasSuffix(parent, connection), strings.HasSuffix(parent, "Edge") && f.Name == "node":
		return price{flat: inside.flat, values: inside.values} // pageInfo; the edge has been counted
	case strings.HasSuffix(kind.Name, connection):
		rows := p.rows(f)
		return price{
			flat:   min(1+inside.flat+times(rows, inside.row), maxCount),
			values: min(inside.values+times(rows, inside.rowValues), maxCount),
		}
	case slices.Contains(p.Parts, kind.Name):
		return price{flat: inside.flat, values: inside.values}
	default:
		keys := p.keys(f)
		return price{flat: times(keys, 1+inside.flat), values: times(keys, inside.values)}
	}
}

func (p *pricing) refuse(err error) {
	if p.refused == nil {
		p.refused = gqlerror.WrapIfUnwrapped(err)
	}
}
