package limit

import (
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/graphql/analysis"
)

// The error for an operation that costs too much names the most expensive field and a
// way to reduce the cost.

// A costlyField is a field on the path to the most expensive part of an operation.
type costlyField struct {
	path  string // names of the fields, such as repos.tags
	field *ast.Field
	cost  int // cost of the field and everything below it, for one parent
}

// costError returns the error for an operation that costs too much. It computes the
// cost again and keeps the cost of each field.
func (g *costGuard) costError(p *pricing, set ast.SelectionSet, cost int) *gqlerror.Error {
	again := pricing{costGuard: g, operation: p.operation, fragments: map[string]price{}, prices: map[*ast.Field]price{}}
	again.set(set)
	way := again.costliestPath(set, "")
	refused := NewExceeded(analysis.Extension, g.Cost, cost)
	help := again.suggestReduction(way)
	refused.Message += fmt.Sprintf("; this operation costs %d", cost)
	if help != "" {
		costliest := way[len(way)-1].path
		refused.Message += ", most of it for " + costliest + ": " + help
		limit, _ := refused.Extensions["limit"].(map[string]any)
		limit["field"], limit["help"] = costliest, help
	}
	return withDetails(refused)
}

// costliestPath returns the fields on the path to the most expensive list, by always
// choosing the most expensive field.
func (p *pricing) costliestPath(set ast.SelectionSet, prefix string) (way []costlyField) {
	var costliest *ast.Field
	most := 0
	for f := range analysis.SelectedFields(set, p.operation.Variables) {
		if cost := p.prices[f].total() + p.prices[f].row; cost > most {
			costliest, most = f, cost
		}
	}
	if costliest == nil || len(costliest.SelectionSet) == 0 {
		return nil
	}
	if isConnectionPart(costliest) {
		return p.costliestPath(costliest.SelectionSet, prefix)
	}
	path := strings.TrimPrefix(prefix+"."+costliest.Name, ".")
	way = append(way, costlyField{path, costliest, most})
	for _, below := range p.costliestPath(costliest.SelectionSet, path) {
		if !p.multiplies(below.field) {
			break
		}
		way = append(way, below)
	}
	return way
}

// isConnectionPart reports whether a field is nodes or edges of a connection, or node of
// an edge.
func isConnectionPart(f *ast.Field) bool {
	switch parent := f.ObjectDefinition.Name; {
	case strings.HasSuffix(parent, connection):
		return f.Name == "nodes" || f.Name == "edges"
	default:
		return strings.HasSuffix(parent, "Edge") && f.Name == "node"
	}
}

// Types are named by their role, and these are the ends of their names.
const (
	connection = analysis.Connection
	payload    = "Payload"
)

// multiplies reports whether everything below a field is multiplied by a number of rows.
func (p *pricing) multiplies(f *ast.Field) bool {
	return strings.HasSuffix(f.Definition.Type.Name(), connection) || f.Definition.Type.Elem != nil
}

// suggestReduction suggests how to make an operation cheaper: set a size for the
// deepest list without one, or else reduce the largest size.
func (p *pricing) suggestReduction(way []costlyField) string {
	longest, rows := "", 0
	for i := len(way) - 1; i >= 0; i-- {
		f := way[i].field
		if !strings.HasSuffix(f.Definition.Type.Name(), connection) {
			continue
		}
		if p.number(f, "first") <= 0 && p.number(f, "last") <= 0 && f.Definition.Arguments.ForName("first") != nil {
			return fmt.Sprintf("give `first` on %s, which counts as %d rows without it", way[i].path, p.DefaultPage)
		}
		if n := p.rows(f); n > rows {
			longest, rows = way[i].path, n
		}
	}
	if longest == "" {
		return "ask for less data at a time"
	}
	return fmt.Sprintf("give a smaller `first` on %s, which asks for %d rows", longest, rows)
}
