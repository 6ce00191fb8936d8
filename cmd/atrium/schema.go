package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"atrium/internal/server"
)

// schemaCommand prints the GraphQL schema that gateways compose.
type schemaCommand struct {
	Domain string `placeholder:"NAME" help:"Only the subgraph of one domain (iam, registry, events, vulnerabilities, advisory, libraries), which a server has at /graphql/NAME."`
}

func (s *schemaCommand) check(f *faults) {
	if s.Domain != "" {
		checkDomain(f, "domain", s.Domain)
	}
}

// checkDomain checks the name of a domain.
func checkDomain(f *faults, flag, name string) {
	if all := server.Domains(); !slices.Contains(all, name) {
		f.add(flag, "%q is not a domain; use one of %s", name, strings.Join(all, ", "))
	}
}

func (s *schemaCommand) run(_ context.Context, p program) error {
	_, err := fmt.Fprint(p.stdout, server.SubgraphSDL(s.Domain))
	return err
}
