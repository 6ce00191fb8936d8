package auth

import (
	"bufio"
	"cmp"
	"context"
	"crypto/tls"
	"encoding/base64"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
)

// A ProxyFunc returns the proxy for requests to a URL, or nil if there is none, as
// http.ProxyFromEnvironment does.
type ProxyFunc func(*http.Request) (*url.URL, error)

// A proxyError is a fault of the proxy of this process, which is not a fault of the host that a
// request should have reached.
type proxyError struct{ cause error }

func (e proxyError) Error() string { return "proxy: " + e.cause.Error() }
func (e proxyError) Unwrap() error { return e.cause }

// Reason returns the text for the person who chose the address. It does not name the proxy.
func (e proxyError) Reason() string {
	return "the proxy of this service could not connect to the host"
}

// Through returns the guard with a proxy for its connections. The guard resolves and checks the
// address of a host all the same, and the proxy is asked to connect to that address, so that
// it cannot find another one. Only names of exempt hosts are left to the proxy. The proxy may
// have any address, because the operator chose it.
func (g *Guard) Through(proxy ProxyFunc) *Guard {
	through := *g
	through.proxy = proxy
	return &through
}

// proxyFor returns the proxy for connections to a host:port, or nil.
func (g *Guard) proxyFor(address string) (*url.URL, error) {
	if g.proxy == nil {
		return nil, nil
	}
	proxy, err := g.proxy(&http.Request{URL: &url.URL{Scheme: "https", Host: address}})
	switch {
	case err != nil:
		return nil, proxyError{err}
	case proxy != nil && proxy.Scheme != "http" && proxy.Scheme != "https":
		return nil, proxyError{fmt.Errorf("HTTPS_PROXY must begin with http:// or https://, not with %.20q", proxy.Scheme)}
	}
	return proxy, nil
}

// dialThrough connects to a host:port through a proxy. It tries the addresses of the host one
// after the other.
func (g *Guard) dialThrough(ctx context.Context, proxy *url.URL, address string) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	targets, err := g.targets(ctx, address)
	for _, target := range targets {
		var conn net.Conn
		if conn, err = openTunnel(ctx, proxy, target); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// targets returns what a proxy may be asked to connect to for a host:port: its addresses that
// the guard allows, or only its name if the host is exempt. There is an error if there are none.
func (g *Guard) targets(ctx context.Context, address string) (allowed []string, err error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	isExempt := g.isExempt(address)
	resolved, err := net.DefaultResolver.LookupNetIP(ctx, "ip", host)
	if err != nil && isExempt {
		return []string{address}, nil // perhaps the proxy knows the name
	}
	for _, ip := range resolved {
		target := net.JoinHostPort(ip.Unmap().String(), port)
		if refusal := g.checkAddress(target, isExempt); refusal != nil {
			err = cmp.Or(err, fmt.Errorf("dial: %w", refusal))
			continue
		}
		allowed = append(allowed, target)
	}
	if isExempt && len(allowed) > 0 {
		return []string{address}, nil
	}
	return allowed, err
}

// openTunnel asks a proxy to connect to a host:port.
func openTunnel(ctx context.Context, proxy *url.URL, target string) (net.Conn, error) {
	conn, err := dialProxy(ctx, proxy)
	if err != nil {
		return nil, proxyError{err}
	}
	keep := context.AfterFunc(ctx, func() { _ = conn.Close() })
	err = askForTunnel(conn, proxy, target)
	if !keep() {
		err = ctx.Err()
	}
	if err != nil {
		_ = conn.Close()
		return nil, proxyError{err}
	}
	return conn, nil
}

// dialProxy connects to a proxy.
func dialProxy(ctx context.Context, proxy *url.URL) (net.Conn, error) {
	address := net.JoinHostPort(proxy.Hostname(), portOf(proxy))
	if proxy.Scheme == "https" {
		return (&tls.Dialer{Config: &tls.Config{MinVersion: tls.VersionTLS12}}).DialContext(ctx, "tcp", address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}

// askForTunnel sends a CONNECT and reads its answer.
func askForTunnel(conn net.Conn, proxy *url.URL, target string) error {
	request := &http.Request{Method: http.MethodConnect, URL: &url.URL{Opaque: target}, Host: target, Header: http.Header{"User-Agent": {"atrium"}}}
	if user := proxy.User; user != nil {
		password, _ := user.Password()
		request.Header.Set("Proxy-Authorization", "Basic "+base64.StdEncoding.EncodeToString([]byte(user.Username()+":"+password)))
	}
	if err := request.Write(conn); err != nil {
		return err
	}
	// The reader takes nothing beyond the answer, because the host does not speak first.
	answer, err := http.ReadResponse(bufio.NewReader(io.LimitReader(conn, maxHeaders)), request)
	if err != nil {
		return err
	}
	if answer.StatusCode != http.StatusOK {
		err = fmt.Errorf("it answered %s to CONNECT %s", answer.Status, target)
	}
	_ = answer.Body.Close() // The caller closes the connection.
	return err
}
