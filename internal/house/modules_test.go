package house

import (
	"encoding/json"
	"os/exec"
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

// A module is what the go command says about one.
type module struct {
	Version, GoMod string
	Replace        *struct{}
}

func moduleOf(t *testing.T, path string) (m module) {
	t.Helper()
	decodeGo(t, &m, "list", "-m", "-json", path)
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
