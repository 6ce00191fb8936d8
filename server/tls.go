package server

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"sync"
	"time"

	"atrium/platform"
)

// A tlsListener accepts TLS connections. It completes the handshake before net/http sees
// a connection, because only then it is known which protocol the client speaks. For
// HTTP/1 it wraps the connection, so that errors of net/http itself become a Status. For
// HTTP/2 it returns the *tls.Conn, which net/http requires; HTTP/2 has frames for such
// errors.
type tlsListener struct {
	net.Listener
	config        *tls.Config
	serviceDomain string
	logger        *slog.Logger

	accepted chan acceptance
	ctx      context.Context // ends when the listener is closed
	cancel   context.CancelFunc
	shaking  sync.WaitGroup
}

// An acceptance is a result of Accept.
type acceptance struct {
	conn net.Conn
	err  error
}

func newTLSListener(listener net.Listener, config *tls.Config, serviceDomain string, logger *slog.Logger) *tlsListener {
	ctx, cancel := context.WithCancel(context.Background())
	l := &tlsListener{Listener: listener, config: config, serviceDomain: serviceDomain, logger: logger,
		accepted: make(chan acceptance), ctx: ctx, cancel: cancel}
	l.shaking.Go(l.acceptAll)
	return l
}

// Accept waits for the next connection with a complete handshake.
func (l *tlsListener) Accept() (net.Conn, error) {
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close closes the listener and ends running handshakes.
func (l *tlsListener) Close() error {
	l.cancel()
	err := l.Listener.Close()
	l.shaking.Wait()
	return err
}

// acceptAll runs the handshake of each connection in a goroutine, so that no connection
// waits for another. It passes network errors to net/http, which pauses after them.
func (l *tlsListener) acceptAll() {
	for {
		conn, err := l.Listener.Accept()
		if err == nil {
			l.shaking.Go(func() { l.shake(conn) })
			continue
		}
		if l.deliver(acceptance{err: err}); l.ctx.Err() != nil || errors.Is(err, net.ErrClosed) {
			return
		}
	}
}

// shake runs the TLS handshake on a network connection.
func (l *tlsListener) shake(raw net.Conn) {
	conn := tls.Server(raw, l.config)
	_ = raw.SetDeadline(time.Now().Add(readHeaderTimeout))
	if err := conn.HandshakeContext(l.ctx); err != nil {
		l.logger.Debug("TLS handshake failed", "remote", raw.RemoteAddr().String(), "error", err)
		l.refuse(raw, err)
		_ = raw.Close()
		return
	}
	_ = raw.SetDeadline(time.Time{})
	refusing := refusingConn{conn, l.serviceDomain}
	accepted := net.Conn(&refusingTLSConn{refusing, conn})
	if conn.ConnectionState().NegotiatedProtocol == "h2" {
		accepted = conn
	}
	if !l.deliver(acceptance{conn: accepted}) {
		_ = conn.Close()
	}
}

// refuse answers a client that sends HTTP without TLS.
func (l *tlsListener) refuse(raw net.Conn, err error) {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil {
		return
	}
	switch string(header.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		_, _ = raw.Write(encodeRefusal("HTTP/1.1 400 Bad Request", l.serviceDomain, platform.Violation{Field: "request", Description: "must use https: this port speaks TLS"}))
	}
}

// deliver passes an acceptance to Accept. It reports false if the listener is closed.
func (l *tlsListener) deliver(a acceptance) bool {
	select {
	case l.accepted <- a:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// A refusingTLSConn is a refusingConn over TLS.
type refusingTLSConn struct {
	refusingConn
	tls *tls.Conn
}

// ConnectionState returns the value for Request.TLS.
func (c *refusingTLSConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }
