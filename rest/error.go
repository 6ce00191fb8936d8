package rest

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"net/http"
	"strconv"
	"strings"

	"atrium/platform"
)

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

// A refusal is an error that HTTP has a status of its own for.
type refusal struct {
	status int
	shown  *platform.Error
}

func (r *refusal) Error() string { return r.shown.Error() }

// Unwrap gives the error that the body shows.
func (r *refusal) Unwrap() error { return r.shown }

// HeadersTooLarge refuses a request for what stands before its body.
func HeadersTooLarge(what string, most int) error {
	return &refusal{http.StatusRequestHeaderFieldsTooLarge, platform.Invalid(platform.Violation{
		Field: what, Description: fmt.Sprintf("must be at most %d bytes", most),
	})}
}

// What no operation is asked about.
var (
	noPath = &platform.Error{
		Code: platform.CodeNotFound, Reason: "NOT_FOUND", Message: "Not found: there is nothing at this path",
	}
	noMethod = &refusal{http.StatusMethodNotAllowed, &platform.Error{
		Code: platform.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: this path does not have this method",
	}}
	noV1 = &platform.Error{
		Code: platform.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: v1 is not served here; see v2",
	}
)

// WriteError answers err as google.rpc.Status with the HTTP status of its code.
// A cause that the client is not shown is logged. Whatever stands before the
// routes and refuses a request (authentication, limits) answers with this too.
func (o Options) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	shown := *platform.AsError(err)
	if shown.Area == "" {
		shown.Area = areaOf(r.URL.Path)
	}
	status := httpStatus[shown.Code]
	var refused *refusal
	if errors.As(err, &refused) {
		status = refused.status
	}
	o.log(w, r, &shown)
	h := w.Header()
	private(h)
	h.Set("Content-Type", "application/json")
	if status == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", "Bearer")
	}
	if shown.RetryAfter > 0 {
		h.Set("Retry-After", strconv.Itoa(int(math.Ceil(shown.RetryAfter.Seconds()))))
	}
	w.WriteHeader(status)
	_ = newEncoder(w).Encode(shown.Status(o.serviceDomain(), requestID(w))) // fails when nobody listens any more
}

// log tells the operator what the client is not told. A client that went away
// is no error, whatever became of its request.
func (o Options) log(w http.ResponseWriter, r *http.Request, e *platform.Error) {
	level := slog.LevelError
	if e.Code == platform.CodeUnavailable {
		level = slog.LevelWarn
	}
	hidden := e.Code == platform.CodeInternal || e.Code == platform.CodeUnavailable && e.Unwrap() != nil
	if !hidden || errors.Is(r.Context().Err(), context.Canceled) {
		return
	}
	o.logger().Log(r.Context(), level, "request failed",
		"request_id", requestID(w), "method", r.Method, "path", r.URL.Path, "code", e.Code.String(), "error", e)
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

func (o Options) version() string { return cmp.Or(o.Version, "dev") }

// requestID is the one that the answer carries.
func requestID(w http.ResponseWriter) string { return w.Header().Get("X-Request-Id") }

// legacyAreas are the service areas that have a version 1.
var legacyAreas = map[string]bool{"iam": true, "registry": true, "vulnerabilities": true, "libraries": true, "advisory": true}

// areaOf is the service area that a path lies in; "" where it lies in none.
func areaOf(path string) string {
	area, _, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if legacyAreas[area] || area == "events" || area == "ping" || area == "graphql" {
		return area
	}
	return ""
}
