package execute_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/graphql/execute"
	"atrium/internal/graphql/limit"
)

// A tree is a schema of items in items.
const tree = `
	type Query { item: Item items: [Item!] thing: Thing }
	union Thing = Item
	type Item { name: String! child: Item twin: Item! children: [Item!]! maybe: [Item] wrong: String! }
`

type item struct{ name string }

type resolver = func(ctx context.Context, parents []*item) ([]any, error)

// A grove answers documents over a tree. Each item has a child, a twin and two children,
// unless resolvers has another function for the field.
type grove struct {
	t         *testing.T
	resolvers map[string]resolver
	expected  []*item // These are expected of items and thing, whose children can then be read with them.

	lock  sync.Mutex
	calls []string // These are the resolved fields, with the number of their parents.
}

// two are the items of lists.
var two = []*item{{"a"}, {"b"}}

func (g *grove) schema() *execute.Schema {
	roots := func(value any) func(context.Context, []any, map[string]any) ([]any, error) {
		return func(context.Context, []any, map[string]any) ([]any, error) { return []any{value}, nil }
	}
	fields := map[string]*execute.Field{
		"name":  {Append: func(b []byte, parent any) []byte { return fmt.Appendf(b, "%q", parent.(*item).name) }},
		"wrong": {Append: func([]byte, any) []byte { panic("of the writer") }},
	}
	var expect func(context.Context, map[string]any) []any
	if g.expected != nil {
		expect = func(context.Context, map[string]any) (objects []any) {
			for _, object := range g.expected {
				objects = append(objects, object)
			}
			return objects
		}
	}
	for name, value := range map[string]any{
		"child": execute.Pointer(two[0]), "twin": execute.Pointer(two[0]), "children": execute.Pointers(two), "maybe": execute.Pointers(two),
	} {
		fields[name] = &execute.Field{ByKey: name == "child", Resolve: func(ctx context.Context, parents []any, _ map[string]any) ([]any, error) {
			g.lock.Lock()
			g.calls = append(g.calls, fmt.Sprintf("%s of %d", name, len(parents)))
			g.lock.Unlock()
			if resolve := g.resolvers[name]; resolve != nil {
				return resolve(ctx, execute.Parents[item](parents))
			}
			return slices.Repeat([]any{value}, len(parents)), nil
		}}
	}
	return &execute.Schema{
		Schema: gqlparser.MustLoadSchema(&ast.Source{Input: tree}),
		Objects: map[string]*execute.Object{
			"Query": {Name: "Query", Satisfies: []string{"Query"}, Fields: map[string]*execute.Field{
				"item": {Resolve: roots(execute.Pointer(two[0]))}, "items": {Resolve: roots(execute.Pointers(two)), Expect: expect},
				"thing": {Resolve: roots(execute.Pointer(two[0])), Expect: expect, TypeOf: func(any) string { return "Item" }},
			}},
			"Item": {Name: "Item", Satisfies: []string{"Item", "Thing"}, Fields: fields},
		},
	}
}

// ask returns the data of the response to a document, and its errors as texts.
func (g *grove) ask(ctx context.Context, query string) (data string, failures []string) {
	g.t.Helper()
	response, end := g.answer(ctx, query)
	defer end()
	if response == nil {
		return "no response", nil
	}
	for _, err := range response.Errors {
		failures = append(failures, strings.TrimSpace(err.Message+" at "+err.Path.String()))
	}
	return string(response.Data), failures
}

// answer returns the response to a document, and what the client calls when it has it.
func (g *grove) answer(ctx context.Context, query string) (response *graphql.Response, end func()) {
	g.t.Helper()
	engine := execute.NewEngine(g.schema(), execute.EngineOptions{})
	x := execute.New(engine, execute.Options{
		Guard:   limit.NewGuard(engine.Schema(), limit.Options{IsKnown: func(context.Context) bool { return true }}),
		Present: present,
	})
	ctx, operation, refused := x.Prepare(ctx, &graphql.RawParams{Query: query})
	if refused != nil {
		g.t.Fatalf("%s is refused: %v", query, refused.Errors)
	}
	return x.Execute(ctx, operation)
}

