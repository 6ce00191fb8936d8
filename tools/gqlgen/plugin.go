package main

import (
	"bytes"
	"compress/gzip"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"go/format"
	"os"
	"path/filepath"
	"strings"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/99designs/gqlgen/plugin"
	"github.com/vektah/gqlparser/v2/ast"
)

//go:embed *.gotpl
var templateFiles embed.FS

// A graphPlugin writes the package graph, which describes the schema for the engine.
// gqlgen's own executor, with the same resolvers, goes to the package that gqlgen.yml names
// under exec.
type graphPlugin struct {
	federation plugin.CodeGenerator // gqlgen's
}

// Name returns the name of the plugin.
func (graphPlugin) Name() string { return "graph" }

// MutateConfig binds the union _Entity, whose objects are those of Node. gqlgen would bind
// it to an interface with a method IsEntity.
func (graphPlugin) MutateConfig(settings *config.Config) error { //nolint:unparam // an interface of gqlgen
	settings.Models["_Entity"] = config.TypeMapEntry{Model: config.StringList{scalars + "." + nodeType}}
	return nil
}

// GenerateCode writes the files of package graph.
func (p graphPlugin) GenerateCode(data *codegen.Data) error {
	if err := errors.Join(writeSources(data), bundleWindows(data.Schema)); err != nil {
		return err
	}
	g := generator{data}
	functions := map[string]any{"code": g.field, "abstract": g.abstract, "objects": g.objects, "goType": g.objectType, "reads": g.reads, "isInput": isInput}
	for _, name := range []string{"schema", "fields", "inputs"} {
		if err := p.render(data, name, functions); err != nil {
			return err
		}
	}
	if err := p.renderOracle(data); err != nil {
		return err
	}
	return p.renderFederation(data)
}

func (graphPlugin) render(data *codegen.Data, name string, functions map[string]any) error {
	return render(data, data.Config.Model.Package, filepath.Join(data.Config.Model.Dir(), name+".generated.go"), name, functions)
}

// writeSources writes the text of the schema, which the program embeds compressed.
func writeSources(data *codegen.Data) error {
	var sources []*ast.Source
	for _, s := range data.AugmentedSources {
		sources = append(sources, &ast.Source{Name: s.RelativePath, Input: s.Source, BuiltIn: s.BuiltIn})
	}
	var packed bytes.Buffer
	w, err := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if err != nil {
		return err
	}
	if err := errors.Join(json.NewEncoder(w).Encode(sources), w.Close()); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(data.Config.Model.Dir(), "schema.json.gz"), packed.Bytes(), 0o644)
}

// renderOracle connects gqlgen's executor with the resolvers of package graph.
func (graphPlugin) renderOracle(data *codegen.Data) error {
	return render(data, data.Config.Exec.Package, filepath.Join(data.Config.Exec.Dir(), "resolvers.generated.go"), "oracle", nil)
}

func render(data *codegen.Data, into, file, name string, functions map[string]any) error {
	text, err := templateFiles.ReadFile(name + ".gotpl")
	if err != nil {
		return err
	}
	return templates.Render(templates.Options{
		PackageName: into, Filename: file, Data: data, Template: string(text), Funcs: functions,
		GeneratedHeader: true, Packages: data.Config.Packages,
	})
}

// renderFederation writes gqlgen's code for federation a second time, for package graph.
func (p graphPlugin) renderFederation(data *codegen.Data) error {
	oracle := data.Config.Federation
	defer func() { data.Config.Federation = oracle }()
	data.Config.Federation.Filename = filepath.Join(data.Config.Model.Dir(), "federation.generated.go")
	data.Config.Federation.Package = data.Config.Model.Package
	if err := p.federation.GenerateCode(data); err != nil {
		return err
	}
	for _, file := range []string{oracle.Filename, data.Config.Federation.Filename} {
		if err := useNode(file); err != nil {
			return err
		}
	}
	return nil
}

// useNode replaces the Go type of entities in gqlgen's code for federation, because the
// template of gqlgen ignores how the union _Entity is bound.
func useNode(file string) error {
	source, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	replacer := strings.NewReplacer("fedruntime.Entity", "scalar."+nodeType, "import (", "import (\n\""+scalars+"\"")
	formatted, err := format.Source([]byte(replacer.Replace(string(source))))
	if err != nil {
		return fmt.Errorf("%s: %w", file, err)
	}
	return os.WriteFile(file, formatted, 0o644)
}

// isInput reports whether clients can send values of a type.
func isInput(t *config.TypeReference) bool { return t.Definition.IsInputType() }
