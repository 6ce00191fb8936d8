package server

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net"
	"net/http"

	"atrium/edge"
	"atrium/platform"
	"atrium/rest"
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

// plainRefusal ends the headers of a response that net/http itself writes: it answers an
// unreadable request with plain text, in one write, before any handler runs.
const plainRefusal = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// A refusingListener replaces those responses by a google.rpc.Status, like all other
// errors, on connections without TLS. A tlsListener does the same over TLS.
type refusingListener struct {
	net.Listener
	serviceDomain string
}

// Accept waits for the next connection.
func (l refusingListener) Accept() (net.Conn, error) {
	conn, err := l.Listener.Accept()
	if err != nil {
		return nil, err
	}
	return &refusingConn{conn, l.serviceDomain}, nil
}

type refusingConn struct {
	net.Conn
	serviceDomain string
}

// Write writes b, or a Status if b is a response of net/http itself.
func (c *refusingConn) Write(b []byte) (int, error) {
	status, _, found := bytes.Cut(b[:min(len(b), 512)], []byte(plainRefusal))
	if !found || !bytes.HasPrefix(status, []byte("HTTP/1.1 ")) || bytes.Contains(status, []byte("\n")) {
		return c.Conn.Write(b)
	}
	if _, err := c.Conn.Write(c.status(string(status))); err != nil {
		return 0, err
	}
	return len(b), nil
}

// CloseWrite tells the client that the response is complete. The client may still be
// sending.
func (c *refusingConn) CloseWrite() error {
	if tcp, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return tcp.CloseWrite()
	}
	return nil
}

func (c *refusingConn) status(line string) []byte {
	violation := platform.Violation{Field: "request", Description: "must be HTTP/1.1 or HTTP/2; in a path, % begins an escape of two hex digits such as %2F"}
	if bytes.HasPrefix([]byte(line), []byte("HTTP/1.1 431")) {
		violation = platform.Violation{Field: "headers", Description: fmt.Sprintf("must be at most %d bytes", maxHeaderBytes)}
	}
	return encodeRefusal(line, c.serviceDomain, violation)
}

// encodeRefusal encodes the response to a request that no handler sees. It names the
// violation.
func encodeRefusal(line, serviceDomain string, violation platform.Violation) []byte {
	body, _ := json.Marshal(edge.Errors{ServiceDomain: serviceDomain}.Status(platform.Invalid(violation), "")) // cannot fail: strings only
	return fmt.Appendf(nil, "%s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\nContent-Type: application/json\r\n"+
		"X-Content-Type-Options: nosniff\r\n\r\n%s", line, len(body), body)
}
