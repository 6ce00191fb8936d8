package main

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

// A level says what a change means for existing clients.
type level int

const (
	breaking  level = iota // valid requests fail, or answers have another shape
	dangerous              // requests stay valid; a client that matches exhaustively, or relies on a default, can fail
	safe                   // existing clients do not notice
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
	answered map[string]bool // types in answers of the old schema: only these can surprise clients
	changes  []change
}

// diff lists the changes, the most severe first, then by coordinate. It ignores
// descriptions, the order of definitions, and definitions of gqlgen and GraphQL itself.
func diff(before, after *ast.Schema) []change {
	c := &comparison{answered: answeredTypes(before)}
	c.compareApplied("schema", before.SchemaDirectives, after.SchemaDirectives)
	match(ownTypes(before), ownTypes(after), func(t *ast.Definition) string { return t.Name }, c.definition)
	match(ownDirectives(before), ownDirectives(after), func(d *ast.DirectiveDefinition) string { return d.Name }, c.directive)
	mayChange := experimental(before)
	for i := range c.changes {
		if c.changes[i].level == breaking && mayChange(c.changes[i].at) {
			c.changes[i].level = dangerous
		}
	}
	slices.SortFunc(c.changes, func(a, b change) int {
		return cmp.Or(cmp.Compare(a.level, b.level), cmp.Compare(a.at, b.at), cmp.Compare(a.what, b.what))
	})
	return c.changes
}

func (c *comparison) add(l level, at, what string, args ...any) {
	c.changes = append(c.changes, change{l, at, fmt.Sprintf(what, args...)})
}

// match calls each with the items of the same name in two lists. An item that is missing
// in one list is nil there.
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

func ownTypes(s *ast.Schema) []*ast.Definition {
	var all []*ast.Definition
	for _, t := range s.Types {
		if !t.BuiltIn {
			all = append(all, t)
		}
	}
	return all
}

func ownDirectives(s *ast.Schema) []*ast.DirectiveDefinition {
	var all []*ast.DirectiveDefinition
	for _, d := range s.Directives {
		if !d.Position.Src.BuiltIn {
			all = append(all, d)
		}
	}
	return all
}

// answeredTypes returns the names of the types that fields can return.
func answeredTypes(s *ast.Schema) map[string]bool {
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
