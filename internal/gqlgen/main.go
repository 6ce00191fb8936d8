// Command gqlgen generates the package graph from schema/*.graphqls: what gqlgen
// itself makes, and how the executor reads each field. `make generate` runs it.
package main

import (
	"fmt"
	"os"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
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
	return api.Generate(settings, api.AddPlugin(fields{}))
}
