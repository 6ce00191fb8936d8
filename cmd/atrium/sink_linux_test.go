package main

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/binary"
	"encoding/pem"
	"io"
	"log"
	"math/big"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atrium/internal/auth"
	"atrium/internal/webhook"
)

// insideVariable tells the test that it runs in its own namespaces. Its value is the
// folder to which the test may write.
const insideVariable = "ATRIUM_TEST_NAMESPACE"

// The test runs in its own network namespace, where it can use every address, even public
// ones. It also answers every DNS query. The sinks are real servers with trusted
// certificates.
func TestNoHostNameLeadsADeliveryToAPrivateAddress(t *testing.T) {
	if folder := os.Getenv(insideVariable); folder != "" {
		n := newInternet(t, folder)
		attackByNames(t, n)
		n.useProxy()
		attackByNames(t, n)
		return
	}
	t.Parallel()
	if why := missingNamespaces(t); why != "" {
		t.Skipf("this machine lets nobody make a network of their own (%s); TestNoDeliveryGoesToAPrivateAddress has run without names", why)
	}
	folder := t.TempDir()
	again := exec.CommandContext(t.Context(), os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v")
	again.Env = append(os.Environ(), insideVariable+"="+folder, "GODEBUG=netdns=go", "SSL_CERT_FILE="+filepath.Join(folder, "authority.pem"))
	again.SysProcAttr = namespaces()
	if out, err := again.CombinedOutput(); err != nil || !bytes.Contains(out, []byte("--- PASS: "+t.Name())) {
		t.Errorf("inside: %v\n%s", err, out)
	}
}

func namespaces() *syscall.SysProcAttr {
	attr := &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWNET | syscall.CLONE_NEWNS}
	if uid, gid := os.Getuid(), os.Getgid(); uid != 0 {
		attr.Cloneflags |= syscall.CLONE_NEWUSER
		attr.UidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: uid, Size: 1}}
		attr.GidMappings = []syscall.SysProcIDMap{{ContainerID: 0, HostID: gid, Size: 1}}
	}
	return attr
}

// missingNamespaces returns what this machine lacks for the test, or "".
func missingNamespaces(t *testing.T) string {
	t.Helper()
	ip, err := exec.LookPath("ip")
	if err != nil {
		return err.Error()
	}
	try := exec.CommandContext(t.Context(), ip, "link", "set", "lo", "up")
	try.SysProcAttr = namespaces()
	if out, err := try.CombinedOutput(); err != nil {
		return err.Error() + " " + strings.TrimSpace(string(out))
	}
	return ""
}

const public = "8.8.4.4"

// unreachable returns one address of each range that deliveries must not reach.
func unreachable() map[string]string {
	return map[string]string{
		"loopback.example": "127.0.0.1", "ten.example": "10.1.2.3", "home.example": "192.168.7.7",
		"link-local.example": "169.254.169.254", "cgnat.example": "100.64.1.1",
		"mapped.example": "::ffff:10.1.2.3", "unique-local.example": "fd00::7",
	}
}

// attackByNames tries names that resolve to private addresses, immediately or later. It
// first shows that each attack works on a client without a guard.
func attackByNames(t *testing.T, n *internet) {
	n.resolve("honest.example", public)
	arrived := n.countArrived(public)
	if got := n.send("honest.example"); got != "OK" || n.countArrived(public) != arrived+1 {
		t.Fatalf("an honest sink: %s, want OK", got)
	}
	for name, address := range unreachable() {
		n.resolve(name, address)
		n.expectReached(name, address)
		before := n.countArrived(address)
		if got := n.send(name); got != privateAddress || n.countArrived(address) != before {
			t.Errorf("%s: %s, want %s", name, got, privateAddress)
		}
	}

	// The name has a public address when it is checked and a private one when it is used.
	const inside = "10.1.2.3"
	n.resolve("rebinding.example", public, inside)
	if looked, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip4", "rebinding.example"); err != nil || looked[0].String() != public {
		t.Fatalf("the name is %v (%v)", looked, err)
	}
	n.expectReached("rebinding.example", inside)
	n.resolve("rebinding.example", public, inside)
	before := n.countArrived(inside)
	for _, want := range []string{"OK", privateAddress, privateAddress} {
		if got := n.send("rebinding.example"); got != want || n.countArrived(inside) != before {
			t.Errorf("rebinding: %s, want %s", got, want)
		}
	}

	// The name has a public and a private address.
	n.resolve("both.example", inside+" "+public)
	before, honest := n.countArrived(inside), n.countArrived(public)
	if got := n.send("both.example"); got != "OK" || n.countArrived(inside) != before || n.countArrived(public) != honest+1 {
		t.Errorf("both: %s, want OK", got)
	}

	// A public sink redirects to a private one.
	n.resolve(redirecting, public)
	n.expectReached(redirecting, unreachable()[redirectedTo])
	before = n.countArrived(unreachable()[redirectedTo])
	if got := n.send(redirecting); got != http.StatusText(http.StatusTemporaryRedirect) || n.countArrived(unreachable()[redirectedTo]) != before {
		t.Errorf("a redirect: %s", got)
	}
}

