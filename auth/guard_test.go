package auth

import (
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"atrium/platform"
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
			if got := platform.IsPublicAddress(netip.MustParseAddr(address)); got != c.public {
				t.Errorf("%s: public is %v, want %v", address, got, c.public)
			}
		}
	}
	if platform.IsPublicAddress(netip.Addr{}) {
		t.Error("no address at all is public")
	}
}

func TestTheGuardExemptsHostsAsTheyAreNamed(t *testing.T) {
	t.Parallel()
	guard := NewGuard([]string{"localhost", "Dex.Internal:5556", "::1", "[fd00::1]:443"})
	for address, want := range map[string]bool{
		"localhost:80":      true,
		"LOCALHOST:443":     true,
		"dex.internal:5556": true,
		"dex.internal:443":  false,
		"[::1]:8080":        true,
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
			select {
			case <-time.After(5 * time.Second):
			case <-r.Context().Done():
			}
		case "/redirect":
			http.Redirect(w, r, "/", http.StatusFound)
		default:
			_, _ = io.WriteString(w, strings.Repeat("x", 100))
		}
	}))
	t.Cleanup(server.Close)
	host := server.Listener.Addr().String()

	for _, c := range []struct{ name, allow, path, want string }{
		{"a host that is not allowed over plain http", "", "/", "must be https"},
		{"a redirect", host, "/redirect", "redirects are not followed"},
		{"a slow answer", host, "/slow", "exceeded"},
		{"a long answer", host, "/", "too large"},
	} {
		err := get(t, NewGuard([]string{c.allow}).Client(200*time.Millisecond, 99), server.URL+c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if err := get(t, NewGuard([]string{host}).Client(5*time.Second, 100), server.URL); err != nil {
		t.Errorf("an answer of the limit: %v", err)
	}
}

func TestAReusingClientChecksEachDialledAddress(t *testing.T) {
	t.Parallel()
	ends := map[string]bool{} // This has the client's address of each connection.
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { ends[r.RemoteAddr] = true }))
	t.Cleanup(server.Close)
	host := server.Listener.Addr().String()

	client := NewGuard([]string{host}).ReusingClient(5*time.Second, 100)
	for range 3 {
		if err := get(t, client, server.URL); err != nil {
			t.Fatal(err)
		}
	}
	if len(ends) != 1 {
		t.Errorf("three requests took %d connections, want 1", len(ends))
	}
	// The guard refuses plain http before it dials, so the attack uses https.
	err := get(t, NewGuard(nil).ReusingClient(5*time.Second, 100), "https://"+host)
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
		"Client":        guard.Client(time.Minute, 100),
		"ReusingClient": guard.ReusingClient(time.Minute, 100),
	} {
		err := get(t, client, server.URL)
		var reason interface{ Reason() string }
		if !errors.As(err, &reason) || reason.Reason() != "the host switches protocols" {
			t.Errorf("%s: %v, want Reason 'the host switches protocols'", name, err)
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
