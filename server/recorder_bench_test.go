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

// BenchmarkRecorder is what logs and metrics cost a request that sends three
// statements. BenchmarkProtocols/page is what they are a share of.
func BenchmarkRecorder(b *testing.B) {
	silent := slog.New(slog.NewJSONHandler(io.Discard, &slog.HandlerOptions{Level: slog.LevelError}))
	for name, c := range map[string]Config{
		"metrics":     {Logger: silent, Metrics: telemetry.New("bench")},
		"metrics+log": {Logger: slog.New(slog.NewJSONHandler(io.Discard, nil)), Metrics: telemetry.New("bench")},
	} {
		r := c.newRecorder()
		statements := []*store.Statement{{SQL: "SELECT 1"}}
		handler := r.recorded(http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
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
