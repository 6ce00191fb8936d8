package resolvers

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/ast"

	"atrium/graph"
	endpoint "atrium/graphql"
	"atrium/graphql/execute"
	"atrium/internal/oracle"
	"atrium/platform"
)

// These tests compare our executor with gqlgen's, which is the oracle. Both use the same
// resolvers and must give the same answers.

// An oracleEngine is gqlgen's executor for the schema. Its introspection shows the client
// schema, but it executes documents of the whole schema.
type oracleEngine struct {
	p        *platform.Platform
	executor graphql.ExecutableSchema
}

func newOracle(p *platform.Platform) execute.Engine {
	return oracleEngine{p, oracle.NewExecutableSchema(oracle.Config{Resolvers: oracle.NewResolvers(root{p}), Schema: graph.ClientSchema()})}
}

// Schema returns the whole schema.
func (oracleEngine) Schema() *ast.Schema { return graph.Schema() }

// Mutate executes a mutation.
func (o oracleEngine) Mutate(ctx context.Context, operation *graphql.OperationContext) []byte {
	return o.Query(ctx, operation)
}

// Query executes a query.
func (o oracleEngine) Query(ctx context.Context, operation *graphql.OperationContext) []byte {
	data, _ := o.Subscribe(ctx, operation)(ctx)
	return data
}

// Subscribe opens the source of a subscription.
func (o oracleEngine) Subscribe(ctx context.Context, operation *graphql.OperationContext) execute.Next {
	operation.ResolverMiddleware = func(ctx context.Context, next graphql.Resolver) (any, error) { return next(ctx) }
	operation.RootResolverMiddleware = func(ctx context.Context, next graphql.RootResolver) graphql.Marshaler {
		if operation.Operation.Operation == ast.Mutation {
			ctx = withReads(ctx, o.p)
		}
		return next(ctx)
	}
	respond := o.executor.Exec(ctx)
	return func(ctx context.Context) ([]byte, bool) {
		response := respond(withReads(ctx, o.p))
		if response == nil {
			return nil, false
		}
		return response.Data, true
	}
}

// A pair is an endpoint with our executor, and the same one with the oracle. If oracle is
// nil, nothing is compared.
type pair struct{ tested, oracle http.Handler }

func newPair(p *platform.Platform, logger *slog.Logger, settings endpoint.Settings, readSDL func(context.Context) error) pair {
	presenter := newPresenter(logger)
	silent := newPresenter(nil)
	return pair{
		tested: serveEngine(NewEngine(p, nil), presenter, settings, readSDL),
		oracle: serveEngine(newOracle(p), silent, settings, readSDL),
	}
}

// ServeHTTP sends the request to our executor only.
func (h pair) ServeHTTP(w http.ResponseWriter, r *http.Request) { h.tested.ServeHTTP(w, r) }

// serve sends a request to our executor, and also to the oracle unless the request
// changes something.
func (h pair) serve(t testing.TB, w *httptest.ResponseRecorder, r *http.Request) {
	t.Helper()
	body, err := io.ReadAll(r.Body)
	if err != nil {
		t.Fatal(err)
	}
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.tested.ServeHTTP(w, r)
	if h.oracle == nil || bytes.Contains(body, []byte("mutation")) || w.Header().Get("Content-Type") == "text/event-stream; charset=utf-8" {
		return
	}
	again := httptest.NewRecorder()
	r = r.WithContext(platform.WithTrace(r.Context(), &platform.Trace{})) // The reads of the oracle are not counted.
	r.Body = io.NopCloser(bytes.NewReader(body))
	h.oracle.ServeHTTP(again, r)
	if bytes.Contains(body, []byte("_entities")) && bytes.Contains(again.Body.Bytes(), []byte(`"INTERNAL"`)) {
		return // gqlgen passes missing entities to batches as nil, and resolvers panic on nil.
	}
	if difference := compare(w.Body.Bytes(), again.Body.Bytes()); difference != "" {
		t.Errorf("the executors do not agree on %s\n%s", body, difference)
	}
}

// An answerText is an answer whose data is compared byte for byte.
type answerText struct {
	Data       json.RawMessage
	Errors     []map[string]any
	Extensions json.RawMessage
}

// compare describes the difference of two answers. It ignores the order of errors and the
// times in cursors.
func compare(tested, wanted []byte) string {
	if bytes.Equal(tested, wanted) {
		return ""
	}
	var a, b answerText
	if json.Unmarshal(tested, &a) != nil || json.Unmarshal(wanted, &b) != nil {
		return "ours:   " + string(tested) + "\noracle: " + string(wanted)
	}
	data, want := withoutCursors(a.Data, b.Data)
	if data == want && sortedErrors(a.Errors) == sortedErrors(b.Errors) && bytes.Equal(a.Extensions, b.Extensions) {
		return ""
	}
	return "ours:   " + data + " " + sortedErrors(a.Errors) + "\noracle: " + want + " " + sortedErrors(b.Errors)
}

// sortedErrors returns errors as texts. gqlgen gives no locations for errors of edges,
// because it treats edges as batches.
func sortedErrors(errs []map[string]any) string {
	texts := make([]string, len(errs))
	for i, err := range errs {
		if path, _ := err["path"].([]any); len(path) > 1 {
			delete(err, "locations")
		}
		text, _ := json.Marshal(err)
		texts[i] = string(text)
	}
	slices.Sort(texts)
	return strings.Join(texts, "\n")
}

var sealed = regexp.MustCompile(`"[A-Za-z0-9_-]{60,}"`)

// withoutCursors blanks the sealed texts that both answers have at the same place.
func withoutCursors(a, b []byte) (string, string) {
	sealedA, sealedB := sealed.FindAll(a, -1), sealed.FindAll(b, -1)
	if len(sealedA) != len(sealedB) {
		return string(a), string(b)
	}
	mask := func(text []byte) string {
		i := -1
		return string(sealed.ReplaceAllFunc(text, func(found []byte) []byte {
			if i++; bytes.Equal(sealedA[i], sealedB[i]) {
				return found
			}
			return []byte(`"cursor"`)
		}))
	}
	return mask(a), mask(b)
}
