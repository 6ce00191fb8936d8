// Command gqlgen generates from schema/*.graphqls, by gqlgen's own reading of the
// schema and of gqlgen.yml, the package graph, which the executor stands on, and
// gqlgen's own executor in internal/oracle, which tests compare it with.
// `make generate` runs it.
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
	if err := bindByName(settings); err != nil {
		return err
	}
	log.SetOutput(io.Discard) // gqlgen tells of each resolver that it expects
	return api.Generate(settings, addGraphPlugin)
}

// addGraphPlugin adds ours behind those of gqlgen.
func addGraphPlugin(_ *config.Config, plugins *[]plugin.Plugin) {
	for _, p := range *plugins {
		if federation, ok := p.(*federation.Federation); ok {
			*plugins = append(*plugins, graphPlugin{federation})
			return
		}
	}
}
