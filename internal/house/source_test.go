// Package house tests the structure of the program: which folder may import which, which
// files each kind must have, and which names and numbers never change. It contains only
// tests.
package house

import (
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// root is the folder of the module. That of the programs of developers is in it, in tools.
const root = "../.."

// A sourceFile is one Go file of the two modules.
type sourceFile struct {
	path    string // The path is relative to the root.
	folder  string
	test    bool
	ast     *ast.File
	imports []string
}

// isGenerated reports whether the file is generated, so nobody edits it.
func (f sourceFile) isGenerated() bool { return ast.IsGenerated(f.ast) }

// skipped lists folders that contain no source of these modules, such as downloads and
// build results.
var skipped = []string{".git", "node_modules", "bin", "dist", "testdata"}

// walk calls each with the path of every file of the modules.
func walk(t *testing.T, each func(path string)) {
	t.Helper()
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case entry.IsDir() && slices.Contains(skipped, entry.Name()):
			return filepath.SkipDir
		case entry.Type().IsRegular():
			relative, err := filepath.Rel(root, path)
			if err != nil {
				return err
			}
			each(filepath.ToSlash(relative))
		}
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
}

// sources parses every Go file of the modules.
func sources(t *testing.T) []sourceFile {
	t.Helper()
	var all []sourceFile
	walk(t, func(path string) {
		if !strings.HasSuffix(path, ".go") {
			return
		}
		all = append(all, parseSource(t, path))
	})
	if len(all) < 100 {
		t.Fatalf("only %d Go files are found from %s", len(all), root)
	}
	return all
}

// sourcesIn parses the Go files in one folder of the module, without tests.
func sourcesIn(t *testing.T, folder string) []sourceFile {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, folder, "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var all []sourceFile
	for _, found := range paths {
		if !strings.HasSuffix(found, "_test.go") {
			all = append(all, parseSource(t, folder+"/"+filepath.Base(found)))
		}
	}
	return all
}

// parseSource parses a Go file of the module.
func parseSource(t *testing.T, path string) sourceFile {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), filepath.Join(root, path), nil, parser.ParseComments)
	if err != nil {
		t.Fatal(err)
	}
	s := sourceFile{path: path, folder: filepath.ToSlash(filepath.Dir(path)), test: strings.HasSuffix(path, "_test.go"), ast: file}
	for _, i := range file.Imports {
		name, err := strconv.Unquote(i.Path.Value)
		if err != nil {
			t.Fatal(err)
		}
		s.imports = append(s.imports, name)
	}
	return s
}

// read reads a file of the module.
func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, path))
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// readAll reads the files that match a pattern.
func readAll(t *testing.T, pattern string) string {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(root, pattern))
	if err != nil {
		t.Fatal(err)
	}
	var all strings.Builder
	for _, path := range paths {
		text, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		all.Write(text)
	}
	return all.String()
}

func exists(path string) bool {
	_, err := os.Stat(filepath.Join(root, path))
	return err == nil
}

// existsSome reports whether a pattern has a match.
func existsSome(pattern string) bool {
	found, _ := filepath.Glob(filepath.Join(root, pattern))
	return len(found) > 0
}
