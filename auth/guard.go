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

// dialTimeout limits how long a host may take to accept a connection.
const dialTimeout = 5 * time.Second

// A Guard makes outgoing requests to addresses that outsiders chose: those of
// issuers and webhooks. It refuses every address that is not on the public
// internet, after resolving the name.
type Guard struct {
	allow map[string]bool
}

// NewGuard returns a Guard that exempts the hosts in allow, each `host` (on every
// port) or `host:port`. Exempt hosts may have private addresses and may use plain
// http. They are compared with the host of the URL, before it is resolved.
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

// A guardError says why the guard refuses a request.
type guardError string

func (e guardError) Error() string { return string(e) }

// Reason returns the text for the person who chose the address.
func (e guardError) Reason() string { return string(e) }

const (
	errPrivateAddress guardError = "the host has a private address"
	errPlainHTTP      guardError = "the URL must be https"
	errSwitches       guardError = "the host switches protocols"
)

// Client returns an HTTP client that obeys the guard. It allows https only, follows
// no redirects, uses no proxy and keeps no connections. timeout limits each request
// as a whole, and limit the bytes of an answer.
func (g *Guard) Client(timeout time.Duration, limit int64) *http.Client {
	return g.client(timeout, limit, &http.Transport{DisableKeepAlives: true})
}

// The limits of the idle connections of ReusingClient.
const (
	maxIdlePerHost = 2
	maxIdle        = 100
	idleTimeout    = 30 * time.Second
)

// ReusingClient is like Client, for many requests to the same hosts: it keeps a few
// idle connections. Addresses are checked when they are dialled, so a connection
// that is used again has been checked.
func (g *Guard) ReusingClient(timeout time.Duration, limit int64) *http.Client {
	return g.client(timeout, limit, &http.Transport{
		MaxIdleConnsPerHost: maxIdlePerHost,
		MaxIdleConns:        maxIdle,
		IdleConnTimeout:     idleTimeout,
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

// DialContext connects to a host:port. It checks each resolved address when it is
// dialled, so the name cannot resolve to another address in between.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := &net.Dialer{Control: g.checkAddress, Timeout: dialTimeout}
	if g.isExempt(address) {
		dialer.Control = nil
	}
	return dialer.DialContext(ctx, network, address)
}

// checkAddress refuses to dial an address that is not public.
func (g *Guard) checkAddress(_, address string, _ syscall.RawConn) error {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return fmt.Errorf("dial: %w", err)
	}
	if !platform.IsPublicAddress(at.Addr()) {
		return fmt.Errorf("dial: %w", errPrivateAddress)
	}
	return nil
}

// isExempt reports whether a host:port is exempt.
func (g *Guard) isExempt(address string) bool {
	address = strings.ToLower(address)
	host, _, err := net.SplitHostPort(address)
	return err == nil && (g.allow[host] || g.allow[address])
}

// checkURL refuses URLs that are not https, unless their host is exempt.
func (g *Guard) checkURL(u *url.URL) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && g.isExempt(net.JoinHostPort(u.Hostname(), portOf(u))):
		return nil
	default:
		return errPlainHTTP
	}
}

// CheckIssuer refuses an issuer with plain http whose host is not exempt.
func (g *Guard) CheckIssuer(issuer string) error {
	u, err := url.Parse(issuer)
	if err != nil || u.Scheme != "http" {
		return nil //nolint:nilerr // discovery reports other faults of the URL
	}
	return g.checkURL(u)
}

func portOf(u *url.URL) string {
	if port := u.Port(); port != "" {
		return port
	}
	return "80"
}

// A guardedTransport checks the URLs of requests, and limits the bytes of answers.
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
	if response.StatusCode == http.StatusSwitchingProtocols {
		_ = response.Body.Close() // it is the connection, which obeys no time limit
		return nil, errSwitches
	}
	response.Body = http.MaxBytesReader(nil, response.Body, t.limit)
	return response, nil
}
