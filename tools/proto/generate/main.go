// Command generate compiles the protos of the contract, and writes the files that plugins
// generate from them. Building this command takes a few seconds, and building buf takes
// minutes. `make generate` runs it:
//
//	go -C tools/proto run ./generate ../..
package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"

	"github.com/bufbuild/protocompile"
	"github.com/bufbuild/protocompile/protoutil"
	"google.golang.org/protobuf/proto"
	"google.golang.org/protobuf/reflect/protoreflect"
	"google.golang.org/protobuf/types/descriptorpb"
	"google.golang.org/protobuf/types/pluginpb"
)

const (
	sources = "schema/proto"
	output  = "gen" // This folder contains only generated files.
)

// A plugin is a program that generates files. The first two have the versions of the libraries that
// Atrium uses: tools/go.mod, which requires Atrium, lists them as tools.
type plugin struct {
	command   []string
	parameter string
}

var plugins = []plugin{
	{[]string{"go", "-C", "tools", "tool", "protoc-gen-go"}, "paths=source_relative"},
	{[]string{"go", "-C", "tools", "tool", "protoc-gen-connect-go"}, "paths=source_relative,simple"},
	{[]string{"go", "-C", "tools", "run", "./protoc-gen-services"}, ""},
}

func main() {
	if err := run(os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "generate:", err)
		os.Exit(1)
	}
}

func run(args []string) error {
	if len(args) != 1 {
		return errors.New("usage: generate FOLDER, the root of the repository")
	}
	if err := os.Chdir(args[0]); err != nil {
		return err
	}
	names, err := findProtos()
	if err != nil {
		return err
	}
	compiled, err := compile(protocompile.SourceResolver{ImportPaths: []string{sources}}, names)
	if err != nil {
		return err
	}
	if err := checkOptions(compiled); err != nil {
		return err
	}
	files := map[string]string{}
	for _, p := range plugins {
		if err := p.generate(names, compiled, files); err != nil {
			return fmt.Errorf("%s: %w", strings.Join(p.command, " "), err)
		}
	}
	return replaceOutput(files)
}

// findProtos lists the protos of the contract by their import paths. The options of others beside them, which they import, are none.
func findProtos() (names []string, err error) {
	err = fs.WalkDir(os.DirFS(sources), "platform", func(path string, _ fs.DirEntry, err error) error {
		if strings.HasSuffix(path, ".proto") {
			names = append(names, path)
		}
		return err
	})
	return names, err
}

// compile returns the descriptors of the files and of their imports. A file comes after its
// imports.
func compile(from protocompile.SourceResolver, names []string) (compiled []*descriptorpb.FileDescriptorProto, err error) {
	compiler := protocompile.Compiler{
		Resolver:       protocompile.WithStandardImports(&from),
		SourceInfoMode: protocompile.SourceInfoStandard,
	}
	files, err := compiler.Compile(context.Background(), names...)
	if err != nil {
		return nil, err
	}
	seen := map[string]bool{}
	var add func(file protoreflect.FileDescriptor)
	add = func(file protoreflect.FileDescriptor) {
		if seen[file.Path()] {
			return
		}
		seen[file.Path()] = true
		for i := range file.Imports().Len() {
			add(file.Imports().Get(i).FileDescriptor)
		}
		compiled = append(compiled, protoutil.ProtoFromFileDescriptor(file))
	}
	for _, file := range files {
		add(file)
	}
	return compiled, nil
}

// generate adds the files that the plugin generates, by their paths below output.
func (p plugin) generate(names []string, compiled []*descriptorpb.FileDescriptorProto, files map[string]string) error {
	request, err := proto.Marshal(&pluginpb.CodeGeneratorRequest{FileToGenerate: names, Parameter: &p.parameter, ProtoFile: compiled})
	if err != nil {
		return err
	}
	command := exec.Command(p.command[0], p.command[1:]...)
	command.Stdin, command.Stderr = bytes.NewReader(request), os.Stderr
	answer, err := command.Output()
	if err != nil {
		return err
	}
	var response pluginpb.CodeGeneratorResponse
	if err := proto.Unmarshal(answer, &response); err != nil {
		return err
	}
	if response.Error != nil {
		return errors.New(response.GetError())
	}
	for _, file := range response.File {
		files[file.GetName()] = file.GetContent()
	}
	return nil
}

// replaceOutput removes the files of the last run, and writes the new ones.
func replaceOutput(files map[string]string) error {
	if err := os.RemoveAll(output); err != nil {
		return err
	}
	for name, content := range files {
		path := filepath.Join(output, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			return err
		}
	}
	return nil
}
