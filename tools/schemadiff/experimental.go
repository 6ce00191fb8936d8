package main

import (
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// experimental returns a function that reports whether what has a coordinate may change in any
// release: a field with @tag(name: "experimental"), and the types that only such fields lead to.
func experimental(s *ast.Schema) func(at string) bool {
	stable, led := reached{s, map[string]bool{}}, reached{s, map[string]bool{}}
	for _, root := range []*ast.Definition{s.Query, s.Mutation, s.Subscription} {
		if root == nil {
			continue
		}
		stable.add(root.Name)
		for _, f := range root.Fields {
			if isExperimental(f) {
				led.follow(f)
			}
		}
	}
	return func(at string) bool {
		name, member, _ := strings.Cut(at, ".")
		if led.names[name] && !stable.names[name] {
			return true
		}
		member, _, _ = strings.Cut(member, "(")
		t := s.Types[name]
		return t != nil && t.Fields.ForName(member) != nil && isExperimental(t.Fields.ForName(member))
	}
}

// reached collects the names of the types that fields lead to, other than those that are experimental.
type reached struct {
	schema *ast.Schema
	names  map[string]bool
}

func (r reached) add(name string) {
	t := r.schema.Types[name]
	if t == nil || r.names[name] {
		return
	}
	r.names[name] = true
	for _, possible := range r.schema.PossibleTypes[name] {
		r.add(possible.Name)
	}
	for _, above := range t.Interfaces {
		r.add(above)
	}
	for _, f := range t.Fields {
		if !isExperimental(f) {
			r.follow(f)
		}
	}
}

// follow adds the types of a field and of its arguments.
func (r reached) follow(f *ast.FieldDefinition) {
	r.add(f.Type.Name())
	for _, a := range f.Arguments {
		r.add(a.Type.Name())
	}
}

func isExperimental(f *ast.FieldDefinition) bool {
	for _, tag := range f.Directives.ForNames("tag") {
		if name := tag.Arguments.ForName("name"); name != nil && name.Value.Raw == "experimental" {
			return true
		}
	}
	return false
}
