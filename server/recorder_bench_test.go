package server

import (
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"atrium/graphql"
	"atrium/platform"
	"atrium/store"
	"atrium/telemetry"
)

// Traces that are off allocate nothing. This test is not parallel, because the
// allocations of other tests would be counted too.
func TestTracesThatAreOffAllocateNothing(t *testing.T) { //nolint:paralleltest // see above
	r := (&Config{Logger: discardLogger()}).newRecorder()
	request := httptest.NewRequest(http.MethodPost, "/graphql", http.NoBody)
	request.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	trace := &platform.Trace{}
	e := &exchange{recorder: r, request: request, protocol: "rest", trace: trace}
	ctx := platform.WithTrace(t.Context(), trace)
	statements, seen := []*store.Statement{{SQL: "SELECT 1"}}, &observed{}
	if n := testing.AllocsPerRun(100, func() {
		inner := e.beginSpan(ctx)
		inner, end := trace.BeginOperation(inner, "ListRepos", "/registry/v2/repos")
		inner, _ = r.beginGraphQLSpan(inner, trace, graphql.Operation{Name: "Page", Type: "query"})
		r.traceRoundTrip(inner, statements, time.Millisecond, nil)
		end()
		e.endSpan("OK", platform.Facts{}, seen)
	}); n != 0 {
		t.Errorf("traces that are off allocate %v times in a request", n)
	}
	if trace.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || r.fieldObserver() != nil {
		t.Errorf("the trace is %q, and fields are told: %t", trace.TraceID, r.fieldObserver() != nil)
	}
}

// BenchmarkRecorder measures the cost of logs and metrics for a request with three
// statements. BenchmarkProtocols/page measures the whole cost of such a request.
func BenchmarkRecorder(b *testing.B) {
	silent := slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError}))
	for name, c := range map[string]Config{
		"metrics":     {Logger: silent, Metrics: telemetry.New("bench")},
		"metrics+log": {Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), Metrics: telemetry.New("bench")},
	} {
		r := c.newRecorder()
		statements := []*store.Statement{{SQL: "SELECT 1"}}
		handler := r.recordRequests(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			ctx := request.Context()
			r.observe(ctx, graphql.Operation{Name: "Page", Cost: 50})
			for range 3 {
				took := time.Since(time.Now())
				platform.TraceOf(ctx).NoteWait(took)
				r.RoundTrip(ctx, statements, took, nil)
			}
			w.WriteHeader(http.StatusOK)
		}))
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			request := httptest.NewRequest(http.MethodPost, "/graphql", http.NoBody)
			for b.Loop() {
				handler.ServeHTTP(httptest.NewRecorder(), request)
			}
		})
	}
}
