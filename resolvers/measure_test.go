package resolvers

import (
	"fmt"
	"net/http"
	"strings"
	"testing"

	endpoint "atrium/internal/graphql"
	"atrium/platform/core"
	"atrium/store/storetest"
)

// limitMemory makes a world limit the memory of its answers.
func (w *world) limitMemory(limits core.MemoryLimits) {
	pool, next := core.NewMemoryPool(limits, nil), serve(w.p, nil, endpoint.DefaultSettings())
	w.handler = pair{tested: http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		ctx, end := pool.Open(r.Context())
		defer end()
		next.ServeHTTP(rw, r.WithContext(ctx))
	})}
}

func TestAnAnswerThatIsTooLargeNamesItsLimit(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newWorldAt(t, url)
		w.addRegistry(w.org, 4, 1)
		for uid := range strings.FieldsSeq(w.ask(`{ repos { nodes { uid } } }`).text("repos.nodes.*.uid")) {
			w.ask(`mutation($uid: UID!, $text: String!) { updateRepoReadme(input: {uid: $uid, content: $text}) { repo { uid } } }`, "uid", uid, "text", strings.Repeat("é\n", 50<<10))
		}
		w.limitMemory(core.MemoryLimits{PerResponse: 1 << 20, Total: 64 << 20})

		w.ask(`{ repos { totalCount nodes { readme } } }`)
		// The readme is read once and written several times.
		got := w.askAs(theOwner, `{ repos { nodes { a: readme b: readme c: readme } } }`).expectErrors("INVALID_ARGUMENT")
		if e := got.Errors[0]; got.Data != nil || !strings.Contains(e.Message, "1048576") || got.violations() != "query" || e.Extensions.Details[0]["reason"] != "LIMIT_EXCEEDED" {
			t.Errorf("what is written is refused with %v %+v", got.Data, got.Errors)
		}
		// Too much is read; the other fields are still shown.
		w.limitMemory(core.MemoryLimits{PerResponse: 300 << 10, Total: 64 << 20})
		got = w.askAs(theOwner, `{ repos(first: 3) { nodes { readme } } groups { totalCount } }`)
		if len(got.Errors) == 0 || got.Errors[0].Extensions.Code != "INVALID_ARGUMENT" {
			t.Errorf("what is read is refused with %+v", got.Errors)
		}
		w.ask(`{ repos(first: 1) { nodes { readme } } groups { totalCount } }`).expect("groups.totalCount", 1)
	})
}

func TestScalarsAreLimitedByTheSizesOfTheirPages(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limitMemory(core.DefaultMemoryLimits())
	var query strings.Builder
	for i := range 20 {
		fmt.Fprintf(&query, "r%d: repos(first: 200) { nodes { ...F } } ", i)
	}
	fields := strings.Repeat("uid name description createTime ", 15)
	got := w.askAs(theOwner, "{ "+query.String()+" } fragment F on Repo { "+fields+" }").expectErrors("INVALID_ARGUMENT")
	if !strings.Contains(got.Errors[0].Message, "values") {
		t.Errorf("it is refused with %+v", got.Errors)
	}
	w.askAs(theOwner, "{ r: repos(first: 200) { nodes { ...F } } } fragment F on Repo { "+fields+" }").expectSuccess()
}

func TestLongFieldsCost(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.limitMemory(core.DefaultMemoryLimits())
	w.askAs(theOwner, `{ repos(first: 200) { nodes { readme } } }`).expectSuccess()
	if got := w.askAs(theOwner, `{ repos(first: 200) { nodes { a: readme b: readme } } }`).expectErrors("INVALID_ARGUMENT"); !strings.Contains(got.Errors[0].Message, "cost") {
		t.Errorf("two readmes of 200 repos are refused with %+v", got.Errors)
	}
}
