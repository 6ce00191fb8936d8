package server

import (
	"crypto/rand"
	"errors"
	"log/slog"
	"net/http"
	"regexp"
	"time"

	"atrium/edge"
	"atrium/platform"
	"atrium/rest"
)

// A layer puts something before a handler.
type layer = func(http.Handler) http.Handler

type errorWriter = func(http.ResponseWriter, *http.Request, error)

// watched puts before next what every request goes through, whatever it asks
// for. The last is the outermost.
func watched(next http.Handler, o rest.Options) http.Handler {
	return layered(next, recovering(refusing(o), o.Logger), logged(o.Logger), identified)
}

// guarded puts before next what every request to this service goes through, as
// one to another service behind it does not.
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

// identified gives the answer an id that logs and errors name: the client's
// where it is harmless.
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

// private keeps answers out of caches and to their media type.
func private(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Cache-Control", "no-store")
		w.Header().Set("X-Content-Type-Options", "nosniff")
		next.ServeHTTP(w, r)
	})
}

// maxLoggedPath cuts paths, which clients choose.
const maxLoggedPath = 512

// logged writes one line per request. It has no query, since tokens of pages
// and whole GraphQL documents are there, no header and no body.
func logged(logger *slog.Logger) layer {
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			start := time.Now()
			seen := &observed{ResponseWriter: w}
			defer func() {
				level := slog.LevelInfo
				if r.URL.Path == "/livez" || r.URL.Path == "/readyz" {
					level = slog.LevelDebug
				}
				path := r.URL.EscapedPath()
				logger.Log(r.Context(), level, "request",
					"request_id", w.Header().Get(edge.RequestIDHeader), "method", r.Method, "path", path[:min(len(path), maxLoggedPath)],
					"status", seen.code(), "bytes", seen.bytes, "ms", time.Since(start).Milliseconds(), "remote", r.RemoteAddr)
			}()
			next.ServeHTTP(seen, r)
		})
	}
}

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

// sameOrigin refuses what a browser sends for the page of another site, unless
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

// observed remembers what was answered.
type observed struct {
	http.ResponseWriter
	status int
	bytes  int64
}

// WriteHeader remembers the first final status.
func (o *observed) WriteHeader(status int) {
	if o.status == 0 && status >= http.StatusOK {
		o.status = status
	}
	o.ResponseWriter.WriteHeader(status)
}

func (o *observed) Write(b []byte) (int, error) {
	if o.status == 0 {
		o.status = http.StatusOK
	}
	n, err := o.ResponseWriter.Write(b)
	o.bytes += int64(n)
	return n, err
}

// Flush sends what was written, for handlers that stream.
func (o *observed) Flush() { _ = http.NewResponseController(o.ResponseWriter).Flush() }

// Unwrap lets http.ResponseController reach the connection.
func (o *observed) Unwrap() http.ResponseWriter { return o.ResponseWriter }

func (o *observed) code() int {
	if o.status == 0 {
		return http.StatusOK // net/http sends it for a handler that writes nothing
	}
	return o.status
}
