package server

import (
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"

	"atrium/graphql"
	"atrium/platform"
	"atrium/rpc"
	"atrium/store"
	"atrium/telemetry"
)

// What is recorded for OpenTelemetry: a span for each request, for its
// operation, for each field of GraphQL that reads, for each round trip to the
// database, and for each attempt of a delivery. Names and attributes are those
// of its semantic conventions. Health checks are not recorded.

// traced begins the span of the request. Where nothing is recorded, what the
// client has sent is passed on.
func (e *exchange) traced(ctx context.Context) context.Context {
	parent := e.request.Header.Get("Traceparent")
	if e.traces == nil || e.protocol == "health" {
		if e.trace.TraceID = traceID(parent); e.trace.TraceID != "" {
			e.trace.Parent = parent
		}
		return ctx
	}
	ctx, e.span = e.traces.Start(e.traces.Join(ctx, e.request.Header), telemetry.Server, methodOf(e.request))
	e.trace.TraceID, e.trace.Parent = e.span.TraceID(), e.span.Parent()
	if e.span.Recorded() {
		e.trace.Begin = e.begin
		e.span.Add(requestAttributes(e.request)...)
	}
	return ctx
}

// traceID reads the trace of a W3C traceparent; "" where there is none.
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

// maxTraceParent is more than any version of traceparent has so far.
const maxTraceParent = 128

// methodOf is the method of a request, as the conventions have it: those that
// nobody knows are one.
func methodOf(r *http.Request) string {
	switch r.Method {
	case http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodConnect, http.MethodTrace:
		return r.Method
	}
	return "_OTHER"
}

// requestAttributes say what a request was sent for. The query is left out: it
// holds names that people gave.
func requestAttributes(r *http.Request) []telemetry.Attribute {
	scheme := "http"
	if r.TLS != nil {
		scheme = "https"
	}
	path := r.URL.EscapedPath()
	return []telemetry.Attribute{
		telemetry.Text("http.request.method", methodOf(r)),
		telemetry.Text("url.path", path[:min(len(path), maxLoggedPath)]),
		telemetry.Text("url.scheme", scheme),
		telemetry.Text("network.protocol.version", strings.TrimPrefix(strings.TrimPrefix(r.Proto, "HTTP/"), "HTTP/")),
		telemetry.Text("user_agent.original", r.UserAgent()),
	}
}

// parameter is what a pattern says of the form of a parameter.
var parameter = regexp.MustCompile(`=[^}]*}`)

// begin begins the span of an operation of REST or gRPC.
func (e *exchange) begin(ctx context.Context, operation, route string) (context.Context, func()) {
	e.route = parameter.ReplaceAllString(route, "}")
	ctx, span := e.traces.Start(ctx, telemetry.Internal, operation)
	return ctx, func() { span.End("") }
}

// endSpan ends the span of the request, by what it turned out to be.
func (e *exchange) endSpan(code string, facts platform.Facts, seen *observed) {
	if !e.span.Recorded() {
		e.span.End("")
		return
	}
	if e.route == "" && e.protocol == "graphql" {
		e.route = graphPath
	}
	switch {
	case e.route != "" && rpc.Serves(e.request.URL.Path):
		e.span.Name(strings.TrimPrefix(e.route, "/"))
		service, method, _ := strings.Cut(strings.TrimPrefix(e.route, "/"), "/")
		system := "grpc"
		if e.protocol == "connect" {
			system = "connect_rpc"
		}
		e.span.Add(telemetry.Text("rpc.system", system), telemetry.Text("rpc.service", service), telemetry.Text("rpc.method", method))
	case e.route != "":
		e.span.Name(methodOf(e.request) + " " + e.route)
		e.span.Add(telemetry.Text("http.route", e.route))
	}
	e.span.Add(telemetry.Number("http.response.status_code", seen.code()), telemetry.Text("atrium.request.id", e.trace.ID), telemetry.Text("atrium.code", code))
	if len(facts.Identities) > 0 {
		e.span.Add(telemetry.Text("user.id", joinUIDs(facts.Identities)))
	}
	e.span.End(fault(code))
}

// fault is a code that is no fault of the client; "" of others.
func fault(code string) string {
	switch code {
	case "INTERNAL", "UNAVAILABLE", "DEADLINE_EXCEEDED", "UNKNOWN", "DATA_LOSS":
		return code
	}
	return ""
}

