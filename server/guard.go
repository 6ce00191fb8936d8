package server

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"regexp"

	"atrium/edge"
	"atrium/platform"
	"atrium/rest"
)

// A layer puts something before a handler.
type layer = func(http.Handler) http.Handler

type errorWriter = func(http.ResponseWriter, *http.Request, error)

// watched adds the layers that apply to every request. The last layer is the outermost.
func watched(next http.Handler, o rest.Options, r *recorder) http.Handler {
	return layered(next, recovering(refusing(o), o.Logger), r.recorded, identified)
}

// guarded adds the layers that apply to every request to this service, but not to
// requests that are proxied to another service.
func guarded(next http.Handler, origins []string, o rest.Options) http.Handler {
	return layered(next, sameOrigin(origins, refusing(o)), crossOrigin(origins), private)
}

func layered(next http.Handler, layers ...layer) http.Handler {
	for _, l := range layers {
		next = l(next)
	}
	return next
}

var requestIDPattern = regexp.MustCompile(`^[A-Za-z0-9-]{1,64}$`)

// identified sets the request id of the response, which logs and errors name. It uses
// the id of the client if that is safe.
func identified(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		id := r.Header.Get(edge.RequestIDHeader)
		if !requestIDPattern.MatchString(id) {
			id = rand.Text()
		}
		w.Header().Set(edge.RequestIDHeader, id)
		next.ServeHTTP(w, r)
	})
}

// private sets headers that prevent caching and guessing of media types.
func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		h := w.Header()
		h["Cache-Control"], h["X-Content-Type-Options"] = noStore, noSniff
		next.ServeHTTP(w, r)
	})
}

// All responses share these values of headers.
var noStore, noSniff = []string{"no-store"}, []string{"nosniff"}

// maxLoggedPath cuts paths, which clients choose.
const maxLoggedPath = 512

// recovering answers INTERNAL for a handler that panics.
func recovering(refuse errorWriter, logger *slog.Logger) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			defer func() {
				cause := recover()
				if cause == nil {
					return
				}
				if err, ok := cause.(error); ok && errors.Is(err, http.ErrAbortHandler) {
					panic(cause) // is meant to end the connection
				}
				hidden := edge.Errors{Logger: logger}.ReportPanic(r.Context(), cause, w.Header().Get(edge.RequestIDHeader))
				if seen, ok := w.(*observed); ok && seen.status != 0 {
					panic(http.ErrAbortHandler) // half an answer must not look like a whole one
				}
				refuse(w, r, hidden)
			}()
			next.ServeHTTP(w, r)
		})
	}
}

// sameOrigin rejects requests that a browser sends for a page of another origin, unless
// it is one of origins.
func sameOrigin(origins []string, refuse errorWriter) layer {
	protection := http.NewCrossOriginProtection()
	for _, origin := range origins {
		_ = protection.AddTrustedOrigin(origin) // what it refuses no browser sends
	}
	protection.SetDenyHandler(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		refuse(w, r, &platform.Error{
			Code: platform.CodePermissionDenied, Reason: "PERMISSION_DENIED",
			Message: "Permission denied: a page of another origin may not send this request",
		})
	}))
	return protection.Handler
}
