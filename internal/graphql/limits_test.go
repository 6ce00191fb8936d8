package graphql

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"atrium/internal/graphql/limit"
)

func TestEachLimitAcceptsItsValueAndRejectsMore(t *testing.T) {
	t.Parallel()
	nested := func(n int) string {
		return "{" + strings.Repeat("item{", n-1) + "id" + strings.Repeat("}", n-1) + "}"
	}
	for _, c := range []struct {
		name   string
		limits limit.Limits
		size   func(n int) string // size returns a document of size n.
		n      int
	}{
		{"tokens", limit.Limits{Tokens: 100}, func(n int) string { return "{" + strings.Repeat("ping ", n-2) + "}" }, 100},
		{"name-bytes", limit.Limits{NameBytes: 30}, func(n int) string { return "{" + strings.Repeat("a", n) + ":ping}" }, 30},
		{"definitions", limit.Limits{Definitions: 3}, func(n int) string {
			document := "{ping"
			for i := range n - 1 {
				document += fmt.Sprintf(" ...F%d", i)
			}
			document += "}"
			for i := range n - 1 {
				document += fmt.Sprintf(" fragment F%d on Query {ping}", i)
			}
			return document
		}, 3},
		{"fields", limit.Limits{Fields: 50}, func(n int) string { return "{" + strings.Repeat("ping ", n) + "}" }, 50},
		{"fields", limit.Limits{Fields: 50}, func(n int) string {
			return "{ping ...F} fragment F on Query {" + strings.Repeat("ping ", n-1) + "}"
		}, 50},
		{"aliases", limit.Limits{Aliases: 7}, func(n int) string {
			document := "{"
			for i := range n {
				document += fmt.Sprintf("a%d: ping ", i)
			}
			return document + "}"
		}, 7},
		{"depth", limit.Limits{Depth: 6}, nested, 6},
		{"depth", limit.Limits{Depth: 6}, func(n int) string {
			return "{item{...F}} fragment F on Item {... on Item " + nested(n-1) + "}"
		}, 6},
		{"root-fields", limit.Limits{RootFields: 4}, func(n int) string { return "{" + strings.Repeat("ping ", n) + "}" }, 4},
		{"root-fields", limit.Limits{RootFields: 4}, func(n int) string {
			return "{ping ...F} fragment F on Query {... on Query {" + strings.Repeat("ping ", n-1) + "}}"
		}, 4},
		{"cost", limit.Limits{Cost: 60}, func(n int) string { return fmt.Sprintf("{items(first: %d){nodes{id}}}", n-1) }, 60},
	} {
		h := stageHandler(stageOptions{Limits: &c.limits})
		post(t, h, c.size(c.n)).expectSuccess()
		post(t, h, c.size(c.n+1)).expectRefusal(c.name, c.n, c.n+1)
		post(t, stageHandler(stageOptions{Limits: &limit.Limits{}}), c.size(c.n+1)).expectSuccess()
	}
}

func TestTheStandardIntrospectionQueryIsWithinTheLimits(t *testing.T) {
	t.Parallel()
	query, err := os.ReadFile("testdata/introspection.graphql")
	if err != nil {
		t.Fatal(err)
	}
	post(t, stageHandler(stageOptions{}), string(query)).expectSuccess()
}

func TestLimitsApplyToEveryOperationOfADocument(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{Limits: &limit.Limits{Depth: 2}})
	r := post(t, h, "query A {ping} query B {item{item{id}}}")
	r.expectRefusal("depth", 2, 3)
}

func TestCyclesOfFragmentsAreRefused(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"{...A} fragment A on Query {...A}",
		"{...A} fragment A on Query {...B} fragment B on Query {...A ...A}",
		"{item{...A}} fragment A on Item {item{...A}}",
	} {
		if r := post(t, stageHandler(stageOptions{}), query); len(r.Errors) == 0 || r.Data != nil {
			t.Errorf("%s gives %s, want no Data", query, r.body)
		}
	}
}

// TestFragmentsThatMultiplyAreRefused spreads each of n fragments three times in the one
// before it.
func TestFragmentsThatMultiplyAreRefused(t *testing.T) {
	t.Parallel()
	multiplied := func(n int) string {
		document := "{item{...F0}}"
		for i := range n {
			document += fmt.Sprintf(" fragment F%d on Item{...F%d ...F%d ...F%d}", i, i+1, i+1, i+1)
		}
		return document + fmt.Sprintf(" fragment F%d on Item{id}", n)
	}
	h := stageHandler(stageOptions{Limits: &limit.Limits{}})
	post(t, h, multiplied(8)).expectSuccess()
	post(t, h, multiplied(9)).expectRefusal("expandedFields", 10_000, 19_683)
	post(t, h, multiplied(16)).expectRefusal("expandedFields", 10_000, 43_046_721)
}

func TestDeferIsRefused(t *testing.T) {
	t.Parallel()
	for _, query := range []string{
		"{item{...@defer{id}}}",
		"{item{...A @defer}} fragment A on Item {id}",
		"{item{...A}} fragment A on Item {...@defer{id}}",
	} {
		r := post(t, stageHandler(stageOptions{}), query)
		if len(r.Errors) != 1 || r.Errors[0]["extensions"].(map[string]any)["code"] != "UNIMPLEMENTED" {
			t.Errorf("%s gives %s, want 1 errors and code 'UNIMPLEMENTED'", query, r.body)
		}
	}
}
