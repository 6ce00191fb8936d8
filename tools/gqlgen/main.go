// Command gqlgen generates Go code from schema/*.graphqls. gqlgen itself reads the schema
// and gqlgen.yml. The results are the package graph, which the engine of internal/graphql/execute
// uses, and gqlgen's own executor in internal/oracle, with which tests compare the engine and
// which is not committed. Its argument is the folder of Atrium. `make generate` and `make oracle` run
// this command.
package main

import (
	"errors"
	"fmt"
	"io"
	"log"
	"os"
	"path/filepath"

	"github.com/99designs/gqlgen/api"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/plugin"
	"github.com/99designs/gqlgen/plugin/federation"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gqlgen FOLDER")
		os.Exit(2)
	}
	if err := generate(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "gqlgen:", err)
		os.Exit(1)
	}
}

func generate(folder string) error {
	if err := os.Chdir(folder); err != nil {
		return err
	}
	settings, err := config.LoadConfig("gqlgen.yml")
	if err != nil {
		return err
	}
	areas, err := findAreas("platform")
	if err != nil {
		return err
	}
	aliases, err := bindByName(settings, areas)
	if err != nil {
		return err
	}
	if err := os.WriteFile(aliasFile, aliases, 0o644); err != nil {
		return err
	}
	if err := eachOracleFile(os.Remove); err != nil { // Those of removed schema files would remain.
		return err
	}
	log.SetOutput(io.Discard) // gqlgen prints each resolver that it expects
	if err := api.Generate(settings, addGraphPlugin); err != nil {
		return err
	}
	return eachOracleFile(addOracleTag)
}

// eachOracleFile calls do with each generated file of internal/oracle.
func eachOracleFile(do func(file string) error) error {
	files, err := filepath.Glob("internal/oracle/*.go")
	for _, file := range files {
		if filepath.Base(file) != "doc.go" {
			err = errors.Join(err, do(file))
		}
	}
	return err
}

// addOracleTag keeps a file out of builds without the tag oracle.
func addOracleTag(file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	return os.WriteFile(file, append([]byte("//go:build oracle\n\n"), text...), 0o644)
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
