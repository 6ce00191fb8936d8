package server

import (
	"net/http"

	"atrium/internal/rest"
)

// Size limits for the request line and the headers. The line has room for the longest
// list of ids, 1,000 UIDs. net/http itself stops reading at hardHeaderBytes.
const (
	maxLineBytes    = 256 << 10
	hardHeaderBytes = maxLineBytes + 2*maxHeaderBytes
)

// limitHeaders rejects requests whose line or headers are too large.
func limitHeaders(next http.Handler, refuse errorWriter) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		size := 0
		for name, values := range r.Header {
			for _, value := range values {
				size += len(name) + len(value) + len(": \r\n")
			}
		}
		switch line := len(r.Method) + len(r.RequestURI) + len(r.Proto); {
		case line > maxLineBytes:
			refuse(w, r, rest.HeadersTooLarge("request line", maxLineBytes))
		case size > maxHeaderBytes:
			refuse(w, r, rest.HeadersTooLarge("headers", maxHeaderBytes))
		default:
			next.ServeHTTP(w, r)
		}
	})
}
