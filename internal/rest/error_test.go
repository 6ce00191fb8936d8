package rest

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An errorResponse is a decoded error response.
type errorResponse struct {
	http   int
	header http.Header
	body   struct {
		Code    int
		Message string
		Details []map[string]any
	}
}

func writeError(t *testing.T, o Options, r *http.Request, err error) errorResponse {
	t.Helper()
	w := httptest.NewRecorder()
	w.Header().Set("X-Request-Id", "req-1")
	o.WriteError(w, r, err)
	got := errorResponse{http: w.Code, header: w.Header()}
	if err := json.Unmarshal(w.Body.Bytes(), &got.body); err != nil {
		t.Fatalf("%s: %v", w.Body, err)
	}
	return got
}

func TestEveryCodeHasItsHTTPStatus(t *testing.T) {
	t.Parallel()
	for code, want := range map[core.Code]int{3: 400, 4: 504, 5: 404, 6: 409, 7: 403, 8: 429, 9: 400, 10: 409, 12: 501, 13: 500, 14: 503, 16: 401} {
		t.Run(code.String(), func(t *testing.T) {
			t.Parallel()
			r := httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil)
			got := writeError(t, Options{}, r, fmt.Errorf("wrapped: %w", &core.Error{Code: code, Reason: code.String(), Message: "m"}))
			if got.http != want || got.body.Code != int(code) || got.body.Message != "m" {
				t.Errorf("got %d %+v, want %d", got.http, got.body, want)
			}
			info := got.body.Details[0]
			if info["@type"] != "type.googleapis.com/google.rpc.ErrorInfo" || info["reason"] != code.String() || info["domain"] != "registry.atrium.dev" {
				t.Errorf("ErrorInfo %v, want @type 'type.googleapis.com/google.rpc.ErrorInfo' and domain 'registry.atrium.dev'", info)
			}
			for name, want := range map[string]string{
				"Content-Type": "application/json", "Cache-Control": "no-store", "X-Content-Type-Options": "nosniff",
			} {
				if got.header.Get(name) != want {
					t.Errorf("%s: %q, want %q", name, got.header.Get(name), want)
				}
			}
			if challenge := got.header.Get("WWW-Authenticate"); (challenge == "Bearer") != (want == 401) {
				t.Errorf("WWW-Authenticate %q", challenge)
			}
		})
	}
}

func TestTheDomainOfAnErrorIsItsAreaThenItsPath(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ path, area, want string }{
		{"/advisory/v2/metadata", "", "advisory.example.org"},
		{"/events/v2/subscriptions/x", "iam", "iam.example.org"},
		{"/ping/v2/ping", "", "ping.example.org"},
		{"/somewhere", "", "iam.example.org"},
	} {
		r := httptest.NewRequest(http.MethodGet, c.path, nil)
		got := writeError(t, Options{ServiceDomain: "example.org"}, r, &core.Error{Code: core.CodeNotFound, Area: c.area})
		if domain := got.body.Details[0]["domain"]; domain != c.want {
			t.Errorf("%s %q: %v, want %s", c.path, c.area, domain, c.want)
		}
	}
}

func TestRetryAfterIsRoundedUp(t *testing.T) {
	t.Parallel()
	r := httptest.NewRequest(http.MethodGet, "/", nil)
	got := writeError(t, Options{}, r, &core.Error{Code: core.CodeResourceExhausted, RetryAfter: 1100 * time.Millisecond})
	if after := got.header.Get("Retry-After"); after != "2" {
		t.Errorf("Retry-After %q, want 2", after)
	}
}

func TestAnInternalCauseIsLoggedOnceAndNeverShown(t *testing.T) {
	t.Parallel()
	secret := errors.New("password in a DSN")
	gone, leave := context.WithCancel(t.Context())
	leave()
	for _, c := range []struct {
		name    string
		ctx     context.Context
		err     error
		logged  string // "" means that nothing is logged.
		details int
	}{
		{"internal", t.Context(), secret, "level=ERROR", 1},
		{"unavailable", t.Context(), core.Unavailable("the store is away", secret), "level=WARN", 2},
		{"unavailable without a cause", t.Context(), core.Unavailable("shutting down", nil), "", 2},
		{"the client's fault", t.Context(), core.Invalid(fieldmask.Violation{Field: "f", Description: "d"}), "", 2},
		{"the client is gone", gone, secret, "", 1},
		{"cancelled", gone, fmt.Errorf("query: %w", context.Canceled), "", 2},
		{"deadline", t.Context(), fmt.Errorf("query: %w", context.DeadlineExceeded), "", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			var log bytes.Buffer
			o := Options{Logger: slog.New(slog.NewTextHandler(&log, nil))}
			got := writeError(t, o, httptest.NewRequestWithContext(c.ctx, http.MethodGet, "/iam/v2/groups", nil), c.err)
			if shown := fmt.Sprint(got.body); strings.Contains(shown, secret.Error()) {
				t.Errorf("shown: %s", shown)
			}
			if len(got.body.Details) != c.details {
				t.Errorf("details %v, want %v of them", got.body.Details, c.details)
			}
			if c.logged == "" {
				if log.Len() > 0 {
					t.Errorf("logged %s", log.String())
				}
				return
			}
			if lines := strings.Count(log.String(), "\n"); lines != 1 || !strings.Contains(log.String(), c.logged) ||
				!strings.Contains(log.String(), "request_id=req-1") || !strings.Contains(log.String(), secret.Error()) {
				t.Errorf("logged %s, want it to contain %q", log.String(), c.logged)
			}
		})
	}
	got := writeError(t, Options{}, httptest.NewRequest(http.MethodGet, "/", nil), secret)
	if metadata, _ := got.body.Details[0]["metadata"].(map[string]any); metadata["requestId"] != "req-1" {
		t.Errorf("ErrorInfo %v, want requestId 'req-1'", got.body.Details[0])
	}
}
