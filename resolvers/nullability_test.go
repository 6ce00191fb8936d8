package resolvers

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	"atrium/internal/graphql/analysis"
)

// expectClaimsToHold fails if a field that @semanticNonNull is said of is null without an error at its
// path or below it. Every answer that the tests of this package ask for is compared.
func (a answer) expectClaimsToHold() {
	a.t.Helper()
	document, invalid := gqlparser.LoadQueryWithRules(graph.Schema(), a.query, nil)
	if invalid != nil || a.Data == nil {
		return
	}
	for _, operation := range document.Operations {
		if len(document.Operations) == 1 {
			a.compareClaims(operation.SelectionSet, a.Data, nil)
		}
	}
}

// compareClaims compares an object of the answer with what its selection may be.
func (a answer) compareClaims(selections ast.SelectionSet, object map[string]any, path []any) {
	a.t.Helper()
	for _, selection := range selections {
		switch x := selection.(type) {
		case *ast.Field:
			value, isThere := object[x.Alias]
			if !isThere || x.Definition == nil || x.ObjectDefinition == nil {
				continue // left out by a directive
			}
			var levels []int
			if x.ObjectDefinition.Kind == ast.Object {
				levels = analysis.NonNullLevels(graph.Schema(), x.ObjectDefinition, x.Definition)
			}
			a.compareClaim(x, value, append(slices.Clone(path), x.Alias), levels, 0)
		case *ast.InlineFragment:
			if isOf(x.ObjectDefinition, x.TypeCondition, object) {
				a.compareClaims(x.SelectionSet, object, path)
			}
		case *ast.FragmentSpread:
			if isOf(x.ObjectDefinition, x.Definition.TypeCondition, object) {
				a.compareClaims(x.Definition.SelectionSet, object, path)
			}
		}
	}
}

// isOf reports whether an object is known to have the type of a fragment.
func isOf(parent *ast.Definition, condition string, object map[string]any) bool {
	return condition == "" || parent != nil && parent.Name == condition || object["__typename"] == condition
}

// compareClaim compares a value at one level of a field, and what is in it.
func (a answer) compareClaim(f *ast.Field, value any, path []any, levels []int, level int) {
	a.t.Helper()
	switch v := value.(type) {
	case nil:
		if slices.Contains(levels, level) && !a.hasErrorAt(path) {
			a.t.Errorf("%s: %s.%s is null at %v without an error, although it bears @semanticNonNull", a.query, f.ObjectDefinition.Name, f.Name, path)
		}
	case []any:
		for i, item := range v {
			a.compareClaim(f, item, append(slices.Clone(path), float64(i)), levels, level+1)
		}
	case map[string]any:
		a.compareClaims(f.SelectionSet, v, path)
	}
}

// hasErrorAt reports whether there is an error at a path, or at one that begins with it.
func (a answer) hasErrorAt(path []any) bool {
	for _, e := range a.Errors {
		if len(e.Path) >= len(path) && fmt.Sprint(e.Path[:len(path)]) == fmt.Sprint(path) {
			return true
		}
	}
	return false
}

// Clients read the directive in the text of the schema. Gateways would not pass it on.
func TestThePublishedSchemaSaysWhichFieldsAreNullOnlyWithAnError(t *testing.T) {
	t.Parallel()
	published := gqlparser.MustLoadSchema(&ast.Source{Input: SDL()})
	for coordinate, want := range map[string]string{
		"Query.repos": "0", "Query.repo": "0", "Query.nodes": "1", "Query.duePolicy": "", "Query.ping": "", "Mutation.createRepo": "0", "Repo.tags": "0", "Repo.group": "0",
		"Repo.description": "", "Repo.tag": "", "Repo.findingSummary": "0", "TagConnection.facets": "0", "TagConnection.nodes": "", "RoleBinding.reviewer": "", "Role.group": "",
	} {
		object, field := elementOf(published, coordinate)
		got := ""
		if field.Directives.ForName(analysis.SemanticNonNull) != nil {
			got = strings.Trim(fmt.Sprint(analysis.NonNullLevels(published, object, field)), "[]")
		}
		if got != want {
			t.Errorf("%s is not null at the levels %q, want %q", coordinate, got, want)
		}
	}
	if strings.Contains(SubgraphSDL(), analysis.SemanticNonNull) {
		t.Error("the schema for gateways has the directive")
	}
}
