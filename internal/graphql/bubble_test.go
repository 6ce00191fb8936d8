package graphql

import (
	"bytes"
	"context"
	"net"
	"net/http"
	"sync"
	"testing"
	"testing/synctest"
	"time"
)

// inBubble runs test with a clock of its own, which passes only while nothing can run. A busy machine
// is no different from a quiet one then.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, test)
}

// A pipeListener accepts connections within the process, which a bubble needs.
type pipeListener struct {
	conns  chan net.Conn
	closed chan struct{}
}

func (l pipeListener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l pipeListener) Close() error { close(l.closed); return nil }

func (pipeListener) Addr() net.Addr { return &net.TCPAddr{} }

func (l pipeListener) dial(context.Context, string, string) (net.Conn, error) {
	client, server := net.Pipe()
	l.conns <- server
	c := &clientConn{Conn: client, written: make(chan []byte, 100), closed: make(chan struct{})}
	go c.pump()
	return c, nil
}

// A clientConn is the end of a client. What it writes is buffered, as by a network, while the
// server waits until the client has read.
type clientConn struct {
	net.Conn
	written chan []byte
	once    sync.Once
	closed  chan struct{}
}

func (c *clientConn) Write(b []byte) (int, error) {
	select {
	case c.written <- bytes.Clone(b):
		return len(b), nil
	case <-c.closed:
		return 0, net.ErrClosed
	}
}

func (c *clientConn) Close() error {
	c.once.Do(func() { close(c.closed) })
	return c.Conn.Close()
}

func (c *clientConn) pump() {
	defer func() { _ = c.Close() }()
	for {
		select {
		case b := <-c.written:
			if _, err := c.Conn.Write(b); err != nil {
				return
			}
		case <-c.closed:
			return
		}
	}
}

// A bubble is a server of a stage within the process. Like the program, it has timeouts that
// streams must remove.
type bubble struct {
	client *http.Client
	ended  chan bool // receives a value whenever a request or a websocket has ended
}

// bubbleTimeout is shorter than the pauses of the streams in bubbles.
const bubbleTimeout = 10 * time.Second

const bubbleURL = "http://stage.example/"

func serveBubble(t *testing.T, o stageOptions) bubble {
	t.Helper()
	return serveBubbleOver(t, o, (*http.Protocols).SetHTTP1)
}

// serveBubbleOver is serveBubble with the only version of HTTP that is spoken.
func serveBubbleOver(t *testing.T, o stageOptions, version func(*http.Protocols, bool)) bubble {
	t.Helper()
	l := pipeListener{make(chan net.Conn), make(chan struct{})}
	protocols := new(http.Protocols)
	version(protocols, true)
	b := bubble{&http.Client{Transport: &http.Transport{DialContext: l.dial, Protocols: protocols}}, make(chan bool, 100)}
	h := stageHandler(o)
	s := &http.Server{ReadTimeout: bubbleTimeout, WriteTimeout: bubbleTimeout, Protocols: protocols, Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		defer func() { b.ended <- true }()
		h.ServeHTTP(w, r)
	})}
	go func() { _ = s.Serve(l) }()
	t.Cleanup(func() { b.client.CloseIdleConnections(); _ = s.Close() })
	return b
}
