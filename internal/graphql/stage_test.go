package graphql

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/internal/apierror"
	"atrium/internal/graphql/analysis"
	"atrium/internal/graphql/execute"
	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/transport"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/resolvers"
)

// stage is a schema that has everything that transports, limits and costs treat
// differently. Its fields are null, except those in stageEngine.
const stage = `
	type Query {
		ping: String
		panic: String
		wait: String
		wrong(times: Int!): String
		item(id: ID): Item
		items(first: Int, last: Int, after: String, where: ItemFilter): ItemConnection
		ten(first: Int = 10): ItemConnection
		node(id: ID!): Node
		nodes(ids: [ID!]!): [Node]!
		list: [Item]
		color(of: Color, all: [Color!]): String
		things(wheres: [ItemFilter!]): String
		whole(of: [ID!]): [Item]
	}
	type Mutation { touch(id: ID): Item batchTouch(input: BatchTouchInput!): BatchTouchPayload }
	type BatchTouchPayload { items: [Item!]! item: Item ids: [ID!]! }
	input BatchTouchInput { requests: [ItemFilter!] uids: [ID!] }
	type Subscription { countdown(n: Int!, delayMs: Int = 0): Int! panics: Int! floods: String! breaks: Int! expires: Int! }
	interface Node { id: ID! }
	type Item implements Node { id: ID! name(long: Boolean): String item: Item items(first: Int): ItemConnection }
	type ItemConnection { totalCount: Int! nodes: [Item!]! edges: [ItemEdge!]! pageInfo: PageInfo! }
	type ItemEdge { cursor: String! node: Item! }
	type PageInfo { hasNextPage: Boolean! endCursor: String }
	input ItemFilter { name: String ids: [ID!] colors: [Color!] color: Color within: ItemFilter }
	enum Color { RED GREEN }
`

// A stageEngine executes operations on the stage.
type stageEngine struct{ schema *ast.Schema }

func newStageEngine() execute.Engine {
	return stageEngine{gqlparser.MustLoadSchema(&ast.Source{Input: stage})}
}

// Schema returns the schema of the stage.
func (e stageEngine) Schema() *ast.Schema { return e.schema }

// Mutate executes a mutation.
func (e stageEngine) Mutate(ctx context.Context, operation *graphql.OperationContext) []byte {
	return e.Query(ctx, operation)
}

// Recycle does nothing.
func (stageEngine) Recycle([]byte) {}

// Query executes a query.
func (stageEngine) Query(ctx context.Context, operation *graphql.OperationContext) []byte {
	data := map[string]any{}
	for _, field := range graphql.CollectFields(operation, operation.Operation.SelectionSet, nil) {
		switch data[field.Alias] = nil; field.Name {
		case "__typename":
			data[field.Alias] = "Query"
		case "ping":
			data[field.Alias] = "pong"
		case "panic":
			panic("of the stage")
		case "wait":
			<-ctx.Done()
		case "wrong":
			for i := range field.ArgumentMap(operation.Variables)["times"].(int64) {
				graphql.AddErrorf(ctx, "wrong %d: %s", i, strings.Repeat("long ", 1000))
			}
		}
	}
	encoded, _ := json.Marshal(data)
	return encoded
}

// Subscribe opens the source of a subscription.
func (stageEngine) Subscribe(_ context.Context, operation *graphql.OperationContext) execute.Next {
	return stageStream(graphql.CollectFields(operation, operation.Operation.SelectionSet, nil)[0])
}

func stageStream(field graphql.CollectedField) execute.Next {
	if field.Name == "countdown" {
		arguments := field.ArgumentMap(nil)
		left := arguments["n"].(int64)
		pause := time.Duration(arguments["delayMs"].(int64) * int64(time.Millisecond))
		return func(ctx context.Context) ([]byte, bool) {
			select {
			case <-ctx.Done():
				return nil, false
			case <-time.After(pause):
			}
			if left--; left < 0 {
				return nil, false
			}
			return fmt.Appendf(nil, `{"countdown":%d}`, left), true
		}
	}
	return func(ctx context.Context) ([]byte, bool) {
		switch field.Name {
		case "panics":
			panic("of the stage")
		case "breaks":
			execute.EndWith(ctx, core.Unavailable("the stage is away", nil))
			return nil, false
		case "expires":
			execute.EndWith(ctx, core.Unauthenticated("the token has expired"))
			return nil, false
		}
		return fmt.Appendf(nil, `{"floods":"%s"}`, strings.Repeat("x", 1<<20)), true
	}
}

// stageOptions are the settings of a stage; nil means the default.
type stageOptions struct {
	Limits     *limit.Limits
	Bounds     *transport.Bounds
	Trusted    *limit.TrustedDocuments
	HideSchema bool
	Begin      func(ctx context.Context) context.Context
	Admit      func(ctx context.Context) (admitted context.Context, leave func(), err error)
	Origins    []string
	Closing    <-chan struct{}
	Logger     *slog.Logger
}

func (o stageOptions) settings() Settings {
	s := DefaultSettings()
	s.Trusted, s.HideSchema = o.Trusted, o.HideSchema
	if o.Limits != nil {
		s.Limits = *o.Limits
	}
	if o.Bounds != nil {
		s.Bounds = *o.Bounds
	}
	return s
}

