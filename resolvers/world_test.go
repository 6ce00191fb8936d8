package resolvers

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"reflect"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atrium/graph"
	"atrium/internal/apierror"
	endpoint "atrium/internal/graphql"
	"atrium/internal/graphql/execute"
	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/transport"
	"atrium/internal/wiretest"
	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

const (
	testIssuer = "https://issuer.example.com"
	theOwner   = "owner-of-acme"
	nobody     = "-" // As a subject, it means a request without a token.
)

// A world is an endpoint on its own database, with one organization.
type world struct {
	t       testing.TB
	p       *platform.Platform
	handler pair
	org     core.UID
	binding core.UID // This is the binding of the owner.
	owner   core.UID // This is the identity of the owner.
	logs    *bytes.Buffer
	faults  uint64 // If it is not zero, resolvers fail; see withFaults.
}

func newWorld(t testing.TB) *world {
	t.Helper()
	return newWorldAt(t, storetest.SQLite(t))
}

func newWorldAt(t testing.TB, url string) *world {
	t.Helper()
	return newWorldOf(t, newPlatform(t, url, newClock()))
}

// newWorldOf returns the world of a platform that holds nothing yet.
func newWorldOf(t testing.TB, p *platform.Platform) *world {
	t.Helper()
	made, err := p.Groups.Bootstrap(t.Context(), "acme", testIssuer, theOwner)
	if err != nil {
		t.Fatal(err)
	}
	w := &world{t: t, org: made.Group.UID, binding: made.Binding.UID, owner: made.Identity.UID}
	w.use(p)
	return w
}

