package house

import (
	"go/ast"
	"path"
	"slices"
	"strings"
	"testing"
)

// kindFiles lists the files of platform that tell of one kind each, without
// their endings: those that declare a Kind, and image.go, whose kind is part
// of a repo and has no UIDs of its own.
func kindFiles(t *testing.T) []string {
	t.Helper()
	files := []string{"image"}
	for _, f := range sources(t) {
		if f.folder == "platform" && !f.test && declaresKind(f.ast) {
			files = append(files, strings.TrimSuffix(path.Base(f.path), ".go"))
		}
	}
	slices.Sort(files)
	if len(files) < 10 {
		t.Fatalf("platform has the kinds %v only: how are they declared now?", files)
	}
	return files
}

// declaresKind looks for `var xKind = Kind[X]{`.
func declaresKind(file *ast.File) bool {
	found := false
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.CompositeLit); ok {
			if generic, ok := literal.Type.(*ast.IndexExpr); ok {
				name, ok := generic.X.(*ast.Ident)
				found = found || ok && name.Name == "Kind"
			}
		}
		return !found
	})
	return found
}

// floors are where each kind has a file of its own.
var floors = []struct {
	folder, ending, holds string
}{
	{"platform", ".go", "its type, rules and operations"},
	{"schema", ".graphqls", "its GraphQL contract"},
	{"resolvers", ".go", "its resolvers"},
	{"store/sqlstore", ".go", "its table and filters"},
	{"internal/cases", "_test.go", "the cases of every protocol"},
}

func TestEveryKindIsEverywhere(t *testing.T) {
	t.Parallel()
	for _, kind := range kindFiles(t) {
		for _, floor := range floors {
			if file := path.Join(floor.folder, kind+floor.ending); !exists(file) {
				t.Errorf("%s is missing: the kind %s has %s there", file, kind, floor.holds)
			}
		}
	}
}

// REST and gRPC have a file per domain, not per kind.
func TestEveryDomainHasItsRoutes(t *testing.T) {
	t.Parallel()
	for area, kinds := range areas(t) {
		for _, adapter := range []string{"rest", "rpc"} {
			if file := adapter + "/" + area + ".go"; !exists(file) {
				t.Errorf("%s is missing: %s are of that domain", file, strings.Join(kinds, ", "))
			}
		}
	}
}
