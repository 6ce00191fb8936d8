package server

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"

	"atrium/internal/graphql"
	"atrium/internal/rpc"
	"atrium/internal/telemetry"
	"atrium/platform/core"
	"atrium/platform/webhooks"
	"atrium/store"
)

// The server records spans for OpenTelemetry: one for each request, its operation,
// each GraphQL field that reads, each round trip to the database, and each attempt
// of a delivery. Their names and attributes follow the semantic conventions of
// OpenTelemetry. Health checks are not recorded.

// beginSpan begins the span of the request. If the server records nothing, the
// traceparent of the client is passed on.
func (e *exchange) beginSpan(ctx context.Context) context.Context {
	parent := e.request.Header.Get("Traceparent")
	if e.traces == nil || e.protocol == "health" {
		if e.trace.TraceID = traceID(parent); e.trace.TraceID != "" {
			e.trace.Parent = parent
		}
		return ctx
	}
	ctx, e.span = e.traces.Start(e.traces.Join(ctx, e.request.Header), telemetry.Server, semanticMethod(e.request))
	e.trace.TraceID, e.trace.Parent = e.span.TraceID(), e.span.TraceParent()
	if e.span.IsRecording() {
		e.trace.Begin = e.beginOperation
		e.span.Add(requestAttributes(e.request)...)
	}
	return ctx
}

// traceID returns the id of the trace that a W3C traceparent names, or "" if the
// traceparent is empty or malformed.
func traceID(parent string) string {
	if len(parent) < 55 || parent[2] != '-' || parent[35] != '-' || parent[52] != '-' || len(parent) > 55 && (parent[:2] == "00" || parent[55] != '-') || len(parent) > maxTraceParent {
		return ""
	}
	for _, part := range []string{parent[:2], parent[3:35], parent[36:52], parent[53:55]} {
		if strings.Trim(part, "0123456789abcdef") != "" {
			return ""
		}
	}
	if parent[:2] == "ff" || strings.Trim(parent[3:35], "0") == "" || strings.Trim(parent[36:52], "0") == "" {
		return ""
	}
	return parent[3:35]
}

// maxTraceParent is longer than a traceparent of any version so far.
const maxTraceParent = 128

// recordedTrace returns the id of a trace that somebody records, and otherwise "".
func recordedTrace(t *core.Trace) string {
	if t == nil || t.TraceID == "" || len(t.Parent) < 55 {
		return ""
	}
	if flags, err := strconv.ParseUint(t.Parent[53:55], 16, 8); err != nil || flags&1 == 0 { // not sampled
		return ""
	}
	return t.TraceID
}

// semanticMethod returns the method of a request for a span. The semantic conventions
// replace an unknown method by _OTHER.
func semanticMethod(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return r.Method
	}
	return "_OTHER"
}

// requestAttributes returns the attributes of a request. They do not include the
// query string, because it may contain personal names.
func requestAttributes(r *http.Request) []telemetry.Attribute {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	path := r.URL.EscapedPath()
	return []telemetry.Attribute{
		telemetry.Text("http.request.method", semanticMethod(r)),
		telemetry.Text("url.path", path[:min(len(path), maxLoggedPath)]),
		telemetry.Text("url.scheme", scheme),
		telemetry.Text("network.protocol.version", strings.TrimPrefix(strings.TrimPrefix(r.Proto, "HTTP/"), "HTTP/")),
		telemetry.Text("user_agent.original", r.UserAgent()),
	}
}

// parameterForm matches the form of a parameter in a route pattern, such as =** in
// {uid=**}.
var parameterForm = regexp.MustCompile(`=[^}]*}`)

// beginOperation begins the span of a REST or gRPC operation. It has the signature of
// core.Trace.Begin.
func (e *exchange) beginOperation(ctx context.Context, operation, route string) (context.Context, func()) {
	e.route = parameterForm.ReplaceAllString(route, "}")
	ctx, span := e.traces.Start(ctx, telemetry.Internal, operation)
	return ctx, func() { span.End("") }
}

// endSpan ends the span of the request, and adds the attributes that are known only
// at the end.
func (e *exchange) endSpan(code string, facts core.Facts, seen *observed) {
	if !e.span.IsRecording() {
		e.span.End("")
		return
	}
	if e.route == "" && e.protocol == "graphql" {
		e.route = e.request.URL.Path
	}
	switch {
	case e.route != "" && rpc.Serves(e.request.URL.Path):
		e.span.Rename(strings.TrimPrefix(e.route, "/"))
		e.span.Add(rpcAttributes(e.protocol, strings.TrimPrefix(e.route, "/"), code)...)
	case e.route != "":
		e.span.Rename(semanticMethod(e.request) + " " + e.route)
		e.span.Add(telemetry.Text("http.route", e.route))
	}
	e.span.Add(telemetry.Number("http.response.status_code", seen.code()), telemetry.Text("atrium.request.id", e.trace.ID), telemetry.Text("atrium.code", code))
	if len(facts.Identities) > 0 {
		e.span.Add(telemetry.Text("user.id", joinUIDs(facts.Identities)))
	}
	e.span.End(serverFault(code))
}

// rpcAttributes returns the attributes of a call. Connect has names for errors only, and gRPC
// also for success.
func rpcAttributes(protocol, method, code string) []telemetry.Attribute {
	attributes := []telemetry.Attribute{telemetry.Text("rpc.method", method)}
	switch {
	case protocol != "connect":
		return append(attributes, telemetry.Text("rpc.system.name", "grpc"), telemetry.Text("rpc.response.status_code", code))
	case code == "OK":
		return append(attributes, telemetry.Text("rpc.system.name", "connectrpc"))
	case code == cancelled:
		code = "canceled"
	}
	return append(attributes, telemetry.Text("rpc.system.name", "connectrpc"), telemetry.Text("rpc.response.status_code", strings.ToLower(code)))
}

