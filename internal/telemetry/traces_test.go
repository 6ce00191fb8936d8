package telemetry

import (
	"net/http"
	"testing"
)

func TestTracesAreJoinedAsTheOperatorSays(t *testing.T) {
	t.Parallel()
	const trace = "4bf92f3577b34da6a3ce929d0e0e4736"
	for propagators, joins := range map[string]bool{"": true, "tracecontext,baggage": true, "baggage, tracecontext": true, "baggage": false, "none": false} {
		env := map[string]string{"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_PROPAGATORS": propagators}
		traces, err := NewTraces(t.Context(), func(name string) string { return env[name] }, "v1", func(error) {})
		if err != nil {
			t.Fatal(err)
		}
		ctx := traces.Join(t.Context(), http.Header{"Traceparent": {"00-" + trace + "-00f067aa0ba902b7-01"}})
		_, span := traces.Start(ctx, Server, "GET")
		if joined := span.TraceID() == trace; joined != joins || (span.TraceParent() != "") != joins {
			t.Errorf("%q: the trace is %s, and %q is passed on; want that of the client: %t", propagators, span.TraceID(), span.TraceParent(), joins)
		}
	}
}
