package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"strconv"
	"strings"
	"time"

	"atrium/auth"
	"atrium/events"
	"atrium/platform"
	"atrium/rest"
)

// webhookFlags say how events leave the service, and how long they are kept.
type webhookFlags struct {
	Webhooks          bool          `default:"true" negatable:"" help:"Deliver events to the sinks of subscriptions."`
	PublicURL         string        `name:"public-url" placeholder:"URL" help:"URL of this service for others, who find the keys of deliveries there; that of --addr unless given."`
	SinkPort          []string      `placeholder:"PORT" help:"Port that sinks of subscriptions may name beside 443; several may be given."`
	AuditRetention    time.Duration `default:"2160h" help:"How long events are kept: the audit log, and what the live feed can resume from."`
	DeliveryRetention time.Duration `default:"720h" help:"How long deliveries are kept after they have ended."`
}

// shortestRetention is longer than a delivery is tried: it needs its event.
const shortestRetention = 96 * time.Hour

func (w *webhookFlags) check(f *faults) {
	if w.PublicURL != "" {
		checkIssuer(f, "public-url", w.PublicURL)
	}
	for _, port := range w.SinkPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			f.add("sink-port", "must be a port from 1 to 65535, not %.20q", port)
		}
	}
	if w.AuditRetention < shortestRetention {
		f.add("audit-retention", "must be at least %s: until then events are delivered", shortestRetention)
	}
	if w.DeliveryRetention <= 0 {
		f.add("delivery-retention", "must be above 0")
	}
}

// issuer names the service in what it sends, without a slash at its end.
func (c *serveCommand) issuer(address net.Addr) string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	return c.scheme() + "://" + browsable(address)
}

// The client of sinks. What bounds an attempt is events' to say; this is what
// no request exceeds in any case.
const (
	sinkTimeout = 30 * time.Second
	sinkAnswer  = 64 << 10
)

// delivery prepares the delivery of events; what it gives delivers until its
// context ends.
func (c *serveCommand) delivery(ctx context.Context, db *database, address net.Addr, logger *slog.Logger) (func(context.Context), error) {
	if !c.Webhooks {
		return func(context.Context) {}, nil
	}
	sender := events.NewSender(events.SenderOptions{
		Client: auth.NewGuard(c.AllowHost).ReusingClient(sinkTimeout, sinkAnswer),
		Keys:   db.Platform.Webhooks.Keys, Issuer: c.issuer(address), UserAgent: "atrium/" + version,
	})
	deliverer, err := events.NewDeliverer(ctx, db.Platform, events.DelivererOptions{
		DatabaseURL: c.DatabaseURL, Send: sender.Send, Logger: logger,
	})
	if err != nil {
		return nil, fmt.Errorf("webhooks: %w", err)
	}
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
