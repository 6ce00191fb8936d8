package server

import (
	"net/http"
	"net/url"

	"atrium/internal/rpc"
)

// resolveAliases gives the requests for procedures by the name of an alias the paths of the same
// procedures without it, so that nothing behind it can treat them differently.
func resolveAliases(aliases rpc.Aliases, next http.Handler) http.Handler {
	if len(aliases) == 0 {
		return next
	}
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if path := aliases.Resolve(r.URL.Path); path != r.URL.Path && r.URL.RawPath == "" { // no procedure has a path with escapes
			own := *r
			own.URL = &url.URL{Path: path, RawQuery: r.URL.RawQuery}
			r = &own
		}
		next.ServeHTTP(w, r)
	})
}
