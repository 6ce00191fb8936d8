package main

import (
	"embed"
	"path/filepath"

	"github.com/99designs/gqlgen/codegen"
	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/codegen/templates"
	"github.com/99designs/gqlgen/plugin"
)

//go:embed *.gotpl
var templateFiles embed.FS

// A graphPlugin writes the package graph, which describes the schema for the executor.
// gqlgen's own executor, with the same resolvers, goes to the package that gqlgen.yml names
// under exec.
type graphPlugin struct {
	federation plugin.CodeGenerator // gqlgen's
}

// Name returns the name of the plugin.
func (graphPlugin) Name() string { return "graph" }

// GenerateCode writes the files of package graph.
func (p graphPlugin) GenerateCode(data *codegen.Data) error {
	g := generator{data}
	functions := map[string]any{"code": g.field, "abstract": g.abstract, "goType": g.objectType, "reads": g.reads, "isInput": isInput}
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
	return p.federation.GenerateCode(data)
}

// isInput reports whether clients can send values of a type.
func isInput(t *config.TypeReference) bool { return t.Definition.IsInputType() }
