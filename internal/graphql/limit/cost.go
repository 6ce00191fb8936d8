package limit

import (
	"slices"
	"strings"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/graphql/analysis"
)

// A costGuard rejects operations that cost more than Limits.Cost, and returns the
// cost of an operation in extensions.cost. An object costs 1. A connection costs 1,
// plus the cost of its nodes and edges times the rows of its page. A field with keys
// costs as much for each key. A list that is filtered by a unique name has one row
// (Schema.UniqueNames). A list in the payload of a mutation has as many objects as the
// mutation changes. A list without a page has the rows of Schema.ListRows. Scalars cost
// nothing, except those that are long or read for each object (Schema.LongFields). A
// connection for which the database reads rows that the answer does not contain costs more,
// once for all parents, and one that looks for many values in each of them: see scan.go. A field
// that is selected twice counts twice. Scalars are also counted separately (Limits.Values),
// because each of them needs memory. The guard visits each selection set once, however often
// a fragment is spread.
type costGuard struct {
	Limits
	analysis.Schema
	schema *ast.Schema
	names  map[*ast.FieldDefinition]string // names of the fields of objects, such as Repo.readme
}

func newCostGuard(schema *ast.Schema, l Limits, s analysis.Schema) *costGuard {
	g := &costGuard{l, s, schema, map[*ast.FieldDefinition]string{}}
	for _, object := range schema.Types {
		if object.Kind != ast.Object {
			continue
		}
		for _, field := range object.Fields {
			g.names[field] = object.Name + "." + field.Name
		}
	}
	return g
}

// Costs of introspection, which has no pages.
const (
	schemaCost = 1000
	typeCost   = 100
)

// nameOf returns the name of a field with that of its object.
func (g *costGuard) nameOf(f *ast.Field) string {
	if name := g.names[f.Definition]; name != "" && strings.HasPrefix(name, f.ObjectDefinition.Name+".") {
		return name
	}
	return f.ObjectDefinition.Name + "." + f.Name // the field is __typename, or belongs to an interface
}

// check computes the cost of a valid operation, and rejects it if it costs too much.
func (g *costGuard) check(operation *graphql.OperationContext) *gqlerror.Error {
	p := pricing{costGuard: g, operation: operation, fragments: map[string]price{}}
	whole := p.set(operation.Operation.SelectionSet)
	cost := whole.total()
	(&analysis.Findings{Limit: g.Cost, Cost: cost, Values: whole.values, Selected: p.selected}).Keep(operation)
	if p.refused != nil {
		return p.refused
	}
	if exceeds(cost, g.Cost) {
		return g.costError(&p, operation.Operation.SelectionSet, cost)
	}
	if exceeds(whole.values, g.Values) {
		return NewExceeded("values", g.Values, whole.values)
	}
	return nil
}

// Extensions returns the extensions of the response to an operation: its cost. The events
// of a subscription have none.
func (g *Guard) Extensions(operation *graphql.OperationContext) map[string]any {
	found := analysis.FindingsOf(operation)
	if found == nil || operation.Operation.Operation == ast.Subscription {
		return nil
	}
	return map[string]any{analysis.Extension: found}
}

// A price is the cost of a selection set: a flat cost, a cost per row if it belongs to a
// connection or to a payload, and a cost that rows do not multiply. Thus the price of a fragment does not depend on
// the page where it is spread, and is computed once.
type price struct {
	flat, row         int
	once              int // cost of reading rows for all parents together
	nested            int // cost of reading rows for each parent, of which some have the rows of others
	values, rowValues int // number of scalars, because each needs memory
}

func (p price) add(q price) price {
	return price{
		min(p.flat+q.flat, maxCount), min(p.row+q.row, maxCount), min(p.once+q.once, maxCount), min(p.nested+q.nested, maxCount),
		min(p.values+q.values, maxCount), min(p.rowValues+q.rowValues, maxCount),
	}
}

// total returns the cost of a selection set that belongs to no connection.
func (p price) total() int { return min(p.flat+p.readFor(1), maxCount) }

