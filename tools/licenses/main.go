// Command licenses collects the licenses of everything that is part of the program, for internal/licenses:
//
//	go -C tools run ./licenses ..
//
// Its argument is the folder of Atrium. It runs after the pages have been built.
package main

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
)

// platforms are those of .goreleaser.yaml. Some modules are part of the program only on one of them.
var platforms = [][2]string{{"linux", "amd64"}, {"linux", "arm64"}, {"darwin", "amd64"}, {"darwin", "arm64"}}

// licenseFile matches a file that has to go with the program.
var licenseFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents|authors)([-._].*)?$`)

const target, rule = "internal/licenses/dist/licenses.txt.gz", "\n\n" + "--------------------------------------------------------------------------------" + "\n\n"

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: licenses FOLDER")
		os.Exit(2)
	}
	if err := run(os.Args[1]); err != nil {
		fmt.Fprintln(os.Stderr, "licenses:", err)
		os.Exit(1)
	}
}

func run(folder string) error {
	if err := os.Chdir(folder); err != nil {
		return err
	}
	own, err := os.ReadFile("LICENSE")
	if err != nil {
		return err
	}
	modules, err := describeModules()
	if err != nil {
		return err
	}
	pages, err := describePages()
	if err != nil {
		return err
	}
	texts := slices.Concat([]string{"Atrium\n\n" + string(own)}, modules, pages)
	var packed bytes.Buffer
	w, _ := gzip.NewWriterLevel(&packed, gzip.BestCompression)
	if _, err := io.WriteString(w, strings.Join(texts, rule)); err != nil {
		return err
	}
	if err := w.Close(); err != nil {
		return err
	}
	fmt.Printf("licenses: Atrium, %d Go modules, %d pages, %d KB\n", len(modules), len(pages), packed.Len()/1000)
	return os.WriteFile(target, packed.Bytes(), 0o644) //nolint:gosec // everybody may read it
}

// A goPackage is what the go command says about one package.
type goPackage struct {
	Dir      string
	Standard bool
	Module   *struct {
		Path, Version, Dir string
		Main               bool
	}
}

// describeModules returns a text for each module that is part of the program, and for the standard library. A license can
// also be in the folder of a package, when its code comes from elsewhere.
func describeModules() ([]string, error) {
	version, err := goOutput(nil, "env", "GOVERSION", "GOROOT")
	if err != nil {
		return nil, err
	}
	release, root, _ := strings.Cut(strings.TrimSpace(string(version)), "\n")
	files := map[string]map[string]bool{"The Go standard library " + release: {filepath.Join(root, "LICENSE"): true, filepath.Join(root, "PATENTS"): true}}
	for _, platform := range platforms {
		if err := eachPackage(platform, func(p goPackage) error {
			if p.Standard || p.Module.Main {
				return nil
			}
			name := fmt.Sprintf("%s %s\nSource: https://pkg.go.dev/%[1]s@%[2]s", p.Module.Path, p.Module.Version)
			if files[name] == nil {
				files[name] = map[string]bool{}
			}
			return findLicenses(p.Dir, p.Module.Dir, files[name])
		}); err != nil {
			return nil, err
		}
	}
	texts := make([]string, 0, len(files))
	for _, name := range slices.Sorted(maps.Keys(files)) {
		text, err := joinFiles(name, slices.Sorted(maps.Keys(files[name])))
		if err != nil {
			return nil, err
		}
		texts = append(texts, text)
	}
	return texts, nil
}

// findLicenses adds the licenses in a folder and in those above it, up to the root of the module.
func findLicenses(folder, root string, found map[string]bool) error {
	for ; ; folder = filepath.Dir(folder) {
		entries, err := os.ReadDir(folder)
		if err != nil {
			return err
		}
		for _, entry := range entries {
			if entry.Type().IsRegular() && licenseFile.MatchString(entry.Name()) && filepath.Ext(entry.Name()) != ".go" {
				found[filepath.Join(folder, entry.Name())] = true
			}
		}
		if folder == root {
			return nil
		}
	}
}

// joinFiles fails if there is no file.
func joinFiles(name string, files []string) (string, error) {
	if len(files) == 0 {
		return "", fmt.Errorf("%s has no file with a license; find out what it requires", name)
	}
	parts := []string{name}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			return "", err
		}
		parts = append(parts, strings.TrimSpace(string(text)))
	}
	return strings.Join(parts, "\n\n"), nil
}

// eachPackage calls use for every package of the program.
func eachPackage(platform [2]string, use func(goPackage) error) error {
	out, err := goOutput([]string{"CGO_ENABLED=0", "GOOS=" + platform[0], "GOARCH=" + platform[1]}, "list", "-deps", "-json=Dir,Standard,Module", "./cmd/atrium")
	if err != nil {
		return err
	}
	for decoder := json.NewDecoder(bytes.NewReader(out)); ; {
		var p goPackage
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return nil
		} else if err != nil {
			return err
		}
		if err := use(p); err != nil {
			return err
		}
	}
}

// describePages returns the texts that the builds of the pages have written. There are none if the program has only its
// small pages, which contain nothing of others.
func describePages() ([]string, error) {
	var texts []string
	err := filepath.WalkDir("internal/web/dist", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.Name() != "licenses.txt.gz" {
			return err
		}
		file, err := os.Open(path)
		if err != nil {
			return err
		}
		defer file.Close()
		packed, err := gzip.NewReader(file)
		if err != nil {
			return fmt.Errorf("%s: %w", path, err)
		}
		text, err := io.ReadAll(packed)
		texts = append(texts, string(text))
		return err
	})
	return texts, err
}

// goOutput returns what a go command prints.
func goOutput(environment []string, arguments ...string) ([]byte, error) {
	command := exec.CommandContext(context.Background(), "go", arguments...)
	command.Env, command.Stderr = append(os.Environ(), environment...), os.Stderr
	return command.Output()
}
