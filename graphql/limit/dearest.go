package limit

import (
	"fmt"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"
)

// What an operation that costs too much is told: which field costs most, and what
// would help.

// A dear field is one on the way down to what costs most of an operation.
type dear struct {
	path  string // by names of fields, such as repos.tags
	field *ast.Field
	cost  int // with all that lies under it, in one place
}

// tooDear refuses an operation for its cost. It prices the operation once more and
// keeps what each field costs.
func (g *costGuard) tooDear(p *pricing, set ast.SelectionSet, cost int) *gqlerror.Error {
	again := pricing{costGuard: g, operation: p.operation, fragments: map[string]price{}, selected: map[string]bool{}, prices: map[*ast.Field]price{}}
	again.set(set)
	way := again.way(set, "")
	refused := Exceed(costExtension, g.Cost, cost)
	help := again.help(way)
	refused.Message += fmt.Sprintf("; this operation costs %d", cost)
	if help != "" {
		dearest := way[len(way)-1].path
		refused.Message += ", most of it for " + dearest + ": " + help
		limit, _ := refused.Extensions["limit"].(map[string]any)
		limit["field"], limit["help"] = dearest, help
	}
	return explained(refused)
}

// way lists the lists and objects that lead, each by the dearest, down to the
// dearest list.
func (p *pricing) way(set ast.SelectionSet, prefix string) (way []dear) {
	var dearest *ast.Field
	most := 0
	p.eachField(set, func(f *ast.Field) {
		if cost := p.prices[f].flat + p.prices[f].row; cost > most {
			dearest, most = f, cost
		}
	})
	if dearest == nil || len(dearest.SelectionSet) == 0 {
		return nil
	}
	if isPart(dearest) {
		return p.way(dearest.SelectionSet, prefix)
	}
	path := strings.TrimPrefix(prefix+"."+dearest.Name, ".")
	way = append(way, dear{path, dearest, most})
	for _, below := range p.way(dearest.SelectionSet, path) {
		if !p.multiplies(below.field) {
			break
		}
		way = append(way, below)
	}
	return way
}

// isPart tells the parts of a connection from what they hold.
func isPart(f *ast.Field) bool {
	switch parent := f.ObjectDefinition.Name; {
	case strings.HasSuffix(parent, connection):
		return f.Name == "nodes" || f.Name == "edges"
	default:
		return strings.HasSuffix(parent, "Edge") && f.Name == "node"
	}
}

const connection = "Connection"

// multiplies reports whether what lies under a field costs as often as something
// has rows.
func (p *pricing) multiplies(f *ast.Field) bool {
	return strings.HasSuffix(f.Definition.Type.Name(), connection) || f.Definition.Type.Elem != nil
}

// eachField visits the fields of a selection set, those of its fragments too.
func (p *pricing) eachField(set ast.SelectionSet, visit func(*ast.Field)) {
	for _, selection := range set {
		switch x := selection.(type) {
		case *ast.Field:
			if p.included(x.Directives) {
				visit(x)
			}
		case *ast.InlineFragment:
			p.eachField(x.SelectionSet, visit)
		case *ast.FragmentSpread:
			p.eachField(p.operation.Doc.Fragments.ForName(x.Name).SelectionSet, visit)
		}
	}
}

// help says what would make an operation cheaper: the deepest list on the way
// without a size of its own should get one, else the longest a smaller one.
func (p *pricing) help(way []dear) string {
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
		return "ask for less of it at a time"
	}
	return fmt.Sprintf("give a smaller `first` on %s, which asks for %d rows", longest, rows)
}
