package server

import (
	"bytes"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"atrium/internal/rest"
)

// A pipeListener accepts connections inside of a bubble.
type pipeListener struct{ conns chan net.Conn }

func (l pipeListener) Accept() (net.Conn, error) {
	conn, ok := <-l.conns
	if !ok {
		return nil, net.ErrClosed
	}
	return conn, nil
}

func (l pipeListener) Close() error { return nil }

func (l pipeListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1)} }

// serveOne serves one request to client, which has the other end of the connection, and returns the log.
func serveOne(t *testing.T, handler http.HandlerFunc, client func(net.Conn)) string {
	t.Helper()
	var logs bytes.Buffer
	logger := slog.New(slog.NewJSONHandler(&logs, nil))
	recorder := (&Config{Logger: logger}).newRecorder()
	server := newServer(addOuterLayers(handler, rest.Options{Logger: logger}, recorder, nil), nil, DefaultIdleTimeout, logger)
	listener := pipeListener{make(chan net.Conn, 1)}
	own, other := net.Pipe()
	listener.conns <- own
	go func() { _ = server.Serve(listener) }()
	go func() { _, _ = io.WriteString(other, "GET /registry/v2/repos HTTP/1.1\r\nHost: a\r\n\r\n") }()
	client(other)
	_ = other.Close()
	close(listener.conns)
	synctest.Wait()
	_ = server.Close()
	return logs.String()
}

// answerLong answers with more than net/http keeps before it sends.
func answerLong(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("Content-Length", "9000")
	for range 9 {
		_, _ = w.Write(bytes.Repeat([]byte("x"), 1000))
	}
}

// Under an overload, a request can take longer than it takes to send any answer. Its answer must be whole.
func TestAnAnswerThatBeginsLateIsWhole(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		handler := func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(2 * writeTimeout)
			answerLong(w, r)
		}
		log := serveOne(t, handler, func(conn net.Conn) {
			answer := make([]byte, 9000)
			n, err := io.ReadFull(conn, answer)
			if err != nil {
				t.Errorf("after %d bytes: %v", n, err)
			}
			_ = conn.SetReadDeadline(time.Now().Add(time.Second))
			_, _ = io.Copy(io.Discard, conn)
		})
		if !strings.Contains(log, `"code":"OK"`) {
			t.Errorf("the log says %s", log)
		}
	})
}

// The log must not say that all is well if a part of the answer could not be sent.
func TestTheLogTellsOfAnswersThatWereCut(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		client func(net.Conn)
		code   string
	}{
		"a client that does not read": {func(conn net.Conn) {
			_, _ = io.ReadFull(conn, make([]byte, 100))
			time.Sleep(2 * writeTimeout)
		}, "DEADLINE_EXCEEDED"},
		"a client that leaves": {func(conn net.Conn) {
			_, _ = io.ReadFull(conn, make([]byte, 100))
		}, "CANCELLED"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				log := serveOne(t, answerLong, c.client)
				if !strings.Contains(log, `"code":"`+c.code+`"`) || !strings.Contains(log, `"unsent":`) {
					t.Errorf("the log says %s, want the code %s", log, c.code)
				}
			})
		})
	}
}

// Whatever a request waits for, its time ends.
func TestTheTimeOfARequestBeginsWithItsArrival(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var left time.Duration
		limited := limitTime(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
			until, _ := r.Context().Deadline()
			left = time.Until(until)
		}))
		serveOne(t, func(w http.ResponseWriter, r *http.Request) {
			time.Sleep(requestTimeout / 3)
			limited.ServeHTTP(w, r)
		}, func(conn net.Conn) { _, _ = conn.Read(make([]byte, 100)) })
		if left != requestTimeout*2/3 {
			t.Errorf("a request that has waited for %v may work for %v", requestTimeout/3, left)
		}
	})
}