// present shows the first line of an error: a panic is followed by its stack.
func present(ctx context.Context, err error) *gqlerror.Error {
	shown := graphql.DefaultErrorPresenter(ctx, err)
	shown.Message, _, _ = strings.Cut(shown.Message, "\n")
	return shown
}

// fails returns errors for the parents with these names.
func fails(value any, names string) resolver {
	return func(_ context.Context, parents []*item) ([]any, error) {
		values, errs := make([]any, len(parents)), make([]error, len(parents))
		for i, parent := range parents {
			if values[i] = value; strings.Contains(names, parent.name) {
				values[i], errs[i] = nil, errors.New("lost")
			}
		}
		return values, graphql.BatchErrorList(errs)
	}
}

// An error or a null affects the nearest nullable field above it, and nothing else.
// Panics and wrong numbers of values are errors of all parents.
func TestAnErrorBlanksTheNearestNullableField(t *testing.T) {
	t.Parallel()
	panics := func(context.Context, []*item) ([]any, error) { panic("of a resolver") }
	child := execute.Pointer(two[0])
	for _, c := range []struct {
		name, query string
		resolvers   map[string]resolver
		data        string
		failures    string
	}{
		{"nothing fails", "{items{name child{name}}}", nil,
			`{"items":[{"name":"a","child":{"name":"a"}},{"name":"b","child":{"name":"a"}}]}`, ""},
		{"a nullable field of one parent", "{items{name child{name}}}", map[string]resolver{"child": fails(child, "b")},
			`{"items":[{"name":"a","child":{"name":"a"}},{"name":"b","child":null}]}`, "lost at items[1].child"},
		{"a field of one parent that must not be null", "{item{name} items{name twin{name}}}", map[string]resolver{"twin": fails(child, "b")},
			`{"item":{"name":"a"},"items":null}`, "lost at items[1].twin"},
		{"far below a nullable field", "{item{name child{twin{children{twin{name}}}}}}",
			map[string]resolver{"children": fails(nil, "a")}, `{"item":{"name":"a","child":null}}`, "lost at item.child.twin.children"},
		{"a null element of a list that may have it", "{item{maybe{name}}}",
			map[string]resolver{"maybe": func(context.Context, []*item) ([]any, error) {
				return []any{execute.Pointers([]*item{two[0], nil})}, nil
			}}, `{"item":{"maybe":[{"name":"a"},null]}}`, ""},
		{"a null element of a list that must not have it", "{item{name children{name}}}",
			map[string]resolver{"children": func(context.Context, []*item) ([]any, error) {
				return []any{execute.Pointers([]*item{two[0], nil})}, nil
			}}, `{"item":null}`, "the requested element is null which the schema does not allow at item.children[1]"},
		{"a panic", "{items{name child{name}}}", map[string]resolver{"child": panics},
			`{"items":[{"name":"a","child":null},{"name":"b","child":null}]}`, "panic: of a resolver at items[0].child; panic: of a resolver at items[1].child"},
		{"a panic where null is not allowed", "{items{name twin{name}}}", map[string]resolver{"twin": panics},
			`{"items":null}`, "panic: of a resolver at items[0].twin; panic: of a resolver at items[1].twin"},
		{"a panic beside another field", "{items{child{name} maybe{name}}}", map[string]resolver{"child": panics, "maybe": fails(execute.Pointers(two[:1]), "a")},
			`{"items":[{"child":null,"maybe":null},{"child":null,"maybe":[{"name":"a"}]}]}`,
			"panic: of a resolver at items[0].child; lost at items[0].maybe; panic: of a resolver at items[1].child"},
		{"too few values", "{items{child{name}}}", map[string]resolver{"child": func(context.Context, []*item) ([]any, error) { return []any{child}, nil }},
			`{"items":[{"child":null},{"child":null}]}`,
			"Item.child: a resolver did not return one value for each parent at items[0].child; Item.child: a resolver did not return one value for each parent at items[1].child"},
	} {
		g := &grove{t: t, resolvers: c.resolvers}
		data, failures := g.ask(t.Context(), c.query)
		if data != c.data || strings.Join(failures, "; ") != c.failures {
			t.Errorf("%s: %s\n%s\n%q\nwant\n%s\n%q", c.name, c.query, data, failures, c.data, c.failures)
		}
	}
}

