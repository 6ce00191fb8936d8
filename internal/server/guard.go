package server

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"regexp"

	"atrium/internal/apierror"
	"atrium/internal/rest"
)

// A layer is a middleware: it wraps a handler.
type layer = func(http.Handler) http.Handler

type errorWriter = func(http.ResponseWriter, *http.Request, error)

// addOuterLayers adds the layers that apply to every request. The last layer is the outermost.
func addOuterLayers(next http.Handler, o rest.Options, r *recorder, trusted proxies) http.Handler {
	return wrapHandler(next, recoverPanics(newErrorWriter(o), o.Logger), r.recordRequests, setRequestID, trusted.locateClients)
}

// addGuards adds the layers that apply to every request to this service, but not to
// requests that are proxied to another service.
func addGuards(next http.Handler, origins []string, o rest.Options) http.Handler {
	return wrapHandler(next, crossOrigin(origins, newErrorWriter(o)), setPrivateHeaders)
}

func wrapHandler(next http.Handler, layers ...layer) http.Handler {
	for _, l := range layers {
		next = l(next)
	}
	return next
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// setRequestID sets the request id of the response, which logs and errors name. It uses
// the id of the client if that is safe.
func setRequestID(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(apierror.RequestIDHeader)
		if id == "" || !requestIDPattern.MatchString(id) {
			id = rand.Text()
		}
		w.Header().Set(apierror.RequestIDHeader, id)
		next.ServeHTTP(w, r)
	})
}

// setPrivateHeaders sets headers that prevent caching and guessing of media types.
func setPrivateHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
		next.ServeHTTP(w, r)
	})
}

// All responses share these values of headers.
var noStore, noSniff, varyByEncoding = []string{"no-store"}, []string{"nosniff"}, []string{"Accept-Encoding"}

// maxLoggedPath limits logged paths, in bytes, because clients choose them.
const maxLoggedPath = 512

// recoverPanics answers with INTERNAL if a handler panics.
func recoverPanics(refuse errorWriter, logger *slog.Logger) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				cause := recover()
				if cause == nil {
					return
				}
				if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(cause) // the handler wants to end the connection
				}
				hidden := apierror.Panicked(cause)
				if seen, ok := w.(*observed); ok && seen.status != 0 {
					apierror.Errors{Logger: logger}.Report(r.Context(), apierror.Show(hidden, ""), w.Header().Get(apierror.RequestIDHeader), "")
					panic(http.ErrAbortHandler) // a partial response must not look complete
				}
				refuse(w, r, hidden)
			}()
			next.ServeHTTP(w, r)
		})
	}
}
