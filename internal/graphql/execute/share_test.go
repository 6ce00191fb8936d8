package execute

import (
	"context"
	"errors"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/validator/rules"
)

// Errors belong to one response, and a client that leaves ends what is read for it.
func TestOnlyWholeDataIsSharedBetweenSubscriptions(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		name   string
		ctx    context.Context
		err    error
		size   int
		shared bool
	}{
		{"whole", t.Context(), nil, 10, true},
		{"with an error", t.Context(), errors.New("mine"), 10, false},
		{"for a client that has left", gone, nil, 10, false},
		{"large", t.Context(), nil, maxSharedBytes + 1, false},
	} {
		ctx := graphql.WithResponseContext(c.ctx, graphql.DefaultErrorPresenter, graphql.DefaultRecover)
		if c.err != nil {
			graphql.AddError(ctx, c.err)
		}
		if got := isSharable(ctx, make([]byte, c.size)); got != c.shared {
			t.Errorf("data %s is shared: %t, want %t", c.name, got, c.shared)
		}
	}
}

// The arguments of the field that has the events decide which events a subscription gets, and not what it shows of them.
func TestVariablesBelowTheEventsTellSubscriptionsApart(t *testing.T) {
	t.Parallel()
	schema := gqlparser.MustLoadSchema(&ast.Source{Input: `
		type Query { a: Int }
		type Subscription { events(of: String): Event }
		type Event { name(x: [Options], y: Int): String, other: Event }
		input Options { a: String }`})
	document, err := gqlparser.LoadQueryWithRules(schema, `
		subscription($of: String, $a: String, $b: Boolean! = true, $c: Boolean! = true, $y: Int, $z: Int) {
			events(of: $of) { name(x: [{a: $a}]) ... on Event @include(if: $b) { other { ...Part @skip(if: $c) } } }
		}
		fragment Part on Event { name(y: $y) other { name(y: $z) } }`, rules.NewDefaultRules())
	if err != nil {
		t.Fatal(err)
	}
	operation := document.Operations[0]
	events := operation.SelectionSet[0].(*ast.Field)
	p := &plan{root: &selection{fields: []*plannedField{{collected: graphql.CollectedField{Field: events, Selections: events.SelectionSet}}}}}
	keyOf := func(name string) equalSubscriptions {
		variables := map[string]any{"of": "1", "a": "1", "b": true, "c": false, "y": 1, "z": 1}
		variables[name] = "another"
		return newEqualSubscriptions(p, &graphql.OperationContext{Operation: operation, Variables: variables})
	}
	for name, isEqual := range map[string]bool{"of": true, "a": false, "b": false, "c": false, "y": false, "z": false} {
		if got := keyOf(name) == keyOf("unused"); got != isEqual {
			t.Errorf("subscriptions that differ in $%s share what they show: %t, want %t", name, got, isEqual)
		}
	}
}
