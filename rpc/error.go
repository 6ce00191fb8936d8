package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"
	"strings"

	"connectrpc.com/connect"
	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // the details of errors, which protojson finds by name
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"

	"atrium/platform"
)

const requestIDHeader = "X-Request-Id"

// noProcedure is for what no operation is asked about.
var noProcedure = &platform.Error{
	Code: platform.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: there is no such procedure",
}

// WriteError answers err in the protocol of the request. Whatever stands
// before the services and refuses a request (authentication, limits) answers
// with this.
func (o Options) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	shown := o.shown(r.Context(), r.URL.Path, w.Header().Get(requestIDHeader), err)
	tell(w.Header(), err)
	_ = connect.NewErrorWriter().Write(w, r, shown) // fails when nobody listens any more
}

// interceptor makes what operations answer as error one of the protocol.
func (o Options) interceptor() connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			var answer connect.AnyResponse
			var err error
			if found := faults(r.Any()); len(found) > 0 {
				err = platform.Invalid(found...)
			} else if answer, err = next(ctx, r); err == nil {
				return answer, nil
			}
			shown := o.shown(ctx, r.Spec().Procedure, r.Header().Get(requestIDHeader), err)
			if r.Peer().Protocol == connect.ProtocolConnect { // elsewhere they would be trailers, where HTTP forbids them
				tell(shown.Meta(), err)
			}
			return nil, shown
		}
	})
}

// recovered is the error of a handler that panics.
func (o Options) recovered(ctx context.Context, spec connect.Spec, header http.Header, cause any) error {
	o.logger().ErrorContext(ctx, "panic", "request_id", header.Get(requestIDHeader), "path", spec.Procedure,
		"cause", fmt.Sprint(cause), "stack", string(debug.Stack()))
	return fmt.Errorf("panic: %v", cause)
}

// shown is err as the client sees it; a cause that it does not see is logged.
func (o Options) shown(ctx context.Context, procedure, requestID string, err error) *connect.Error {
	var own *connect.Error
	if errors.As(err, &own) {
		return own // of the protocol itself
	}
	e := *platform.AsError(err)
	if e.Area == "" {
		e.Area = areaOf(procedure)
	}
	o.log(ctx, procedure, requestID, &e)
	shown := connect.NewError(connect.Code(e.Code), errors.New(e.Message)) //nolint:gosec // both have the numbers of google.rpc.Code
	for _, detail := range e.Status(o.serviceDomain(), requestID).Details {
		if d, err := typed(detail); err == nil {
			shown.AddDetail(d)
		}
	}
	return shown
}

// tell says in headers what HTTP has headers for.
func tell(h http.Header, err error) {
	e := platform.AsError(err)
	if e.Code == platform.CodeUnauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if e.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(e.RetryAfter.Seconds()))))
	}
}

// typed makes a message of a detail, which REST shows as it is.
func typed(detail map[string]any) (*connect.ErrorDetail, error) {
	text, err := json.Marshal(detail)
	if err != nil {
		return nil, err
	}
	var message anypb.Any
	if err := protojson.Unmarshal(text, &message); err != nil {
		return nil, err
	}
	return connect.NewErrorDetail(&message)
}

// log tells the operator what the client is not told. A client that went away
// is no error, whatever became of its request.
func (o Options) log(ctx context.Context, procedure, requestID string, e *platform.Error) {
	level := slog.LevelError
	if e.Code == platform.CodeUnavailable {
		level = slog.LevelWarn
	}
	hidden := e.Code == platform.CodeInternal || e.Code == platform.CodeUnavailable && e.Unwrap() != nil
	if !hidden || errors.Is(ctx.Err(), context.Canceled) {
		return
	}
	o.logger().Log(ctx, level, "request failed", "request_id", requestID, "path", procedure, "code", e.Code.String(), "error", e)
}

func (o Options) logger() *slog.Logger {
	if o.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return o.Logger
}

func (o Options) serviceDomain() string {
	if o.ServiceDomain == "" {
		return "atrium.dev"
	}
	return o.ServiceDomain
}

// areaOf is the service area of a procedure: the registry of
// /platform.registry.v2.ReposService/GetRepo.
func areaOf(procedure string) string {
	if parts := strings.Split(procedure, "."); len(parts) > 2 && parts[0] == "/platform" {
		return parts[1]
	}
	return ""
}
