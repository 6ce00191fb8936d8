package telemetry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// Time limits for reading a request, and for writing its response. A profile may take
// five minutes.
const (
	requestTimeout  = 15 * time.Second
	responseTimeout = 5*time.Minute + requestTimeout
)

// Serve serves Handler at an address until end is called, and returns its URL. If the
// server fails before that, it calls onFailure.
func (m *Metrics) Serve(ctx context.Context, address string, onFailure func(error)) (at net.Addr, end func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return nil, nil, err
	}
	server := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: requestTimeout, ReadTimeout: requestTimeout, WriteTimeout: responseTimeout}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			onFailure(err)
		}
	}()
	return listener.Addr(), func() { _ = server.Close() }, nil
}
