package main

import (
	"net/url"
	"strconv"
	"time"

	"atrium/server"
)

// tlsFlags name the files that the server proves itself with.
type tlsFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"PEM certificate chain, leaf first; reloaded when the file changes."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"PEM private key of the certificate; reloaded when the file changes."`

	certificate *server.Certificate // nil: requests come in clear text
}

func (t *tlsFlags) check(f *faults) {
	switch {
	case t.TLSCert == "" && t.TLSKey == "":
	case t.TLSKey == "":
		f.add("tls-key", "is required with --tls-cert")
	case t.TLSCert == "":
		f.add("tls-cert", "is required with --tls-key")
	default:
		var err error
		if t.certificate, err = server.LoadCertificate(t.TLSCert, t.TLSKey); err != nil {
			f.add("tls-cert", "%s", err)
		}
	}
}

// limitFlags bound what one caller may ask for. They are pointers because what
// is not given depends on the mode.
type limitFlags struct {
	RateLimit   *int `placeholder:"N" help:"Requests a second of a caller, over time; 0 is any number. 100 unless given, any with --dev."`
	RateBurst   int  `default:"200" help:"Requests of a caller at once, where there is a rate limit."`
	MaxInFlight *int `placeholder:"N" help:"Requests of a caller under way at the same time; 0 is any number. 20 unless given, any with --dev."`
}

const (
	defaultRateLimit   = 100
	defaultMaxInFlight = 20
)

func (l *limitFlags) check(f *faults) {
	if l.RateLimit != nil && *l.RateLimit < 0 {
		f.add("rate-limit", "must not be negative")
	}
	if l.RateBurst < 1 {
		f.add("rate-burst", "must be above 0; --rate-limit 0 turns the limit off")
	}
	if l.MaxInFlight != nil && *l.MaxInFlight < 0 {
		f.add("max-in-flight", "must not be negative")
	}
}

// limits gives the rate and the number of requests in flight; 0 is any.
func (l *limitFlags) limits(dev bool) (rate, inFlight int) {
	choose := func(given *int, otherwise int) int {
		switch {
		case given != nil:
			return *given
		case dev:
			return 0
		default:
			return otherwise
		}
	}
	return choose(l.RateLimit, defaultRateLimit), choose(l.MaxInFlight, defaultMaxInFlight)
}

// v1Flags name the service that still answers v1.
type v1Flags struct {
	V1Upstream string        `name:"v1-upstream" placeholder:"URL" help:"Service that requests for v1 are passed to, as they are."`
	V1Timeout  time.Duration `name:"v1-timeout" default:"30s" help:"Time limit for that service to start its answer."`

	upstream *url.URL // nil: v1 is not served
}

func (v *v1Flags) check(f *faults) {
	if v.V1Timeout <= 0 {
		f.add("v1-timeout", "must be above 0")
	}
	if v.V1Upstream == "" {
		return
	}
	v.upstream = serverURL(f, "v1-upstream", v.V1Upstream)
}

// v1 gives the upstream; nil where v1 is not served.
func (v *v1Flags) v1() *server.V1 {
	if v.upstream == nil {
		return nil
	}
	return &server.V1{Upstream: v.upstream, Timeout: v.V1Timeout}
}

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
