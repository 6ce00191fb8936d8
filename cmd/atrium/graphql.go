package main

import (
	"maps"
	"slices"
	"strings"

	"atrium/resolvers"
)

// graphqlFlags are the settings of the GraphQL endpoint.
type graphqlFlags struct {
	Introspection    bool           `default:"true" negatable:"" help:"Answer introspection, to callers with a token."`
	TrustedDocuments string         `placeholder:"FILE" help:"Execute only the documents of this manifest: a JSON object of documents by id."`
	AllowOrigin      []string       `placeholder:"ORIGIN" help:"Origin beside the server's own that may open websockets; several may be given."`
	GraphqlLimit     map[string]int `placeholder:"NAME=N" help:"Limit of a document: tokens, name-bytes, definitions, fields, aliases, depth, root-fields, cost or keys; 0 is none."`

	limits  resolvers.Limits
	trusted *resolvers.TrustedDocuments
}

func (g *graphqlFlags) check(f *faults) {
	g.limits = resolvers.DefaultLimits()
	named := map[string]*int{
		"tokens": &g.limits.Tokens, "name-bytes": &g.limits.NameBytes, "definitions": &g.limits.Definitions,
		"fields": &g.limits.Fields, "aliases": &g.limits.Aliases, "depth": &g.limits.Depth,
		"root-fields": &g.limits.RootFields, "cost": &g.limits.Cost, "keys": &g.limits.Keys,
	}
	for _, name := range slices.Sorted(maps.Keys(g.GraphqlLimit)) {
		limit, n := named[name], g.GraphqlLimit[name]
		switch {
		case limit == nil:
			f.add("graphql-limit", "%q is none of %s", name, strings.Join(slices.Sorted(maps.Keys(named)), ", "))
		case n < 0:
			f.add("graphql-limit", "%s must not be negative", name)
		default:
			*limit = n
		}
	}
	if g.TrustedDocuments == "" {
		return
	}
	var err error
	if g.trusted, err = resolvers.ReadTrustedDocuments(g.TrustedDocuments); err != nil {
		f.add("trusted-documents", "%s", err)
	}
}

// options are those of the endpoint.
func (g *graphqlFlags) options() resolvers.Options {
	return resolvers.Options{Limits: &g.limits, Trusted: g.trusted, HideSchema: !g.Introspection, Origins: g.AllowOrigin}
}
