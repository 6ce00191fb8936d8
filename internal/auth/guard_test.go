package auth

import (
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"atrium/platform/webhooks"
)

func TestTheGuardKnowsThePublicInternet(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		addresses string
		public    bool
	}{
		{"1.1.1.1 8.8.8.8 172.15.255.255 172.32.0.0 100.63.255.255 100.128.0.0 223.255.255.255", true},
		{"2606:4700::1111 2a00:1450:4001::1 ::ffff:8.8.8.8", true},
		{"0.0.0.0 0.1.2.3 127.0.0.1 127.255.255.254 10.0.0.1 172.16.0.1 172.31.255.255 192.168.1.1", false},
		{"169.254.169.254 100.64.0.1 100.127.255.255 192.0.0.1 192.0.2.1 198.18.0.1 198.51.100.1 203.0.113.1", false},
		{"224.0.0.1 239.255.255.255 240.0.0.1 255.255.255.255", false},
		{":: ::1 ::ffff:127.0.0.1 ::ffff:10.0.0.1 ::ffff:a9fe:a9fe ::127.0.0.1", false},
		{"fe80::1 fe80::1%eth0 2606:4700::1111%eth0 fec0::1 fc00::1 fd00:ec2::254 ff02::1", false},
		{"64:ff9b::1.1.1.1 64:ff9b::a9fe:a9fe 64:ff9b:1::1 100::1", false},
		{"2001::1 2001:db8::1 2002:7f00:1::1 3fff::1 4000::1 e000::1", false},
	} {
		for address := range strings.FieldsSeq(c.addresses) {
			if got := webhooks.IsPublicAddress(netip.MustParseAddr(address)); got != c.public {
				t.Errorf("%s: public is %v, want %v", address, got, c.public)
			}
		}
	}
	if webhooks.IsPublicAddress(netip.Addr{}) {
		t.Error("no address at all is public")
	}
}

func TestTheGuardExemptsHostsAsTheyAreNamed(t *testing.T) {
	t.Parallel()
	guard := NewGuard([]string{"localhost:80", "Dex.Internal:5556", "[fd00::1]:443"})
	for address, want := range map[string]bool{
		"localhost:80":      true,
		"LOCALHOST:80":      true,
		"localhost:443":     false,
		"dex.internal:5556": true,
		"dex.internal:443":  false,
		"[fd00::1]:443":     true,
		"[fd00::1]:80":      false,
		"127.0.0.1:80":      false,
		"sub.localhost:80":  false,
		"localhost":         false,
	} {
		if got := guard.isExempt(address); got != want {
			t.Errorf("%s: allowed is %v, want %v", address, got, want)
		}
	}
}

func TestTheGuardedClientFollowsNoRedirectAndHasLimits(t *testing.T) {
	t.Parallel()
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch r.URL.Path {
		case "/slow":
			<-r.Context().Done()
		case "/redirect":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}
	}))
	t.Cleanup(server.Close)
	host := server.Listener.Addr().String()

	for _, c := range []struct {
		name, allow, path, want string
		timeout                 time.Duration
	}{
		{"a host that is not allowed over plain http", "", "/", "must be https", time.Minute},
		{"a redirect", host, "/redirect", "redirects are not followed", time.Minute},
		{"a slow answer", host, "/slow", "exceeded", 200 * time.Millisecond},
		{"a long answer", host, "/", "too large", time.Minute},
	} {
		err := get(t, NewGuard([]string{c.allow}).Client(c.timeout, 99), server.URL+c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if err := get(t, NewGuard([]string{host}).Client(time.Minute, 100), server.URL); err != nil {
		t.Errorf("an answer of the limit: %v", err)
	}
}

func TestASinkClientChecksEachDialledAddress(t *testing.T) {
	t.Parallel()
	ends := map[string]bool{} // This has the client's address of each connection.
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ends[r.RemoteAddr] = true }))
	t.Cleanup(server.Close)
	host := server.Listener.Addr().String()

	client := NewGuard([]string{host}).SinkClient(time.Minute, 100)
	for range 3 {
		if err := get(t, client, server.URL); err != nil {
			t.Fatal(err)
		}
	}
	if len(ends) != 1 {
		t.Errorf("three requests took %d connections, want 1", len(ends))
	}
	// The guard refuses plain http before it dials, so the attack uses https.
	err := get(t, NewGuard(nil).SinkClient(time.Minute, 100), "https://"+host)
	var reason interface{ Reason() string }
	if !errors.As(err, &reason) || reason.Reason() != "the host has a private address" {
		t.Errorf("a private address: %v, want Reason 'the host has a private address'", err)
	}
}

