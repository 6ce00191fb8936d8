package main

import (
	"maps"
	"slices"
	"strings"
	"time"

	"atrium/internal/server"
	"atrium/platform/core"
)

// graphqlFlags are the settings of the GraphQL endpoint.
type graphqlFlags struct {
	Introspection    bool           `default:"true" negatable:"" help:"Answer introspection queries of callers with a token."`
	SchemaReader     []string       `placeholder:"UID" help:"Identity that may read the SDL (/graphql/schema, _service) while introspection is off, such as a gateway; may be repeated."`
	TrustedDocuments string         `placeholder:"FILE" help:"Execute only the documents in this file, a JSON object that maps ids to documents."`
	Domains          []string       `placeholder:"NAME" help:"Domain to serve as a separate subgraph at /graphql/NAME: iam, registry, events, vulnerabilities, advisory or libraries; may be repeated, and commas separate several. Default: all domains, or none with --trusted-documents."`
	GraphqlLimit     map[string]int `placeholder:"NAME=N" help:"Limit of a document (tokens, name-bytes, definitions, fields, aliases, depth, root-fields, cost, values, keys), of a websocket (operations), or of a caller (sockets; subscriptions on all its sockets and streams); may be repeated, and commas separate several. 0 is no limit."`
	GraphqlBody      int64          `default:"1048576" placeholder:"BYTES" help:"Largest body of a GraphQL request."`
	GraphqlTimeout   time.Duration  `default:"30s" help:"Time limit of a query or mutation, at most 30s."`

	settings server.GraphQL
	readers  []core.UID // those of SchemaReader
}

// maxGraphqlTimeout leaves the server time to say that a query took too long.
const maxGraphqlTimeout = 30 * time.Second

func (g *graphqlFlags) check(f *faults) {
	g.settings = server.DefaultGraphQL()
	g.settings.HideSchema = !g.Introspection
	limits, bounds := &g.settings.Limits, &g.settings.Bounds
	bounds.BodyBytes, bounds.Timeout = g.GraphqlBody, g.GraphqlTimeout
	if g.GraphqlBody <= 0 {
		f.add("graphql-body", "must be a number of bytes")
	}
	if g.GraphqlTimeout <= 0 || g.GraphqlTimeout > maxGraphqlTimeout {
		f.add("graphql-timeout", "must be above 0 and at most %s", maxGraphqlTimeout)
	}
	named := map[string]*int{
		"tokens": &limits.Tokens, "name-bytes": &limits.NameBytes, "definitions": &limits.Definitions,
		"fields": &limits.Fields, "aliases": &limits.Aliases, "depth": &limits.Depth,
		"root-fields": &limits.RootFields, "cost": &limits.Cost, "values": &limits.Values, "keys": &limits.Keys,
		"operations": &bounds.Operations, "sockets": &bounds.Sockets, "subscriptions": &bounds.Subscriptions,
	}
	for _, name := range slices.Sorted(maps.Keys(g.GraphqlLimit)) {
		limit, n := named[name], g.GraphqlLimit[name]
		switch {
		case limit == nil:
			f.add("graphql-limit", "%q is not a limit; use one of %s", name, strings.Join(slices.Sorted(maps.Keys(named)), ", "))
		case n < 0:
			f.add("graphql-limit", "%s must not be negative", name)
		default:
			*limit = n
		}
	}
	for _, name := range g.Domains {
		checkDomain(f, "domains", name)
	}
	if len(g.Domains) > 0 && g.TrustedDocuments != "" {
		f.add("domains", "cannot be given together with trusted-documents: gateways make their own documents")
	}
	for _, uid := range g.SchemaReader {
		checkUID(f, "schema-reader", uid)
		g.readers = append(g.readers, core.UID(uid))
	}
	if g.TrustedDocuments == "" {
		return
	}
	var err error
	if g.settings.Trusted, err = server.ReadTrustedDocuments(g.TrustedDocuments); err != nil {
		f.add("trusted-documents", "%s", err)
	}
}
