package server

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/internal/rest"
	"atrium/platform/core"
)

// A request that is rejected before it reaches the GraphQL endpoint gets a GraphQL
// response, in the requested media type.
func TestRefusalsOfGraphQLRequestsAreGraphQLErrors(t *testing.T) {
	t.Parallel()
	refuse := newErrorWriter(rest.Options{ServiceDomain: "example.org"})
	for _, c := range []struct {
		accept, media string
		err           error
		status        int
		code          string
		header        string
	}{
		{"application/graphql-response+json", "application/graphql-response+json", core.Unauthenticated("who?"), 401, "UNAUTHENTICATED", "WWW-Authenticate"},
		{"application/graphql-response+json, application/json;q=0.9", "application/graphql-response+json", crowded, 429, "RESOURCE_EXHAUSTED", "Retry-After"},
		{"application/json", "application/json", core.Unauthenticated("who?"), 401, "UNAUTHENTICATED", "WWW-Authenticate"},
		{"", "application/json", crowded, 429, "RESOURCE_EXHAUSTED", "Retry-After"},
		{"text/event-stream", "application/json", crowded, 429, "RESOURCE_EXHAUSTED", "Retry-After"},
	} {
		r := httptest.NewRequest(http.MethodPost, "/graphql", nil)
		r.Header.Set("Accept", c.accept)
		rw := httptest.NewRecorder()
		rw.Header().Set("X-Request-Id", "req-1")
		refuse(rw, r, c.err)
		var body struct {
			Errors []struct {
				Message    string
				Extensions struct {
					Code    string
					Status  int
					Details []map[string]any
				}
			}
			Data any
		}
		if err := json.Unmarshal(rw.Body.Bytes(), &body); err != nil || len(body.Errors) != 1 {
			t.Fatalf("%s: %s is no answer of GraphQL (%v)", c.accept, rw.Body, err)
		}
		media, _, _ := strings.Cut(rw.Header().Get("Content-Type"), ";")
		one := body.Errors[0]
		if rw.Code != c.status || media != c.media || one.Extensions.Code != c.code || len(one.Extensions.Details) == 0 || one.Message == "" || rw.Header().Get(c.header) == "" {
			t.Errorf("%s: status %d, want %d: %s, want %s: %s, %v", c.accept, rw.Code, c.status, media, c.media, rw.Body, rw.Header())
		}
		if strings.Contains(rw.Body.String(), `"data"`) {
			t.Errorf("%s: it has data: %s", c.accept, rw.Body)
		}
	}
	rw := httptest.NewRecorder()
	refuse(rw, httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil), crowded)
	if rw.Code != 429 || !strings.Contains(rw.Body.String(), `"code":8`) {
		t.Errorf("REST is answered %d, want 429: %s", rw.Code, rw.Body)
	}
}

var crowded = &core.Error{Code: core.CodeResourceExhausted, Reason: "RESOURCE_EXHAUSTED", Message: "Resource exhausted: too many", RetryAfter: 1e9}
