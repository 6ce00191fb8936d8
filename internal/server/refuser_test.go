package server

import (
	"net/http"
	"net/http/httptest"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"
	"unsafe"
	"weak"

	"atrium/internal/rest"
	"atrium/platform/core"
)

var errCrowded = &core.Error{Code: core.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED", Message: "Resource exhausted: too many", RetryAfter: time.Second}

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
		refused.refuse(httptest.NewRecorder(), c.before, "queue", errCrowded)
		got, want := httptest.NewRecorder(), httptest.NewRecorder()
		refused.refuse(got, c.after, "queue", errCrowded)
		write(want, c.after, errCrowded)
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
		refused.refuse(w, r, "queue", errCrowded)
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
		refused.refuse(httptest.NewRecorder(), r, "queue", errCrowded)
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
