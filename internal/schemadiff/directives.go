package main

import (
	"slices"
	"strings"

	"github.com/vektah/gqlparser/v2/ast"
)

// directive compares the definitions of a directive.
func (c *comparison) directive(was, is *ast.DirectiveDefinition) {
	if is == nil {
		c.add(breaking, "@"+was.Name, "is removed")
		return
	}
	at := "@" + is.Name
	if was == nil {
		c.add(safe, at, "is new")
		return
	}
	for _, place := range was.Locations {
		if !slices.Contains(is.Locations, place) {
			c.add(breaking, at, "is no longer allowed on %s", place)
		}
	}
	if was.IsRepeatable && !is.IsRepeatable {
		c.add(breaking, at, "is no longer repeatable")
	}
	c.arguments(at, was.Arguments, is.Arguments)
}

// applied compares the directives that something bears.
func (c *comparison) applied(at string, was, is ast.DirectiveList) {
	before, after := written(was), written(is)
	for _, d := range before {
		if !slices.Contains(after, d) {
			c.add(weight(d, breaking), at, "no longer bears %s", d)
		}
	}
	for _, d := range after {
		if !slices.Contains(before, d) {
			c.add(weight(d, safe), at, "now bears %s", d)
		}
	}
}

// weight says how much a directive matters that came or went. Gateways ask for
// entities by their keys, and compose only what is shareable: promise is what
// it does to break or make one of these.
func weight(directive string, promise level) level {
	switch name, _, _ := strings.Cut(directive, "("); name {
	case "@key", "@shareable":
		return promise
	case "@deprecated":
		return safe
	default:
		return dangerous
	}
}

// written spells directives as in a schema, their arguments by name.
func written(list ast.DirectiveList) []string {
	all := make([]string, len(list))
	for i, d := range list {
		args := make([]string, len(d.Arguments))
		for j, a := range d.Arguments {
			args[j] = a.Name + ": " + a.Value.String()
		}
		slices.Sort(args)
		all[i] = "@" + d.Name
		if len(args) > 0 {
			all[i] += "(" + strings.Join(args, ", ") + ")"
		}
	}
	return all
}
