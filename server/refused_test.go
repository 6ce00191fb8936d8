package server

import (
	"bytes"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"unsafe"
	"weak"

	"atrium/platform"
	"atrium/rest"
)

// A request that the gate refuses gets the structured error of its protocol with the time
// to come back, also when the answer is one that is kept, and its body is not read.
func TestRefusalsAreStructuredInEveryProtocol(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	options := rest.Options{Logger: slog.New(slog.NewJSONHandler(&logs, nil))}
	refused := newRefuser(newErrorWriter(options))
	refuse := http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refused.refuse(w, r, limitQueue, crowdedErrors[1])
	})
	handler := addOuterLayers(refuse, options, (&Config{Logger: options.Logger}).newRecorder())
	for path, c := range map[string]struct{ contentType, code string }{
		"/registry/v2/repos": {"application/json", `"code":8`},
		"/graphql":           {"application/json", `"code":"RESOURCE_EXHAUSTED"`},
		"/platform.registry.v2.ReposService/ListRepos":         {"application/json", `"code":"resource_exhausted"`},
		"/platform.registry.v2.ReposService/ListRepos?as=grpc": {"application/grpc+proto", ""},
	} {
		first := ""
		for range 2 {
			r := httptest.NewRequest(http.MethodPost, path, unreadBody{t})
			r.Header.Set("Content-Type", c.contentType)
			w := httptest.NewRecorder()
			handler.ServeHTTP(w, r)
			answer := w.Result()
			body, err := io.ReadAll(answer.Body)
			if err != nil {
				t.Fatal(err)
			}
			if c.code == "" {
				status := answer.Header.Get("Grpc-Status") + answer.Trailer.Get("Grpc-Status")
				if status != strconv.Itoa(int(platform.CodeResourceExhausted)) || answer.Trailer.Get("Grpc-Status-Details-Bin") == "" {
					t.Errorf("%s: grpc-status %q, want 8: %v", path, status, answer.Header)
				}
			} else if answer.StatusCode != http.StatusTooManyRequests || answer.Header.Get("Retry-After") != "2" || !json.Valid(body) ||
				!strings.Contains(string(body), c.code) || !strings.Contains(string(body), "google.rpc.RetryInfo") {
				t.Errorf("%s: %d %v %s", path, answer.StatusCode, answer.Header, body)
			}
			if answer.Header.Get("X-Request-Id") == "" {
				t.Errorf("%s: no request id", path)
			}
			if first == "" {
				first = string(body)
			} else if first != string(body) {
				t.Errorf("%s: the second refusal is %s, want %s", path, body, first)
			}
		}
	}
	if n := strings.Count(logs.String(), "\n"); n != 1 || !strings.Contains(logs.String(), "requests are refused") {
		t.Errorf("%d lines are logged, want 1: %s", n, logs.String())
	}
}

// An unreadBody fails a test that reads it.
type unreadBody struct{ t *testing.T }

func (b unreadBody) Read([]byte) (int, error) {
	b.t.Error("the body of a refused request is read")
	return 0, io.EOF
}

// The attack is a refusal whose form is kept for requests that must get another one.
func TestARefusalIsKeptOnlyForRequestsOfItsForm(t *testing.T) {
	t.Parallel()
	const call = "/platform.registry.v2.ReposService/ListRepos"
	newRequest := func(method, path string, header ...string) *http.Request {
		r := httptest.NewRequest(method, path, http.NoBody)
		for pair := range slices.Chunk(header, 2) {
			r.Header.Add(pair[0], pair[1])
		}
		return r
	}
	for name, c := range map[string]struct{ before, after *http.Request }{
		"the schema": {newRequest("GET", "/graphql/schema"), newRequest("GET", "/graphql")},
		"GraphQL":    {newRequest("GET", "/graphql"), newRequest("GET", "/graphql/schema")},
		"PUT": {
			newRequest("PUT", call, "Content-Type", "application/grpc"),
			newRequest("POST", call, "Content-Type", "application/grpc"),
		},
		"several headers Accept": {
			newRequest("POST", "/graphql", "Accept", "text/html", "Accept", "application/json"),
			newRequest("POST", "/graphql", "Accept", "text/html", "Accept", "application/graphql-response+json"),
		},
		"an unknown version of Connect": {
			newRequest("POST", call, "Content-Type", "application/connect+json", "Connect-Protocol-Version", "2"),
			newRequest("POST", call, "Content-Type", "application/connect+json"),
		},
	} {
		write := newErrorWriter(rest.Options{Logger: discardLogger()})
		refused := newRefuser(write)
		refused.refuse(httptest.NewRecorder(), c.before, limitQueue, crowdedErrors[0])
		got, want := httptest.NewRecorder(), httptest.NewRecorder()
		refused.refuse(got, c.after, limitQueue, crowdedErrors[0])
		write(want, c.after, crowdedErrors[0])
		gotType, wantType := got.Header().Get("Content-Type"), want.Header().Get("Content-Type")
		if got.Code != want.Code || got.Body.String() != want.Body.String() || gotType != wantType {
			t.Errorf("after %s: %d %s %s, want %d %s %s", name, got.Code, gotType, got.Body, want.Code, wantType, want.Body)
		}
	}
}

// The attack is headers that differ from request to request, so that each would be kept.
func TestKeptRefusalsAreBounded(t *testing.T) {
	t.Parallel()
	refused := newRefuser(rest.Options{}.WriteError)
	for n := range 2 * maxKept {
		r := httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil)
		r.Header.Set("Accept", strconv.Itoa(n))
		w := httptest.NewRecorder()
		refused.refuse(w, r, limitQueue, crowdedErrors[0])
		if w.Code != http.StatusTooManyRequests {
			t.Fatalf("refusal %d has the status %d", n, w.Code)
		}
	}
	if len(refused.kept) != maxKept {
		t.Errorf("%d refusals are kept, want %d", len(refused.kept), maxKept)
	}
}

// The attack is long paths, of which the key of a kept refusal has a part. A part that is
// long itself is not kept, and a short one does not keep the rest in memory.
func TestKeptRefusalsKeepNoLongPaths(t *testing.T) {
	t.Parallel()
	refused := newRefuser(newErrorWriter(rest.Options{Logger: discardLogger()}))
	refuse := func(path string) weak.Pointer[byte] {
		r := httptest.NewRequest(http.MethodPost, path, http.NoBody)
		refused.refuse(httptest.NewRecorder(), r, limitQueue, crowdedErrors[0])
		return weak.Make(unsafe.StringData(r.URL.Path))
	}
	long := strings.Repeat("x", maxLineBytes)
	refuse("/platform." + long + ".v2/ListRepos")
	if len(refused.kept) != 0 {
		t.Error("a refusal with a long key is kept")
	}
	path := refuse("/registry/v2/repos/" + long)
	runtime.GC()
	if len(refused.kept) != 1 || path.Value() != nil {
		t.Errorf("%d refusals are kept, want 1; a path is kept: %v", len(refused.kept), path.Value() != nil)
	}
	runtime.KeepAlive(refused)
}
