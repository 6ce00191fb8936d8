package resolvers

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"testing"

	endpoint "atrium/internal/graphql"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/platform/inventory"
	"atrium/store/storetest"
)

// A brokenStore fails every read of tags with the error of fault.
type brokenStore struct {
	platform.Store
	fault func() error
}

type brokenTags struct {
	core.Table[*inventory.Tag, *inventory.TagFilter]
	fault func() error
}

func (s brokenStore) Tables() platform.Tables {
	all := s.Store.Tables()
	all.Inventory.Tags = brokenTags{all.Inventory.Tags, s.fault}
	return all
}

func (b brokenTags) ListEach(context.Context, core.Conn, core.Query[*inventory.TagFilter], []core.Scope) ([]core.Rows[*inventory.Tag], error) {
	return nil, b.fault()
}

func (b brokenTags) Get(context.Context, core.Conn, core.Keys) ([]*inventory.Tag, error) {
	return nil, b.fault()
}

// newBrokenWorld returns a world whose tags cannot be read. It logs the errors.
func newBrokenWorld(t *testing.T, fault func() error) *world {
	t.Helper()
	w := newWorld(t)
	w.addRegistry(w.org, 3, 1)
	store := storetest.Open(t, storetest.SQLite(t))
	p, err := platform.New(t.Context(), brokenStore{store, fault}, platform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Groups.Bootstrap(t.Context(), "acme", testIssuer, theOwner)
	if err != nil {
		t.Fatal(err)
	}
	w.p, w.org, w.logs = p, made.Group.UID, &bytes.Buffer{}
	w.handler = serve(p, slog.New(slog.NewTextHandler(w.logs, nil)), endpoint.DefaultSettings())
	w.repos("a", "b", "c")
	return w
}

func (w *world) repos(names ...string) {
	w.t.Helper()
	ctx := core.WithActor(w.t.Context(), core.NewOperator("test"))
	for _, name := range names {
		must(w.p.Repos.Create(ctx, w.org, body[*inventory.Repo](`{"name":%q}`, name)))(w.t)
	}
}

func TestInternalErrorsAreHiddenAndLoggedOnce(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func() error{
		"an error": func() error { return errors.New("pq: password of atrium is hunter2") },
		"a panic":  func() error { panic("hunter2") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newBrokenWorld(t, fault)
			got := w.askAs(theOwner, `{ repos { nodes { name tags { nodes { name } } } } }`)
			got.expectErrors("INTERNAL repos.nodes.0.tags", "INTERNAL repos.nodes.1.tags", "INTERNAL repos.nodes.2.tags").expect("repos.nodes.*.name", "a b c")
			for _, e := range got.Errors {
				info := e.Extensions.Details[0]
				if e.Message != "Internal error." || e.Extensions.Status != 13 || info["domain"] != "registry.example.org" || info["metadata"].(map[string]any)["requestId"] != "req-1" {
					t.Errorf("an internal error is shown as %+v", e)
				}
			}
			if len(got.hidden) != 1 || !strings.Contains(got.hidden[0].Err.Error(), "hunter2") || got.hidden[0].Where != "repos.nodes[0].tags" {
				t.Errorf("for the log there is %+v, want one failure with hunter2", got.hidden)
			}
			w.askAs(theOwner, `query($id: UID!) { tag(uid: $id) { name } }`, "id", w.org+"/0123456789abcdef").expectErrors("INTERNAL tag")
			w.askAs(theOwner, `query($r: [_Any!]!) { _entities(representations: $r) { __typename } }`,
				"r", []any{map[string]any{"__typename": "Tag", "uid": w.org}, map[string]any{"__typename": "Group", "uid": w.org}}).
				expectErrors("INTERNAL _entities.0").expect("_entities.1.__typename", "Group")
		})
	}
}

func TestAStoreThatIsAwayIsUnavailable(t *testing.T) {
	t.Parallel()
	w := newBrokenWorld(t, func() error {
		return core.Unavailable("the database does not answer", errors.New("connection refused"))
	})
	got := w.askAs(theOwner, `{ repos { nodes { tags { totalCount } } } groups { totalCount } }`)
	got.expectErrors("UNAVAILABLE repos.nodes.0.tags", "UNAVAILABLE repos.nodes.1.tags", "UNAVAILABLE repos.nodes.2.tags").expect("groups.totalCount", 1)
	if e := got.Errors[0]; strings.Contains(e.Message, "refused") || e.Extensions.Details[1]["retryDelay"] != "1s" {
		t.Errorf("shown as %+v, want retryDelay '1s'", e)
	}
	if len(got.hidden) != 1 || got.hidden[0].Err.Code != core.CodeUnavailable {
		t.Errorf("for the log there is %+v, want one failure", got.hidden)
	}
}

