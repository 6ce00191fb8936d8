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

// How much a request may bring before its body. The line holds the longest list
// of ids, 1,000 UIDs; net/http itself stops reading at hardHeaderBytes.
const (
	maxLineBytes    = 256 << 10
	hardHeaderBytes = maxLineBytes + 2*maxHeaderBytes
)

// bounded refuses requests whose line or headers are too large.
func bounded(next http.Handler, refuse errorWriter) http.Handler {
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

// net/http answers what it cannot read as a request by itself, before any
// handler, as plain text in one write that ends so.
const plainRefusal = "\r\nContent-Type: text/plain; charset=utf-8\r\nConnection: close\r\n\r\n"

// A refusingListener makes those answers a google.rpc.Status, like all others,
// on connections in clear text. A tlsListener does it over TLS.
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

// Write writes b, or a Status instead of net/http's own refusal.
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

// CloseWrite tells the client that the answer is complete, while it may still
// be sending.
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
	return refusalOf(line, c.serviceDomain, violation)
}

// refusalOf is an answer that names what is wrong with a request that no
// handler sees.
func refusalOf(line, serviceDomain string, violation platform.Violation) []byte {
	body, _ := json.Marshal(edge.Errors{ServiceDomain: serviceDomain}.Status(platform.Invalid(violation), "")) // texts and nothing else
	return fmt.Appendf(nil, "%s\r\nCache-Control: no-store\r\nConnection: close\r\nContent-Length: %d\r\nContent-Type: application/json\r\n"+
		"X-Content-Type-Options: nosniff\r\n\r\n%s", line, len(body), body)
}
