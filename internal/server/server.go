package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Time limits of requests and the size limit of headers. A client has writeTimeout to receive an answer
// from the moment when it begins (observed.go), however long the request has waited. A handler of a stream
// removes this limit. The time to work is limited by requestTimeout, and for GraphQL by its own limit.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	requestTimeout    = 30 * time.Second
	writeTimeout      = 35 * time.Second
	pingTimeout       = 15 * time.Second // time for the answer to a ping on an idle connection
	maxHeaderBytes    = 64 << 10
)

// DefaultIdleTimeout is how long a connection without requests stays open by default. It is
// longer than the proxies of docs/proxies.md keep one, of which Google's keep theirs for longest,
// 600 seconds. A proxy loses a request that it sends while the server closes the connection.
const DefaultIdleTimeout = 620 * time.Second

// newServer returns a server for HTTP/1.1 and HTTP/2, with TLS if there is a
// certificate.
func newServer(handler http.Handler, c *Certificate, idleTimeout time.Duration, logger *slog.Logger) *http.Server {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    hardHeaderBytes,
		Protocols:         new(http.Protocols),
		HTTP2: &http.HTTP2Config{ // HTTP/1 has this limit from the timeouts above
			SendPingTimeout: pingTimeout, PingTimeout: pingTimeout, WriteByteTimeout: writeTimeout,
		},
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug), // mostly clients that disconnect
	}
	server.Protocols.SetHTTP1(true)
	if c == nil {
		server.Protocols.SetUnencryptedHTTP2(true)
	} else {
		server.Protocols.SetHTTP2(true)
		server.TLSConfig = c.config(logger)
	}
	return server
}

// closeConnections closes connections of HTTP/1.1 after an answer that says so. It does so from the
// beginning of the shutdown, so that proxies use other connections before the server closes these.
// (GOAWAY of HTTP/2 would refuse streams that the client opens at that moment, so it comes only when
// proxies have gone.) And it does so after a body in chunks: RFC 9112, 6.1 requires that if the
// request has a Content-Length too, which net/http hides from handlers.
func closeConnections(next http.Handler, draining <-chan struct{}) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor == 1 && r.Header["Upgrade"] == nil && (r.TransferEncoding != nil || isClosed(draining)) {
			w.Header().Set("Connection", "close")
		}
		next.ServeHTTP(w, r)
	})
}

func isClosed(channel <-chan struct{}) bool {
	select {
	case <-channel:
		return true
	default:
		return false
	}
}

// serve answers requests until ctx ends. Then it waits for the running requests, at
// most for drainTimeout. It calls closing to end streams, which do not end by
// themselves.
func serve(ctx context.Context, listener net.Listener, server *http.Server, closing func(), drainTimeout time.Duration, logger *slog.Logger) error {
	server.RegisterOnShutdown(closing)
	ended := make(chan error, 1)
	go func() {
		if server.TLSConfig != nil {
			ended <- server.ServeTLS(listener, "", "")
		} else {
			ended <- server.Serve(listener)
		}
	}()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	return drain(ctx, server, logger)
}

// drain waits for running requests, and aborts those that do not end in time.
func drain(ctx context.Context, server *http.Server, logger *slog.Logger) error {
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		logger.Warn("the drain timeout has passed; aborting the requests that are still running")
		return server.Close()
	}
	return err
}
