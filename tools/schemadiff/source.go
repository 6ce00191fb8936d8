package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/99designs/gqlgen/codegen/config"
	"github.com/99designs/gqlgen/plugin/federation"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
)

// load parses and checks a schema, with the directives that gqlgen adds for federation.
func load(files []*ast.Source) (*ast.Schema, error) {
	plugin, err := federation.New(2, &config.Config{})
	if err != nil {
		return nil, err
	}
	directives, err := plugin.InjectSourcesEarly()
	if err != nil {
		return nil, err
	}
	return gqlparser.LoadSchema(append(directives, files...)...)
}

// workingTree reads the files of the schema on disk, sorted by name.
func workingTree(folder string) ([]*ast.Source, error) {
	names, err := filepath.Glob(filepath.Join(folder, "schema", "*.graphqls"))
	if err != nil {
		return nil, err
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s has no schema/*.graphqls", folder)
	}
	files := make([]*ast.Source, len(names))
	for i, name := range names {
		text, err := os.ReadFile(name)
		if err != nil {
			return nil, err
		}
		files[i] = &ast.Source{Name: "schema/" + filepath.Base(name), Input: string(text)}
	}
	return files, nil
}

// baseline returns the schema of the commit with which the working tree is compared, and the name
// of that commit. An error means that there is none.
func baseline(ctx context.Context, folder string) (name string, schema *ast.Schema, err error) {
	commit, name, err := findBase(ctx, folder, "schema/*.graphqls")
	if err != nil {
		return "", nil, err
	}
	files, err := readCommit(ctx, folder, commit)
	if err != nil {
		return "", nil, err
	}
	if schema, err = load(files); err != nil {
		return "", nil, fmt.Errorf("the schema of %s: %w", name, err)
	}
	return name, schema, nil
}

// readCommit reads the files of the schema in a commit, sorted by name.
func readCommit(ctx context.Context, folder, commit string) ([]*ast.Source, error) {
	names, err := git(ctx, folder, "ls-tree", "-z", "--name-only", commit, "schema/")
	if err != nil {
		return nil, err
	}
	var files []*ast.Source
	for name := range strings.SplitSeq(names, "\x00") {
		if path.Ext(name) != ".graphqls" {
			continue
		}
		text, err := git(ctx, folder, "show", commit+":./"+name)
		if err != nil {
			return nil, err
		}
		files = append(files, &ast.Source{Name: name, Input: text})
	}
	if files == nil {
		return nil, fmt.Errorf("%s has no schema", commit)
	}
	return files, nil
}

// git runs git for the repository that contains the folder, even if the environment of a
// hook names another one.
func git(ctx context.Context, folder string, args ...string) (string, error) {
	command := exec.CommandContext(ctx, "git", args...)
	command.Dir = folder
	command.Env = slices.DeleteFunc(os.Environ(), func(e string) bool {
		name, _, _ := strings.Cut(e, "=")
		return name == "GIT_DIR" || name == "GIT_WORK_TREE" || name == "GIT_INDEX_FILE"
	})
	out, err := command.Output()
	var failed *exec.ExitError
	if errors.As(err, &failed) {
		err = fmt.Errorf("git %s: %s", args[0], strings.TrimSpace(string(failed.Stderr)))
	}
	return string(out), err
}
