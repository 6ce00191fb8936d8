package analysis_test

import (
	"fmt"
	"testing"

	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"

	"atrium/internal/graphql/analysis"
)

// A walk through fragments that each spread the next one three times visits each of them
// once, unless the spread is skipped.
func TestAFragmentIsVisitedOnce(t *testing.T) {
	t.Parallel()
	document := "query($no: Boolean = false) {...F0 @include(if: $no) a ...F0 a}"
	for i := range 9 {
		document += fmt.Sprintf(" fragment F%d on Query {...F%d ...F%d ... on Query {...F%d}}", i, i+1, i+1, i+1)
	}
	document += " fragment F9 on Query {b}"
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: "type Query { a: Int b: Int }"})
	parsed, err := gqlparser.LoadQueryWithRules(schema, document, rules.NewDefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	var names string
	for field := range analysis.SelectedFields(parsed.Operations[0].SelectionSet, map[string]any{"no": false}) {
		names += field.Name
	}
	if names != "aba" {
		t.Errorf("the walk visits %.100q, want \"aba\"", names)
	}
}
