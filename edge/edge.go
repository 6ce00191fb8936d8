// Package edge is what the adapters of the three protocols share: what an error
// of the core looks like outside, who hears of what clients are not shown, how
// requests are named, and how names of fields are spelled. It must not decode or
// encode a protocol, and knows no kind and no operation.
package edge

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"runtime/debug"
	"strconv"

	"atrium/platform"
)

// RequestIDHeader carries the id of a request, in the request and its answer.
const RequestIDHeader = "X-Request-Id"

// DefaultServiceDomain is what the domain of errors ends in unless told otherwise.
const DefaultServiceDomain = "atrium.dev"

// Errors shows errors to clients, and reports what they are not shown. The zero
// value reports to nobody.
type Errors struct {
	ServiceDomain string       // what ErrorInfo.domain ends in; "" is DefaultServiceDomain
	Logger        *slog.Logger // receives what clients do not see; nil discards it
}

// Show gives err as the core's error. One that names no area has the given one,
// that of what was asked for.
func Show(err error, area string) *platform.Error {
	shown := *platform.AsError(err)
	if shown.Area == "" {
		shown.Area = area
	}
	return &shown
}

// Status gives the google.rpc.Status that every protocol shows of an error.
func (e Errors) Status(shown *platform.Error, requestID string) platform.Status {
	return shown.Status(e.Domain(), requestID)
}

// Domain is what ErrorInfo.domain ends in.
func (e Errors) Domain() string {
	if e.ServiceDomain == "" {
		return DefaultServiceDomain
	}
	return e.ServiceDomain
}

// Log gives the logger.
func (e Errors) Log() *slog.Logger {
	if e.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Logger
}

// IsHidden tells whether the operator must hear of an error, since the client is
// not shown its cause. A client that went away is no error, whatever became of
// its request.
func IsHidden(ctx context.Context, shown *platform.Error) bool {
	hidden := shown.Code == platform.CodeInternal || shown.Code == platform.CodeUnavailable && shown.Unwrap() != nil
	return hidden && !errors.Is(ctx.Err(), context.Canceled)
}

// Report notes the code of an error that is shown. It logs an error that
// IsHidden, with what the attributes say of where it happened.
func (e Errors) Report(ctx context.Context, shown *platform.Error, requestID string, attributes ...any) {
	platform.TraceOf(ctx).NoteCode(shown.Code)
	if !IsHidden(ctx, shown) {
		return
	}
	level := slog.LevelError
	if shown.Code == platform.CodeUnavailable {
		level = slog.LevelWarn
	}
	attributes = append([]any{"request_id", requestID}, attributes...)
	e.Log().Log(ctx, level, "request failed", append(attributes, "code", shown.Code.String(), "error", shown)...)
}

// ReportPanic logs a panic with its stack, and gives the error that hides it. It
// is called where the panic is recovered.
func (e Errors) ReportPanic(ctx context.Context, cause any, requestID string, attributes ...any) error {
	attributes = append([]any{"request_id", requestID}, attributes...)
	e.Log().ErrorContext(ctx, "panic", append(attributes, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))...)
	return fmt.Errorf("panic: %v", cause)
}

// httpStatus gives the HTTP status of each code.
var httpStatus = map[platform.Code]int{
	platform.CodeInvalidArgument:    http.StatusBadRequest,
	platform.CodeFailedPrecondition: http.StatusBadRequest,
	platform.CodeUnauthenticated:    http.StatusUnauthorized,
	platform.CodePermissionDenied:   http.StatusForbidden,
	platform.CodeNotFound:           http.StatusNotFound,
	platform.CodeAlreadyExists:      http.StatusConflict,
	platform.CodeAborted:            http.StatusConflict,
	platform.CodeResourceExhausted:  http.StatusTooManyRequests,
	platform.CodeInternal:           http.StatusInternalServerError,
	platform.CodeUnimplemented:      http.StatusNotImplemented,
	platform.CodeUnavailable:        http.StatusServiceUnavailable,
	platform.CodeDeadlineExceeded:   http.StatusGatewayTimeout,
}

// HTTPStatus is the HTTP status of an error.
func HTTPStatus(code platform.Code) int { return httpStatus[code] }

// SetHeaders says in headers of an answer what HTTP has headers for.
func SetHeaders(h http.Header, shown *platform.Error) {
	if shown.Code == platform.CodeUnauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if shown.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(shown.RetryAfter.Seconds()))))
	}
}
