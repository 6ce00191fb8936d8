package rest

import (
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/iam"
	"atrium/store/storetest"
)

const (
	testIssuer = "https://issuer.example.com"
	theOwner   = "owner-of-acme"
	nobody     = "-" // a subject that means a request without a token
)

// A world is a service on its own database, with one organization.
type world struct {
	t       testing.TB
	p       *platform.Platform
	server  *httptest.Server
	org     string
	elapsed *atomic.Int64 // Its clock is ahead by this number of seconds.
}

func newWorld(t testing.TB) *world {
	t.Helper()
	w := &world{t: t, elapsed: &atomic.Int64{}}
	clock := func() time.Time { return time.Now().Add(time.Duration(w.elapsed.Load()) * time.Second) }
	p, err := platform.New(t.Context(), storetest.Open(t, storetest.SQLite(t)), platform.Options{Clock: clock, AllowSignup: true, AllowIssuers: true, TestPatience: time.Nanosecond})
	if err != nil {
		t.Fatal(err)
	}
	made, err := p.Groups.Bootstrap(t.Context(), "acme", testIssuer, theOwner)
	if err != nil {
		t.Fatal(err)
	}
	w.p, w.org = p, string(made.Group.UID)
	w.server = httptest.NewServer(w.authenticate(New(p, Options{ConsoleURL: "https://atrium.example.com/console"})))
	t.Cleanup(w.server.Close)
	return w
}

// authenticate returns a handler that takes the caller from a header.
func (w *world) authenticate(next http.Handler) http.Handler {
	return http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("X-Request-Id", "req-1")
		ctx := r.Context()
		if subject := r.Header.Get("X-Subject"); subject != nobody {
			actor, err := w.p.Authenticate(ctx, iam.Claims{Issuer: testIssuer, Subject: subject, ServiceAudience: true})
			if err != nil {
				Options{}.WriteError(rw, r, err)
				return
			}
			ctx = core.WithActor(ctx, actor)
		}
		next.ServeHTTP(rw, r.WithContext(ctx))
	})
}

// A reply is a complete response.
type reply struct {
	t      testing.TB
	asked  string
	status int
	header http.Header
	raw    string
	json   map[string]any
}

// sendAs sends a request as a subject. headers is a list of names, each followed by its
// value.
func (w *world) sendAs(subject, method, path, body string, headers ...string) reply {
	w.t.Helper()
	var content io.Reader
	if body != "" {
		content = strings.NewReader(body)
	}
	r, err := http.NewRequestWithContext(w.t.Context(), method, w.server.URL+path, content)
	if err != nil {
		w.t.Fatal(err)
	}
	r.Header.Set("X-Subject", subject)
	for i := 0; i < len(headers); i += 2 {
		r.Header.Set(headers[i], headers[i+1])
	}
	answer, err := w.server.Client().Do(r)
	if err != nil {
		w.t.Fatal(err)
	}
	defer answer.Body.Close()
	raw, err := io.ReadAll(answer.Body)
	if err != nil {
		w.t.Fatal(err)
	}
	got := reply{t: w.t, asked: method + " " + path, status: answer.StatusCode, header: answer.Header, raw: string(raw)}
	if answer.Header.Get("Content-Encoding") == "" && len(raw) > 0 {
		if err := json.Unmarshal(raw, &got.json); err != nil {
			w.t.Fatalf("%s: %s is no JSON object: %v", got.asked, raw, err)
		}
	}
	return got
}

func (w *world) do(method, path, body string, headers ...string) reply {
	w.t.Helper()
	return w.sendAs(theOwner, method, path, body, headers...)
}

func (w *world) get(path string) reply {
	w.t.Helper()
	return w.do(http.MethodGet, path, "").expectStatus(http.StatusOK)
}

// create creates a resource and returns its UID.
func (w *world) create(path, body string) string {
	w.t.Helper()
	return w.do(http.MethodPost, path, body).expectStatus(http.StatusOK).text("uid")
}

// expectStatus expects a status.
func (r reply) expectStatus(status int) reply {
	r.t.Helper()
	if r.status != status {
		r.t.Fatalf("%s: %d, want %d: %s", r.asked, r.status, status, r.raw)
	}
	return r
}

// text returns a member of the response. path has the names of the objects around it.
func (r reply) text(path ...string) string {
	r.t.Helper()
	object := r.json
	for _, name := range path[:len(path)-1] {
		object, _ = object[name].(map[string]any)
	}
	s, _ := object[path[len(path)-1]].(string)
	return s
}

// items returns one member of each item of a list.
func (r reply) items(plural, member string) string {
	r.t.Helper()
	list, ok := r.json[plural].([]any)
	if !ok {
		r.t.Fatalf("%s: no %s in %s", r.asked, plural, r.raw)
	}
	names := make([]string, len(list))
	for i, item := range list {
		names[i], _ = item.(map[string]any)[member].(string)
	}
	return strings.Join(names, " ")
}

// detail returns the error detail of a type, or nil.
func (r reply) detail(kind string) map[string]any {
	details, _ := r.json["details"].([]any)
	for _, d := range details {
		if d, _ := d.(map[string]any); d["@type"] == "type.googleapis.com/google.rpc."+kind {
			return d
		}
	}
	return nil
}

// violations returns the fields that an error names, in its order.
func (r reply) violations() string {
	list, _ := r.detail("BadRequest")["fieldViolations"].([]any)
	fields := make([]string, len(list))
	for i, v := range list {
		fields[i], _ = v.(map[string]any)["field"].(string)
	}
	return strings.Join(fields, " ")
}

// query escapes the values of a query.
func query(pairs ...string) string {
	values := url.Values{}
	for i := 0; i < len(pairs); i += 2 {
		values.Add(pairs[i], pairs[i+1])
	}
	return "?" + values.Encode()
}
