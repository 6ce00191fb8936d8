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

// A tlsListener makes connections of TLS. It shakes hands before net/http sees
// them, since net/http writes its own refusals into what it takes for a
// connection: into a *tls.Conn as plain text, into a refusingConn as a Status.
// HTTP/2 needs the *tls.Conn itself, and refuses in frames.
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

// An acceptance is what Accept answers.
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

// Accept waits for the next connection that has shaken hands.
func (l *tlsListener) Accept() (net.Conn, error) {
	select {
	case a := <-l.accepted:
		return a.conn, a.err
	case <-l.ctx.Done():
		return nil, net.ErrClosed
	}
}

// Close ends the listener and the handshakes under way.
func (l *tlsListener) Close() error {
	l.cancel()
	err := l.Listener.Close()
	l.shaking.Wait()
	return err
}

// acceptAll shakes hands with each connection for itself, so that none waits
// for another. Errors of the network go to net/http, which waits between them.
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

// shake makes a connection of TLS out of one of the network.
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

// refuse answers who speaks HTTP in clear text.
func (l *tlsListener) refuse(raw net.Conn, err error) {
	var header tls.RecordHeaderError
	if !errors.As(err, &header) || header.Conn == nil {
		return
	}
	switch string(header.RecordHeader[:]) {
	case "GET /", "HEAD ", "POST ", "PUT /", "PATCH", "DELET", "OPTIO":
		_, _ = raw.Write(refusalOf("HTTP/1.1 400 Bad Request", l.serviceDomain, platform.Violation{Field: "request", Description: "must use https: this port speaks TLS"}))
	}
}

// deliver hands an acceptance to Accept, unless the listener is closed.
func (l *tlsListener) deliver(a acceptance) bool {
	select {
	case l.accepted <- a:
		return true
	case <-l.ctx.Done():
		return false
	}
}

// A refusingTLSConn tells net/http how it was encrypted.
type refusingTLSConn struct {
	refusingConn
	tls *tls.Conn
}

// ConnectionState is what Request.TLS holds.
func (c *refusingTLSConn) ConnectionState() tls.ConnectionState { return c.tls.ConnectionState() }
