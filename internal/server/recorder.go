package server

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"net/netip"
	"path"
	"strconv"
	"strings"
	"sync"
	"time"

	gqlgen "github.com/99designs/gqlgen/graphql"
	"github.com/vektah/gqlparser/v2/gqlerror"

	"atrium/internal/apierror"
	"atrium/internal/graphql"
	"atrium/internal/graphql/limit"
	"atrium/internal/graphql/transport"
	"atrium/internal/rpc"
	"atrium/internal/server/admission"
	"atrium/internal/telemetry"
	"atrium/internal/web"
	"atrium/platform/core"
)

// A recorder logs and counts each request, with the facts that the layers have noted in
// its trace.
type recorder struct {
	logger  *slog.Logger
	metrics *telemetry.Metrics // nil records no metrics
	traces  *telemetry.Traces  // nil records no traces
	system  string             // name of the database in the semantic conventions of OpenTelemetry
	slow    time.Duration      // requests and statements that take longer are warnings; 0 means none
	names   *telemetry.Names   // names of GraphQL operations
	sinks   *telemetry.Names   // hosts of sinks that have failed

	publicURL string // URL of the service; "" if it is not known

	refusals *refusalLog
}

// Limits of what has counters of its own: GraphQL operations, and hosts of sinks with their
// ports. A host has at most 253 bytes.
const (
	maxOperationNames, maxOperationBytes = 100, 64
	maxSinkNames, maxSinkBytes           = 100, 253 + len(":65535")
)

func (c *Config) newRecorder() *recorder {
	return &recorder{refusals: &refusalLog{logger: c.Logger}, logger: c.Logger, metrics: c.Metrics, traces: c.Traces, system: databaseSystem(c.DatabaseURL), slow: c.Slow, names: telemetry.NewNames(maxOperationNames, maxOperationBytes, c.knownOperations()...), sinks: telemetry.NewNames(maxSinkNames, maxSinkBytes), publicURL: strings.TrimRight(c.PublicURL, "/")}
}

// consoleOperations are the names of the operations that the console sends.
var consoleOperations = sync.OnceValue(func() []string { return limit.OperationNames(web.ConsoleDocuments()) })

// knownOperations returns the names of the GraphQL operations that always have counters of their own, however many
// names other clients invent: those of trusted documents and of the console.
func (c *Config) knownOperations() []string {
	known := c.GraphQL.Trusted.OperationNames()
	if c.NoConsole {
		return known
	}
	return append(known, consoleOperations()...)
}

// recordRequests records each request and its result. It runs before all layers that can
// reject a request.
func (r *recorder) recordRequests(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, request *http.Request) {
		e := &exchange{recorder: r, request: request, start: time.Now(), protocol: protocolOf(request), trace: &core.Trace{}}
		e.trace.Began, e.trace.ID, e.trace.Remote = e.start, w.Header().Get(apierror.RequestIDHeader), withoutZeroPort(request.RemoteAddr)
		ctx := e.beginSpan(core.WithTrace(request.Context(), e.trace))
		seen := &observed{ResponseWriter: w, streaming: e.streams, challenge: func() string { return r.challenge(request) }}
		if e.protocol != "v1" { // it has time limits of its own
			seen.within = writeTimeout
		}
		defer r.metrics.Begin(e.protocol)()
		defer func() { e.end(seen) }()
		next.ServeHTTP(seen, request.WithContext(ctx))
		seen.complete()
	})
}

// withoutZeroPort returns the address of a client without the port, if a proxy has told none.
func withoutZeroPort(remote string) string {
	if at, err := netip.ParseAddrPort(remote); err == nil && at.Port() == 0 {
		return at.Addr().String()
	}
	return remote
}

// protocolOf returns the protocol of a request.
func protocolOf(r *http.Request) string {
	path := r.URL.Path
	switch {
	case rpc.IsV1(path):
		return "v1"
	case rpc.Serves(path):
		switch media := r.Header.Get("Content-Type"); {
		case strings.HasPrefix(media, "application/grpc-web"):
			return "grpc-web"
		case strings.HasPrefix(media, "application/grpc"):
			return "grpc"
		}
		return "connect"
	case isGraph(path):
		return "graphql"
	case path == "/livez" || path == "/readyz":
		return "health"
	case v1Path.MatchString(path):
		return "v1"
	case apierror.AreaOf(path) != "" && path != schemaPath:
		return "rest"
	}
	return "page"
}

