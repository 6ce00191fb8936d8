package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"
)

// Traces records the parts of requests as spans for OpenTelemetry. A nil *Traces
// records nothing and allocates nothing. It is safe for concurrent use.
type Traces struct {
	provider   *sdk.TracerProvider
	tracer     trace.Tracer
	propagator propagation.TextMapPropagator
}

// An Attribute is a name and a value that describe a span. The name comes from the
// semantic conventions of OpenTelemetry.
type Attribute = attribute.KeyValue

// Text returns an attribute whose value is a text.
func Text(name, value string) Attribute { return attribute.String(name, value) }

// Number returns an attribute whose value is a number.
func Number(name string, value int) Attribute { return attribute.Int(name, value) }

// A SpanKind says which part of a call between programs a span is.
type SpanKind trace.SpanKind

// The kinds of spans: work inside this program, an incoming request, and an outgoing
// request.
const (
	Internal = SpanKind(trace.SpanKindInternal)
	Server   = SpanKind(trace.SpanKindServer)
	Client   = SpanKind(trace.SpanKindClient)
)

// NewTraces returns Traces as the standard environment variables of OpenTelemetry
// configure them, or nil if they name no exporter. env returns the value of a variable.
// The SDK itself reads the variables for samplers, limits and batches. report is called
// with each error of sending spans.
func NewTraces(ctx context.Context, env func(name string) string, version string, report func(error)) (*Traces, error) {
	client, err := newClient(env)
	if client == nil || err != nil {
		return nil, err
	}
	propagator, err := newPropagator(env("OTEL_PROPAGATORS"))
	if err != nil {
		return nil, err
	}
	about, err := resource.New(ctx,
		resource.WithAttributes(Text("service.name", "atrium"), Text("service.version", version)),
		resource.WithTelemetrySDK(), resource.WithHost(), resource.WithFromEnv())
	if err != nil && !errors.Is(err, resource.ErrPartialResource) {
		return nil, fmt.Errorf("OTEL_RESOURCE_ATTRIBUTES: %w", err)
	}
	otel.SetErrorHandler(otel.ErrorHandlerFunc(report))
	exporter, err := otlptrace.New(ctx, client)
	if err != nil {
		return nil, err
	}
	provider := sdk.NewTracerProvider(sdk.WithResource(about), sdk.WithBatcher(exporter))
	tracer := provider.Tracer("atrium", trace.WithInstrumentationVersion(version), trace.WithSchemaURL(semconv.SchemaURL))
	return &Traces{provider, tracer, propagator}, nil
}

// newPropagator returns the propagator that OTEL_PROPAGATORS names; "" means the default,
// which is tracecontext and baggage. Baggage needs nothing here, since v1 gets the headers of the
// request, and nothing else reads it.
func newPropagator(names string) (propagation.TextMapPropagator, error) {
	if names == "" {
		return traceContext, nil
	}
	propagator := propagation.NewCompositeTextMapPropagator() // It does nothing.
	for name := range strings.SplitSeq(names, ",") {
		switch strings.TrimSpace(name) {
		case "tracecontext":
			propagator = traceContext
		case "baggage", "none":
		default:
			return nil, fmt.Errorf("OTEL_PROPAGATORS must be a list of tracecontext and baggage, or none, not %q", name)
		}
	}
	return propagator, nil
}

// Close sends the spans that have not been sent yet.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// traceContext reads and writes the W3C headers traceparent and tracestate.
var traceContext propagation.TraceContext

// Join returns a context whose spans are part of the trace that the headers name.
func (t *Traces) Join(ctx context.Context, h http.Header) context.Context {
	if t == nil {
		return ctx
	}
	return t.propagator.Extract(ctx, propagation.HeaderCarrier(h))
}

// JoinParent is Join for a stored traceparent. If it is "", the next span begins a new
// trace.
func (t *Traces) JoinParent(ctx context.Context, parent string) context.Context {
	if t == nil || parent == "" {
		return ctx
	}
	return traceContext.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}

// Start begins a span below the span of ctx. It returns the context for work inside the
// new span. The span is nil if t is nil.
func (t *Traces) Start(ctx context.Context, kind SpanKind, name string, attributes ...Attribute) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKind(kind)), trace.WithAttributes(attributes...))
	return ctx, &Span{span, t.propagator}
}

// IsRecording reports whether the span of ctx is recorded. If not, callers need not
// compute attributes.
func (t *Traces) IsRecording(ctx context.Context) bool {
	return t != nil && trace.SpanFromContext(ctx).IsRecording()
}

// RecordFinished records a span for work that has just ended, with its duration and its
// error.
func (t *Traces) RecordFinished(ctx context.Context, kind SpanKind, name string, took time.Duration, err error, attributes ...Attribute) {
	if !t.IsRecording(ctx) {
		return
	}
	now := time.Now()
	_, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKind(kind)), trace.WithAttributes(attributes...), trace.WithTimestamp(now.Add(-took)))
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(now))
}

// A Span is a part of a trace. All methods can be called on a nil *Span, which records
// nothing.
type Span struct {
	span       trace.Span
	propagator propagation.TextMapPropagator
}

// TraceID returns the id of the trace that s is part of, or "" for a nil span.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// TraceParent returns the traceparent to send with outgoing requests, or "" for a nil
// span and where OTEL_PROPAGATORS excludes it.
func (s *Span) TraceParent() string {
	if s == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	s.propagator.Inject(trace.ContextWithSpan(context.Background(), s.span), carrier)
	return carrier["traceparent"]
}

// IsRecording reports whether s is recorded.
func (s *Span) IsRecording() bool { return s != nil && s.span.IsRecording() }

// Rename changes the name of s.
func (s *Span) Rename(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Add adds attributes to s.
func (s *Span) Add(attributes ...Attribute) {
	if s != nil {
		s.span.SetAttributes(attributes...)
	}
}

// End ends s. A fault other than "" marks s as failed, with the fault as its error type.
func (s *Span) End(fault string) {
	if s == nil {
		return
	}
	if fault != "" {
		s.span.SetAttributes(Text("error.type", fault))
		s.span.SetStatus(codes.Error, "")
	}
	s.span.End()
}