// proxyAddress is the private address of the proxy of the test.
const proxyAddress = "10.1.2.3:3128"

// useProxy lets both clients connect through a proxy, which connects to everything.
func (n *internet) useProxy() {
	listener, err := new(net.ListenConfig).Listen(n.Context(), "tcp", proxyAddress)
	n.must(err)
	proxy := &http.Server{ReadHeaderTimeout: time.Minute, Handler: http.HandlerFunc(tunnel)}
	n.Cleanup(func() { _ = proxy.Close() })
	go func() { _ = proxy.Serve(listener) }()
	choose := http.ProxyURL(&url.URL{Scheme: "http", Host: proxyAddress})
	n.unguarded.Transport = &http.Transport{Proxy: choose}
	n.sender = newSender(n.T, auth.NewGuard(nil).Through(choose))
}

// tunnel connects a client to the host that it names.
func tunnel(w http.ResponseWriter, r *http.Request) {
	host, err := new(net.Dialer).DialContext(r.Context(), "tcp", r.Host)
	if r.Method != http.MethodConnect || err != nil {
		w.WriteHeader(http.StatusBadGateway)
		return
	}
	defer func() { _ = host.Close() }()
	client, buffered, err := http.NewResponseController(w).Hijack()
	if err != nil {
		return
	}
	defer func() { _ = client.Close() }()
	_, _ = io.WriteString(client, "HTTP/1.1 200 Connection established\r\n\r\n")
	go func() { _, _ = io.Copy(host, buffered) }()
	_, _ = io.Copy(client, host)
}

const redirecting, redirectedTo = "redirect.example", "loopback.example"

// An internet is the network of the test: one server on every address.
type internet struct {
	*testing.T
	sender    *webhook.Sender
	unguarded http.Client
	mu        sync.Mutex
	names     map[string][]string // These are the results of the lookups of a name, in order; the last one repeats.
	posts     map[string]int      // The keys are the addresses that received requests.
}

func newInternet(t *testing.T, folder string) *internet {
	t.Helper()
	n := &internet{T: t, unguarded: http.Client{Transport: &http.Transport{}}, names: map[string][]string{}, posts: map[string]int{}}
	n.run("ip", "link", "set", "lo", "up")
	n.run("ip", "address", "add", public, "dev", "lo")
	for _, address := range unreachable() {
		if ip := netip.MustParseAddr(address).Unmap(); !ip.IsLoopback() {
			n.run("ip", "address", "replace", ip.String(), "dev", "lo")
		}
	}
	resolver := filepath.Join(folder, "resolv.conf")
	n.must(os.WriteFile(resolver, []byte("nameserver 127.0.0.1\n"), 0o644))
	n.must(syscall.Mount("none", "/", "", syscall.MS_REC|syscall.MS_PRIVATE, ""))
	n.must(syscall.Mount(resolver, "/etc/resolv.conf", "", syscall.MS_BIND, ""))
	n.serveNames()
	n.serveSinks(newCertificate(t, filepath.Join(folder, "authority.pem")))
	n.sender = guardedSender(t)
	return n
}

func (n *internet) must(err error) {
	n.Helper()
	if err != nil {
		n.Fatal(err)
	}
}

func (n *internet) run(name string, args ...string) {
	n.Helper()
	if out, err := exec.CommandContext(n.Context(), name, args...).CombinedOutput(); err != nil {
		n.Fatalf("%s %s: %v %s", name, strings.Join(args, " "), err, out)
	}
}