// An exchange is one request and its response.
type exchange struct {
	*recorder
	request   *http.Request
	start     time.Time
	protocol  string
	trace     *core.Trace
	isStream  bool
	endStream func()
	span      *telemetry.Span // nil if the request is not recorded
	route     string          // route in its protocol; "" if there is none
}

// streams notes that the answer is a stream of a kind.
func (e *exchange) streams(kind string) {
	if !e.isStream {
		e.isStream, e.endStream = true, e.metrics.Open(kind)
		e.trace.NoteStream()
	}
}

// end logs and counts the request. Requests that were not admitted are logged in summary
// (refusal_log.go), because a flood has many.
func (e *exchange) end(seen *observed) {
	took := time.Since(e.start)
	if e.isStream {
		e.endStream()
	}
	facts := e.trace.Facts()
	code := e.code(facts, seen)
	f := finished{protocol: e.protocol, trace: e.trace, facts: facts, code: code, took: took, stream: e.isStream}
	if isRefusal(facts.Limit) { // its span has no end, so that it is never sent
		e.recordRefusal(f)
		return
	}
	e.endSpan(code, facts, seen)
	f.quiet = e.protocol == "health" || e.protocol == "page" && code == "OK" && isAsset(e.request.URL.Path)
	about := append(make([]slog.Attr, 0, 5), slog.String("method", e.request.Method), slog.String("path", cut(e.request.URL.EscapedPath())),
		slog.Int("status", seen.code()), slog.Int64("bytes", seen.bytes))
	if seen.unsent != nil && !e.isStream {
		about = append(about, slog.String("unsent", seen.unsent.Error()))
	}
	e.finish(f, about...)
}

// isAsset reports whether a page consists of what a path names, such as a script. A browser asks for dozens of them.
func isAsset(name string) bool {
	switch path.Ext(name) {
	case ".js", ".css", ".svg", ".png", ".ico", ".woff", ".woff2", ".ttf", ".map":
		return true
	}
	return false
}

// cancelled is the code of a request whose client did not wait for the answer.
const cancelled = "CANCELLED"

// code returns the result of the request as a code that all protocols share.
func (e *exchange) code(facts core.Facts, seen *observed) string {
	if len(facts.Codes) > 0 && facts.Codes[0] == core.CodeDeadlineExceeded && errors.Is(e.request.Context().Err(), context.Canceled) {
		return cancelled // the client has disconnected, which the core cannot tell from a time limit
	}
	if len(facts.Codes) > 0 {
		return facts.Codes[0].String()
	}
	if seen.unsent != nil && !e.isStream {
		if seen.isLate() {
			return core.CodeDeadlineExceeded.String()
		}
		return cancelled
	}
	if text := grpcStatus(seen.Header()); text != "" && text != "0" {
		n, _ := strconv.Atoi(text) // 0 has no name
		if name := core.Code(n).String(); name != "" {
			return name
		}
		return "UNKNOWN"
	}
	switch status := seen.code(); {
	case seen.status == 0 && e.request.Context().Err() != nil:
		return cancelled
	case status >= http.StatusInternalServerError:
		return core.CodeUnavailable.String()
	case status >= http.StatusBadRequest:
		return core.CodeInvalidArgument.String()
	}
	return "OK"
}

func grpcStatus(h http.Header) string {
	if text := h.Get("Grpc-Status"); text != "" {
		return text
	}
	return h.Get(http.TrailerPrefix + "Grpc-Status")
}

// A finished is a request, or an operation on a websocket, that has ended.
type finished struct {
	protocol string
	trace    *core.Trace
	facts    core.Facts
	code     string
	took     time.Duration
	stream   bool
	quiet    bool // whether it is one of many that tell nothing, such as a health check
}

// isRefusal reports whether a limit refuses requests whatever they ask for. A flood has many of
// them, so they are logged in summary.
func isRefusal(limit string) bool { return admission.IsLimit(limit) || transport.IsLimit(limit) }

