package rest

import (
	"cmp"
	"errors"
	"fmt"
	"net/http"

	"atrium/edge"
	"atrium/platform"
)

// A statusError is an error that HTTP has a status of its own for.
type statusError struct {
	status int
	shown  *platform.Error
}

func (r *statusError) Error() string { return r.shown.Error() }

// Unwrap gives the error that the body shows.
func (r *statusError) Unwrap() error { return r.shown }

// HeadersTooLarge refuses a request for what stands before its body.
func HeadersTooLarge(what string, most int) error {
	return &statusError{http.StatusRequestHeaderFieldsTooLarge, platform.Invalid(platform.Violation{
		Field: what, Description: fmt.Sprintf("must be at most %d bytes", most),
	})}
}

// What no operation is asked about.
var (
	noPath = &platform.Error{
		Code: platform.CodeNotFound, Reason: "NOT_FOUND", Message: "Not found: there is nothing at this path",
	}
	noMethod = &statusError{http.StatusMethodNotAllowed, &platform.Error{
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
	shown := edge.Show(err, edge.AreaOf(r.URL.Path))
	status := edge.HTTPStatus(shown.Code)
	var refused *statusError
	if errors.As(err, &refused) {
		status = refused.status
	}
	id := requestID(w)
	o.errors().Report(r.Context(), shown, id, "method", r.Method, "path", r.URL.Path)
	h := w.Header()
	setPrivateHeaders(h)
	h.Set("Content-Type", "application/json")
	edge.SetHeaders(h, shown)
	w.WriteHeader(status)
	_ = newEncoder(w).Encode(o.errors().Status(shown, id)) // fails when nobody listens any more
}

func (o Options) errors() edge.Errors {
	return edge.Errors{ServiceDomain: o.ServiceDomain, Logger: o.Logger}
}

func (o Options) version() string { return cmp.Or(o.Version, "dev") }

// requestID is the one that the answer carries.
func requestID(w http.ResponseWriter) string { return w.Header().Get(edge.RequestIDHeader) }