// net/http hands out the connection as the body of a 101, and no time limit applies to it.
func TestTheGuardRefusesHostsThatSwitchProtocols(t *testing.T) {
	t.Parallel()
	left := make(chan error, 1)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		conn, buffered, err := http.NewResponseController(w).Hijack()
		if err != nil {
			left <- err
			return
		}
		defer func() { _ = conn.Close() }()
		_, err = io.WriteString(conn, "HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n")
		if tcp, ok := conn.(*net.TCPConn); ok {
			err = errors.Join(err, tcp.CloseWrite()) // so that a client which reads on does not hang
		}
		_, read := io.Copy(io.Discard, buffered) // until the client leaves
		left <- errors.Join(err, read)
	}))
	t.Cleanup(server.Close)
	guard := NewGuard([]string{server.Listener.Addr().String()})
	for name, client := range map[string]*http.Client{
		"Client":     guard.Client(time.Minute, 100),
		"SinkClient": guard.SinkClient(time.Minute, 100),
	} {
		err := get(t, client, server.URL)
		var reason interface{ Reason() string }
		if !errors.As(err, &reason) || reason.Reason() != "the host tries to switch protocols" {
			t.Errorf("%s: %v, want Reason 'the host tries to switch protocols'", name, err)
		}
		if err := <-left; err != nil {
			t.Errorf("%s: the host sees %v, want the end of the connection", name, err)
		}
	}
}

func get(t *testing.T, client *http.Client, url string) error {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	if err != nil {
		return err
	}
	response, err := client.Do(request)
	if err != nil {
		return err
	}
	_, err = io.Copy(io.Discard, response.Body)
	return errors.Join(err, response.Body.Close())
}

// The attack is a subscription or an issuer at the address of the process itself, whose metrics
// and profiles nobody else may read. It is spelled in every way that leads there.
func TestNoRequestReachesTheProcessItself(t *testing.T) {
	t.Parallel()
	var reached atomic.Int32
	own := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { reached.Add(1) }))
	t.Cleanup(own.Close)
	port := own.Listener.Addr().(*net.TCPAddr).Port
	hosts := []string{"127.0.0.1", "localhost", "LOCALHOST", "0.0.0.0", "[::]", "[::ffff:127.0.0.1]", "[::ffff:7f00:1]"}
	var exempt []string
	for _, host := range hosts {
		exempt = append(exempt, fmt.Sprintf("%s:%d", host, port))
	}
	for _, listens := range []string{"127.0.0.1", "0.0.0.0", "::", "::ffff:127.0.0.1"} {
		guard := NewGuard(exempt, netip.AddrPortFrom(netip.MustParseAddr(listens), uint16(port)))
		for _, address := range exempt {
			for name, client := range map[string]*http.Client{"Client": guard.Client(time.Minute, 100), "SinkClient": guard.SinkClient(time.Minute, 100)} {
				err := get(t, client, "http://"+address)
				var reason interface{ Reason() string }
				if (!errors.As(err, &reason) || reason.Reason() != "the host is this service itself") && !strings.Contains(address, "[::]") {
					t.Errorf("%s to %s of %s: %v, want Reason 'the host is this service itself'", name, address, listens, err)
				}
			}
		}
	}
	if n := reached.Load(); n != 0 {
		t.Errorf("the process was reached %d times", n)
	}
	// Another port and another address of the machine are no addresses of the process.
	for _, other := range []string{fmt.Sprintf("127.0.0.1:%d", port-1), fmt.Sprintf("127.0.0.2:%d", port)} {
		if err := get(t, NewGuard(exempt, netip.MustParseAddrPort(other)).Client(time.Minute, 100), own.URL); err != nil {
			t.Errorf("a process at %s: %v", other, err)
		}
	}
}

// A process that listens at every address has those of all interfaces of its machine.
func TestAProcessHasTheAddressesOfItsMachine(t *testing.T) {
	t.Parallel()
	local, err := net.InterfaceAddrs()
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range local {
		address := netip.MustParsePrefix(a.String()).Addr()
		if !leadsTo(netip.AddrPortFrom(address, 9464), netip.MustParseAddrPort("[::]:9464")) {
			t.Errorf("%s is no address of the process", address)
		}
	}
	for address, want := range map[string]bool{"127.9.9.9:9464": true, "[::1]:9464": true, "192.0.2.1:9464": false, "127.0.0.1:9465": false} {
		if got := leadsTo(netip.MustParseAddrPort(address), netip.MustParseAddrPort("0.0.0.0:9464")); got != want {
			t.Errorf("%s leads to the process is %v, want %v", address, got, want)
		}
	}
}