// stageHandler serves the stage. It accepts the token "ann", and tokens that end in a
// number for that number of milliseconds.
func stageHandler(o stageOptions) http.Handler {
	var used atomic.Bool // whether the token "once", which is accepted once, was used
	authorize := func(ctx context.Context, authorization []string) (context.Context, error) {
		if len(authorization) == 0 {
			return ctx, nil
		}
		token, ok := strings.CutPrefix(authorization[0], "Bearer ")
		if !ok || token == "bad" || token == "once" && used.Swap(true) {
			return nil, core.Unauthenticated("the token is no good")
		}
		a := &core.Actor{Issuer: "stage", Subject: token}
		var life int
		if n, _ := fmt.Sscanf(token, "ann%d", &life); n == 1 {
			a.Expires = time.Now().Add(time.Duration(life) * time.Millisecond)
		}
		return core.WithActor(ctx, a), nil
	}
	presenter := &resolvers.Presenter{Errors: apierror.Errors{Logger: o.Logger}, RequestID: func(context.Context) string { return "" }}
	e := New(newStageEngine(), Options{
		Settings: o.settings(), Schema: analysis.Schema{DefaultPage: 50, MaxPage: 200, IndexedConditions: []string{"ids"}}, CheckJSON: fieldmask.CheckJSON, Present: presenter.Present,
		Identify: func(ctx context.Context) transport.Caller {
			if actor := core.ActorOf(ctx); actor != nil {
				return transport.Caller{Key: actor.Key(), Expires: actor.Expires}
			}
			return transport.Caller{}
		},
		Authorize: authorize, Begin: o.Begin, Admit: o.Admit, Origins: o.Origins, Closing: o.Closing,
	})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		ctx, err := authorize(r.Context(), r.Header.Values("Authorization"))
		if err != nil {
			w.WriteHeader(http.StatusUnauthorized)
			return
		}
		e.ServeHTTP(w, r.WithContext(ctx))
	})
}

func textLogger(w io.Writer) *slog.Logger { return slog.New(slog.NewTextHandler(w, nil)) }

// The media types of responses.
const (
	mediaJSON     = "application/json"
	mediaResponse = "application/graphql-response+json"
	mediaEvents   = "text/event-stream"
)

// A reply is the response of a stage.
type reply struct {
	t      testing.TB
	status int
	header http.Header
	body   string

	Data       map[string]any
	Errors     []map[string]any
	Extensions map[string]any
}

// send sends one request. header is a list of names, each followed by its value.
func send(t testing.TB, h http.Handler, method, target, body string, header ...string) reply {
	t.Helper()
	var reader io.Reader
	if body != "" {
		reader = strings.NewReader(body)
	}
	r := httptest.NewRequestWithContext(t.Context(), method, target, reader)
	if method == http.MethodPost {
		r.Header.Set("Content-Type", "application/json")
	}
	for i := 0; i < len(header); i += 2 {
		r.Header.Set(header[i], header[i+1])
	}
	w := httptest.NewRecorder()
	h.ServeHTTP(w, r)
	got := reply{t: t, status: w.Code, header: w.Header(), body: w.Body.String()}
	if strings.Contains(w.Header().Get("Content-Type"), "json") {
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil {
			t.Fatalf("%s is no JSON: %v", got.body, err)
		}
	}
	return got
}

// post sends a document as an authenticated caller.
func post(t testing.TB, h http.Handler, query string, variables ...any) reply {
	t.Helper()
	given := map[string]any{}
	for i := 0; i < len(variables); i += 2 {
		given[variables[i].(string)] = variables[i+1]
	}
	body, err := json.Marshal(map[string]any{"query": query, "variables": given})
	if err != nil {
		t.Fatal(err)
	}
	return send(t, h, http.MethodPost, "/graphql", string(body), "Authorization", "Bearer ann")
}

// expectRefusal expects that one limit rejected the request.
func (r reply) expectRefusal(name string, value, requested int) {
	r.t.Helper()
	if len(r.Errors) != 1 || r.Data != nil {
		r.t.Fatalf("got %.300s, want a refusal by %s", r.body, name)
	}
	extensions := r.Errors[0]["extensions"].(map[string]any)
	want := map[string]any{"name": name, "value": float64(value), "requested": float64(requested)}
	got, _ := extensions["limit"].(map[string]any)
	delete(got, "field") // The hint depends on the schema.
	delete(got, "help")
	if !reflect.DeepEqual(got, want) {
		r.t.Errorf("got limit %v, want %v", got, want)
	}
	if extensions["code"] != "INVALID_ARGUMENT" || extensions["status"] != 3.0 {
		r.t.Errorf("got extensions %v, want INVALID_ARGUMENT 3", extensions)
	}
}

// expectSuccess expects no errors.
func (r reply) expectSuccess() reply {
	r.t.Helper()
	if r.status != http.StatusOK || len(r.Errors) > 0 {
		r.t.Fatalf("got %d %.300s, want status 200", r.status, r.body)
	}
	return r
}