// newCertificate returns a certificate for all names below .example. It writes the
// authority to the file of trusted authorities.
func newCertificate(t *testing.T, authority string) tls.Certificate {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(1), Subject: pkix.Name{CommonName: "an authority of the test"}, DNSNames: []string{"*.example"},
		NotBefore: time.Now().Add(-time.Hour), NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, template, template, key.Public(), key)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}), 0o644); err != nil {
		t.Fatal(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
}

func (n *internet) serveSinks(certificate tls.Certificate) {
	n.Helper()
	listener, err := new(net.ListenConfig).Listen(n.Context(), "tcp", ":443")
	n.must(err)
	server := &http.Server{
		ErrorLog: log.New(io.Discard, "", 0), ReadHeaderTimeout: time.Minute,
		TLSConfig: &tls.Config{Certificates: []tls.Certificate{certificate}},
		Handler: http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			local := netip.MustParseAddrPort(r.Context().Value(http.LocalAddrContextKey).(net.Addr).String()).Addr().Unmap().String()
			n.mu.Lock()
			n.posts[local]++
			n.mu.Unlock()
			w.Header().Set("Connection", "close") // Every request must open a new connection.
			if r.Host == redirecting {
				http.Redirect(w, r, "https://"+redirectedTo, http.StatusTemporaryRedirect)
			}
		}),
	}
	n.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.ServeTLS(listener, "", "") }()
}

// serveNames answers DNS queries for addresses.
func (n *internet) serveNames() {
	n.Helper()
	conn, err := new(net.ListenConfig).ListenPacket(n.Context(), "udp", "127.0.0.1:53")
	n.must(err)
	n.Cleanup(func() { _ = conn.Close() })
	go func() {
		buffer := make([]byte, 1<<10)
		for {
			size, from, err := conn.ReadFrom(buffer)
			if err != nil {
				return
			}
			_, _ = conn.WriteTo(n.answer(buffer[:size]), from)
		}
	}()
}

const dnsHeader, dnsTypeA, dnsTypeAAAA = 12, 1, 28

func (n *internet) answer(question []byte) []byte {
	var labels []string
	at := dnsHeader
	for question[at] != 0 {
		end := at + 1 + int(question[at])
		labels = append(labels, string(question[at+1:end]))
		at = end
	}
	at++
	kind := binary.BigEndian.Uint16(question[at:])
	addresses := n.addresses(strings.Join(labels, "."), kind)
	reply := append([]byte{}, question[:2]...)
	reply = append(reply, 0x81, 0x80, 0, 1, 0, byte(len(addresses)), 0, 0, 0, 0)
	reply = append(reply, question[dnsHeader:at+4]...)
	for _, address := range addresses {
		reply = append(reply, 0xc0, dnsHeader, 0, byte(kind), 0, 1, 0, 0, 0, 0, 0, byte(len(address)))
		reply = append(reply, address...)
	}
	return reply
}

// addresses returns the current addresses of a name of one record type. Every lookup
// queries A, which advances the name to its next result.
func (n *internet) addresses(name string, kind uint16) [][]byte {
	n.mu.Lock()
	defer n.mu.Unlock()
	turns := n.names[name]
	if len(turns) == 0 {
		return nil
	}
	if kind == dnsTypeA && len(turns) > 1 {
		n.names[name] = turns[1:]
	}
	var found [][]byte
	for address := range strings.FieldsSeq(turns[0]) {
		ip := netip.MustParseAddr(address)
		if ip.Is4() && kind == dnsTypeA || ip.Is6() && kind == dnsTypeAAAA {
			found = append(found, ip.AsSlice())
		}
	}
	return found
}

func (n *internet) resolve(name string, turns ...string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.names[name] = turns
}

// countArrived counts the requests that reached an address.
func (n *internet) countArrived(address string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.posts[netip.MustParseAddr(address).Unmap().String()]
}

// send makes a delivery and returns its result.
func (n *internet) send(name string) string {
	got := n.sender.Send(n.Context(), delivery("https://"+name+"/"))
	if got.Error != "" {
		return got.Error
	}
	return http.StatusText(got.Status)
}

// expectReached expects that a client without a guard reaches the address.
func (n *internet) expectReached(name, address string) {
	n.Helper()
	before := n.countArrived(address)
	response, err := n.unguarded.Post("https://"+name+"/", "text/plain", nil)
	if err != nil || response.Body.Close() != nil || n.countArrived(address) != before+1 {
		n.Errorf("%s: the attack does not work at all: %v", name, err)
	}
}
