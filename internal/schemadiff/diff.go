package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// A level says what a change does to clients from before it.
type level int

const (
	breaking  level = iota // requests that were good fail, or answers no longer have the shape they had
	dangerous              // requests stay good; a client that matches exhaustively, or relies on what was left out, can fail
	safe                   // nobody notices who does not look
)

func (l level) String() string { return [...]string{"breaking", "dangerous", "safe"}[l] }

// A change is one difference between two schemas.
type change struct {
	level level
	at    string // schema coordinate: Type, Type.field, Type.field(argument:), Enum.VALUE, @directive(argument:)
	what  string // completes a sentence that begins with the coordinate
}

// A comparison collects the changes between two schemas.
type comparison struct {
	answered map[string]bool // types that answers can hold, of the schema before: only those can surprise
	changes  []change
}

// diff lists what changed, the worst first and then by coordinate.
// Descriptions and orders do not count; nor do what gqlgen or GraphQL bring.
func diff(before, after *ast.Schema) []change {
	c := &comparison{answered: answered(before)}
	c.applied("schema", before.SchemaDirectives, after.SchemaDirectives)
	match(ours(before), ours(after), func(t *ast.Definition) string { return t.Name }, c.definition)
	match(ourDirectives(before), ourDirectives(after), func(d *ast.DirectiveDefinition) string { return d.Name }, c.directive)
	slices.SortFunc(c.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what))
	})
	return c.changes
}

func (c *comparison) add(l level, at, what string, args ...any) {
	c.changes = append(c.changes, change{l, at, fmt.Sprintf(what, args...)})
}

// match calls each with what has one name in two lists; what is missing in one
// of them is nil.
func match[T any](before, after []*T, name func(*T) string, each func(was, is *T)) {
	missing := map[string]*T{}
	for _, is := range after {
		missing[name(is)] = is
	}
	for _, was := range before {
		each(was, missing[name(was)])
		delete(missing, name(was))
	}
	for _, is := range after {
		if missing[name(is)] != nil {
			each(nil, is)
		}
	}
}

func ours(s *ast.Schema) []*ast.Definition {
	var all []*ast.Definition
	for _, t := range s.Types {
		if !t.BuiltIn {
			all = append(all, t)
		}
	}
	return all
}

func ourDirectives(s *ast.Schema) []*ast.DirectiveDefinition {
	var all []*ast.DirectiveDefinition
	for _, d := range s.Directives {
		if !d.Position.Src.BuiltIn {
			all = append(all, d)
		}
	}
	return all
}

// answered names the types of every field that can be asked for.
func answered(s *ast.Schema) map[string]bool {
	names := map[string]bool{}
	for _, t := range s.Types {
		if t.Kind != ast.InputObject {
			for _, f := range t.Fields {
				names[f.Type.Name()] = true
			}
		}
	}
	return names
}
