package server

import (
	"bufio"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"syscall"
	"testing"
	"time"

	"atrium/internal/rest"
	"atrium/platform"
	"atrium/platform/fieldmask"
	"atrium/store/storetest"
)

// protocols returns a client for each protocol without TLS, which uses only that one.
func protocols() map[string]*http.Client {
	one, two := new(http.Protocols), new(http.Protocols)
	one.SetHTTP1(true)
	two.SetUnencryptedHTTP2(true)
	return map[string]*http.Client{
		"HTTP/1.1": {Transport: &http.Transport{Protocols: one}},
		"HTTP/2.0": {Transport: &http.Transport{Protocols: two}},
	}
}

// startServer starts a server with the settings of the program, changed by change.
func startServer(t *testing.T, handler http.HandlerFunc, change func(*http.Server)) (url string, stop context.CancelFunc, ended <-chan error) {
	t.Helper()
	listener, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	server := newServer(handler, nil, DefaultIdleTimeout, discardLogger())
	change(server)
	done := make(chan error, 1)
	go func() {
		done <- serve(ctx, listener, server, func() {}, DefaultDrainTimeout, discardLogger())
	}()
	t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String(), stop, done
}

func keepSettings(*http.Server) {}

// check returns a function that returns a value, unless there is an error.
func check[T any](value T, err error) func(testing.TB) T {
	return func(t testing.TB) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return value
	}
}

// develop runs a complete server in development mode until the test ends. It returns
// its URL and a token of the owner of the demonstration organization.
func develop(t *testing.T, database string) (url, token string) {
	t.Helper()
	ctx, stop := context.WithCancel(t.Context())
	started, ended := make(chan Start, 1), make(chan error, 1)
	go func() {
		ended <- Run(ctx, Config{
			Address: "127.0.0.1:0", DatabaseURL: database, Migrate: true, Development: true, Audience: []string{"atrium"}, GraphQL: DefaultGraphQL(), ServiceDomain: "atrium.dev", Logger: discardLogger(),
			Started: func(at Start) error { started <- at; return nil },
		})
	}()
	t.Cleanup(func() { stop(); <-ended })
	select {
	case at := <-started:
		url = at.URL
	case err := <-ended:
		ended <- err // The cleanup receives it again.
		t.Fatal(err)
	}
	p, err := platform.New(ctx, storetest.Open(t, database), platform.Options{})
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := DevelopmentIssuer(ctx, p)
	if err != nil {
		t.Fatal(err)
	}
	if token, err = issuer.Mint("owner", "atrium", time.Hour, nil); err != nil {
		t.Fatal(err)
	}
	return url, token
}

func TestBothHTTPVersionsWorkWithoutTLS(t *testing.T) {
	t.Parallel()
	url, _, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) { _, _ = io.WriteString(w, r.Proto) }, keepSettings)
	for want, client := range protocols() {
		answer, err := client.Get(url)
		if err != nil {
			t.Fatal(err)
		}
		body, _ := io.ReadAll(answer.Body)
		_ = answer.Body.Close()
		if answer.Proto != want || string(body) != want {
			t.Errorf("got %s, and the server %s, want %s", answer.Proto, body, want)
		}
	}
}

func TestHeadersAreBoundedInEveryProtocol(t *testing.T) {
	t.Parallel()
	o := rest.Options{}
	url, _, _ := startServer(t, limitHeaders(http.HandlerFunc(answerOK), o.WriteError).ServeHTTP, keepSettings)
	for name, client := range protocols() {
		for size, want := range map[int]int{maxHeaderBytes * 3 / 4: 200, maxHeaderBytes * 5 / 4: 431} {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
			for i := range size / 1024 {
				r.Header.Set(fmt.Sprintf("X-%d", i), strings.Repeat("a", 1000))
			}
			answer, err := client.Do(r)
			// Go's HTTP/2 client does not send such headers if it knows the limit.
			// Otherwise the server closes the connection.
			if err != nil && want == 431 && (strings.Contains(err.Error(), "peer's advertised limit") || strings.Contains(err.Error(), "GOAWAY")) {
				continue
			}
			if err != nil {
				t.Errorf("%s, %d bytes: %v", name, size, err)
				continue
			}
			_ = answer.Body.Close()
			if answer.StatusCode != want {
				t.Errorf("%s, %d bytes: %d, want %d", name, size, answer.StatusCode, want)
			}
		}
	}
}

