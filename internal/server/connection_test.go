package server

import (
	"bufio"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
)

// RFC 9112, 6.1: what follows such a request may be one that a proxy took for its body.
func TestABodyWithTwoLengthsClosesTheConnection(t *testing.T) {
	t.Parallel()
	handler := func(w http.ResponseWriter, r *http.Request) { _, _ = io.Copy(w, r.Body) }
	url, _, _ := startServer(t, closeConnections(http.HandlerFunc(handler), nil).ServeHTTP, keepSettings)
	for request, closes := range map[string]bool{
		"Content-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nbody\r\n0\r\n\r\n": true,
		"Transfer-Encoding: chunked\r\nContent-Length: 4\r\n\r\n4\r\nbody\r\n0\r\n\r\n": true,
		"Content-Length: 4\r\n\r\nbody": false,
	} {
		conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
		if err != nil {
			t.Fatal(err)
		}
		defer conn.Close()
		const follows = "GET /follows HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"
		_, _ = io.WriteString(conn, "POST / HTTP/1.1\r\nHost: x\r\n"+request+follows)
		from := bufio.NewReader(conn)
		answer, err := http.ReadResponse(from, nil)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(answer.Body)
		if err != nil || string(body) != "body" || answer.Close != closes {
			t.Errorf("%q: %q, %v, closes: %t, want %t", request, body, err, answer.Close, closes)
		}
		// The server may close the connection without reading all of it.
		if more, _ := io.ReadAll(from); (len(more) == 0) != closes {
			t.Errorf("%q: %q follows", request, more)
		}
	}
}
