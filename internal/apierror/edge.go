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
	"slices"
	"strconv"

	"atrium/platform/core"
)

// FindingsPendingHeader is the header of an answer to a change whose findings are not there yet.
const FindingsPendingHeader = "Findings-Pending"

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
func Show(err error, area string) *core.Error {
	shown := *core.AsError(err)
	if shown.Area == "" {
		shown.Area = area
	}
	return &shown
}

// Status returns the google.rpc.Status that every protocol shows for an error.
func (e Errors) Status(shown *core.Error, requestID string) core.Status {
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
func IsHidden(ctx context.Context, shown *core.Error) bool {
	temporary := shown.Code == core.CodeUnavailable || shown.Code == core.CodeAborted
	hidden := shown.Code == core.CodeInternal || temporary && shown.Unwrap() != nil
	return hidden && !errors.Is(ctx.Err(), context.Canceled)
}

// Report notes an error in the trace. If IsHidden returns true for the error, the log has it in
// the line of the request. Report logs it at once for a stream, and if no trace collects what
// is known of the request. where is the path of a field in a response of GraphQL, or "".
func (e Errors) Report(ctx context.Context, shown *core.Error, requestID, where string) {
	trace := core.TraceOf(ctx)
	trace.NoteError(shown)
	if !IsHidden(ctx, shown) || trace.NoteFailure(core.Failure{Where: where, Err: shown}) {
		return
	}
	failures := []core.Failure{{Where: where, Err: shown}}
	e.Log().LogAttrs(ctx, FailureLevel(failures), "request failed", AppendFailures([]slog.Attr{slog.String("request_id", requestID), slog.String("code", shown.Code.String())}, failures)...)
}

// FailureLevel returns the level of the log for failures: an error of the program is an error,
// and what a database or another service has caused is a warning.
func FailureLevel(failures []core.Failure) slog.Level {
	if slices.ContainsFunc(failures, func(f core.Failure) bool { return f.Err.Code == core.CodeInternal }) {
		return slog.LevelError
	}
	return slog.LevelWarn
}

// AppendFailures appends failures to the attributes of a line in the log, and the stack of
// the first panic.
func AppendFailures(attributes []slog.Attr, failures []core.Failure) []slog.Attr {
	texts := make([]string, len(failures))
	for i, f := range failures {
		if texts[i] = f.Err.Error(); f.Where != "" {
			texts[i] = f.Where + ": " + texts[i]
		}
	}
	attributes = append(attributes, slog.String("error", texts[0]))
	if len(texts) > 1 {
		attributes = append(attributes, slog.Any("more_errors", texts[1:]))
	}
	for _, f := range failures {
		var broken *panicked
		if errors.As(f.Err, &broken) {
			return append(attributes, slog.String("stack", broken.stack))
		}
	}
	return attributes
}

// A panicked is the error of a request whose handler has panicked.
type panicked struct {
	cause any
	stack string
}

// Error names what the handler panicked with.
func (p *panicked) Error() string { return fmt.Sprintf("panic: %v", p.cause) }

// Panicked returns the internal error for a panic, which shows its stack in the log. It must be
// called where the panic is recovered.
func Panicked(cause any) error { return &panicked{cause, string(debug.Stack())} }

// httpStatus maps each code to its HTTP status.
var httpStatus = map[core.Code]int{
	core.CodeInvalidArgument:    http.StatusBadRequest,
	core.CodeFailedPrecondition: http.StatusBadRequest,
	core.CodeUnauthenticated:    http.StatusUnauthorized,
	core.CodePermissionDenied:   http.StatusForbidden,
	core.CodeNotFound:           http.StatusNotFound,
	core.CodeAlreadyExists:      http.StatusConflict,
	core.CodeAborted:            http.StatusConflict,
	core.CodeResourceExhausted:  http.StatusTooManyRequests,
	core.CodeInternal:           http.StatusInternalServerError,
	core.CodeUnimplemented:      http.StatusNotImplemented,
	core.CodeUnavailable:        http.StatusServiceUnavailable,
	core.CodeDeadlineExceeded:   http.StatusGatewayTimeout,
}

// HTTPStatus returns the HTTP status of a code, or 0 for a number that is no code.
func HTTPStatus(code core.Code) int { return httpStatus[code] }

// SetHeaders sets the response headers WWW-Authenticate and Retry-After for an error.
func SetHeaders(h http.Header, shown *core.Error) {
	if shown.Code == core.CodeUnauthenticated {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if shown.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(shown.RetryAfter.Seconds()))))
	}
}
