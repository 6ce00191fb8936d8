package server

import (
	"context"
	"fmt"
)

// serveMetrics serves metrics and profiles until end is called. They have a separate
// address, which clients must not reach.
func (c *Config) serveMetrics(ctx context.Context) (end func(), err error) {
	if c.Metrics == nil || c.MetricsAddress == "" {
		return func() {}, nil
	}
	address, end, err := c.Metrics.Serve(ctx, c.MetricsAddress, func(err error) { c.Logger.Error("the metrics server failed", "error", err) })
	switch {
	case err != nil && c.MetricsOptional:
		c.Logger.Warn("metrics are not served, because the server cannot listen on their address; choose another with --metrics-addr", "address", c.MetricsAddress)
		return func() {}, nil
	case err != nil:
		return nil, fmt.Errorf("metrics: %w", ListenError("metrics-addr", c.MetricsAddress, err))
	}
	c.noteListening(address)
	c.Logger.Info("metrics", "url", "http://"+address.String()+"/metrics")
	return end, nil
}