// A panic of the writer replaces the response: what was written so far may be wrong.
func TestAPanicWhileWritingReplacesTheResponse(t *testing.T) {
	t.Parallel()
	g := &grove{t: t}
	data, failures := g.ask(t.Context(), "{item{name wrong}}")
	if want := []string{"panic: of the writer at"}; data != "" || !slices.Equal(failures, want) {
		t.Errorf("the response is %s %q, want no data and %q", data, failures, want)
	}
}

// A request that ends between two levels reads nothing below.
func TestARequestThatEndsBetweenLevelsReadsNoMore(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	g := &grove{t: t, resolvers: map[string]resolver{
		"child": func(context.Context, []*item) ([]any, error) {
			cancel()
			return []any{execute.Pointer(two[1])}, nil
		},
	}}
	data, failures := g.ask(ctx, "{item{name child{name maybe{child{name}}}}}")
	want := `{"item":{"name":"a","child":{"name":"b","maybe":null}}}`
	if data != want || !slices.Equal(failures, []string{"context canceled at item.child.maybe"}) || !slices.Equal(g.calls, []string{"child of 1"}) {
		t.Errorf("the response is %s %q after %q, want %s", data, failures, g.calls, want)
	}
	if data, _ := g.ask(ctx, "{item{name}}"); data != "no response" {
		t.Errorf("a request that has ended is answered with %s, want no response", data)
	}
}

// Fields that select the same of the same objects are resolved once, and fields of one
// level together, whatever the aliases are.
func TestAFieldIsResolvedOnceForALevel(t *testing.T) {
	t.Parallel()
	g := &grove{t: t}
	data, _ := g.ask(t.Context(), "{items{child{name} again: child{child{name}} ...F}} fragment F on Item {third: child{name}}")
	one := `{"child":{"name":"a"},"again":{"child":{"name":"a"}},"third":{"name":"a"}}`
	if want := `{"items":[` + one + "," + one + `]}`; data != want || !slices.Equal(g.calls, []string{"child of 2", "child of 1"}) {
		t.Errorf("the response is %s after %q, want %s after two calls", data, g.calls, want)
	}
}

// Many objects lead to one. What it has is read once, and each of them shows it, or its error.
func TestAnObjectIsReadOnceForAllThatLeadToIt(t *testing.T) {
	t.Parallel()
	lost := func(_ context.Context, parents []*item) ([]any, error) {
		values, errs := make([]any, len(parents)), make([]error, len(parents))
		for i, parent := range parents {
			if values[i] = execute.Pointer(two[0]); parent.name == "b" {
				errs[i] = errors.New("lost")
			}
		}
		return values, graphql.BatchErrorList(errs)
	}
	g := &grove{t: t, resolvers: map[string]resolver{"child": lost}}
	data, failures := g.ask(t.Context(), "{items{children{child{name}}}}")
	slices.Sort(failures)
	one := `{"children":[{"child":{"name":"a"}},{"child":null}]}`
	want, wantFailures := `{"items":[`+one+","+one+`]}`, []string{"lost at items[0].children[1].child", "lost at items[1].children[1].child"}
	if data != want || !slices.Equal(failures, wantFailures) || !slices.Equal(g.calls, []string{"children of 2", "child of 2"}) {
		t.Errorf("the response is %s with %q after %q, want %s with %q, and one call for both children", data, failures, g.calls, want, wantFailures)
	}
}

