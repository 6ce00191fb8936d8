package auth

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"syscall"
	"time"

	"atrium/platform/webhooks"
)

const (
	dialTimeout = 5 * time.Second // for a host, or a proxy, to accept a connection
	maxHeaders  = 64 << 10        // largest size in bytes of the headers of an answer
)

// A Guard makes outgoing requests to addresses that outsiders chose: those of
// issuers and webhooks. It refuses every address that is not on the public
// internet, and every address of this process, after resolving the name.
type Guard struct {
	exempt map[string]bool  // keys are host:port, in lower case
	own    []netip.AddrPort // where this process listens
	proxy  ProxyFunc        // nil means that there is none
}

// NewGuard returns a Guard that exempts some hosts, each `host:port`. Exempt hosts may
// have private addresses and may use plain http. They are compared with the host and the
// port of the URL, before the name is resolved. own are the addresses at which this
// process listens: no request reaches them, also if an exempt name leads there.
func NewGuard(exempt []string, own ...netip.AddrPort) *Guard {
	g := &Guard{exempt: map[string]bool{}, own: own}
	for _, address := range exempt {
		g.exempt[strings.ToLower(address)] = true
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
	errOwnAddress     guardError = "the host is this service itself"
	errPlainHTTP      guardError = "the URL must be https"
	errSwitches       guardError = "the host tries to switch protocols"
)

// Client returns an HTTP client that obeys the guard. It allows https only, follows
// no redirects and keeps no connections. timeout limits each request
// as a whole, and limit the bytes of an answer.
func (g *Guard) Client(timeout time.Duration, limit int64) *http.Client {
	return g.client(timeout, guardedTransport{limit: limit, base: &http.Transport{DisableKeepAlives: true}})
}

// The limits of the idle connections of SinkClient.
const (
	maxIdlePerHost = 2
	maxIdle        = 100
	idleTimeout    = 30 * time.Second
)

// SinkClient is like Client, for many requests to the same hosts: it keeps a few idle
// connections. Addresses are checked when they are dialled, so a connection that is used
// again has been checked. Outsiders see what sinks answer, so the answers of exempt hosts
// have no bodies.
func (g *Guard) SinkClient(timeout time.Duration, limit int64) *http.Client {
	return g.client(timeout, guardedTransport{limit: limit, hidesExempt: true, base: &http.Transport{
		MaxIdleConnsPerHost: maxIdlePerHost,
		MaxIdleConns:        maxIdle,
		IdleConnTimeout:     idleTimeout,
	}})
}

// FetchClient is like Client, for files of any size: its caller limits the bytes and the times, and the redirects that are followed. Each
// address that a request is redirected to is checked as the first one is.
func (g *Guard) FetchClient() *http.Client {
	return g.client(0, guardedTransport{limit: math.MaxInt64 - 1, base: &http.Transport{
		MaxIdleConnsPerHost: maxIdlePerHost,
		IdleConnTimeout:     idleTimeout,
	}})
}

func (g *Guard) client(timeout time.Duration, transport guardedTransport) *http.Client {
	transport.guard = g
	transport.base.DialContext = g.DialContext
	transport.base.DisableCompression = true
	transport.base.MaxResponseHeaderBytes = maxHeaders
	return &http.Client{
		Timeout:   timeout,
		Transport: transport,
		CheckRedirect: func(*http.Request, []*http.Request) error {
			return errors.New("redirects are not followed")
		},
	}
}

// DialContext connects to a host:port. It checks each resolved address when it is
// dialled, so the name cannot resolve to another address in between.
func (g *Guard) DialContext(ctx context.Context, network, address string) (net.Conn, error) {
	if proxy, err := g.proxyFor(address); err != nil {
		return nil, err
	} else if proxy != nil {
		return g.dialThrough(ctx, proxy, address)
	}
	isExempt := g.isExempt(address)
	dialer := &net.Dialer{Timeout: dialTimeout, Control: func(_, resolved string, _ syscall.RawConn) error {
		if err := g.checkAddress(resolved, isExempt); err != nil {
			return fmt.Errorf("dial: %w", err)
		}
		return nil
	}}
	return dialer.DialContext(ctx, network, address)
}

// checkAddress refuses an address of this process, and one that is not public unless the
// host is exempt.
func (g *Guard) checkAddress(address string, isExempt bool) error {
	at, err := netip.ParseAddrPort(address)
	switch {
	case err != nil:
		return err
	case slices.ContainsFunc(g.own, func(own netip.AddrPort) bool { return leadsTo(at, own) }):
		return errOwnAddress
	case !isExempt && !webhooks.IsPublicAddress(at.Addr()):
		return errPrivateAddress
	default:
		return nil
	}
}

// leadsTo reports whether a connection to an address reaches a listener of this machine.
func leadsTo(at, listener netip.AddrPort) bool {
	dialled, listens := at.Addr().Unmap().WithZone(""), listener.Addr().Unmap().WithZone("")
	switch {
	case at.Port() != listener.Port():
		return false
	case dialled.IsUnspecified(): // the system connects to a loopback address
		return true
	case listens.IsUnspecified():
		return isLocal(dialled)
	default:
		return dialled == listens
	}
}

// isLocal reports whether an address is one of this machine.
func isLocal(address netip.Addr) bool {
	local, err := net.InterfaceAddrs()
	return err != nil || address.IsLoopback() || slices.ContainsFunc(local, func(a net.Addr) bool {
		network, err := netip.ParsePrefix(a.String())
		return err == nil && network.Addr().Unmap() == address
	})
}

// isExempt reports whether a host:port is exempt.
func (g *Guard) isExempt(address string) bool { return g.exempt[strings.ToLower(address)] }

// isExemptURL reports whether the host and the port of a URL are exempt.
func (g *Guard) isExemptURL(u *url.URL) bool {
	return g.isExempt(net.JoinHostPort(u.Hostname(), portOf(u)))
}

// portOf returns the port of a URL, which may be that of its scheme.
func portOf(u *url.URL) string {
	return cmp.Or(u.Port(), map[string]string{"http": "80", "https": "443"}[u.Scheme])
}

// checkURL refuses URLs that are not https, unless their host is exempt.
func (g *Guard) checkURL(u *url.URL) error {
	switch {
	case u.Scheme == "https":
		return nil
	case u.Scheme == "http" && g.isExemptURL(u):
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

// A guardedTransport checks the URLs of requests, and limits the bytes of answers.
type guardedTransport struct {
	guard       *Guard
	limit       int64
	hidesExempt bool // whether the answers of exempt hosts have no bodies
	base        *http.Transport
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
	if t.hidesExempt && t.guard.isExemptURL(r.URL) {
		response.Body = hiddenBody{response.Body}
	}
	return response, nil
}

// A hiddenBody is a body whose bytes nobody sees. Reading it reads them, so that its
// connection can be used again.
type hiddenBody struct{ io.ReadCloser }

func (b hiddenBody) Read(p []byte) (int, error) {
	_, err := b.ReadCloser.Read(p)
	return 0, err
}
