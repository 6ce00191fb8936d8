package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/99designs/gqlgen/graphql/executor"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/graphql/limit"
)

var nameOfVariable = regexp.MustCompile(`^Variable "\$[^"]+": `)

// gqlgen's executor is the reference for the errors of requests that are not valid.
func TestRequestsThatAreNotValidGetTheErrorsOfGqlgen(t *testing.T) {
	t.Parallel()
	schema := newStageEngine().Schema()
	reference := executor.New(&graphql.ExecutableSchemaMock{SchemaFunc: func() *ast.Schema { return schema }})
	guard := limit.NewGuard(schema, limit.Options{Limits: limit.DefaultLimits(), IsKnown: func(context.Context) bool { return true }})
	rejected := 0
	for _, c := range []struct{ query, name, variables string }{
		{`{ping}`, "", `{}`},
		{`{ping`, "", `{}`},
		{``, "", `{}`},
		{`# nothing`, "", `{}`},
		{`{ping "`, "", `{}`},
		{`fragment F on Item {id}`, "", `{}`},
		{`{pin}`, "", `{}`},
		{`{item}`, "", `{}`},
		{`{ping{id}}`, "", `{}`},
		{`{item(uid: 1){id}}`, "", `{}`},
		{`{item(id: {a: 1}){id}}`, "", `{}`},
		{`{items(first: "x"){totalCount}}`, "", `{}`},
		{`{item{...F}}`, "", `{}`},
		{`{item{...F}} fragment F on Thing {id}`, "", `{}`},
		{`{item{...F}} fragment F on Item {item{...F}}`, "", `{}`},
		{`{nodes{id}}`, "", `{}`},
		{`{a: ping a: wait}`, "", `{}`},
		{`{ping} {ping}`, "", `{}`},
		{`query A {ping} query A {ping}`, "A", `{}`},
		{`query A {ping} query B {ping}`, "B", `{}`},
		{`query($id: ID!) {item(id: $id){id}}`, "", `{}`},
		{`query($id: ID!) {item(id: $id){id}}`, "", `{"id": null}`},
		{`{items(where: {nam: "x"}){totalCount}}`, "", `{}`},
		{`query($where: ItemFilter) {items(where: $where){totalCount}}`, "", `{"where": {"ids": ["x", null]}}`},
		{`query($id: Thing) {item(id: $id){id}}`, "", `{}`},
		{`query($id: ID) {ping}`, "", `{}`},
		{`{item(id: $id){id}}`, "", `{}`},
		{`query($n: Int) {item(id: $n){id}}`, "", `{}`},
		{`subscription {panics floods}`, "", `{}`},
		{`{ping @skip}`, "", `{}`},
		{`{ping @unknown}`, "", `{}`},
		{`{pin item{nam} items(frist: 1){totalCount}}`, "", `{}`},
	} {
		var variables map[string]any
		if err := json.Unmarshal([]byte(c.variables), &variables); err != nil {
			t.Fatal(err)
		}
		request := func() *graphql.RawParams {
			return &graphql.RawParams{Query: c.query, OperationName: c.name, Variables: variables}
		}
		_, want := reference.CreateOperationContext(graphql.StartOperationTrace(t.Context()), request())
		got := guard.Accept(t.Context(), request(), &graphql.OperationContext{})
		for _, err := range got { // gqlgen names the variable only in the path
			err.Message = nameOfVariable.ReplaceAllString(err.Message, "")
		}
		if describe(t, got) != describe(t, want) {
			t.Errorf("%s with %s: got %s, want %s", c.query, c.variables, describe(t, got), describe(t, want))
		}
		if len(want) > 0 {
			rejected++
		}
	}
	if rejected < 30 {
		t.Errorf("%d requests were rejected, want at least 30", rejected)
	}
}

// gqlgen accepts two root fields of the same name, and none if @skip leaves it out.
func TestASubscriptionHasExactlyOneRootField(t *testing.T) {
	t.Parallel()
	guard := limit.NewGuard(newStageEngine().Schema(), limit.Options{Limits: limit.DefaultLimits(), IsKnown: func(context.Context) bool { return true }})
	for query, want := range map[string]string{
		`subscription{a: countdown(n: 1) ...F ...F} fragment F on Subscription{a: countdown(n: 1)}`:     "",
		`subscription{a: panics b: panics @skip(if: true)}`:                                             "",
		`subscription S{a: panics b: panics}`:                                                           `Subscription "S" must select exactly one top level field.`,
		`subscription{panics ...F} fragment F on Subscription{... on Subscription{other: panics}}`:      "Anonymous Subscription must select exactly one top level field.",
		`subscription{panics @skip(if: true)}`:                                                          "Anonymous Subscription must select exactly one top level field.",
		`subscription($no: Boolean = false){...F @include(if: $no)} fragment F on Subscription{panics}`: "Anonymous Subscription must select exactly one top level field.",
	} {
		errs := guard.Accept(t.Context(), &graphql.RawParams{Query: query}, &graphql.OperationContext{})
		switch {
		case want == "" && len(errs) == 0:
		case want == "", len(errs) != 1, errs[0].Message != want, errs[0].Extensions["code"] != "GRAPHQL_VALIDATION_FAILED":
			t.Errorf("%s gives %s, want %q", query, describe(t, errs), want)
		}
	}
}

