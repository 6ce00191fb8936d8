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
)

// An enumeration is a type of an area that lists its values.
func TestEnumerationsListEveryConstantOfTheirType(t *testing.T) {
	t.Parallel()
	constants := stringConstants(t)
	for name, values := range map[string][]string{
		"OrgKind": OrgKind("").Values(), "OrgStatus": OrgStatus("").Values(), "RelationshipType": RelationshipType("").Values(),
		"CatalogTier": CatalogTier("").Values(), "ReviewState": ReviewState("").Values(), "EventType": EventType("").Values(),
		"CorrelationRule": CorrelationRule("").Values(), "Ecosystem": Ecosystem("").Values(),
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
