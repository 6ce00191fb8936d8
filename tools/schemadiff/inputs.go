package main

import (
	"github.com/vektah/gqlparser/v2/ast"
)

func (c *comparison) arguments(owner string, was, is ast.ArgumentDefinitionList) {
	match(was, is, func(a *ast.ArgumentDefinition) string { return a.Name }, func(before, after *ast.ArgumentDefinition) {
		c.input("argument", owner+"(", ":)", before, after)
	})
}

// inputField converts a field of an input to an argument, because the same rules apply.
func inputField(f *ast.FieldDefinition) *ast.ArgumentDefinition {
	if f == nil {
		return nil
	}
	return &ast.ArgumentDefinition{Name: f.Name, Type: f.Type, DefaultValue: f.DefaultValue, Directives: f.Directives}
}

// input compares arguments. The coordinate is the name between prefix and suffix.
func (c *comparison) input(noun, prefix, suffix string, was, is *ast.ArgumentDefinition) {
	switch {
	case is == nil:
		c.add(breaking, prefix+was.Name+suffix, "is removed")
		return
	case was == nil && isRequired(is):
		c.add(breaking, prefix+is.Name+suffix, "is a new required %s", noun)
		return
	case was == nil:
		c.add(safe, prefix+is.Name+suffix, "is a new optional %s", noun)
		return
	}
	at := prefix + is.Name + suffix
	if before, after := was.Type.String(), is.Type.String(); before != after {
		l := breaking
		if was.Type.IsCompatible(is.Type) { // values of the old type are valid for the new one
			l = safe
		}
		c.add(l, at, "was %s and is %s", before, after)
	}
	c.compareApplied(at, was.Directives, is.Directives)
	c.defaultValue(at, was, is)
}

// isRequired reports whether a request without the argument is rejected.
func isRequired(a *ast.ArgumentDefinition) bool { return a.Type.NonNull && a.DefaultValue == nil }

// defaultValue compares default values.
func (c *comparison) defaultValue(at string, was, is *ast.ArgumentDefinition) {
	before, after := was.DefaultValue.String(), is.DefaultValue.String()
	switch {
	case before == after:
	case is.DefaultValue == nil:
		c.add(breaking, at, "no longer has the default %s", before)
	case was.DefaultValue != nil:
		c.add(breaking, at, "had the default %s and has %s", before, after)
	case isRequired(was): // it was required before
		c.add(safe, at, "has the new default %s", after)
	default:
		c.add(dangerous, at, "has the new default %s", after)
	}
}
