package platform

import (
	"go/ast"
	"go/parser"
	gotoken "go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/platform/libraries"
)

// An enumeration is a type of an area that lists its values.
func TestEnumerationsListEveryConstantOfTheirType(t *testing.T) {
	t.Parallel()
	constants := stringConstants(t)
	for name, values := range map[string][]string{
		"OrgKind": iam.OrgKind("").Values(), "OrgStatus": iam.OrgStatus("").Values(), "RelationshipType": iam.RelationshipType("").Values(),
		"CatalogTier": core.CatalogTier("").Values(), "ReviewState": inventory.ReviewState("").Values(), "EventType": inventory.EventType("").Values(),
		"CorrelationRule": iam.CorrelationRule("").Values(), "Ecosystem": libraries.Ecosystem("").Values(),
	} {
		if !slices.Equal(values, constants[name]) {
			t.Errorf("%s lists %v, but has the constants %v", name, values, constants[name])
		}
	}
}

// stringConstants returns the constants of all areas, by the name of their type.
func stringConstants(t *testing.T) map[string][]string {
	t.Helper()
	files, err := filepath.Glob("*/*.go")
	if err != nil {
		t.Fatal(err)
	}
	constants := map[string][]string{}
	for _, path := range files {
		if strings.HasSuffix(path, "_test.go") {
			continue
		}
		file, err := parser.ParseFile(gotoken.NewFileSet(), path, nil, parser.SkipObjectResolution)
		if err != nil {
			t.Fatal(err)
		}
		ast.Inspect(file, func(n ast.Node) bool {
			spec, ok := n.(*ast.ValueSpec)
			if !ok || len(spec.Values) != 1 {
				return true
			}
			named, isNamed := spec.Type.(*ast.Ident)
			literal, isLiteral := spec.Values[0].(*ast.BasicLit)
			if isNamed && isLiteral && literal.Kind == gotoken.STRING {
				value, _ := strconv.Unquote(literal.Value)
				constants[named.Name] = append(constants[named.Name], value)
			}
			return true
		})
	}
	return constants
}
