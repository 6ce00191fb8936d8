// Command gqlgen generates Go code from schema/*.graphqls. gqlgen itself reads the schema
// and gqlgen.yml. The results are the package graph, which the engine of graphql/execute
// uses, and gqlgen's own executor in internal/oracle, with which tests compare the engine.
// `make generate` runs this command.
package main

import (
	"fmt"
	"io"
	"log"
	"os"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/plugin"
	"github.com/99designs/gqlgen/plugin/federation"
)

func main() {
	if err := generate(); err != nil {
		fmt.Fprintln(os.Stderr, "gqlgen:", err)
		os.Exit(1)
	}
}

func generate() error {
	settings, err := config.LoadConfig("gqlgen.yml")
	if err != nil {
		return err
	}
	aliases, err := bindByName(settings)
	if err != nil {
		return err
	}
	if err := os.WriteFile(aliasFile, aliases, 0o644); err != nil {
		return err
	}
	log.SetOutput(io.Discard) // gqlgen prints each resolver that it expects
	return api.Generate(settings, addGraphPlugin)
}

// addGraphPlugin adds our plugin after those of gqlgen.
func addGraphPlugin(_ *config.Config, plugins *[]plugin.Plugin) {
	for _, p := range *plugins {
		if federation, ok := p.(*federation.Federation); ok {
			*plugins = append(*plugins, graphPlugin{federation})
			return
		}
	}
}
