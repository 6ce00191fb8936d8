package main

import (
	"slices"

	"github.com/vektah/gqlparser/v2/ast"
)

var kindNames = map[ast.DefinitionKind]string{
	ast.Scalar: "a scalar", ast.Object: "an object", ast.Interface: "an interface",
	ast.Union: "a union", ast.Enum: "an enum", ast.InputObject: "an input",
}

func (c *comparison) definition(was, is *ast.Definition) {
	switch {
	case is == nil:
		c.add(breaking, was.Name, "is removed")
		return
	case was == nil:
		c.add(safe, is.Name, "is new")
		return
	case was.Kind != is.Kind:
		c.add(breaking, was.Name, "was %s and is %s", kindNames[was.Kind], kindNames[is.Kind])
		return
	}
	c.compareApplied(was.Name, was.Directives, is.Directives)
	c.names(was.Name, was.Interfaces, is.Interfaces, "no longer implements %s", "now implements %s")
	c.names(was.Name, was.Types, is.Types, "no longer has the member %s", "has the new member %s")
	match(was.EnumValues, is.EnumValues, func(v *ast.EnumValueDefinition) string { return v.Name }, func(before, after *ast.EnumValueDefinition) {
		c.enumValue(was.Name, before, after)
	})
	match(was.Fields, is.Fields, func(f *ast.FieldDefinition) string { return f.Name }, func(before, after *ast.FieldDefinition) {
		if was.Kind == ast.InputObject {
			c.input("input field", was.Name+".", "", inputField(before), inputField(after))
		} else {
			c.field(was.Name, before, after)
		}
	})
}

// names compares the interfaces of a type, or the members of a union. A new member can
// surprise a client that matches on the old ones.
func (c *comparison) names(at string, was, is []string, gone, added string) {
	for _, name := range was {
		if !slices.Contains(is, name) {
			c.add(breaking, at, gone, name)
		}
	}
	for _, name := range is {
		if !slices.Contains(was, name) {
			c.add(dangerous, at, added, name)
		}
	}
}

func (c *comparison) enumValue(enum string, was, is *ast.EnumValueDefinition) {
	switch {
	case is == nil:
		c.add(breaking, enum+"."+was.Name, "is removed")
	case was != nil:
		c.compareApplied(enum+"."+was.Name, was.Directives, is.Directives)
	case c.answered[enum]:
		c.add(dangerous, enum+"."+is.Name, "is a new value in answers")
	default:
		c.add(safe, enum+"."+is.Name, "is a new value")
	}
}

func (c *comparison) field(owner string, was, is *ast.FieldDefinition) {
	if is == nil {
		c.add(breaking, owner+"."+was.Name, "is removed")
		return
	}
	at := owner + "." + is.Name
	if was == nil {
		c.add(safe, at, "is new")
		return
	}
	if before, after := was.Type.String(), is.Type.String(); before != after {
		l := breaking
		if is.Type.IsCompatible(was.Type) { // a client that expects the old type can read the new one
			l = safe
		}
		c.add(l, at, "was %s and is %s", before, after)
	}
	c.compareApplied(at, was.Directives, is.Directives)
	c.arguments(at, was.Arguments, is.Arguments)
}
