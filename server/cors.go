package server

import (
	"net/http"
	"slices"
	"strings"
)

// preflightLife is how long a browser may cache the answer to a preflight request.
const preflightLife = "7200"

// crossOrigin lets pages of these origins send requests and read the responses. It
// allows no cookies: a page must send its token in a header. Browsers hide the
// responses from pages of other origins.
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

// socketOrigins returns path.Match patterns that match exactly these origins.
func socketOrigins(origins []string) []string {
	patterns := make([]string, len(origins))
	for i, origin := range origins {
		patterns[i] = strings.ReplaceAll(origin, "[", `\[`) // the brackets of an IPv6 address
	}
	return patterns
}
