package server

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"atrium/internal/graphql"
	"atrium/internal/telemetry"
	"atrium/platform/core"
	"atrium/store"
)

// Traces that are switched off must allocate nothing. This test is not parallel, because
// the allocations of other tests would be counted too.
func TestTracesThatAreOffAllocateNothing(t *testing.T) { //nolint:paralleltest // see above
	r := (&Config{Logger: discardLogger()}).newRecorder()
	request := httptest.NewRequest(http.MethodPost, "/graphql", http.NoBody)
	request.Header.Set("Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01")
	trace := &core.Trace{}
	e := &exchange{recorder: r, request: request, protocol: "rest", trace: trace}
	ctx := core.WithTrace(t.Context(), trace)
	statements, seen := []*store.Statement{{SQL: "SELECT 1"}}, &observed{}
	if n := testing.AllocsPerRun(100, func() {
		inner := e.beginSpan(ctx)
		inner, end := trace.BeginOperation(inner, "ListRepos", "/registry/v2/repos")
		inner, _ = r.beginGraphQLSpan(inner, trace, graphql.Operation{Name: "Page", Type: "query"})
		r.traceRoundTrip(inner, statements, time.Millisecond, nil)
		end()
		e.endSpan("OK", core.Facts{}, seen)
	}); n != 0 {
		t.Errorf("traces that are off allocate %v times in a request", n)
	}
	if trace.TraceID != "4bf92f3577b34da6a3ce929d0e0e4736" || r.fieldObserver() != nil {
		t.Errorf("the trace is %q, want 4bf92f3577b34da6a3ce929d0e0e4736, and fields are told: %t", trace.TraceID, r.fieldObserver() != nil)
	}
}

// newTraces returns traces whose receiver discards all spans.
func newTraces(b *testing.B) *telemetry.Traces {
	b.Helper()
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	b.Cleanup(receiver.Close)
	env := func(name string) string {
		if name == "OTEL_EXPORTER_OTLP_ENDPOINT" {
			return receiver.URL
		}
		return ""
	}
	traces, err := telemetry.NewTraces(b.Context(), env, "bench", func(err error) { b.Error(err) })
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = traces.Close(context.Background()) })
	return traces
}

// BenchmarkRecorder measures what logs, metrics and traces cost a request that
// reads a field and sends three statements. The traces include the export of
// every span. Compare the results with BenchmarkProtocols/page.
func BenchmarkRecorder(b *testing.B) {
	silent := slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError}))
	for name, c := range map[string]Config{
		"metrics":        {Logger: silent, Metrics: telemetry.New("bench")},
		"metrics+log":    {Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), Metrics: telemetry.New("bench")},
		"metrics+traces": {Logger: silent, Metrics: telemetry.New("bench"), Traces: newTraces(b)},
	} {
		r := c.newRecorder()
		statements := []*store.Statement{{SQL: "SELECT 1"}}
		handler := r.recordRequests(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
			ctx, end := r.beginGraphQLSpan(request.Context(), core.TraceOf(request.Context()), graphql.Operation{Name: "Page", Type: "query", Cost: 50})
			r.observe(ctx, graphql.Operation{Name: "Page", Cost: 50})
			if end != nil {
				defer end(nil)
			}
			if observe := r.fieldObserver(); observe != nil {
				var endField func(error)
				ctx, endField = observe(ctx, "Query", "repos", 1)
				defer endField(nil)
			}
			for range 3 {
				took := time.Since(time.Now())
				core.TraceOf(ctx).NoteWait(took)
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
