package server

import (
	"context"
	"fmt"
	"net/http"
	"strings"
	"time"

	"atrium/auth"
	"atrium/events"
	"atrium/platform"
	"atrium/rest"
)

// issuer names the service in what it sends, without a slash at its end. local
// is the URL of this server.
func (c *Config) issuer(local string) string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	return local
}

// The client of sinks. What bounds an attempt is events' to say; this is what
// no request exceeds in any case.
const (
	sinkTimeout = 30 * time.Second
	sinkAnswer  = 64 << 10
)

// delivery prepares the delivery of events; what it gives delivers until its
// context ends.
func (c *Config) delivery(ctx context.Context, p *platform.Platform, issuer string) (func(context.Context), error) {
	if !c.Webhooks {
		return func(context.Context) {}, nil
	}
	sender := events.NewSender(events.SenderOptions{
		Client: auth.NewGuard(c.AllowHosts).ReusingClient(sinkTimeout, sinkAnswer),
		Keys:   p.Webhooks.Keys, Issuer: issuer, UserAgent: "atrium/" + c.Version,
	})
	deliverer, err := events.NewDeliverer(ctx, p, events.DelivererOptions{
		DatabaseURL: c.DatabaseURL, DirectURL: c.DirectURL, Send: c.recorder.attempted(sender.Send), Logger: c.Logger, DrainTimeout: c.DrainTimeout,
	})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
	c.deliverer = deliverer
	c.Metrics.WatchQueue(deliverer.Depth)
	return deliverer.Run, nil
}

// wellKnown is where receivers of events find the keys of the service. Anyone
// may read it, with or without --webhooks: another replica may deliver.
func wellKnown(p *platform.Platform, issuer string, options rest.Options) map[string]http.Handler {
	return map[string]http.Handler{
		events.DiscoveryPath: events.Discovery(issuer),
		events.KeySetPath:    events.KeySet(p.Webhooks.Keys, options.WriteError),
	}
}
