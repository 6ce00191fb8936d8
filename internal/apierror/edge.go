// Package apierror holds what the adapters of the three protocols share: the form of
// errors for clients, the logging of hidden errors, request ids, and the spelling of
// field names. It must not decode or encode a protocol, and knows no kind and no
// operation.
package apierror

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

// RequestIDHeader is the header with the id of a request, in the request and the
// response.
const RequestIDHeader = "X-Request-Id"

// DefaultServiceDomain is the default suffix of the domain of errors.
const DefaultServiceDomain = "atrium.dev"

// Errors converts errors for clients and logs internal errors. The zero value logs
// nothing.
type Errors struct {
	ServiceDomain string       // suffix of ErrorInfo.domain; "" means DefaultServiceDomain
	Logger        *slog.Logger // receives the internal errors that clients do not see; nil discards them
}

// Show converts err into an error of the core. If it names no area, Show sets the
// given one.
func Show(err error, area string) *platform.Error {
	shown := *platform.AsError(err)
	if shown.Area == "" {
		shown.Area = area
	}
	return &shown
}

// Status returns the google.rpc.Status that every protocol shows for an error.
func (e Errors) Status(shown *platform.Error, requestID string) platform.Status {
	return shown.Status(e.Domain(), requestID)
}

// Domain returns the suffix of ErrorInfo.domain.
func (e Errors) Domain() string {
	if e.ServiceDomain == "" {
		return DefaultServiceDomain
	}
	return e.ServiceDomain
}

// Log returns the logger.
func (e Errors) Log() *slog.Logger {
	if e.Logger == nil {
		return slog.New(slog.DiscardHandler)
	}
	return e.Logger
}

// IsHidden reports whether an error must be logged, because the client does not see
// its cause. The disconnection of a client is not an error.
func IsHidden(ctx context.Context, shown *platform.Error) bool {
	temporary := shown.Code == platform.CodeUnavailable || shown.Code == platform.CodeAborted
	hidden := shown.Code == platform.CodeInternal || temporary && shown.Unwrap() != nil
	return hidden && !errors.Is(ctx.Err(), context.Canceled)
}

// Report notes an error in the trace. If IsHidden returns true for the error,
// Report logs it with the attributes.
func (e Errors) Report(ctx context.Context, shown *platform.Error, requestID string, attributes ...any) {
	platform.TraceOf(ctx).NoteError(shown)
	if !IsHidden(ctx, shown) {
		return
	}
	level := slog.LevelWarn
	if shown.Code == platform.CodeInternal {
		level = slog.LevelError
	}
	attributes = append([]any{"request_id", requestID}, attributes...)
	e.Log().Log(ctx, level, "request failed", append(attributes, "code", shown.Code.String(), "error", shown)...)
}

// ReportPanic logs a panic with its stack and returns the internal error for the
// client. It must be called where the panic is recovered.
func (e Errors) ReportPanic(ctx context.Context, cause any, requestID string, attributes ...any) error {
	attributes = append([]any{"request_id", requestID}, attributes...)
	e.Log().ErrorContext(ctx, "panic", append(attributes, "cause", fmt.Sprint(cause), "stack", string(debug.Stack()))...)
	return fmt.Errorf("panic: %v", cause)
}

// httpStatus maps each code to its HTTP status.
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

// HTTPStatus returns the HTTP status of a code, or 0 for a number that is no code.
func HTTPStatus(code platform.Code) int { return httpStatus[code] }

// SetHeaders sets the response headers WWW-Authenticate and Retry-After for an error.
func SetHeaders(h http.Header, shown *platform.Error) {
	if shown.Code == platform.CodeUnauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if shown.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(shown.RetryAfter.Seconds()))))
	}
}