// The resolver of a list reports the error of an element by itself.
func TestEachAliasOfAListHasTheErrorsOfItsElements(t *testing.T) {
	t.Parallel()
	g := &grove{t: t, resolvers: map[string]resolver{"maybe": func(ctx context.Context, _ []*item) ([]any, error) {
		graphql.AddError(graphql.WithPathContext(ctx, graphql.NewPathWithIndex(1)), errors.New("lost"))
		return []any{execute.Pointers([]*item{two[0], nil})}, nil
	}}}
	data, failures := g.ask(t.Context(), "{item{a: maybe{name} b: maybe{name}}}")
	slices.Sort(failures)
	if want := []string{"lost at item.a[1]", "lost at item.b[1]"}; data != `{"item":{"a":[{"name":"a"},null],"b":[{"name":"a"},null]}}` || !slices.Equal(failures, want) {
		t.Errorf("the response is %s with %q, want %q", data, failures, want)
	}
}

// What needs only the keys of expected objects is read with them, and again if some of them do not exist.
func TestFieldsOfExpectedObjectsAreReadWithThem(t *testing.T) {
	t.Parallel()
	const one, both = `{"child":{"child":{"name":"a"},"name":"a"}}`, "{items{child{child{name} name}} again: items{child{name}}}"
	for _, c := range []struct {
		query     string
		expected  []*item
		resolvers map[string]resolver
		data      string
		calls     []string
		failures  []string
	}{
		{"{thing{... on Item{child{name}}}}", []*item{{"a"}}, nil, `{"thing":{"child":{"name":"a"}}}`, []string{"child of 1"}, nil},
		{both, []*item{{"a"}, {"b"}}, nil, `{"items":[` + one + "," + one + `],"again":[{"child":{"name":"a"}},{"child":{"name":"a"}}]}`, []string{"child of 2", "child of 1"}, nil},
		{"{items{child{name}}}", []*item{{"a"}, {"none"}, {"b"}}, map[string]resolver{"child": fails(execute.Pointer(two[0]), "none b")},
			`{"items":[{"child":{"name":"a"}},{"child":null}]}`, []string{"child of 3", "child of 2"}, []string{"lost at items[1].child"}},
		{"{items{twin{name}}}", []*item{{"a"}, {"b"}}, nil, `{"items":[{"twin":{"name":"a"}},{"twin":{"name":"a"}}]}`, []string{"twin of 2"}, nil},
	} {
		g := &grove{t: t, expected: c.expected, resolvers: c.resolvers}
		if data, failures := g.ask(t.Context(), c.query); data != c.data || !slices.Equal(g.calls, c.calls) || !slices.Equal(failures, c.failures) {
			t.Errorf("%s: %s %q after %q, want\n%s %q after %q", c.query, data, failures, g.calls, c.data, c.failures, c.calls)
		}
	}
}

func TestAnObjectHasEachNameOnce(t *testing.T) {
	t.Parallel()
	g := &grove{t: t}
	data, failures := g.ask(t.Context(), "{thing{__typename ...F ... on Item{name __typename own: __typename}} item{__typename ... on Thing{__typename}}} fragment F on Thing{__typename own: __typename}")
	if want := `{"thing":{"__typename":"Item","own":"Item","name":"a"},"item":{"__typename":"Item"}}`; data != want || failures != nil {
		t.Errorf("the response is %s with %q, want %s", data, failures, want)
	}
}

// The memory of a response belongs to its client until the client has received it.
func TestAResponseStaysUntilItsClientHasIt(t *testing.T) {
	t.Parallel()
	g := &grove{t: t}
	long := func(prefix string) string {
		var b strings.Builder
		for i := range 200 {
			fmt.Fprintf(&b, " %s%d: name", prefix, i)
		}
		return "{item{" + b.String() + "}}"
	}
	for range 3 {
		first, end := g.answer(t.Context(), long("first"))
		text := string(first.Data)
		if second, _ := g.ask(t.Context(), long("second")); second == text || string(first.Data) != text {
			t.Fatalf("another request has changed the response to %s, want %s", first.Data, text)
		}
		end()
	}
}
