package server

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"atrium/internal/rpc"
)

// A Deprecation says since when something is deprecated, and when it ends. The zero value says
// that it is not.
type Deprecation struct {
	Since  time.Time
	Sunset time.Time // zero means that nobody has decided it yet
}

// announce adds the headers Deprecation (RFC 9745) and Sunset (RFC 8594) to the answers to requests
// for v2beta1.
func (d Deprecation) announce(next http.Handler) http.Handler {
	if d.Since.IsZero() {
		return next
	}
	since := "@" + strconv.FormatInt(d.Since.Unix(), 10)
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if isBeta(r.URL.Path) {
			h := w.Header()
			h.Set("Deprecation", since)
			h.Add("Link", `</guide/moving-from-v1#v2beta1>; rel="deprecation"; type="text/html"`)
			if !d.Sunset.IsZero() {
				h.Set("Sunset", d.Sunset.UTC().Format(http.TimeFormat))
			}
		}
		next.ServeHTTP(w, r)
	})
}

// isBeta reports whether a path is that of v2beta1 in REST or gRPC.
func isBeta(path string) bool {
	first, rest, _ := strings.Cut(strings.TrimPrefix(path, "/"), "/")
	if rpc.Serves(path) {
		return strings.Contains(first, ".v2beta1.")
	}
	return strings.HasPrefix(rest, "v2beta1/")
}
