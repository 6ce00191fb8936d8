package server

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/apierror"
	"atrium/internal/rest"
	"atrium/internal/telemetry"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// An operator who counts lines must find each failed request once, with its cause.
func TestAFailedRequestIsInTheLogOnce(t *testing.T) {
	t.Parallel()
	fail := func(err error) http.HandlerFunc {
		return func(w http.ResponseWriter, r *http.Request) { rest.Options{}.WriteError(w, r, err) }
	}
	for name, c := range map[string]struct {
		handler http.HandlerFunc
		want    []string
	}{
		"an internal error":       {fail(errors.New("the cause")), []string{"level=ERROR msg=request ", "code=INTERNAL", "the cause", "path=/registry/v2/repos"}},
		"a database that is away": {fail(core.Unavailable("the database", errors.New("the cause"))), []string{"level=WARN msg=request ", "code=UNAVAILABLE", "the cause"}},
		"an invalid request":      {fail(core.Invalid(fieldmask.Violation{Field: "name", Description: "is required"})), []string{"level=INFO msg=request ", "code=INVALID_ARGUMENT"}},
		"a panic":                 {func(http.ResponseWriter, *http.Request) { panic("the cause") }, []string{"level=ERROR msg=request ", "code=INTERNAL", "panic: the cause", "stack=", "recorder_failure_test.go"}},
		"a panic after the start of the answer": {func(w http.ResponseWriter, _ *http.Request) {
			w.WriteHeader(http.StatusOK)
			panic("the cause")
		}, []string{"level=ERROR msg=request ", "code=INTERNAL", "panic: the cause", "stack="}},
		"two errors of one request": {func(w http.ResponseWriter, r *http.Request) {
			for _, where := range []string{"repos.0", "repos.1"} {
				apierror.Errors{}.Report(r.Context(), apierror.Show(errors.New("the cause"), ""), "", where)
			}
			w.WriteHeader(http.StatusOK)
		}, []string{"level=ERROR msg=request ", "repos.0: ", "more_errors=\"[repos.1: "}},
	} {
		var logs bytes.Buffer
		logger := slog.New(slog.NewTextHandler(&logs, nil))
		handler := addOuterLayers(c.handler, rest.Options{Logger: logger}, (&Config{Logger: logger}).newRecorder(), nil)
		func() {
			defer func() { _ = recover() }() // The handler ends the connection.
			handler.ServeHTTP(httptest.NewRecorder(), httptest.NewRequest(http.MethodGet, "/registry/v2/repos", nil))
		}()
		for _, want := range c.want {
			if got := logs.String(); strings.Count(got, "\n") != 1 || !strings.Contains(got, want) {
				t.Errorf("%s: logged %q, want one line with %q", name, got, want)
			}
		}
	}
}

// The end of a stream may be hours away, so that its failures are logged at once, and only then.
func TestAFailureOfAStreamIsLoggedAtOnce(t *testing.T) {
	t.Parallel()
	var logs bytes.Buffer
	trace := &core.Trace{}
	trace.NoteStream()
	errs := apierror.Errors{Logger: slog.New(slog.NewTextHandler(&logs, nil))}
	errs.Report(core.WithTrace(t.Context(), trace), apierror.Show(errors.New("the cause"), ""), "req-1", "events")
	if got := logs.String(); !strings.Contains(got, "level=ERROR") || !strings.Contains(got, "request_id=req-1") || !strings.Contains(got, "events: ") || len(trace.Facts().Failures) > 0 {
		t.Errorf("logged %q, want an error with the request id, and no failure in %v", got, trace.Facts())
	}
}

// What a caller has open is limited as its requests are, and an operator sees both in the same way.
func TestLimitsOfWhatACallerHasOpenAreRefusals(t *testing.T) {
	t.Parallel()
	synctest.Test(t, testOpenLimits)
}

func testOpenLimits(t *testing.T) {
	var logs bytes.Buffer
	metrics := telemetry.New("test")
	r := (&Config{Logger: slog.New(slog.NewTextHandler(&logs, nil)), Metrics: metrics}).newRecorder()
	shown := func(name string) func(context.Context, error) *gqlerror.Error {
		return noteLimits(func(context.Context, error) *gqlerror.Error {
			return &gqlerror.Error{Extensions: map[string]any{"status": int(core.CodeResourceExhausted), "limit": map[string]any{"name": name}}}
		})
	}
	// A stream of its own.
	stream := &core.Trace{ID: "stream", Remote: "192.0.2.1:7"}
	_ = shown("subscriptions")(core.WithTrace(t.Context(), stream), nil)
	r.finish(finished{protocol: "graphql", trace: stream, facts: stream.Facts(), code: "RESOURCE_EXHAUSTED"})
	// An operation on a websocket, and the websocket itself.
	socket := &core.Trace{ID: "socket", Remote: "192.0.2.2:7"}
	connected, disconnect := context.WithCancel(core.WithTrace(t.Context(), socket))
	_ = shown("operations")(r.beginOperation(connected), nil)
	if limit := socket.Facts().Limit; limit != "" {
		t.Errorf("the websocket has exceeded the limit %q of its operation", limit)
	}
	disconnect()
	_ = shown("sockets")(connected, nil)
	r.finish(finished{protocol: "graphql", trace: socket, facts: socket.Facts(), code: "RESOURCE_EXHAUSTED"})
	synctest.Wait()
	r.refusals.flush()
	scraped := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(scraped, httptest.NewRequest(http.MethodGet, "/metrics", nil))
	for _, limit := range []string{"subscriptions", "operations", "sockets"} {
		if sample := `atrium_limit_refusals_total{limit="` + limit + `"} 1`; !strings.Contains(scraped.Body.String(), sample+"\n") {
			t.Errorf("no %s", sample)
		}
		if want := "limit=" + limit + " remote=192.0.2."; strings.Count(logs.String(), want) != 1 {
			t.Errorf("logged %s, want one line with %s", &logs, want)
		}
	}
	if strings.Contains(logs.String(), "msg=request ") {
		t.Errorf("refusals have lines of their own in %s", &logs)
	}
}