// net/http itself answers requests that it cannot read, before any handler runs.
func TestAnUnreadableRequestIsRefused(t *testing.T) {
	t.Parallel()
	handler := limitHeaders(http.HandlerFunc(answerOK), rest.Options{}.WriteError).ServeHTTP
	url, _, _ := startServer(t, handler, keepSettings)
	address := strings.TrimPrefix(url, "http://")
	t.Run("in clear text", func(t *testing.T) {
		expectRefusals(t, func() (net.Conn, error) { return new(net.Dialer).DialContext(t.Context(), "tcp", address) })
	})
	secure, roots, _, _ := startTLSServer(t, handler)
	t.Run("over TLS", func(t *testing.T) {
		dialer := &tls.Dialer{Config: &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}}
		expectRefusals(t, func() (net.Conn, error) { return dialer.DialContext(t.Context(), "tcp", secure) })
	})
	t.Run("clear text where TLS is spoken", func(t *testing.T) {
		conn, err := new(net.Dialer).DialContext(t.Context(), "tcp", secure)
		if err != nil {
			t.Fatal(err)
		}
		expectStatus(t, conn, "GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400, "")
	})
}

// startTLSServer starts a server with the settings of the program and a certificate for
// example.com.
func startTLSServer(t *testing.T, handler http.HandlerFunc) (address string, roots *x509.CertPool, stop context.CancelFunc, ended <-chan error) {
	t.Helper()
	known := httptest.NewUnstartedServer(nil)
	known.StartTLS()
	t.Cleanup(known.Close)
	url, stop, ended := startServer(t, handler, func(s *http.Server) {
		s.Protocols.SetHTTP2(true)
		s.TLSConfig = new(Certificate).config(discardLogger())
		s.TLSConfig.GetCertificate = func(*tls.ClientHelloInfo) (*tls.Certificate, error) { return &known.TLS.Certificates[0], nil }
	})
	roots = x509.NewCertPool()
	roots.AddCert(known.Certificate())
	return strings.TrimPrefix(url, "http://"), roots, stop, ended
}

// A connection without a complete TLS handshake must not prevent the shutdown of the
// server or delay other connections.
func TestAnIncompleteHandshakeDelaysNobody(t *testing.T) {
	t.Parallel()
	address, roots, stop, ended := startTLSServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.TLS == nil || r.TLS.Version < tls.VersionTLS12 {
			t.Errorf("%s: the request does not say that it came over TLS", r.Proto)
		}
		_, _ = io.WriteString(w, r.Proto)
	})
	silent, err := new(net.Dialer).DialContext(t.Context(), "tcp", address)
	if err != nil {
		t.Fatal(err)
	}
	defer silent.Close()
	for http2, want := range map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"} {
		protocols := new(http.Protocols)
		protocols.SetHTTP1(!http2)
		protocols.SetHTTP2(http2)
		client := &http.Client{Transport: &http.Transport{Protocols: protocols, DisableKeepAlives: true,
			TLSClientConfig: &tls.Config{RootCAs: roots, ServerName: "example.com", MinVersion: tls.VersionTLS12}}}
		answer, err := client.Get("https://" + address)
		if err != nil {
			t.Fatal(err)
		}
		_ = answer.Body.Close()
		if answer.Proto != want {
			t.Errorf("got %s, want %s", answer.Proto, want)
		}
	}
	stop()
	if err := <-ended; err != nil {
		t.Errorf("the server ended with %v", err)
	}
}

func expectRefusals(t *testing.T, dial func() (net.Conn, error)) {
	t.Helper()
	ids := strings.Repeat("&uidp.ids="+strings.Repeat("a", 40)+strings.Repeat("%2F"+strings.Repeat("b", 16), 5), 1000)
	for request, want := range map[string]struct {
		status int
		field  string
	}{
		"GET /iam/v2/groups/%zz HTTP/1.1\r\nHost: x\r\n\r\n": {400, ""},
		"GET / HTTP/1.1\r\n\r\n":                             {400, ""},
		"GET / HTTP/1.1\r\nHost: x\r\nX-Big: " + strings.Repeat("a", 2*hardHeaderBytes) + "\r\n\r\n":       {431, ""},
		"GET / HTTP/1.1\r\nHost: x\r\nX-Big: " + strings.Repeat("a", maxHeaderBytes) + "\r\n\r\n":          {431, "headers"},
		"GET /?" + strings.Repeat("a", maxLineBytes) + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n": {431, "request line"},
		"GET /?" + ids + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n":                               {200, ""},
	} {
		conn, err := dial()
		if err != nil {
			t.Fatal(err)
		}
		expectStatus(t, conn, request, want.status, want.field)
	}
}

// expectStatus sends a request, and expects a code, and a Status that names the field if
// there is one.
func expectStatus(t *testing.T, conn net.Conn, request string, code int, field string) {
	t.Helper()
	defer conn.Close()
	go func() { _, _ = io.WriteString(conn, request) }() // The server closes the connection if the request is too long.
	answer, err := http.ReadResponse(bufio.NewReader(conn), nil)
	if err != nil {
		t.Fatalf("%.40q: %v", request, err)
	}
	var status struct {
		Code    int
		Details []struct{ FieldViolations []fieldmask.Violation }
	}
	if field != "" {
		err = json.NewDecoder(answer.Body).Decode(&status)
	}
	if err != nil || answer.StatusCode != code {
		t.Errorf("%.40q: status %d, want %d: %v", request, answer.StatusCode, code, err)
	} else if field != "" && (answer.Header.Get("Content-Type") != "application/json" || status.Code != 3 || len(status.Details) != 2 || status.Details[1].FieldViolations[0].Field != field) {
		t.Errorf("%.40q: %v %+v", request, answer.Header, status)
	}
}

