package server

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	"atrium/platform/core"
)

// preflightLife is how long a browser may cache the answer to a preflight request.
const preflightLife = "7200"

// crossOrigin lets pages of these origins send requests and read the responses. It
// allows no cookies: a page must send its token in a header. It refuses what browsers send
// for pages of other origins, and says how the operator can allow them.
func crossOrigin(origins []string, refuse errorWriter) layer {
	protection := http.NewCrossOriginProtection()
	for _, origin := range origins {
		_ = protection.AddTrustedOrigin(origin) // a nil error means that no browser rejects the request
	}
	return func(next http.Handler) http.Handler {
		return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			h, origin, asks := w.Header(), r.Header.Get("Origin"), isPreflight(r)
			if len(origins) > 0 {
				h.Add("Vary", "Origin")
				if asks {
					h.Add("Vary", "Access-Control-Request-Method, Access-Control-Request-Headers")
				}
			}
			switch isListed := slices.Contains(origins, origin); {
			case isListed && asks:
				allowPage(h, r, origin)
				w.WriteHeader(http.StatusNoContent)
				return
			case isListed:
				h.Set("Access-Control-Allow-Origin", origin)
				h.Set("Access-Control-Expose-Headers", "*")
			case asks && !isOwnOrigin(r, origin):
				refuse(w, r, foreignOrigin(origin))
				return
			case isHidden(r, origin) || protection.Check(r) != nil:
				if origin != "" && origin != "null" { // so that the page can read why
					h.Set("Access-Control-Allow-Origin", origin)
				}
				refuse(w, r, foreignOrigin(origin))
				return
			}
			next.ServeHTTP(w, r)
		})
	}
}

// allowPage answers the preflight request of a page.
func allowPage(h http.Header, r *http.Request, origin string) {
	h.Set("Access-Control-Allow-Origin", origin)
	h.Set("Access-Control-Allow-Methods", "GET, HEAD, POST, PATCH, DELETE")
	h.Set("Access-Control-Allow-Headers", strings.Join(r.Header.Values("Access-Control-Request-Headers"), ", "))
	h.Set("Access-Control-Max-Age", preflightLife)
}

// isPreflight reports whether a browser asks if a page of another origin may send a request.
func isPreflight(r *http.Request) bool {
	return r.Method == http.MethodOptions && r.Header.Get("Origin") != "" && r.Header.Get("Access-Control-Request-Method") != ""
}

// isOwnOrigin reports whether an origin is the host to which a request was sent.
func isOwnOrigin(r *http.Request, origin string) bool {
	u, err := url.Parse(origin)
	return err == nil && strings.EqualFold(u.Host, r.Host)
}

// isHidden reports whether a browser would hide the answer from the page of another origin
// that sends the request, or would not open its websocket.
func isHidden(r *http.Request, origin string) bool {
	if origin == "" || isOwnOrigin(r, origin) {
		return false
	}
	site := r.Header.Get("Sec-Fetch-Site")
	return site == "cross-site" || site == "same-site" || r.Header.Get("Upgrade") != ""
}

// maxShownOrigin limits the origin in a message, in bytes, because clients choose it.
const maxShownOrigin = 200

// foreignOrigin returns the error for a request from a page of another origin.
func foreignOrigin(origin string) error {
	message := "Permission denied: a page of another origin may not send this request; the operator of the server can allow origins with --cors-origin"
	if u, err := url.Parse(origin); err == nil && u.Host != "" && len(origin) <= maxShownOrigin {
		message = fmt.Sprintf("Permission denied: a page of %s may not send this request; the operator of the server can allow that with --cors-origin %[1]s", origin)
	}
	return &core.Error{Code: core.CodePermissionDenied, Reason: "PERMISSION_DENIED", Message: message}
}

// socketOrigins returns path.Match patterns that match exactly these origins.
func socketOrigins(origins []string) []string {
	patterns := make([]string, len(origins))
	for i, origin := range origins {
		patterns[i] = strings.ReplaceAll(origin, "[", `\[`) // the brackets of an IPv6 address
	}
	return patterns
}
