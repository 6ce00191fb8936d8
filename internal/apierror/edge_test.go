package apierror

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

func TestEveryCodeHasAnHTTPStatus(t *testing.T) {
	t.Parallel()
	for code := range core.Code(20) {
		if status := HTTPStatus(code); (code.String() != "") != (status >= 400) {
			t.Errorf("%s (%d) has the status %d", code, code, status)
		}
	}
}

// The guide has the status of each code.
func TestTheGuideHasEveryCode(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/errors.md")
	if err != nil {
		t.Fatal(err)
	}
	table := "| code | number (gRPC) | HTTP status |\n|---|---|---|\n"
	for code := range core.Code(20) {
		if status := HTTPStatus(code); status != 0 {
			table += fmt.Sprintf("| `%s` | %d | %d %s |\n", code, int(code), status, http.StatusText(status))
		}
	}
	if !strings.Contains(string(page), table) {
		t.Errorf("docs/errors.md does not have this table:\n%s", table)
	}
}

func TestHiddenErrorsAreLogged(t *testing.T) {
	t.Parallel()
	gone, leave := context.WithCancel(t.Context())
	leave()
	for name, c := range map[string]struct {
		ctx  context.Context //nolint:containedctx // of one row
		err  error
		want string
	}{
		"an internal error":        {t.Context(), errors.New("the cause"), "level=ERROR"},
		"a database that is away":  {t.Context(), core.Unavailable("the database", errors.New("the cause")), "level=WARN"},
		"a commit that is lost":    {t.Context(), core.Uncertain(errors.New("the cause")), "level=WARN"},
		"a limit":                  {t.Context(), core.Unavailable("busy", nil), ""},
		"what the client is shown": {t.Context(), core.Unauthenticated("no token"), ""},
		"a client that went away":  {gone, errors.New("the cause"), ""},
	} {
		var logs bytes.Buffer
		e := Errors{Logger: slog.New(slog.NewTextHandler(&logs, nil))}
		e.Report(c.ctx, Show(c.err, "iam"), "req-1", "repos.0")
		got := logs.String()
		if c.want == "" && got != "" || !strings.Contains(got, c.want) {
			t.Errorf("%s: logs %s, want it to contain %q", name, got, c.want)
		}
		if c.want != "" && (!strings.Contains(got, "request_id=req-1 code=") || !strings.Contains(got, "the cause")) {
			t.Errorf("%s: logs %s", name, got)
		}
	}
	Errors{}.Report(t.Context(), Show(errors.New("x"), ""), "", "") // Without a logger, nothing happens.
}

func TestAnErrorKeepsItsOwnArea(t *testing.T) {
	t.Parallel()
	own := &core.Error{Code: core.CodeNotFound, Reason: "NOT_FOUND", Area: "registry"}
	if got := Show(fmt.Errorf("wrapped: %w", own), "iam"); got.Area != "registry" {
		t.Errorf("the area is %s, want registry", got.Area)
	}
	none := &core.Error{Code: core.CodeNotFound, Reason: "NOT_FOUND"}
	if got := Show(none, "events"); got.Area != "events" || none.Area != "" {
		t.Errorf("the area is %s, want events, and that of the error itself %q", got.Area, none.Area)
	}
	if domain := (Errors{}).Status(Show(none, "events"), "").Details[0]["domain"]; domain != "events.atrium.dev" {
		t.Errorf("the domain is %s, want events.atrium.dev", domain)
	}
}

func TestPathsLieInAreas(t *testing.T) {
	t.Parallel()
	for path, want := range map[string]string{
		"/registry/v2/repos": "registry", "/events/v2/subscriptions/x": "events", "/ping": "ping", "/graphql": "graphql", "/": "", "/livez": "", "/nonsense/v2": "",
		"/platform.registry.v2.ReposService/GetRepo": "registry", "/grpc.health.v1.Health/Check": "", "/registry.v2/x": "",
	} {
		if got := AreaOf(path); got != want {
			t.Errorf("%s lies in %q, want %q", path, got, want)
		}
	}
}

func TestErrorsSetTheirHTTPHeaders(t *testing.T) {
	t.Parallel()
	h := http.Header{}
	SetHeaders(h, &core.Error{Code: core.CodeResourceExhausted, RetryAfter: 1100 * time.Millisecond})
	SetHeaders(h, core.Unauthenticated("no token"))
	if h.Get("Retry-After") != "2" || h.Get("WWW-Authenticate") != "Bearer" {
		t.Errorf("headers %v, want Retry-After '2' and WWW-Authenticate 'Bearer'", h)
	}
}

func TestNamesAreSpelledInBothWays(t *testing.T) {
	t.Parallel()
	for camel, snake := range map[string]string{"updateTime": "update_time", "name": "name", "idpGroups": "idp_groups", "uidp.childrenOf": "uidp.children_of"} {
		if SnakeCase(camel) != snake || SnakeCase(snake) != snake || fieldmask.CamelCase(snake) != camel || fieldmask.CamelCase(camel) != camel {
			t.Errorf("%s and %s: %s, %s", camel, snake, SnakeCase(camel), fieldmask.CamelCase(snake))
		}
	}
}
