package main

import (
	"net/mail"
	"net/url"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"atrium/internal/demo"
	"atrium/internal/server"
	"atrium/platform/core"
	"atrium/platform/webhooks"
)

// tlsFlags name the certificate of the server.
type tlsFlags struct {
	TLSCert string `name:"tls-cert" placeholder:"FILE" help:"PEM certificate chain, leaf first; reloaded when the file changes."`
	TLSKey  string `name:"tls-key" placeholder:"FILE" help:"PEM private key of the certificate; reloaded when the file changes."`

	certificate *server.Certificate // nil means no TLS
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

// limitFlags limit the requests of one caller, and of all together. Flags whose default depends on --dev are
// pointers.
type limitFlags struct {
	RateLimit     *int `placeholder:"N" help:"Average requests per second of one caller; 0 is no limit. Default: 100, or no limit with --dev."`
	RateBurst     int  `default:"200" help:"Requests that one caller may send in a burst, if there is a rate limit."`
	MaxInFlight   *int `placeholder:"N" help:"Concurrent requests of one caller; 0 is no limit. Default: 20, or no limit with --dev."`
	MaxConcurrent int  `default:"-1" placeholder:"N" help:"Requests that the server works on at the same time. Others wait for some seconds, and organizations take turns. 0 is no limit, and -1 is twice the connections to the database."`

	MaxUpload int `default:"256" placeholder:"MIB" help:"Largest upload of an import over the network, in MiB without compression."`

	SharedIdentity []string `placeholder:"UID" help:"Identity whose token many people share, such as that of a gateway or of Grafana. It has the limits of 50 callers; the share of its organization still applies. May be repeated."`

	identities []core.UID // those of SharedIdentity
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
	if l.MaxConcurrent < server.FitConcurrency {
		f.add("max-concurrent", "must not be below -1")
	}
	if l.MaxUpload < 1 {
		f.add("max-upload", "must be above 0")
	}
	for _, uid := range l.SharedIdentity {
		checkUID(f, "shared-identity", uid)
		l.identities = append(l.identities, core.UID(uid))
	}
}

// limits returns the rate and the number of requests in flight; 0 means no limit.
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

// v1Flags name another service that answers v1.
type v1Flags struct {
	V1Upstream string        `name:"v1-upstream" placeholder:"URL" help:"Service to which requests for v1 are forwarded."`
	V1Timeout  time.Duration `name:"v1-timeout" default:"30s" help:"Time limit until the v1 service begins its answer."`

	upstream *url.URL // nil means that v1 is not served
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

// v1 returns the settings of the v1 service, or nil if v1 is not served.
func (v *v1Flags) v1() *server.V1 {
	if v.upstream == nil {
		return nil
	}
	return &server.V1{Upstream: v.upstream, Timeout: v.V1Timeout}
}

// betaFlags say whether clients should leave v2beta1.
type betaFlags struct {
	V2beta1Deprecation string `name:"v2beta1-deprecation" placeholder:"DATE" help:"Date from which v2beta1 is deprecated, such as 2027-01-31. Its answers then have the header Deprecation."`
	V2beta1Sunset      string `name:"v2beta1-sunset" placeholder:"DATE" help:"Date after which v2beta1 may no longer answer. Its answers then have the header Sunset."`

	deprecation server.Deprecation
}

func (b *betaFlags) check(f *faults) {
	since, sunset := date(f, "v2beta1-deprecation", b.V2beta1Deprecation), date(f, "v2beta1-sunset", b.V2beta1Sunset)
	switch {
	case b.V2beta1Sunset != "" && b.V2beta1Deprecation == "":
		f.add("v2beta1-deprecation", "is required with --v2beta1-sunset")
	case b.V2beta1Sunset != "" && sunset.Before(since):
		f.add("v2beta1-sunset", "must not be before --v2beta1-deprecation")
	}
	b.deprecation = server.Deprecation{Since: since, Sunset: sunset}
}

// date parses a date in UTC; "" is the zero time.
func date(f *faults, flag, text string) time.Time {
	if text == "" {
		return time.Time{}
	}
	at, err := time.Parse(time.DateOnly, text)
	if err != nil {
		f.add(flag, "%.50q must be a date such as 2027-01-31", text)
	}
	return at
}

// aliasFlags say by which names clients know the gRPC services.
type aliasFlags struct {
	GRPCPackageAlias []string `name:"grpc-package-alias" placeholder:"NAME" help:"Name that clients use instead of platform in the packages of gRPC services, such as acme.platform for acme.platform.registry.v2; may be repeated."`
}

// packagePattern matches the names of packages of protocol buffers.
var packagePattern = regexp.MustCompile(`^[a-z][a-z0-9_]*(\.[a-z][a-z0-9_]*)*$`)

// check rejects names that are no packages, and those of which one begins with another, because
// a path would then have two meanings.
func (a *aliasFlags) check(f *faults) {
	used := []string{"platform", "grpc", "google"}
	for _, name := range a.GRPCPackageAlias {
		taken := slices.IndexFunc(used, func(other string) bool {
			return strings.HasPrefix(name+".", other+".") || strings.HasPrefix(other+".", name+".")
		})
		switch {
		case len(name) > maxPackage || !packagePattern.MatchString(name):
			f.add("grpc-package-alias", "%.200q must be the name of a package in lower case, such as acme.platform, of at most %d characters", name, maxPackage)
		case taken >= 0:
			f.add("grpc-package-alias", "%.200q must not begin with %s, and %[2]s must not begin with it", name, used[taken])
		}
		used = append(used, name)
	}
}

// maxPackage limits the length of the name of a package.
const maxPackage = 100

// webhookFlags are the settings for the delivery and the retention of events.
type webhookFlags struct {
	Webhooks          bool          `default:"true" negatable:"" help:"Deliver events to the sinks of subscriptions."`
	PublicURL         string        `name:"public-url" placeholder:"URL" help:"Public URL of this service. Receivers of events fetch the signing keys there, and links in exported files lead there. Default: the URL of --addr."`
	PrivateSink       []string      `placeholder:"HOST:PORT" help:"Host and port of sinks that may have a private address or use plain http; may be repeated. Of their answers, only the status is shown."`
	SinkPort          []string      `placeholder:"PORT" help:"Port that sinks of subscriptions may use in addition to 443; may be repeated."`
	AuditRetention    time.Duration `default:"2160h" help:"How long events are kept, for the audit log and for resuming the live feed. With --dev it is at least 30 weeks, to cover the history of the demonstration."`
	DeliveryRetention time.Duration `default:"720h" help:"How long deliveries are kept after they have ended."`
}

// shortestRetention is the smallest --audit-retention. It is longer than the time in which
// events are collected and all attempts of a delivery are made, because each attempt needs the events.
const shortestRetention = webhooks.LongestDigest + webhooks.DeliveryPeriod + 6*time.Hour

// auditRetention returns how long events are kept.
func (w *webhookFlags) auditRetention(isDemonstration bool) time.Duration {
	if isDemonstration {
		return max(w.AuditRetention, demo.Retention)
	}
	return w.AuditRetention
}

func (w *webhookFlags) check(f *faults) {
	if w.PublicURL != "" {
		serverURL(f, "public-url", w.PublicURL)
	}
	for _, port := range w.SinkPort {
		if n, err := strconv.ParseUint(port, 10, 16); err != nil || n == 0 || strconv.FormatUint(n, 10) != port {
			f.add("sink-port", "must be a port from 1 to 65535, not %.20q", port)
		}
	}
	if w.AuditRetention < shortestRetention {
		f.add("audit-retention", "must be at least %s, because events are collected for up to %.0f h and deliveries are attempted for %.0f h", shortestRetention, webhooks.LongestDigest.Hours(), webhooks.DeliveryPeriod.Hours())
	}
	if w.DeliveryRetention <= 0 {
		f.add("delivery-retention", "must be above 0")
	}
}

// mailFlags name the server that takes mail.
type mailFlags struct {
	SMTPURL      string        `name:"smtp-url" secret:"" placeholder:"URL" help:"Mail server, with its user: smtp://USER:PASSWORD@HOST:PORT with STARTTLS, smtps://... with TLS from the start, smtp+plain://HOST:PORT without TLS. Without it, subscriptions cannot have the format EMAIL."`
	SMTPFrom     string        `name:"smtp-from" placeholder:"ADDRESS" help:"Sender of mail, such as Atrium <atrium@example.com>."`
	MailInterval time.Duration `name:"mail-interval" default:"5m" help:"Shortest time between two mails of a subscription. Events in between are sent in one mail."`

	server *server.MailServer // nil means that no mail can be sent
}

// longestMailInterval is that of the shortest digest.
const longestMailInterval = time.Hour

func (m *mailFlags) check(f *faults) {
	if m.MailInterval < 0 || m.MailInterval > longestMailInterval {
		f.add("mail-interval", "must be from 0 to %s", longestMailInterval)
	}
	switch {
	case m.SMTPURL == "" && m.SMTPFrom == "":
	case m.SMTPURL == "":
		f.add("smtp-url", "is required with --smtp-from")
	case m.SMTPFrom == "":
		f.add("smtp-from", "is required with --smtp-url")
	default:
		var err error
		if m.server, err = server.ParseMailServer(m.SMTPURL); err != nil {
			f.add("smtp-url", "%s", err)
			return
		}
		if m.server.From, err = mail.ParseAddress(m.SMTPFrom); err != nil {
			f.add("smtp-from", "%.200q must be an address such as Atrium <atrium@example.com>", m.SMTPFrom)
		}
	}
}

// drainFlags are the settings for the end of connections and of the server.
type drainFlags struct {
	IdleTimeout  time.Duration `default:"620s" help:"How long an idle connection stays open. Proxies must close their idle connections earlier, or they lose requests that they send at that moment."`
	DrainDelay   time.Duration `default:"0s" help:"How long the server continues to serve after SIGTERM while /readyz answers 503, so that load balancers notice."`
	DrainTimeout time.Duration `default:"10s" help:"How long running requests and deliveries may take to finish after that."`
}

func (d *drainFlags) check(f *faults) {
	if d.IdleTimeout <= 0 {
		f.add("idle-timeout", "must be above 0, and longer than proxies keep a connection without requests")
	}
	if d.DrainDelay < 0 {
		f.add("drain-delay", "must not be negative")
	}
	if d.DrainTimeout <= 0 {
		f.add("drain-timeout", "must be above 0")
	}
}
