package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"atrium/platform"
	"atrium/resolvers"
)

// graphqlFlags are the settings of the GraphQL endpoint.
type graphqlFlags struct {
	Introspection    bool           `default:"true" negatable:"" help:"Answer introspection, to callers with a token."`
	SchemaReader     []string       `placeholder:"UID" help:"Identity that may read the SDL (/graphql/schema, _service) while introspection is off, such as that of a gateway; several may be given."`
	TrustedDocuments string         `placeholder:"FILE" help:"Execute only the documents of this manifest: a JSON object of documents by id."`
	GraphqlLimit     map[string]int `placeholder:"NAME=N" help:"Limit of a document: tokens, name-bytes, definitions, fields, aliases, depth, root-fields, cost, values or keys; of a websocket: operations; of a caller: sockets, or subscriptions on all of its sockets and streams. 0 is none."`
	GraphqlBody      int64          `default:"1048576" placeholder:"BYTES" help:"What a GraphQL request may hold."`
	GraphqlTimeout   time.Duration  `default:"30s" help:"How long a query or mutation may take, at most 30s."`

	limits    resolvers.Limits
	transport resolvers.Transport
	trusted   *resolvers.TrustedDocuments
}

// maxGraphqlTimeout leaves the server time to say that a query took too long.
const maxGraphqlTimeout = 30 * time.Second

func (g *graphqlFlags) check(f *faults) {
	g.limits, g.transport = resolvers.DefaultLimits(), resolvers.DefaultTransport()
	g.transport.BodyBytes, g.transport.Timeout = g.GraphqlBody, g.GraphqlTimeout
	if g.GraphqlBody <= 0 {
		f.add("graphql-body", "must be a number of bytes")
	}
	if g.GraphqlTimeout <= 0 || g.GraphqlTimeout > maxGraphqlTimeout {
		f.add("graphql-timeout", "must be above 0 and at most %s", maxGraphqlTimeout)
	}
	named := map[string]*int{
		"tokens": &g.limits.Tokens, "name-bytes": &g.limits.NameBytes, "definitions": &g.limits.Definitions,
		"fields": &g.limits.Fields, "aliases": &g.limits.Aliases, "depth": &g.limits.Depth,
		"root-fields": &g.limits.RootFields, "cost": &g.limits.Cost, "values": &g.limits.Values, "keys": &g.limits.Keys,
		"operations": &g.transport.Operations, "sockets": &g.transport.Sockets, "subscriptions": &g.transport.Subscriptions,
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
	for _, uid := range g.SchemaReader {
		checkUID(f, "schema-reader", uid)
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
	readers := make([]platform.UID, len(g.SchemaReader))
	for i, uid := range g.SchemaReader {
		readers[i] = platform.UID(uid)
	}
	return resolvers.Options{
		Limits: &g.limits, Transport: &g.transport, Trusted: g.trusted, HideSchema: !g.Introspection, SchemaReaders: readers,
	}
}