// readFor returns the cost of what is read and not shown for a number of parents.
func (p price) readFor(parents int) int {
	return min(p.once+multiplyCost(min(parents, maxNested), p.nested), maxCount)
}

func multiplyCost(n, cost int) int { return min(n*cost, maxCount) }

// A pricing computes the price of one operation.
type pricing struct {
	*costGuard
	operation *graphql.OperationContext
	fragments map[string]price
	refused   *gqlerror.Error      // error of the first field whose price cannot be computed
	root      *ast.FieldDefinition // the root field whose price is being computed

	selected []string             // fields of Schema.Watched that were found
	prices   map[*ast.Field]price // price of each field; nil if they are not needed
}

func (p *pricing) set(set ast.SelectionSet) (sum price) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			if p.isIncluded(x.Directives) {
				cost := p.field(x)
				if p.prices != nil {
					p.prices[x] = cost
				}
				sum = sum.add(cost)
			}
		case *ast.InlineFragment:
			if p.isIncluded(x.Directives) {
				sum = sum.add(p.set(x.SelectionSet))
			}
		case *ast.FragmentSpread:
			if p.isIncluded(x.Directives) {
				sum = sum.add(p.fragment(x.Name))
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

// field returns the price of a field. Its type determines how the price is computed.
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
	name := p.nameOf(f)
	if slices.Contains(p.Watched, name) {
		p.selected = append(p.selected, name)
	}
	kind := p.schema.Types[f.Definition.Type.Name()]
	if kind == nil || kind.IsLeafType() {
		return price{flat: p.LongFields[name], values: 1}
	}
	inside := p.set(f.SelectionSet)
	parent := f.ObjectDefinition.Name
	switch {
	case strings.HasSuffix(parent, payload) && f.Definition.Type.Elem != nil:
		return price{row: 1 + inside.flat, once: inside.once, nested: inside.nested, rowValues: inside.values}
	case strings.HasSuffix(kind.Name, payload):
		changed := p.countChanged(f)
		return price{
			flat:   min(1+inside.flat+multiplyCost(changed, inside.row), maxCount),
			once:   inside.readFor(changed),
			values: min(inside.values+multiplyCost(changed, inside.rowValues), maxCount),
		}
	case strings.HasSuffix(parent, connection) && (f.Name == "nodes" || f.Name == "edges"):
		return price{row: 1 + inside.flat, once: inside.once, nested: inside.nested, rowValues: inside.values}
	case strings.HasSuffix(parent, connection), strings.HasSuffix(parent, "Edge") && f.Name == "node":
		// The field is pageInfo, or the node of an edge, which has been counted already.
		return price{flat: inside.flat, once: inside.once, nested: inside.nested, values: inside.values}
	case strings.HasSuffix(kind.Name, connection):
		rows := p.rows(f)
		cost := price{
			flat:   min(1+p.valueCost(f)+inside.flat+multiplyCost(rows, inside.row), maxCount),
			once:   inside.readFor(rows),
			values: min(inside.values+multiplyCost(rows, inside.rowValues), maxCount),
		}
		if p.isNested(f) {
			cost.nested = p.scanCost(f)
		} else {
			cost.once = min(cost.once+p.scanCost(f), maxCount)
		}
		return cost
	case slices.Contains(p.Parts, kind.Name):
		return price{flat: inside.flat, once: inside.once, nested: inside.nested, values: inside.values}
	default:
		keys, scanned := p.keys(f), p.ScannedFields[name]+p.filterCost(f)
		cost := price{flat: multiplyCost(keys, 1+inside.flat), once: min(inside.once+scanned, maxCount), nested: inside.nested, values: multiplyCost(keys, inside.values)}
		if keys > 1 {
			cost.once, cost.nested = min(inside.readFor(keys)+scanned, maxCount), 0
		}
		return cost
	}
}

func (p *pricing) refuse(err error) {
	if p.refused == nil {
		p.refused = gqlerror.WrapIfUnwrapped(err)
	}
}
