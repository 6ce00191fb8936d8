package server

import (
	"net/http"
	"slices"
	"strings"
)

// preflightLife is how long a browser remembers what it may send.
const preflightLife = "7200"

// crossOrigin lets pages of these origins send requests and read the answers.
// The browser adds no credentials of its own: a page brings its token in a
// header. Pages of others get answers that their browsers keep from them.
func crossOrigin(origins []string) layer {
	return func(next http.Handler) http.Handler {
		if len(origins) == 0 {
			return next
		}
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h := w.Header()
			h.Add("Vary", "Origin")
			asked := r.Header.Get("Access-Control-Request-Method")
			preflight := r.Method == http.MethodOptions && asked != ""
			if preflight {
				h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
			}
			origin := r.Header.Get("Origin")
			if !slices.Contains(origins, origin) {
				next.ServeHTTP(w, r)
				return
			}
			h.Set("Access-Control-Allow-Origin", origin)
			if !preflight {
				h.Set("Access-Control-Expose-Headers", "*")
				next.ServeHTTP(w, r)
				return
			}
			h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE")
			h.Set("Access-Control-Allow-Headers", strings.Join(r.Header.Values("Access-Control-Request-Headers"), ", "))
			h.Set("Access-Control-Max-Age", preflightLife)
			w.WriteHeader(http.StatusNoContent)
		})
	}
}

// socketOrigins are the patterns of path.Match that match just these origins.
func socketOrigins(origins []string) []string {
	patterns := make([]string, len(origins))
	for i, origin := range origins {
		patterns[i] = strings.ReplaceAll(origin, "[", `\[`) // of an address of IPv6
	}
	return patterns
}
