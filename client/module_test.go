package client_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// findBlock returns the block of a language in a page of the guide.
func findBlock(t *testing.T, page, language string) string {
	t.Helper()
	_, rest, found := strings.Cut(page, "```"+language+"\n")
	block, _, ended := strings.Cut(rest, "```")
	if !found || !ended {
		t.Fatalf("the page has no block of %s", language)
	}
	return block
}

// The module of the test is outside of the repository, like that of a user.
func TestTheProgramOfTheGuideCanBeBuiltInAnotherModule(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	read := func(name string) string {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	page, folder := read("docs/rest-grpc.md"), t.TempDir()
	lines := findBlock(t, page, "go.mod")
	const clone = "../path/of/a/clone"
	if !strings.Contains(lines, clone) {
		t.Fatalf("the lines of go.mod do not name %s:\n%s", clone, lines)
	}
	for name, text := range map[string]string{
		"go.mod":  "module example.com/app\n\ngo 1.26\n\n" + strings.Replace(lines, clone, root, 1),
		"go.sum":  read("go.sum"), // Otherwise the test would need the network.
		"main.go": findBlock(t, page, "go"),
	} {
		if err := os.WriteFile(filepath.Join(folder, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	build := exec.CommandContext(t.Context(), "go", "build", "-mod=mod", "-o", os.DevNull, ".")
	build.Dir, build.Env = folder, append(os.Environ(), "GOFLAGS=", "GOPROXY=off", "GOWORK=off")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("the program cannot be built: %v\n%s", err, said)
	}
	// What the server imports is in the same module, and does not reach those who import the client.
	list := exec.CommandContext(t.Context(), "go", "list", "-mod=mod", "-deps", "-f", "{{with .Module}}{{.Path}}{{end}}", ".")
	list.Dir, list.Env = folder, build.Env
	modules, err := list.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := slices.Compact(slices.Sorted(slices.Values(strings.Fields(string(modules)))))
	want := []string{"atrium", "connectrpc.com/connect", "example.com/app", "google.golang.org/genproto/googleapis/api", "google.golang.org/genproto/googleapis/rpc", "google.golang.org/protobuf"}
	if !slices.Equal(got, want) {
		t.Errorf("the client brings the modules %q, want %q", got, want)
	}
}
