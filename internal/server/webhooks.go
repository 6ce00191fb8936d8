package server

import (
	"context"
	"net/http"
	"strings"
	"time"

	"atrium/internal/rest"
	"atrium/internal/webhook"
	"atrium/platform"
)

// issuer returns the URL that names the service in tokens and events, without a slash at
// the end. local is the URL of this server, for a server without PublicURL.
func (c *Config) issuer(local string) string {
	if c.PublicURL != "" {
		return strings.TrimRight(c.PublicURL, "/")
	}
	return local
}

// consoleURL returns the URL of the console, or "" if there is none.
func (c *Config) consoleURL(issuer string) string {
	if c.NoConsole || issuer == "" {
		return ""
	}
	return strings.TrimRight(issuer, "/") + "/console"
}

// The time limits of the HTTP client for sinks and issuers. Package events limits an
// attempt more strictly.
const (
	sinkTimeout = 30 * time.Second
	sinkAnswer  = 64 << 10
)

// delivery prepares the delivery of events. It returns a function that delivers events
// until its context ends.
func (c *Config) delivery(p *platform.Platform, issuer string) func(context.Context) {
	if !c.Webhooks {
		return func(context.Context) {}
	}
	sender := webhook.NewSender(webhook.SenderOptions{
		Client: c.guard(c.PrivateSinks).SinkClient(sinkTimeout, sinkAnswer),
		Keys:   p.Webhooks.Keys, Issuer: issuer, UserAgent: "atrium/" + c.Version, Console: c.consoleURL(issuer), Mail: c.Mail,
	})
	deliverer := webhook.NewDeliverer(p, webhook.DelivererOptions{
		Send: c.recorder.traceAttempts(sender.Send), Logger: c.Logger, DrainTimeout: c.DrainTimeout,
	})
	c.Metrics.WatchAttempts(deliverer.Running)
	return deliverer.Run
}

// wellKnown returns the public handlers where receivers of events find the keys of the
// service. They exist even without --webhooks, because another replica may deliver.
// Requests share the keys, because they are not limited.
func wellKnown(keys webhook.KeyReader, issuer string, options rest.Options) map[string]http.Handler {
	return map[string]http.Handler{
		webhook.DiscoveryPath: webhook.Discovery(issuer),
		webhook.KeySetPath:    webhook.KeySet(shareRead(keys.PublicKeys), options.WriteError),
	}
}
