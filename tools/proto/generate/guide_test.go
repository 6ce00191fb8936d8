package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/bufbuild/protocompile"
)

func TestTheSettingsOfTheGuideGenerateClients(t *testing.T) {
	t.Parallel()
	root, err := filepath.Abs("../../..")
	if err != nil {
		t.Fatal(err)
	}
	guide, err := os.ReadFile(filepath.Join(root, "docs/rest-grpc.md"))
	if err != nil {
		t.Fatal(err)
	}
	settings := regexp.MustCompile("(?s)```yaml buf.gen.yaml\n(.*?)```").FindSubmatch(guide)
	if settings == nil {
		t.Fatal("the guide has no buf.gen.yaml")
	}
	folder := t.TempDir()
	if err := os.Symlink(root, filepath.Join(folder, "atrium")); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(folder, "buf.gen.yaml"), settings[1], 0o600); err != nil {
		t.Fatal(err)
	}
	runProgram(t, ".", "go", "build", "-o", folder, "google.golang.org/protobuf/cmd/protoc-gen-go", "github.com/bufbuild/buf/cmd/buf")
	runProgram(t, folder, "env", "PATH="+folder, filepath.Join(folder, "buf"), "generate")
	stub, err := os.ReadFile(filepath.Join(folder, "gen/platform/registry/v2/repos.pb.go"))
	if err != nil || !strings.Contains(string(stub), `"example.com/acme/gen/platform/uidp/v2"`) {
		t.Errorf("the stubs do not import each other by the prefix: %v", err)
	}
	if _, err := os.Stat(filepath.Join(folder, "gen/google")); err == nil {
		t.Error("the options of Google are generated too")
	}
}

func TestTheContractCompilesUnderAnotherName(t *testing.T) {
	t.Parallel()
	folder := t.TempDir()
	runProgram(t, ".", "../../../scripts/proto-prefix", "acme.platform", folder)
	compiled, err := compile(protocompile.SourceResolver{ImportPaths: []string{folder}}, []string{"acme/platform/registry/v2/repos.proto"})
	if err != nil {
		t.Fatal(err)
	}
	if last := compiled[len(compiled)-1]; last.GetPackage() != "acme.platform.registry.v2" {
		t.Errorf("the package is %s", last.GetPackage())
	}
}

func runProgram(t *testing.T, folder, program string, args ...string) {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Dir = folder
	if output, err := command.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", program, err, output)
	}
}