func TestAnIncompleteBodyHasATimeLimit(t *testing.T) {
	t.Parallel()
	read := make(chan error, 1)
	url, _, _ := startServer(t, func(_ http.ResponseWriter, r *http.Request) {
		_, err := io.ReadAll(r.Body)
		read <- err
	}, func(s *http.Server) { s.ReadTimeout = 50 * time.Millisecond })
	for name, client := range protocols() {
		rest, in := io.Pipe()
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, io.MultiReader(strings.NewReader("{"), rest))
		go func() {
			if answer, err := client.Do(r); err == nil {
				_ = answer.Body.Close()
			}
		}()
		if err := <-read; err == nil {
			t.Errorf("%s: the body came to its end", name)
		}
		_ = in.Close()
	}
}

func TestAHandlerHasATimeLimit(t *testing.T) {
	t.Parallel()
	url, _, _ := startServer(t, func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 2 { // After the time limit, the write ends the stream.
			<-r.Context().Done()
		}
		_, _ = io.WriteString(w, "late")
	}, func(s *http.Server) { s.WriteTimeout = time.Nanosecond }) // The limit has passed when the handler begins.
	for name, client := range protocols() {
		r, _ := http.NewRequestWithContext(t.Context(), http.MethodPost, url, nil) // net/http would repeat a GET.
		answer, err := client.Do(r)
		if err == nil {
			_ = answer.Body.Close()
			t.Errorf("%s: answered %d", name, answer.StatusCode)
		}
	}
}

// The attack is headers that arrive byte by byte and occupy a connection forever.
func TestSlowHeadersCloseTheConnection(t *testing.T) {
	t.Parallel()
	url, _, _ := startServer(t, answerOK, func(s *http.Server) { s.ReadHeaderTimeout = 50 * time.Millisecond })
	conn, err := net.Dial("tcp", strings.TrimPrefix(url, "http://"))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	_, _ = io.WriteString(conn, "GET / HTTP/1.1\r\nHost: x\r\n")
	// This returns when the server closes the connection. What the server has not read resets it.
	if _, err := io.Copy(io.Discard, conn); err != nil && !errors.Is(err, syscall.ECONNRESET) {
		t.Error(err)
	}
}

func TestTwoAuthorizationHeadersAreRefusedInEveryProtocol(t *testing.T) {
	t.Parallel()
	url, token := develop(t, storetest.SQLite(t))
	for name, client := range protocols() {
		for header, want := range map[string]int{"": 200, "Bearer " + token: 401} {
			r, _ := http.NewRequestWithContext(t.Context(), http.MethodGet, url+"/registry/v2/repos", nil)
			r.Header.Add("Authorization", "Bearer "+token)
			if header != "" {
				r.Header.Add("Authorization", header)
			}
			answer, err := client.Do(r)
			if err != nil {
				t.Fatal(err)
			}
			body, _ := bufio.NewReader(answer.Body).ReadString('\n')
			_ = answer.Body.Close()
			if answer.StatusCode != want || (want == 401) != strings.Contains(body, `"code":16`) {
				t.Errorf("%s: status %d, want %d: %.200s", name, answer.StatusCode, want, body)
			}
		}
	}
}

func TestRunningRequestsAreAnsweredBeforeTheServerEnds(t *testing.T) {
	t.Parallel()
	for name, client := range protocols() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			arrived, ending, release := make(chan struct{}), make(chan struct{}), make(chan struct{})
			url, stop, ended := startServer(t, func(w http.ResponseWriter, r *http.Request) {
				close(arrived)
				<-release
				if r.Context().Err() != nil {
					t.Error("the request was cancelled")
				}
				_, _ = io.WriteString(w, "whole")
			}, func(s *http.Server) { s.RegisterOnShutdown(func() { close(ending) }) })
			answered := make(chan string, 1)
			go func() {
				answer, err := client.Get(url)
				if err != nil {
					answered <- err.Error()
					return
				}
				defer answer.Body.Close()
				body, _ := io.ReadAll(answer.Body)
				answered <- string(body)
			}()
			<-arrived
			stop()
			<-ending
			close(release)
			if body := <-answered; body != "whole" {
				t.Errorf("answered %q, want whole", body)
			}
			if err := <-ended; err != nil {
				t.Errorf("ended with %v", err)
			}
		})
	}
}
