package server

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"net/http"
	"time"
)

// Time limits of requests and the size limit of headers. A streaming handler removes the
// write timeout.
const (
	readHeaderTimeout = 5 * time.Second
	readTimeout       = 15 * time.Second
	writeTimeout      = 35 * time.Second // GraphQL gives up after 30 and must still say so
	idleTimeout       = 60 * time.Second
	pingTimeout       = 15 * time.Second // for a connection that is silent to show that it is there
	maxHeaderBytes    = 64 << 10
)

// wrapListener makes listener answer what is no request with a Status: over TLS
// where the server has a certificate, and in clear text otherwise.
func wrapListener(listener net.Listener, server *http.Server, serviceDomain string, logger *slog.Logger) net.Listener {
	if server.TLSConfig == nil {
		return refusingListener{listener, serviceDomain}
	}
	return newTLSListener(listener, server.TLSConfig, serviceDomain, logger)
}

// newServer answers by HTTP/1.1 and HTTP/2, over TLS where there is a
// certificate, and in clear text otherwise.
func newServer(handler http.Handler, c *Certificate, logger *slog.Logger) *http.Server {
	server := &http.Server{
		Handler:           handler,
		ReadHeaderTimeout: readHeaderTimeout,
		ReadTimeout:       readTimeout,
		WriteTimeout:      writeTimeout,
		IdleTimeout:       idleTimeout,
		MaxHeaderBytes:    hardHeaderBytes,
		Protocols:         new(http.Protocols),
		HTTP2: &http.HTTP2Config{ // what HTTP/1 has from the timeouts above
			SendPingTimeout: pingTimeout, PingTimeout: pingTimeout, WriteByteTimeout: writeTimeout,
		},
		ErrorLog: slog.NewLogLogger(logger.Handler(), slog.LevelDebug), // mostly clients that hang up
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

// serve answers requests until ctx ends, and then those under way, for at most
// the time given. It calls closing to end those that would not end by themselves.
func serve(ctx context.Context, listener net.Listener, server *http.Server, closing func(), drainTimeout time.Duration, logger *slog.Logger) error {
	server.RegisterOnShutdown(closing)
	ended := make(chan error, 1)
	go func() { ended <- server.Serve(listener) }()
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	logger.Info("shutting down", "within", drainTimeout.String())
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), drainTimeout)
	defer cancel()
	return drain(ctx, server, logger)
}

// drain lets requests end, and cuts off those that do not in time.
func drain(ctx context.Context, server *http.Server, logger *slog.Logger) error {
	err := server.Shutdown(ctx)
	if errors.Is(err, context.DeadlineExceeded) {
		logger.Warn("the drain timeout has passed; aborting the requests that are still running")
		return server.Close()
	}
	return err
}
