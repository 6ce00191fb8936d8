package rest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"atrium/internal/apierror"
	"atrium/platform/core"
	"atrium/platform/fieldmask"
)

// A statusError is an error with an HTTP status of its own.
type statusError struct {
	status int
	shown  *core.Error
}

func (r *statusError) Error() string { return r.shown.Error() }

// Unwrap returns the error that the body shows.
func (r *statusError) Unwrap() error { return r.shown }

// HeadersTooLarge returns the error for a request line or headers that are too large.
func HeadersTooLarge(what string, most int) error {
	return &statusError{http.StatusRequestHeaderFieldsTooLarge, core.Invalid(fieldmask.Violation{
		Field: what, Description: fmt.Sprintf("must be at most %d bytes", most),
	})}
}

// UnsupportedMethod returns the error for a method that a path does not have.
func UnsupportedMethod() error { return noMethod }

// The errors for requests that reach no operation.
var (
	noPath = &core.Error{
		Code: core.CodeNotFound, Reason: "NOT_FOUND", Message: "Not found: there is nothing at this path",
	}
	noMethod = &statusError{http.StatusMethodNotAllowed, &core.Error{
		Code: core.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: this path does not support this method",
	}}
	noV1 = &core.Error{
		Code: core.CodeUnimplemented, Reason: "UNIMPLEMENTED", Message: "Unimplemented: v1 is not served here; see v2",
	}
)

// WriteError answers err as google.rpc.Status with the HTTP status of its code. It logs
// a cause that the client does not see. Authentication and limits, which run before
// the routes, use it too.
func (o Options) WriteError(w http.ResponseWriter, r *http.Request, err error) {
	shown := apierror.Show(err, apierror.AreaOf(r.URL.Path))
	status := apierror.StatusOf(shown)
	var refused *statusError
	if errors.As(err, &refused) {
		status = refused.status
	}
	id := requestID(w)
	o.errors().Report(r.Context(), shown, id, "")
	h := w.Header()
	setPrivateHeaders(h)
	h.Set("Content-Type", "application/json")
	apierror.SetHeaders(h, shown)
	w.WriteHeader(status)
	_ = newEncoder(w).Encode(o.errors().Status(shown, id)) // fails only if the client has disconnected
}

func (o Options) errors() apierror.Errors {
	return apierror.Errors{ServiceDomain: o.ServiceDomain, Logger: o.Logger}
}

func (o Options) version() string { return cmp.Or(o.Version, "dev") }

// requestID returns the request id of the response.
func requestID(w http.ResponseWriter) string { return w.Header().Get(apierror.RequestIDHeader) }
