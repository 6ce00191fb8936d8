package server

import (
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"strings"
	"testing"

	"atrium/internal/auth"
	"atrium/platform"
	"atrium/store/storetest"
)

func TestAnIncompleteBodyIsAnErrorAlsoOfAKnownToken(t *testing.T) {
	t.Parallel()
	storetest.EachURL(t, func(t *testing.T, url string) {
		w := newReplicas(t, url, "acme", func(p *platform.Platform) auth.Directory { return p })
		server := httptest.NewServer(w.handlers[0])
		defer server.Close()
		for _, path := range []string{"/registry/v2/repos/" + string(w.org), "/graphql", "/platform.registry.v2.ReposService/ListRepos"} {
			for range 2 { // The second time, the caller is presumed.
				conn := check(net.Dial("tcp", server.Listener.Addr().String()))(t)
				_, _ = fmt.Fprintf(conn, "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{", path, w.token)
				_ = conn.(*net.TCPConn).CloseWrite()
				answer, _ := io.ReadAll(conn)
				_ = conn.Close()
				if !strings.HasPrefix(string(answer), "HTTP/1.1 4") {
					t.Errorf("%s: got %.300s", path, answer)
				}
			}
		}
	})
}