// finish logs and counts a finished request. Quiet ones are logged at debug level.
func (r *recorder) finish(f finished, more ...slog.Attr) {
	if isRefusal(f.facts.Limit) {
		r.recordRefusal(f)
		return
	}
	level, slow := slog.LevelInfo, r.slow > 0 && f.took >= r.slow && !f.stream
	switch {
	case len(f.facts.Failures) > 0:
		level = apierror.FailureLevel(f.facts.Failures)
	case f.quiet:
		level = slog.LevelDebug
	case slow:
		level = slog.LevelWarn
	}
	if r.logger.Enabled(context.Background(), level) {
		var space [usualAttributes]slog.Attr // on the stack
		attributes := append(space[:0], slog.String("request_id", f.trace.ID), slog.String("protocol", f.protocol))
		attributes = appendFacts(append(attributes, more...), f)
		if slow {
			attributes = append(attributes, slog.Bool("slow", true))
		}
		line := slog.NewRecord(time.Now(), level, "request", 0) // LogAttrs would look for the place in the source, which the log does not show
		line.AddAttrs(attributes...)
		_ = r.logger.Handler().Handle(context.Background(), line) // LogAttrs ignores the error too, because it could not be logged
	}
	r.count(f)
}

// recordRefusal counts a request that was not admitted, which is logged together with others.
func (r *recorder) recordRefusal(f finished) {
	r.refusals.add(f)
	r.count(f)
}

// count counts a finished request for the metrics.
func (r *recorder) count(f finished) {
	r.metrics.CountRequest(telemetry.Request{
		Protocol: f.protocol, Operation: r.operation(f), Code: f.code, Took: f.took, Stream: f.stream, Cost: f.facts.Cost, Limit: f.facts.Limit, TraceID: recordedTrace(f.trace),
	})
	took := f.took
	if f.stream {
		took = 0
	}
	r.metrics.CountOrganization(string(f.facts.Organization()), took, isRefusal(f.facts.Limit))
}

// usualAttributes is the number of attributes that a line in the log rarely exceeds.
const usualAttributes = 20

// appendFacts appends attributes for the log. It omits facts that are not known.
func appendFacts(attributes []slog.Attr, f finished) []slog.Attr {
	attributes = append(attributes, slog.String("code", f.code), slog.Float64("ms", milliseconds(f.took)))
	text := func(name, value string) {
		if value != "" {
			attributes = append(attributes, slog.String(name, value))
		}
	}
	number := func(name string, value int64) {
		if value > 0 {
			attributes = append(attributes, slog.Int64(name, value))
		}
	}
	text("remote", f.trace.Remote)
	text("operation", f.facts.Operation)
	text("kind", f.facts.Kind)
	text("uid", string(f.facts.UID[:min(len(f.facts.UID), maxLoggedPath)]))
	text("identity", joinUIDs(f.facts.Identities))
	if len(f.facts.Codes) > 1 {
		attributes = append(attributes, slog.Any("codes", codeNames(f.facts.Codes)))
	}
	if f.facts.Denial != nil {
		attributes = appendDenial(attributes, f.facts)
	}
	if len(f.facts.Failures) > 0 {
		attributes = apierror.AppendFailures(attributes, f.facts.Failures)
	}
	text("limit", f.facts.Limit)
	number("cost", int64(f.facts.Cost))
	if n := f.trace.Statements.Load(); n > 0 {
		number("statements", n)
		attributes = append(attributes, slog.Float64("db_ms", milliseconds(time.Duration(f.trace.Waited.Load()))))
	}
	text("trace_id", f.trace.TraceID)
	return attributes
}

// appendDenial appends why a caller was denied, and who it is by its token, since it may have no identity.
func appendDenial(attributes []slog.Attr, f core.Facts) []slog.Attr {
	attributes = append(attributes, slog.String("reason", f.Denial.Reason), slog.String("message", cut(f.Denial.Message)))
	if capability := f.Denial.Metadata["capability"]; capability != "" {
		attributes = append(attributes, slog.String("capability", capability))
	}
	if f.Issuer != "" {
		attributes = append(attributes, slog.String("issuer", cut(f.Issuer)), slog.String("subject", cut(f.Subject)))
	}
	if f.UnverifiedIssuer != "" || f.UnverifiedSubject != "" {
		attributes = append(attributes, slog.String("unverified_issuer", cut(f.UnverifiedIssuer)), slog.String("unverified_subject", cut(f.UnverifiedSubject)))
	}
	return attributes
}

