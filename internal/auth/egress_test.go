package auth

import (
	"crypto/tls"
	"encoding/base64"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"net/url"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// A testProxy connects everything to one server, and notes what it was asked for.
type testProxy struct {
	address string // of the server
	status  int    // other than 200 if the proxy refuses
	lock    sync.Mutex
	asked   []string // credentials and hosts
}

func (p *testProxy) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	p.lock.Lock()
	p.asked = append(p.asked, strings.TrimSpace(r.Header.Get("Proxy-Authorization")+" "+r.Method+" "+r.Host))
	p.lock.Unlock()
	host, err := net.Dial("tcp", p.address)
	if p.status != http.StatusOK || err != nil {
		w.WriteHeader(p.status)
		return
	}
	defer func() { _ = host.Close() }()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\nVia: test\r\n\r\n")
	go func() { _, _ = io.Copy(host, buffered) }()
	_, _ = io.Copy(client, host)
}

// take returns what the proxy was asked for since the last call.
func (p *testProxy) take() []string {
	p.lock.Lock()
	defer p.lock.Unlock()
	asked := p.asked
	p.asked = nil
	return asked
}

// newTestProxy starts a proxy before a server with TLS. It returns a client of the guard for it.
func newTestProxy(t *testing.T, guard *Guard) (*testProxy, *http.Client) {
	t.Helper()
	server := httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "hello") }))
	t.Cleanup(server.Close)
	proxy := &testProxy{address: server.Listener.Addr().String(), status: http.StatusOK}
	front := httptest.NewServer(proxy)
	t.Cleanup(front.Close)
	at, err := url.Parse(front.URL)
	if err != nil {
		t.Fatal(err)
	}
	at.User = url.UserPassword("atrium", "secret")
	client := guard.Through(http.ProxyURL(at)).Client(time.Minute, 100)
	trusted := server.Client().Transport.(*http.Transport).TLSClientConfig
	client.Transport.(guardedTransport).base.TLSClientConfig = &tls.Config{RootCAs: trusted.RootCAs, ServerName: "example.com"}
	return proxy, client
}

// The proxy of this test has a private address, which is allowed because the operator chose it.
func TestAProxyConnectsToTheAddressThatWasChecked(t *testing.T) {
	t.Parallel()
	credentials := "Basic " + base64.StdEncoding.EncodeToString([]byte("atrium:secret"))
	proxy, client := newTestProxy(t, NewGuard([]string{"dex.invalid:443"}))
	for address, target := range map[string]string{
		"8.8.4.4":                  "8.8.4.4:443",
		"8.8.4.4:8443":             "8.8.4.4:8443",
		"[::ffff:8.8.4.4]":         "8.8.4.4:443",
		"[2a00:1450:4001::1]:8443": "[2a00:1450:4001::1]:8443",
		"dex.invalid":              "dex.invalid:443", // an exempt name that only the proxy may know
	} {
		err := get(t, client, "https://"+address)
		if got, want := proxy.take(), []string{credentials + " CONNECT " + target}; err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: the proxy was asked for %q (%v), want %q", address, got, err, want)
		}
	}
}

// The attack is a sink or an issuer at a private address, which the proxy of a company reaches.
func TestNoProxyLeadsToAPrivateAddress(t *testing.T) {
	t.Parallel()
	own := netip.MustParseAddrPort("127.0.0.1:9464")
	proxy, client := newTestProxy(t, NewGuard([]string{"localhost:9464"}, own))
	for address, want := range map[string]string{
		"10.1.2.3": "the host has a private address", "169.254.169.254": "the host has a private address",
		"[fd00::1]": "the host has a private address", "[::ffff:10.1.2.3]": "the host has a private address",
		"localhost": "the host has a private address", "127.0.0.1:9464": "the host is this service itself",
		"localhost:9464": "the host is this service itself", proxy.address: "the host has a private address",
	} {
		err := get(t, client, "https://"+address)
		if got := proxy.take(); reasonOf(err) != want || len(got) > 0 {
			t.Errorf("%s: the proxy was asked for %q (%v), want Reason %q", address, got, err, want)
		}
	}
	if err := get(t, client, "https://unknown.invalid"); err == nil || reasonOf(err) != "" || len(proxy.take()) > 0 {
		t.Errorf("a name without an address: %v, want the error of the lookup", err)
	}
}

func TestAFaultOfTheProxyIsNoFaultOfTheHost(t *testing.T) {
	t.Parallel()
	const want = "the proxy of this service could not connect to the host"
	refusing, client := newTestProxy(t, NewGuard(nil))
	refusing.status = http.StatusForbidden
	if err := get(t, client, "https://8.8.4.4"); reasonOf(err) != want || !strings.Contains(err.Error(), "403") || strings.Contains(err.Error(), "secret") {
		t.Errorf("a proxy that refuses: %v, want Reason %q and the status", err, want)
	}
	closed := httptest.NewServer(http.NotFoundHandler())
	closed.Close()
	for _, address := range []string{closed.URL, "socks5://127.0.0.1:1080"} {
		at, err := url.Parse(address)
		if err != nil {
			t.Fatal(err)
		}
		client := NewGuard(nil).Through(http.ProxyURL(at)).SinkClient(time.Minute, 100)
		if err := get(t, client, "https://8.8.4.4"); reasonOf(err) != want {
			t.Errorf("%s: %v, want Reason %q", address, err, want)
		}
	}
}

// reasonOf returns the text of an error for the person who chose an address, or "".
func reasonOf(err error) string {
	var public interface{ Reason() string }
	if errors.As(err, &public) {
		return public.Reason()
	}
	return ""
}
