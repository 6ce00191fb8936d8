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
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"atrium/events"
)

// insideVariable tells the test that it runs in namespaces of its own, and
// where it may write.
const insideVariable = "ATRIUM_TEST_NAMESPACE"

// A whole internet of its own: in a network namespace every address can be
// had, the public ones too, and names resolve to what the test says, each time
// anew. The sinks are real ones, with certificates that the process trusts.
func TestNoNameLeadsADeliveryAstray(t *testing.T) {
	if folder := os.Getenv(insideVariable); folder != "" {
		attackByNames(t, newInternet(t, folder))
		return
	}
	t.Parallel()
	if why := noNamespaces(t); why != "" {
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

// noNamespaces says what this machine lacks for the test, if anything.
func noNamespaces(t *testing.T) string {
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

// unreachable has an address of each sort that no delivery may go to.
func unreachable() map[string]string {
	return map[string]string{
		"loopback.example": "127.0.0.1", "ten.example": "10.1.2.3", "home.example": "192.168.7.7",
		"link-local.example": "169.254.169.254", "cgnat.example": "100.64.1.1",
		"mapped.example": "::ffff:10.1.2.3", "unique-local.example": "fd00::7",
	}
}

// attackByNames has names that resolve to what is not public, at once or
// later. Each attack is shown to work on a client without a guard.
func attackByNames(t *testing.T, n *internet) {
	n.resolve("honest.example", public)
	if got := n.send("honest.example"); got != "OK" || n.got(public) != 1 {
		t.Fatalf("an honest sink: %s", got)
	}
	for name, address := range unreachable() {
		n.resolve(name, address)
		n.attack(name, address)
		before := n.got(address)
		if got := n.send(name); got != privateAddress || n.got(address) != before {
			t.Errorf("%s: %s", name, got)
		}
	}

	// A name that is public when it is looked at and private when it is used.
	const inside = "10.1.2.3"
	n.resolve("rebinding.example", public, inside)
	if looked, err := net.DefaultResolver.LookupNetIP(t.Context(), "ip4", "rebinding.example"); err != nil || looked[0].String() != public {
		t.Fatalf("the name is %v (%v)", looked, err)
	}
	n.attack("rebinding.example", inside)
	n.resolve("rebinding.example", public, inside)
	before := n.got(inside)
	for _, want := range []string{"OK", privateAddress, privateAddress} {
		if got := n.send("rebinding.example"); got != want || n.got(inside) != before {
			t.Errorf("rebinding: %s, want %s", got, want)
		}
	}

	// A name with addresses of both sorts.
	n.resolve("both.example", inside+" "+public)
	before, honest := n.got(inside), n.got(public)
	if got := n.send("both.example"); got != "OK" || n.got(inside) != before || n.got(public) != honest+1 {
		t.Errorf("both: %s", got)
	}

	// A sink on the internet that sends on to one inside.
	n.resolve(redirecting, public)
	n.attack(redirecting, unreachable()[redirectedTo])
	before = n.got(unreachable()[redirectedTo])
	if got := n.send(redirecting); got != http.StatusText(http.StatusTemporaryRedirect) || n.got(unreachable()[redirectedTo]) != before {
		t.Errorf("a redirect: %s", got)
	}
}

const redirecting, redirectedTo = "redirect.example", "loopback.example"

// An internet is the network of the test: one server on every address.
type internet struct {
	*testing.T
	sender *events.Sender
	mu     sync.Mutex
	names  map[string][]string // what each look-up gives; the last one again and again
	posts  map[string]int      // by the address that got them
}

func newInternet(t *testing.T, folder string) *internet {
	t.Helper()
	n := &internet{T: t, names: map[string][]string{}, posts: map[string]int{}}
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

// newCertificate makes one for every name of .example, by an authority that it
// writes to the file whose authorities the process trusts.
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
			w.Header().Set("Connection", "close") // so that every request is dialled
			if r.Host == redirecting {
				http.Redirect(w, r, "https://"+redirectedTo, http.StatusTemporaryRedirect)
			}
		}),
	}
	n.Cleanup(func() { _ = server.Close() })
	go func() { _ = server.ServeTLS(listener, "", "") }()
}

// serveNames answers questions of DNS for addresses.
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

// addresses are those of a kind that a name has now. Every look-up asks for
// A; one turns the name on.
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

// got counts what reached an address.
func (n *internet) got(address string) int {
	n.mu.Lock()
	defer n.mu.Unlock()
	return n.posts[netip.MustParseAddr(address).Unmap().String()]
}

// send tells how a delivery went.
func (n *internet) send(name string) string {
	got := n.sender.Send(n.Context(), delivery("https://"+name+"/"))
	if got.Error != "" {
		return got.Error
	}
	return http.StatusText(got.Status)
}

// attack shows that a client without a guard is led to an address.
func (n *internet) attack(name, address string) {
	n.Helper()
	before := n.got(address)
	response, err := (&http.Client{Transport: &http.Transport{}}).Post("https://"+name+"/", "text/plain", nil)
	if err != nil || response.Body.Close() != nil || n.got(address) != before+1 {
		n.Errorf("%s: the attack does not work at all: %v", name, err)
	}
}