// cut returns the start of a text that clients choose.
func cut(text string) string { return text[:min(len(text), maxLoggedPath)] }

// milliseconds returns a duration in milliseconds with three decimals.
func milliseconds(d time.Duration) float64 { return float64(d.Microseconds()) / 1000 }

func joinUIDs(identities []core.UID) string {
	if len(identities) == 1 {
		return string(identities[0])
	}
	texts := make([]string, len(identities))
	for i, uid := range identities {
		texts[i] = string(uid)
	}
	return strings.Join(texts, " ")
}

func codeNames(codes []core.Code) []string {
	names := make([]string, len(codes))
	for i, code := range codes {
		names[i] = code.String()
	}
	return names
}

// operation returns the name under which a request is counted. Names of REST and gRPC
// come from the API, and names of GraphQL come from clients.
func (r *recorder) operation(f finished) string {
	switch {
	case f.protocol == "graphql" || f.protocol == "graphql-ws":
		return r.names.Limit(f.facts.Operation, f.code == "OK")
	case f.facts.Operation == "":
		return telemetry.Other
	}
	return f.facts.Operation
}

// observe notes a GraphQL operation in the trace of the request.
func (r *recorder) observe(ctx context.Context, o graphql.Operation) (context.Context, func(*gqlgen.Response)) {
	trace := core.TraceOf(ctx)
	if trace == nil {
		return ctx, nil
	}
	if o.IsSubscription {
		trace.NoteStream()
	}
	name := o.Name
	if name == "" {
		name = "anonymous"
	}
	trace.NoteOperation(name[:min(len(name), maxLoggedName)])
	trace.NoteCost(o.Cost)
	return r.beginGraphQLSpan(ctx, trace, o)
}

// beginOperation gives an operation on a websocket a trace of its own, and records it when its
// context ends, also if it was refused before it was executed.
func (r *recorder) beginOperation(ctx context.Context) context.Context {
	start, shared := time.Now(), core.TraceOf(ctx)
	if shared == nil {
		return ctx
	}
	own := &core.Trace{Began: start, ID: shared.ID, Remote: shared.Remote, TraceID: shared.TraceID, Parent: shared.Parent}
	own.NoteCaller(core.ActorOf(ctx))
	ctx = core.WithTrace(ctx, own)
	context.AfterFunc(ctx, func() {
		facts, code := own.Facts(), "OK"
		switch {
		case len(facts.Codes) > 0:
			code = facts.Codes[0].String()
		case facts.Operation == "":
			code = cancelled // before it was executed
		}
		r.finish(finished{protocol: "graphql-ws", trace: own, facts: facts, code: code, took: time.Since(start), stream: own.IsStream()})
	})
	return ctx
}

// admitOperations returns a function that admits operations on websockets, and notes the limit of
// those that it refuses.
func admitOperations(c *admission.Controller) func(context.Context) (admitted context.Context, leave func(), err error) {
	return func(ctx context.Context) (admitted context.Context, leave func(), err error) {
		admitted, leave, limit, err := c.AdmitOperation(ctx)
		if limit != "" {
			core.TraceOf(ctx).NoteLimit(limit)
		}
		return admitted, leave, err
	}
}

// maxLoggedName limits logged names of operations, in bytes, because clients choose
// them.
const maxLoggedName = 128

// noteLimits wraps present and notes the limit of an error in the trace.
func noteLimits(present gqlgen.ErrorPresenterFunc) gqlgen.ErrorPresenterFunc {
	return func(ctx context.Context, err error) *gqlerror.Error {
		shown := present(ctx, err)
		if exceeded, ok := shown.Extensions["limit"].(map[string]any); ok {
			name, _ := exceeded["name"].(string)
			core.TraceOf(ctx).NoteLimit(name)
		}
		return shown
	}
}