// observeSpan begins the span of a GraphQL operation. That of a subscription
// ends with its context.
func (r *recorder) observeSpan(ctx context.Context, own *platform.Trace, o graphql.Operation) (context.Context, func(*gqlgen.Response)) {
	if !r.traces.Recording(ctx) {
		return ctx, nil
	}
	name := o.Type
	if o.Name != "" {
		name += " " + o.Name[:min(len(o.Name), maxLoggedName)]
	}
	ctx, span := r.traces.Start(ctx, telemetry.Internal, name, telemetry.Text("graphql.operation.type", o.Type), telemetry.Number("atrium.graphql.cost", o.Cost))
	if o.Name != "" {
		span.Add(telemetry.Text("graphql.operation.name", o.Name[:min(len(o.Name), maxLoggedName)]))
	}
	own.Parent = span.Parent()
	end := func() {
		for _, code := range own.Facts().Codes {
			if word := fault(code.String()); word != "" {
				span.End(word)
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

// around gives what is told of each field of GraphQL that reads; nil where
// nothing is recorded.
func (r *recorder) around() func(ctx context.Context, object, field string, objects int) (context.Context, func(error)) {
	if r == nil || r.traces == nil {
		return nil
	}
	return func(ctx context.Context, object, field string, objects int) (context.Context, func(error)) {
		if !r.traces.Recording(ctx) {
			return ctx, func(error) {}
		}
		ctx, span := r.traces.Start(ctx, telemetry.Internal, object+"."+field,
			telemetry.Text("graphql.field.parent", object), telemetry.Text("graphql.field.name", field), telemetry.Number("atrium.graphql.objects", objects))
		return ctx, func(err error) {
			if err != nil {
				span.End(fault(platform.AsError(err).Code.String()))
				return
			}
			span.End("")
		}
	}
}

// traceRoundTrip records statements that were sent together. The values that
// they were sent with are not shown.
func (r *recorder) traceRoundTrip(ctx context.Context, statements []*store.Statement, took time.Duration, err error) {
	if !r.traces.Recording(ctx) {
		return
	}
	name := "BATCH"
	attributes := []telemetry.Attribute{telemetry.Text("db.system.name", r.system), telemetry.Text("db.query.text", cutSQL(statements))}
	if len(statements) == 1 {
		name = verb(statements[0].SQL)
	} else {
		attributes = append(attributes, telemetry.Number("db.operation.batch.size", len(statements)))
	}
	r.traces.Did(ctx, telemetry.Client, name, took, err, append(attributes, telemetry.Text("db.operation.name", name))...)
}

// systemOf names the database of a URL as the conventions do.
func systemOf(databaseURL string) string {
	if strings.HasPrefix(databaseURL, "sqlite:") {
		return "sqlite"
	}
	return "postgresql"
}

// attempted is send, as part of the trace of the request whose change is
// delivered. Where nothing is recorded, that trace is passed on.
func (r *recorder) attempted(send func(context.Context, *platform.Dispatch) platform.Attempt) func(context.Context, *platform.Dispatch) platform.Attempt {
	return func(ctx context.Context, d *platform.Dispatch) platform.Attempt {
		trace := &platform.Trace{Parent: d.Event.Cause}
		ctx = platform.WithTrace(ctx, trace)
		if r.traces == nil {
			return send(ctx, d)
		}
		ctx, span := r.traces.Start(r.traces.JoinParent(ctx, d.Event.Cause), telemetry.Client, http.MethodPost,
			telemetry.Text("http.request.method", http.MethodPost), telemetry.Text("server.address", hostOf(d.Sink)),
			telemetry.Text("cloudevents.event_id", d.Event.ID), telemetry.Text("cloudevents.event_type", d.Event.Type),
			telemetry.Text("cloudevents.event_subject", string(d.Event.Subject)), telemetry.Number("http.request.resend_count", int(d.Delivery.Attempts)))
		trace.Parent = span.Parent()
		attempt := send(ctx, d)
		fault := ""
		switch {
		case attempt.Status == 0:
			fault = "_OTHER"
		case attempt.Status >= http.StatusMultipleChoices:
			fault = http.StatusText(attempt.Status)
		}
		if attempt.Status != 0 {
			span.Add(telemetry.Number("http.response.status_code", attempt.Status))
		}
		span.End(fault)
		return attempt
	}
}

// hostOf is all that is told of a sink, whose path may hold a secret.
func hostOf(sink string) string {
	u, err := url.Parse(sink)
	if err != nil {
		return ""
	}
	return u.Hostname()
}
