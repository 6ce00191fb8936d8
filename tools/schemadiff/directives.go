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

// compareApplied compares the directives of a definition.
func (c *comparison) compareApplied(at string, was, is ast.DirectiveList) {
	before, after := writeDirectives(was), writeDirectives(is)
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

// weight returns the level of adding or removing a directive. Gateways read entities by
// their keys, and compose only shareable fields, and clients make types of what is not null:
// promise is the level for these.
func weight(directive string, promise level) level {
	switch name, _, _ := strings.Cut(directive, "("); name {
	case "@key", "@shareable", "@semanticNonNull":
		return promise
	case "@deprecated":
		return safe
	default:
		return dangerous
	}
}

// writeDirectives writes directives in the syntax of a schema, with arguments sorted by
// name.
func writeDirectives(list ast.DirectiveList) []string {
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
