package house

import (
	"encoding/json"
	"os/exec"
	"path"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// The authors of modernc.org/sqlite test it with one version of its C library, and say that a
// program must use the same. Another requirement can raise it: then go.mod must exclude that version.
func TestSQLiteRunsOnTheLibraryThatItWasTestedWith(t *testing.T) {
	t.Parallel()
	var pinned struct {
		Require []struct{ Path, Version string }
	}
	decodeGo(t, &pinned, "mod", "edit", "-json", moduleOf(t, "modernc.org/sqlite").GoMod)
	for _, required := range pinned.Require {
		if required.Path != "modernc.org/libc" {
			continue
		}
		if got := moduleOf(t, required.Path); got.Version != required.Version || got.Replace != nil {
			t.Errorf("go.mod selects modernc.org/libc %s (replaced: %t), and modernc.org/sqlite was tested with %s; exclude the newer version in go.mod", got.Version, got.Replace != nil, required.Version)
		}
		return
	}
	t.Error("modernc.org/sqlite no longer requires modernc.org/libc; this test can go")
}

// The generators of tools write code for the libraries of the program, and its benchmarks measure the program as it is built. So
// both modules have the same versions of what both require.
func TestTheToolsHaveTheVersionsOfTheProgram(t *testing.T) {
	t.Parallel()
	type version struct{ Path, Version string }
	type requirements struct {
		Go               string
		Require, Exclude []version
	}
	var program, tools requirements
	decodeGo(t, &program, "mod", "edit", "-json", "go.mod")
	decodeGo(t, &tools, "mod", "edit", "-json", "tools/go.mod")
	if tools.Go != program.Go || !slices.Equal(tools.Exclude, program.Exclude) {
		t.Errorf("tools/go.mod has go %s and excludes %v, want go %s and %v as in go.mod", tools.Go, tools.Exclude, program.Go, program.Exclude)
	}
	both := 0
	for _, required := range tools.Require {
		i := slices.IndexFunc(program.Require, func(v version) bool { return v.Path == required.Path })
		if i < 0 {
			continue
		}
		both++
		if want := program.Require[i].Version; required.Version != want {
			t.Errorf("tools/go.mod requires %s %s, want %s as in go.mod", required.Path, required.Version, want)
		}
	}
	if both < 10 {
		t.Errorf("only %d modules are required by both", both)
	}
}

// The line `toolchain` says which Go builds releases and what the scanner of vulnerabilities looks at: setup-go and Go itself read it.
// It may be newer than the line `go`, which says what a machine must have at least. The image of the Dockerfile downloads it.
func TestOneToolchainBuildsEveryModule(t *testing.T) {
	t.Parallel()
	toolchain := regexp.MustCompile(`(?m)^toolchain (go\S+)$`)
	want := toolchain.FindString(read(t, "go.mod"))
	if want == "" {
		t.Fatal("go.mod has no toolchain; `go mod edit -toolchain=go1.26.11` writes one")
	}
	walk(t, func(file string) {
		if path.Base(file) != "go.mod" {
			return
		}
		if got := toolchain.FindString(read(t, file)); got != want {
			t.Errorf("%s has the line %q, want %q as in go.mod", file, got, want)
		}
	})
	if !strings.Contains(read(t, "Dockerfile"), "\nENV GOTOOLCHAIN=auto\n") {
		t.Error("the Dockerfile builds with the Go of its image; it needs ENV GOTOOLCHAIN=auto, because the image says `local`")
	}
	for _, file := range []string{"ci", "release", "security"} {
		workflow := read(t, ".github/workflows/"+file+".yaml")
		if uses, reads := strings.Count(workflow, "actions/setup-go@"), strings.Count(workflow, "go-version-file: go.mod\n"); uses == 0 || uses != reads {
			t.Errorf("%s.yaml sets Go up %d times, and takes its version from go.mod %d times", file, uses, reads)
		}
	}
}

// Dependabot looks only into the folders that it is told, and fails for those without a module.
func TestDependabotKnowsEveryModule(t *testing.T) {
	t.Parallel()
	var want []string
	walk(t, func(file string) {
		if path.Base(file) == "go.mod" {
			want = append(want, path.Join("/", path.Dir(file)))
		}
	})
	directories := regexp.MustCompile(`package-ecosystem: gomod\n *directories: \[(.*)\]`).FindStringSubmatch(read(t, ".github/dependabot.yml"))
	if directories == nil {
		t.Fatal("dependabot.yml has no folders with Go modules")
	}
	if got := strings.Split(directories[1], ", "); !slices.Equal(slices.Sorted(slices.Values(got)), slices.Sorted(slices.Values(want))) {
		t.Errorf("dependabot.yml has the Go modules %v, want %v", got, want)
	}
}

// A module is what the go command says about one.
type module struct {
	Version, GoMod string
	Replace        *struct{}
}

func moduleOf(t *testing.T, name string) (m module) {
	t.Helper()
	decodeGo(t, &m, "list", "-m", "-json", name)
	return m
}

// decodeGo decodes the JSON that a go command prints.
func decodeGo(t *testing.T, into any, arguments ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", arguments...)
	command.Dir = root
	out, err := command.Output()
	if err != nil {
		t.Fatalf("go %s: %v", strings.Join(arguments, " "), err)
	}
	if err := json.Unmarshal(out, into); err != nil {
		t.Fatalf("go %s: %v", strings.Join(arguments, " "), err)
	}
}