func newPlatform(t testing.TB, url string, clock func() time.Time) *platform.Platform {
	t.Helper()
	p, err := platform.New(t.Context(), storetest.Open(t, url), platform.Options{AllowSignup: true, AllowIssuers: true, Clock: clock, TestPatience: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// use makes a platform on the database of the world answer from now on.
func (w *world) use(p *platform.Platform) {
	settings := endpoint.DefaultSettings()
	settings.Limits = limit.Limits{} // Documents may have any size.
	w.p, w.handler = p, serve(p, nil, settings)
}

// newClock returns a clock that shows each millisecond once, so that what is made later is newer.
func newClock() func() time.Time {
	var last atomic.Int64
	return func() time.Time {
		for {
			before := last.Load()
			if now := max(time.Now().UnixMilli(), before+1); last.CompareAndSwap(before, now) {
				return time.UnixMilli(now)
			}
		}
	}
}

// serve returns the endpoint of p, as the program serves it. Known callers may read the
// SDL.
func serve(p *platform.Platform, logger *slog.Logger, settings endpoint.Settings) pair {
	return newPair(p, logger, settings, func(context.Context) error { return nil })
}

func newPresenter(logger *slog.Logger) *Presenter {
	return &Presenter{Errors: apierror.Errors{ServiceDomain: "example.org", Logger: logger}, RequestID: func(context.Context) string { return "req-1" }}
}

// serveEngine returns an endpoint for an engine.
func serveEngine(engine execute.Engine, presenter *Presenter, settings endpoint.Settings, readSDL func(context.Context) error) http.Handler {
	return endpoint.New(engine, endpoint.Options{
		Settings: settings, Present: presenter.Present,
		Schema: Limits(), ReadSDL: readSDL, Budget: Budget{}, CheckJSON: fieldmask.CheckJSON,
		Identify: func(ctx context.Context) transport.Caller {
			if actor := core.ActorOf(ctx); actor != nil {
				return transport.Caller{Key: actor.Key() + "-", Expires: actor.Expires}
			}
			return transport.Caller{}
		},
	})
}

// An answer is the answer to a query, and its cost.
type answer struct {
	t          testing.TB
	query      string
	status     int
	Data       map[string]any
	Errors     []failure
	Extensions struct{ Cost struct{ Requested int } }
	statements int64
	roundTrips int64
	hidden     []core.Failure // what the log has and the client does not see
}

type failure struct {
	Message    string
	Path       []any
	Locations  []any
	Extensions struct {
		Code    string
		Status  int
		Details []map[string]any
		Fields  []fieldMessage
		Limit   struct {
			Field, Help string
			Requested   int
		}
	}
}

// askAs sends a query as a subject.
func (w *world) askAs(subject, query string, variables ...any) answer {
	w.t.Helper()
	return w.send(subject, query, newRequest(query, variables))
}

// newRequest returns the request of a query. Names and values of variables alternate.
func newRequest(query string, variables []any) *http.Request {
	given := map[string]any{}
	for i := 0; i < len(variables); i += 2 {
		given[variables[i].(string)] = variables[i+1]
	}
	body, _ := json.Marshal(map[string]any{"query": query, "variables": given}) // cannot fail with plain data
	r := httptest.NewRequest(http.MethodPost, "/graphql", bytes.NewReader(body))
	r.Header.Set("Content-Type", "application/json")
	return r
}

func (w *world) send(subject, query string, r *http.Request) answer {
	w.t.Helper()
	ctx := w.t.Context()
	if subject != nobody {
		actor, err := w.p.Authenticate(ctx, iam.Claims{Issuer: testIssuer, Subject: subject, ServiceAudience: true})
		if err != nil {
			w.t.Fatal(err)
		}
		ctx = core.WithActor(ctx, actor)
	}
	if w.faults > 0 {
		ctx = withFaults(ctx, w.faults)
	}
	var cost core.Trace
	rw := httptest.NewRecorder()
	rw.Header().Set("X-Request-Id", "req-1")
	w.handler.serve(w.t, rw, r.WithContext(core.WithTrace(ctx, &cost)))
	got := answer{t: w.t, query: query, status: rw.Code, statements: cost.Statements.Load(), roundTrips: cost.RoundTrips.Load(), hidden: cost.Facts().Failures}
	if err := json.Unmarshal(rw.Body.Bytes(), &got); err != nil {
		w.t.Fatalf("%s: %s is no answer: %v", query, rw.Body, err)
	}
	if err := wiretest.CheckErrors(graph.Schema(), query, rw.Body.Bytes()); err != nil {
		w.t.Errorf("%s: %v", query, err)
	}
	got.expectClaimsToHold()
	return got
}

// ask sends a query as the owner and expects no error.
func (w *world) ask(query string, variables ...any) answer {
	w.t.Helper()
	return w.askAs(theOwner, query, variables...).expectSuccess()
}

func (a answer) expectSuccess() answer {
	a.t.Helper()
	if len(a.Errors) > 0 {
		a.t.Fatalf("%s: %+v", a.query, a.Errors)
	}
	return a
}

// value returns a value of the answer. The path has names of fields and numbers of items,
// separated by dots. The values below an item `*` are joined by spaces.
func (a answer) value(path string) any {
	a.t.Helper()
	return a.walk(a.Data, strings.Split(path, "."), path)
}

func (a answer) walk(value any, path []string, whole string) any {
	a.t.Helper()
	if len(path) == 0 {
		return value
	}
	switch v := value.(type) {
	case map[string]any:
		next, ok := v[path[0]]
		if !ok {
			a.t.Fatalf("%s: no %s of %s in %v", a.query, path[0], whole, a.Data)
		}
		return a.walk(next, path[1:], whole)
	case []any:
		if path[0] == "*" {
			all := make([]string, len(v))
			for i := range v {
				all[i] = fmt.Sprint(a.walk(v[i], path[1:], whole))
			}
			return strings.Join(all, " ")
		}
		var i int
		if _, err := fmt.Sscan(path[0], &i); err != nil || i >= len(v) {
			a.t.Fatalf("%s: no %s of %s in %v", a.query, path[0], whole, v)
		}
		return a.walk(v[i], path[1:], whole)
	default:
		return value
	}
}

func (a answer) text(path string) string {
	a.t.Helper()
	return fmt.Sprint(a.value(path))
}

func (a answer) uid(path string) core.UID {
	a.t.Helper()
	return core.UID(a.text(path))
}

// expect compares a value of the answer.
func (a answer) expect(path string, want any) answer {
	a.t.Helper()
	if n, ok := want.(int); ok {
		want = float64(n)
	}
	if got := a.value(path); !reflect.DeepEqual(got, want) {
		a.t.Errorf("%s:\n%s is %v, want %v", a.query, path, got, want)
	}
	return a
}

// expectStatements expects a number of statements.
func (a answer) expectStatements(statements int64) answer {
	a.t.Helper()
	if a.statements != statements {
		a.t.Errorf("%s\ntook %d statements, want %d", a.query, a.statements, statements)
	}
	return a
}

// expectErrors expects exactly these errors, each as `CODE at.its.path`.
func (a answer) expectErrors(want ...string) answer {
	a.t.Helper()
	got := make([]string, len(a.Errors))
	for i, e := range a.Errors {
		path := make([]string, len(e.Path))
		for n, name := range e.Path {
			path[n] = fmt.Sprint(name)
		}
		got[i] = strings.TrimSpace(e.Extensions.Code + " " + strings.Join(path, "."))
	}
	for _, g := range got {
		if !contains(want, g) {
			a.t.Errorf("%s\nfails with %q, want %q: %+v", a.query, got, want, a.Errors)
			return a
		}
	}
	if len(got) != len(want) {
		a.t.Errorf("%s\nfails with %q, want %q", a.query, got, want)
	}
	return a
}

func contains(all []string, s string) bool {
	for _, x := range all {
		if x == s {
			return true
		}
	}
	return false
}

// violations returns the fields that the first error names.
func (a answer) violations() string {
	a.t.Helper()
	if len(a.Errors) == 0 {
		a.t.Fatalf("%s: no error", a.query)
	}
	for _, d := range a.Errors[0].Extensions.Details {
		if list, ok := d["fieldViolations"].([]any); ok {
			var fields []string
			for _, v := range list {
				fields = append(fields, v.(map[string]any)["field"].(string))
			}
			return strings.Join(fields, " ")
		}
	}
	return ""
}

// operation declares the variables that a selection uses: cursor as a string, and all
// others as ids.
func operation(kind, selection string) string {
	var declared []string
	for _, name := range variable.FindAllString(selection, -1) {
		declaration := name + ": UID!"
		if name == "$cursor" {
			declaration = name + ": String"
		}
		if !contains(declared, declaration) {
			declared = append(declared, declaration)
		}
	}
	if len(declared) == 0 {
		return kind + " { " + selection + " }"
	}
	return kind + "(" + strings.Join(declared, ", ") + ") { " + selection + " }"
}

var variable = regexp.MustCompile(`\$\w+`)
