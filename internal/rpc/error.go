package rpc

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"path"
	"strings"
	"time"

	"connectrpc.com/connect"
	_ "google.golang.org/genproto/googleapis/rpc/errdetails" // registers the details of errors for protojson
	"google.golang.org/protobuf/encoding/protojson"
	"google.golang.org/protobuf/types/known/anypb"

	"atrium/internal/apierror"
	"atrium/platform/core"
)

// noProcedure is the error for unknown procedures.
var noProcedure = &core.Error{
	Code: core.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: there is no such procedure",
}

// noV1 is the error for procedures of v1, if no other service answers them.
var noV1 = &core.Error{
	Code: core.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: v1 is not served here; see v2",
}

// refuseUnknown answers requests for procedures of no service.
func (o Options) refuseUnknown(w http.ResponseWriter, r *http.Request) {
	if IsV1(r.URL.Path) {
		o.WriteError(w, r, noV1)
		return
	}
	o.WriteError(w, r, noProcedure)
}

// WriteError answers err in the protocol of the request. Authentication and limits, which
// run before the services, use it too.
func (o Options) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	shown, reason := o.presentError(r.Context(), r.URL.Path, w.Header().Get(apierror.RequestIDHeader), err), core.AsError(err)
	apierror.SetHeaders(w.Header(), reason)
	if IsGRPC(r) {
		omitLength(w.Header())
		if reason.Code != core.CodeResourceExhausted && reason.Code != core.CodeUnavailable { // A busy server reads nothing.
			discardMessage(w, r)
		}
	}
	_ = connect.NewErrorWriter().Write(w, r, shown) // fails only if the client has disconnected
}

// IsGRPC reports whether a request has the protocol gRPC, which needs HTTP/2 and whose responses end
// with trailers.
func IsGRPC(r *http.Request) bool {
	media := r.Header.Get("Content-Type")
	return strings.HasPrefix(media, "application/grpc") && !strings.HasPrefix(media, "application/grpc-web")
}

// omitLength prevents net/http from telling the length of a response of gRPC. Otherwise an error
// has the length 0, and proxies such as nginx drop the trailers, which tell what the error is.
func omitLength(response http.Header) { response["Content-Length"] = nil }

// refusedWait is how long a refused call may take to send its message.
const refusedWait = time.Second

// discardMessage reads the message of a call that is refused before anything has read it. Otherwise
// net/http resets the stream when the message arrives after the answer, and nginx then drops
// the answer.
func discardMessage(w http.ResponseWriter, r *http.Request) {
	_ = http.NewResponseController(w).SetReadDeadline(time.Now().Add(refusedWait)) // without it the time limit of the server holds
	_, _ = io.CopyN(io.Discard, r.Body, prefixBytes+maxMessageBytes)
}

// interceptor returns the interceptor of all calls. It records the operation, rejects the
// violations that a codec has found, and converts errors into errors of the protocol.
func (o Options) interceptor(allowStandby func(context.Context) context.Context, awaitSettled func(context.Context) bool) connect.Interceptor {
	return connect.UnaryInterceptorFunc(func(next connect.UnaryFunc) connect.UnaryFunc {
		return func(ctx context.Context, r connect.AnyRequest) (connect.AnyResponse, error) {
			ctx, end := core.TraceOf(ctx).BeginOperation(ctx, path.Base(r.Spec().Procedure), r.Spec().Procedure)
			defer end()
			if r.Spec().IdempotencyLevel == connect.IdempotencyNoSideEffects {
				ctx = allowStandby(ctx)
			}
			var answer connect.AnyResponse
			var err error
			if found := violationsIn(r.Any()); len(found) > 0 {
				err = core.Invalid(found...)
			} else if answer, err = callUnderConditions(ctx, r, next); err == nil {
				if awaitSettled(ctx) {
					answer.Header().Set(apierror.FindingsPendingHeader, "true")
				}
				return answer, nil
			}
			shown := o.presentError(ctx, r.Spec().Procedure, r.Header().Get(apierror.RequestIDHeader), err)
			if r.Peer().Protocol == connect.ProtocolConnect { // with other protocols they would become trailers, where HTTP forbids them
				apierror.SetHeaders(shown.Meta(), core.AsError(err))
			}
			return nil, shown
		}
	})
}

// recoverPanic converts a panic of a handler into an error.
func recoverPanic(_ context.Context, _ connect.Spec, _ http.Header, cause any) error {
	return apierror.Panicked(cause)
}

// presentError converts err for the client and logs a cause that the client does not see.
func (o Options) presentError(ctx context.Context, procedure, requestID string, err error) *connect.Error {
	var own *connect.Error
	if errors.As(err, &own) {
		core.TraceOf(ctx).NoteCode(core.Code(own.Code()))
		return own // an error of the protocol itself
	}
	e := apierror.Show(err, apierror.AreaOf(procedure))
	o.errors().Report(ctx, e, requestID, "")
	shown := connect.NewError(connect.Code(e.Code), errors.New(e.Message)) //nolint:gosec // both have the numbers of google.rpc.Code
	for _, detail := range o.errors().Status(e, requestID).Details {
		if d, err := convertDetail(detail); err == nil {
			shown.AddDetail(d)
		}
	}
	return shown
}

// convertDetail converts a detail of the REST form into a message.
func convertDetail(detail map[string]any) (*connect.ErrorDetail, error) {
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

func (o Options) errors() apierror.Errors {
	return apierror.Errors{ServiceDomain: o.ServiceDomain, Logger: o.Logger}
}