// serverFault returns code if it stands for a failure of the server, and otherwise "".
func serverFault(code string) string {
	switch code {
	case "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN", "DATA_LOSS":
		return code
	}
	return ""
}

// beginGraphQLSpan begins the span of a GraphQL operation. It returns the context of
// the operation, and a function to call with the response. The span of a subscription
// ends with its context, so no function is returned for it.
func (r *recorder) beginGraphQLSpan(ctx context.Context, own *core.Trace, o graphql.Operation) (context.Context, func(*gqlgen.Response)) {
	if !r.traces.IsRecording(ctx) {
		return ctx, nil
	}
	// Clients choose the names of operations, so the name of the span has only the type.
	ctx, span := r.traces.Start(ctx, telemetry.Internal, o.Type, telemetry.Text("graphql.operation.type", o.Type), telemetry.Number("atrium.graphql.cost", o.Cost))
	if o.Name != "" {
		span.Add(telemetry.Text("graphql.operation.name", o.Name[:min(len(o.Name), maxLoggedName)]))
	}
	own.Parent = span.TraceParent()
	end := func() {
		for _, code := range own.Facts().Codes {
			if fault := serverFault(code.String()); fault != "" {
				span.End(fault)
				return
			}
		}
		span.End("")
	}
	if o.IsSubscription {
		context.AfterFunc(ctx, end)
		return ctx, nil
	}
	return ctx, func(*gqlgen.Response) { end() }
}

// fieldObserver returns a function that records a span for each GraphQL field that
// reads. It returns nil if the server records no traces.
func (r *recorder) fieldObserver() func(ctx context.Context, object, field string, objects int) (context.Context, func(error)) {
	if r == nil || r.traces == nil {
		return nil
	}
	return func(ctx context.Context, object, field string, objects int) (context.Context, func(error)) {
		if !r.traces.IsRecording(ctx) {
			return ctx, func(error) {}
		}
		ctx, span := r.traces.Start(ctx, telemetry.Internal, object+"."+field,
			telemetry.Text("atrium.graphql.field.parent", object), telemetry.Text("atrium.graphql.field.name", field), telemetry.Number("atrium.graphql.objects", objects))
		return ctx, func(err error) {
			if err != nil {
				span.End(serverFault(core.AsError(err).Code.String()))
				return
			}
			span.End("")
		}
	}
}

// traceRoundTrip records a span for statements that were sent together. It does not
// record their arguments.
func (r *recorder) traceRoundTrip(ctx context.Context, statements []*store.Statement, took time.Duration, err error) {
	if !r.traces.IsRecording(ctx) {
		return
	}
	name := "BATCH"
	attributes := []telemetry.Attribute{telemetry.Text("db.system.name", r.system), telemetry.Text("db.query.text", cutSQL(statements))}
	if len(statements) == 1 {
		name = verb(statements[0].SQL)
	} else {
		attributes = append(attributes, telemetry.Number("db.operation.batch.size", len(statements)))
	}
	r.traces.RecordFinished(ctx, telemetry.Client, name, took, err, append(attributes, telemetry.Text("db.operation.name", name))...)
}

// databaseSystem returns the name of the database of a URL in the semantic conventions.
func databaseSystem(databaseURL string) string {
	if strings.HasPrefix(databaseURL, "sqlite:") {
		return "sqlite"
	}
	return "postgresql"
}

// traceAttempts wraps send. Each attempt is recorded in the trace of the request that
// made the change. If the server records nothing, that trace is passed on to the sink.
func (r *recorder) traceAttempts(send func(context.Context, *webhooks.Dispatch) webhooks.Attempt) func(context.Context, *webhooks.Dispatch) webhooks.Attempt {
	return func(ctx context.Context, d *webhooks.Dispatch) webhooks.Attempt {
		trace := &core.Trace{Parent: d.Event.Cause}
		ctx = core.WithTrace(ctx, trace)
		if r.traces == nil {
			return send(ctx, d)
		}
		ctx, span := r.traces.Start(r.traces.JoinParent(ctx, d.Event.Cause), telemetry.Client, http.MethodPost,
			telemetry.Text("http.request.method", http.MethodPost), telemetry.Text("server.address", sinkHost(d.Sink)),
			telemetry.Text("cloudevents.event_id", d.Event.ID), telemetry.Text("cloudevents.event_type", d.Event.Type),
			telemetry.Text("cloudevents.event_subject", string(d.Event.Subject)), telemetry.Number("http.request.resend_count", int(d.Delivery.Attempts)))
		trace.Parent = span.TraceParent()
		attempt := send(ctx, d)
		fault := ""
		switch {
		case attempt.Status == 0:
			fault = "_OTHER"
		case attempt.Status >= http.StatusMultipleChoices:
			fault = strconv.Itoa(attempt.Status)
		}
		if attempt.Status != 0 {
			span.Add(telemetry.Number("http.response.status_code", attempt.Status))
		}
		span.End(fault)
		return attempt
	}
}

// sinkHost returns the host of a sink. The rest of the URL is not recorded, because
// its path may contain a secret.
func sinkHost(sink string) string {
	u, err := url.Parse(sink)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