// gqlgen reads half of a surrogate pair as U+FFFD.
func TestHalfACharacterInALiteralIsRefused(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	for literal, isValid := range map[string]bool{
		`"a\uD83D\uDE00b"`: true, `"\ud83d\ude00"`: true, `"a\\uD83Db"`: true, `"\u{1F600}"`: true, `"\uFFFD"`: true, "\"\uFFFD\"": true,
		`"""a\uD83Db"""`: true, `"a" # \uD83D` + "\n": true, "\"\uFFFD\\uD83D\\uDE00\\uE000\"": true,
		`"a\uD83Db"`: false, `"\uDE00"`: false, `"\uDE00\uD83D"`: false, `"\uD83D\uD83D\uDE00"`: false, `"\\\uD83D\u0061"`: false, `"\uD83D\\uDE00"`: false, `"\u{1}\uD83D"`: false,
		"\"\U0001F600\uFFFD\\uD83D\"": false,
	} {
		r := post(t, h, `{a: ping item(id: `+literal+`){id}}`)
		// What is before the text changes nothing.
		after := post(t, h, "\ufeff# \U0001F600 \\ud83d\r\n {a: ping item(id: \"\"\"\U0001F600\r\n\\\"\"\" \\ud83d\"\"\"){id} b: item(id: \"\\u{1F600}\\ud83d\\ude00\U0001F600\"){id} c: item(id: "+literal+"){id}}")
		if isValid {
			r.expectSuccess()
			after.expectSuccess()
			continue
		}
		if !strings.Contains(after.body, "Invalid character escape sequence") {
			t.Errorf("%s after other texts gives %s, want a refusal", literal, after.body)
		}
		if len(r.Errors) != 1 || !strings.Contains(r.body, "GRAPHQL_PARSE_FAILED") || !strings.Contains(r.body, "Invalid character escape sequence") || !strings.Contains(r.body, `"column":20`) {
			t.Errorf("%s gives %s, want a refusal at column 20", literal, r.body)
		}
	}
}

// gqlgen accepts the value of an enum in any case, so that no resolver knows it.
func TestAnEnumInAVariableIsExactlyOneOfItsValues(t *testing.T) {
	t.Parallel()
	h := stageHandler(stageOptions{})
	const query = "query($of: Color = GREEN, $all: [Color!], $where: ItemFilter, $wheres: [ItemFilter!]){color(of: $of, all: $all) items(where: $where){totalCount} things(wheres: $wheres)}"
	for _, c := range []struct {
		variable string
		value    any
		want     string // the field and the message of the error
	}{
		{"of", "RED", ""},
		{"of", nil, ""},
		{"of", "red", `of: Value "red" does not exist in "Color" enum. Did you mean the enum value "RED"?`},
		{"of", "", `of: Value "" does not exist in "Color" enum.`},
		{"all", []string{"RED", "GREEN"}, ""},
		{"all", "RED", ""},
		{"all", "Red", `all: Value "Red" does not exist in "Color" enum. Did you mean the enum value "RED"?`},
		{"all", []string{"RED", "green"}, `all[1]: Value "green" does not exist in "Color" enum. Did you mean the enum value "GREEN" or "RED"?`},
		{"where", map[string]any{"color": nil, "colors": "GREEN"}, ""},
		{"of", 5, `of: Value 5 does not exist in "Color" enum.`},
		{"where", 5, `where: Expected value of type "ItemFilter" to be an object: 5`},
		{"where", map[string]any{"colors": "gREEN"}, `colors: Value "gREEN" does not exist in "Color" enum. Did you mean the enum value "GREEN" or "RED"?`},
		{"where", map[string]any{"within": map[string]any{"color": "gREEN"}}, `within.color: Value "gREEN" does not exist in "Color" enum. Did you mean the enum value "GREEN" or "RED"?`},
		{"wheres", []any{map[string]any{}, map[string]any{"color": "gREEN"}}, `wheres[1].color: Value "gREEN" does not exist in "Color" enum. Did you mean the enum value "GREEN" or "RED"?`},
	} {
		r := post(t, h, query, c.variable, c.value)
		if c.want == "" {
			r.expectSuccess()
			continue
		}
		field, message, _ := strings.Cut(c.want, ": ")
		if len(r.Errors) != 1 || r.Data != nil || !strings.Contains(r.body, "GRAPHQL_VALIDATION_FAILED") || !strings.HasSuffix(fmt.Sprint(r.Errors[0]["message"]), message) || !strings.Contains(r.body, `"`+field+`"`) {
			t.Errorf("%s = %v gives %s, want the error %s", c.variable, c.value, r.body, c.want)
		}
	}
}

func describe(t *testing.T, errs gqlerror.List) string {
	t.Helper()
	text, err := json.Marshal(errs)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}
