package telemetry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"

	"go.opentelemetry.io/otel"
	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	"go.opentelemetry.io/otel/exporters/otlp/otlptrace"
	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/sdk/resource"
	sdk "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/trace"
)

// Traces record what requests are made of, for OpenTelemetry. A nil *Traces
// records nothing, and takes no memory for it. It is safe for concurrent use.
type Traces struct {
	provider *sdk.TracerProvider
	tracer   trace.Tracer
}

// An Attribute is something that is known of a span, by the name that the
// semantic conventions of OpenTelemetry have for it.
type Attribute = attribute.KeyValue

// Text is an attribute that is a text.
func Text(name, value string) Attribute { return attribute.String(name, value) }

// Number is an attribute that is a number.
func Number(name string, value int) Attribute { return attribute.Int(name, value) }

// A Role says which part of a call between programs a span is.
type Role trace.SpanKind

// Spans are the work of this program, an answer to another one, or a question
// to it.
const (
	Internal = Role(trace.SpanKindInternal)
	Server   = Role(trace.SpanKindServer)
	Client   = Role(trace.SpanKindClient)
)

// NewTraces makes traces as the standard variables of OpenTelemetry say, which
// env gives; nil where these ask for none. The SDK looks for those of samplers,
// limits and batches by itself. Report hears of what could not be sent.
func NewTraces(ctx context.Context, env func(name string) string, version string, report func(error)) (*Traces, error) {
	client, err := newClient(env)
	if client == nil || err != nil {
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
	return &Traces{provider, provider.Tracer("atrium", trace.WithInstrumentationVersion(version))}, nil
}

// Close sends what was recorded and not sent yet.
func (t *Traces) Close(ctx context.Context) error {
	if t == nil {
		return nil
	}
	return t.provider.Shutdown(ctx)
}

// parents reads and writes the headers traceparent and tracestate of the W3C.
var parents propagation.TraceContext

// Join gives a context whose spans are part of the trace that headers name.
func (t *Traces) Join(ctx context.Context, h http.Header) context.Context {
	if t == nil {
		return ctx
	}
	return parents.Extract(ctx, propagation.HeaderCarrier(h))
}

// JoinParent is Join for a traceparent that was kept; "" begins a trace.
func (t *Traces) JoinParent(ctx context.Context, parent string) context.Context {
	if t == nil || parent == "" {
		return ctx
	}
	return parents.Extract(ctx, propagation.MapCarrier{"traceparent": parent})
}

// Start begins a span in that of ctx, and gives the context of what belongs to
// it. The span is nil where nothing is recorded.
func (t *Traces) Start(ctx context.Context, role Role, name string, attributes ...Attribute) (context.Context, *Span) {
	if t == nil {
		return ctx, nil
	}
	ctx, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKind(role)), trace.WithAttributes(attributes...))
	return ctx, &Span{span}
}

// Recording reports whether what is done in ctx belongs to a span that is
// recorded: whoever is to describe what is done need not, otherwise.
func (t *Traces) Recording(ctx context.Context) bool {
	return t != nil && trace.SpanFromContext(ctx).IsRecording()
}

// Did records something that has just been done, and how long that took.
func (t *Traces) Did(ctx context.Context, role Role, name string, took time.Duration, err error, attributes ...Attribute) {
	if !t.Recording(ctx) {
		return
	}
	now := time.Now()
	_, span := t.tracer.Start(ctx, name, trace.WithSpanKind(trace.SpanKind(role)), trace.WithAttributes(attributes...), trace.WithTimestamp(now.Add(-took)))
	if err != nil {
		span.SetStatus(codes.Error, "")
	}
	span.End(trace.WithTimestamp(now))
}

// A Span is a part of a trace. A nil *Span is none.
type Span struct{ span trace.Span }

// TraceID names the trace that s is part of; "" where there is none.
func (s *Span) TraceID() string {
	if s == nil {
		return ""
	}
	return s.span.SpanContext().TraceID().String()
}

// Parent is the traceparent of what s causes elsewhere; "" where there is none.
func (s *Span) Parent() string {
	if s == nil {
		return ""
	}
	carrier := propagation.MapCarrier{}
	parents.Inject(trace.ContextWithSpan(context.Background(), s.span), carrier)
	return carrier["traceparent"]
}

// Recorded reports whether anybody will see s.
func (s *Span) Recorded() bool { return s != nil && s.span.IsRecording() }

// Name gives s another name, now that more is known of it.
func (s *Span) Name(name string) {
	if s != nil {
		s.span.SetName(name)
	}
}

// Add adds what has become known.
func (s *Span) Add(attributes ...Attribute) {
	if s != nil {
		s.span.SetAttributes(attributes...)
	}
}

// End ends s. A fault, if there is one, says in a word what went wrong.
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
