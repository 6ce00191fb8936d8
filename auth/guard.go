package auth

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"syscall"
	"time"

	"atrium/platform"
)

// dialTimeout is how long a host may take to accept a connection.
const dialTimeout = 5 * time.Second

// A Guard makes outgoing requests to addresses that outsiders chose: issuers
// and webhooks. It keeps them off everything that is not on the public
// internet, whatever a name resolves to at that moment.
type Guard struct {
	allow map[string]bool
}

// NewGuard makes one that exempts the hosts of allow, each `host` (on every
// port) or `host:port`: those may be private and may be plain http. They are
// names as a URL writes them, compared before DNS.
func NewGuard(allow []string) *Guard {
	g := &Guard{allow: map[string]bool{}}
	for _, host := range allow {
		host = strings.ToLower(host)
		if _, _, err := net.SplitHostPort(host); err != nil {
			host = strings.Trim(host, "[]")
		}
		g.allow[host] = true
	}
	return g
}

// A refusal is why the guard sends nothing, in words for whoever chose the
// address.
type refusal string

func (r refusal) Error() string { return string(r) }

// Reason is what may be told to them.
func (r refusal) Reason() string { return string(r) }

const (
	errPrivateAddress refusal = "the host has a private address"
	errPlainHTTP      refusal = "the URL must be https"
)

// Client gives an HTTP client under the guard: https only, no redirects, no
// proxy, no connection kept, timeout for each request as a whole, and no
// answer read beyond limit bytes.
func (g *Guard) Client(timeout time.Duration, limit int64) *http.Client {
	return g.client(timeout, limit, &http.Transport{DisableKeepAlives: true})
}

// How many idle connections a client of many requests keeps, and how long.
const (
	idleOfHost = 2
	idleOfAll  = 100
	idleTime   = 30 * time.Second
)

// ReusingClient is Client for many requests to the same hosts: it keeps a few
// idle connections. An address is checked when it is dialled, so what is used
// again has been checked.
func (g *Guard) ReusingClient(timeout time.Duration, limit int64) *http.Client {
	return g.client(timeout, limit, &http.Transport{
		MaxIdleConnsPerHost: idleOfHost,
		MaxIdleConns:        idleOfAll,
		IdleConnTimeout:     idleTime,
	})
}

func (g *Guard) client(timeout time.Duration, limit int64, base *http.Transport) *http.Client {
	base.DialContext = g.DialContext
	base.DisableCompression = true
	base.MaxResponseHeaderBytes = 64 << 10
	return &http.Client{
		Timeout:   timeout,
		Transport: guardedTransport{guard: g, limit: limit, base: base},
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("redirects are not followed")
		},
	}
}

// DialContext connects to a host:port. Each address that the host resolves to
// is checked as it is dialled, so a name cannot change its mind in between.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Control: g.control, Timeout: dialTimeout}
	if g.allows(address) {
		dialer.Control = nil
	}
	return dialer.DialContext(ctx, network, address)
}

func (g *Guard) control(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	if !platform.IsPublicAddress(at.Addr()) {
		return fmt.Errorf("dial: %w", errPrivateAddress)
	}
	return nil
}

// allows reports whether a host:port is exempt.
func (g *Guard) allows(address string) bool {
	address = strings.ToLower(address)
	host, _, err := net.SplitHostPort(address)
	return err == nil && (g.allow[host] || g.allow[address])
}

// checkURL refuses what a request may not be sent to by its scheme.
func (g *Guard) checkURL(u *url.URL) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && g.allows(net.JoinHostPort(u.Hostname(), portOf(u))):
		return nil
	default:
		return errPlainHTTP
	}
}

// checkIssuer refuses an issuer of plain http that is not exempt.
func (g *Guard) checkIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "http" {
		return nil //nolint:nilerr // discovery says what else is wrong with it
	}
	return g.checkURL(u)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return "80"
}

type guardedTransport struct {
	guard *Guard
	limit int64
	base  *http.Transport
}

func (t guardedTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := t.guard.checkURL(r.URL); err != nil {
		return nil, err
	}
	response, err := t.base.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	response.Body = http.MaxBytesReader(nil, response.Body, t.limit)
	return response, nil
}