func TestFaultsOfTheQueryKeepTheirCodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for query, want := range map[string]string{
		`{ repos { nodes { nope } } }`:                      "GRAPHQL_VALIDATION_FAILED",
		`{ repos(first: "1") { nodes { name } } }`:          "GRAPHQL_VALIDATION_FAILED",
		`{ repos(orderBy: {field: X}) { nodes { name } } }`: "GRAPHQL_VALIDATION_FAILED",
		`{ repos`: "GRAPHQL_PARSE_FAILED",
		``:        "INVALID_ARGUMENT",
		`query($a: Int) { repos(first: $a) { skipped } }`:                             "",
		`query($a: DateTime) { identities(where: {lastSeenBefore: $a}) { skipped } }`: "INVALID_ARGUMENT identities",
	} {
		got := w.askAs(theOwner, query, "a", map[string]any{"x": 1})
		if want == "" {
			want = "GRAPHQL_VALIDATION_FAILED"
		}
		got.expectErrors(want)
	}
}

func TestRequestsByGETAndPOSTAreAnsweredOrRejected(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	get := func(query string) *http.Request {
		return httptest.NewRequest(http.MethodGet, "/graphql?query="+url.QueryEscape(query), nil)
	}
	post := func(body string) *http.Request {
		r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(body))
		r.Header.Set("Content-Type", "application/json")
		return r
	}
	w.send(theOwner, "GET", get(`{ groups { nodes { name } } }`)).expectSuccess().expect("groups.nodes.*.name", "acme")
	if got := w.send(theOwner, "GET", get(`mutation { deleteGroup(input: {uid: "x"}) { deletedUid } }`)); got.status < 400 || len(got.Errors) != 1 {
		t.Errorf("a mutation by GET: %d %+v, want 1 of them", got.status, got.Errors)
	}
	if got := w.send(theOwner, "garbage", post(`{"query": secret`)); got.status != http.StatusBadRequest || got.Errors[0].Extensions.Code != "INVALID_ARGUMENT" || strings.Contains(got.Errors[0].Message, "secret") {
		t.Errorf("a body that is no JSON: status %d, want 400: %+v", got.status, got.Errors)
	}
	fits := `{"query":"{ ping }","variables":{"x":"` + strings.Repeat("x", 1<<20-100)
	if got := w.send(theOwner, "fits", post(fits+`"}}`)); got.status != http.StatusOK {
		t.Errorf("a body of nearly 1 MiB: status %d, want 200: %+v", got.status, got.Errors)
	}
	if got := w.send(theOwner, "too large", post(fits+strings.Repeat("x", 100)+`"}}`)); got.status != http.StatusRequestEntityTooLarge || got.Errors[0].Extensions.Code != "INVALID_ARGUMENT" {
		t.Errorf("a body of more than 1 MiB: status %d, want 413: %+v", got.status, got.Errors)
	}
	w.ask(`{ __schema { types { name description fields { name description args { name description } } } } __type(name: "Repo") { name } }`).expect("__type.name", "Repo")
}

func TestAClientThatWentAwayIsNotLogged(t *testing.T) {
	t.Parallel()
	ctx, leave := context.WithCancel(t.Context())
	w := newBrokenWorld(t, func() error { leave(); return context.Canceled })
	actor, err := w.p.Authenticate(ctx, iam.Claims{Issuer: testIssuer, Subject: theOwner, ServiceAudience: true})
	if err != nil {
		t.Fatal(err)
	}
	r := httptest.NewRequest(http.MethodPost, "/graphql", strings.NewReader(`{"query":"{ repos { nodes { tags { totalCount } } } }"}`))
	r.Header.Set("Content-Type", "application/json")
	w.handler.ServeHTTP(httptest.NewRecorder(), r.WithContext(core.WithActor(ctx, actor)))
	if w.logs.Len() > 0 {
		t.Errorf("logged:\n%s", w.logs)
	}
}
