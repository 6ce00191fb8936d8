package telemetry

import (
	"context"
	"errors"
	"net"
	"net/http"
	"time"
)

// How long a scraper may take to ask, and an answer to be made: a profile may
// take five minutes.
const (
	askTimeout    = 15 * time.Second
	answerTimeout = 5*time.Minute + askTimeout
)

// Serve serves Handler at an address until end is called. It calls failed where
// serving ends before that.
func (m *Metrics) Serve(ctx context.Context, address string, failed func(error)) (url string, end func(), err error) {
	listener, err := new(net.ListenConfig).Listen(ctx, "tcp", address)
	if err != nil {
		return "", nil, err
	}
	server := &http.Server{Handler: m.Handler(), ReadHeaderTimeout: askTimeout, ReadTimeout: askTimeout, WriteTimeout: answerTimeout}
	go func() {
		if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
			failed(err)
		}
	}()
	return "http://" + listener.Addr().String(), func() { _ = server.Close() }, nil
}
