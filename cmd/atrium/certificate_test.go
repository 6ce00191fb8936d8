package main

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"io"
	"math/big"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"

	"atrium/client"
	pingv2 "atrium/gen/platform/ping/v2"
	registryv2 "atrium/gen/platform/registry/v2"
	"atrium/store/storetest"
)

// A pair is a certificate with its key, in two files. Each file is replaced by an atomic
// rename.
type pair struct {
	t                 *testing.T
	certFile, keyFile string
	roots             *x509.CertPool
	life              [2]time.Duration // begin and end of the validity, from now on
}

func newPair(t *testing.T, name string) *pair {
	t.Helper()
	dir := t.TempDir()
	p := &pair{t: t, certFile: filepath.Join(dir, "cert.pem"), keyFile: filepath.Join(dir, "key.pem"), roots: x509.NewCertPool(), life: [2]time.Duration{-time.Hour, time.Hour}}
	p.renew(name)
	return p
}

// renew writes a new certificate with this common name.
func (p *pair) renew(name string) {
	p.t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		p.t.Fatal(err)
	}
	template := &x509.Certificate{
		SerialNumber: big.NewInt(time.Now().UnixNano()), Subject: pkix.Name{CommonName: name}, DNSNames: []string{"atrium.example"},
		NotBefore: time.Now().Add(p.life[0]), NotAfter: time.Now().Add(p.life[1]), IsCA: true, BasicConstraintsValid: true,
	}
	certificate, err := x509.CreateCertificate(rand.Reader, template, template, &key.PublicKey, key)
	if err != nil {
		p.t.Fatal(err)
	}
	private, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		p.t.Fatal(err)
	}
	encoded := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: certificate})
	p.roots.AppendCertsFromPEM(encoded)
	p.put(p.keyFile, pem.EncodeToMemory(&pem.Block{Type: "PRIVATE KEY", Bytes: private}))
	p.put(p.certFile, encoded)
}

func (p *pair) put(file string, content []byte) {
	p.t.Helper()
	if err := os.WriteFile(file+".new", content, 0o600); err != nil {
		p.t.Fatal(err)
	}
	if err := os.Rename(file+".new", file); err != nil {
		p.t.Fatal(err)
	}
}

// client returns a client for one HTTP version over TLS.
func (p *pair) client(http2 bool) *http.Client {
	protocols := new(http.Protocols)
	protocols.SetHTTP1(!http2)
	protocols.SetHTTP2(http2)
	return &http.Client{Transport: &http.Transport{
		Protocols: protocols, TLSClientConfig: &tls.Config{RootCAs: p.roots, ServerName: "atrium.example", MinVersion: tls.VersionTLS12},
	}}
}

// ask returns the protocol of the response and the name in the certificate.
func (p *pair) ask(client *http.Client, url string) (protocol, name string) {
	p.t.Helper()
	r, err := http.NewRequestWithContext(p.t.Context(), http.MethodGet, url, nil)
	if err != nil {
		p.t.Fatal(err)
	}
	answer, err := client.Do(r)
	if err != nil {
		p.t.Fatal(err)
	}
	defer answer.Body.Close()
	if body, err := io.ReadAll(answer.Body); err != nil || answer.StatusCode != http.StatusOK {
		p.t.Fatalf("got %d %s %v, want StatusCode 200", answer.StatusCode, body, err)
	}
	return answer.Proto, answer.TLS.PeerCertificates[0].Subject.CommonName
}

func TestTLSWorksForBothHTTPVersionsAndRejectsOldTLS(t *testing.T) {
	t.Parallel()
	p := newPair(t, "first")
	server := start(t, demonstration.SQLite(t), "--dev", "--tls-cert", p.certFile, "--tls-key", p.keyFile)
	if !strings.HasPrefix(server.url, "https://127.0.0.1:") {
		t.Fatalf("it says %s", server.stdout)
	}
	for http2, want := range map[bool]string{false: "HTTP/1.1", true: "HTTP/2.0"} {
		if protocol, name := p.ask(p.client(http2), server.url+"/livez"); protocol != want || name != "first" {
			t.Errorf("got %s by %s, want %s", protocol, name, want)
		}
	}
	old := &tls.Config{RootCAs: p.roots, ServerName: "atrium.example", MinVersion: tls.VersionTLS10, MaxVersion: tls.VersionTLS11}
	if conn, err := tls.Dial("tcp", strings.TrimPrefix(server.url, "https://"), old); err == nil {
		_ = conn.Close()
		t.Error("TLS 1.1 is spoken")
	}
}

// The certificate of the test is valid for another hour.
func TestTheExpiryOfTheCertificateIsInTheLogAndAMetric(t *testing.T) {
	t.Parallel()
	p := newPair(t, "first")
	p.life[0] = -5 * time.Hour // five sixths of its life are over
	p.renew("first")
	server := start(t, demonstration.SQLite(t), "--dev", "--tls-cert", p.certFile, "--tls-key", p.keyFile, "--metrics-addr", "127.0.0.1:0", "--log-format", "json")
	metrics := regexp.MustCompile(`"msg":"metrics","url":"([^"]+)"`)
	server.await(func() bool { return metrics.MatchString(server.stderr.String()) })
	for range 2 {
		p.ask(p.client(true), server.url+"/livez")
	}
	if n := strings.Count(server.stderr.String(), "the TLS certificate expires soon"); n != 1 {
		t.Errorf("%d lines tell of the expiry, want 1:\n%s", n, server.stderr)
	}
	scraped := &running{t: t, url: strings.TrimSuffix(metrics.FindStringSubmatch(server.stderr.String())[1], "/metrics")}
	_, body := scraped.get("", "/metrics")
	found := regexp.MustCompile(`(?m)^atrium_tls_certificate_expiry_timestamp_seconds (\S+)$`).FindStringSubmatch(body)
	if found == nil {
		t.Fatalf("no expiry in %s", body)
	}
	if at, err := strconv.ParseFloat(found[1], 64); err != nil || time.Until(time.Unix(int64(at), 0)) > time.Hour || !strings.Contains(body, "atrium_log_lines_lost_total 0\n") {
		t.Errorf("the certificate expires at %s (%v), want within an hour, and no line is lost: %s", found[1], err, body)
	}
}

// A gRPC client requires HTTP/2. A client that also offers HTTP/1.1 leaves the choice to
// ALPN, and the server must choose h2.
func TestGRPCIsServedOverTLS(t *testing.T) {
	t.Parallel()
	p := newPair(t, "first")
	server := start(t, demonstration.SQLite(t), "--dev", "--tls-cert", p.certFile, "--tls-key", p.keyFile)
	either := p.client(true)
	either.Transport.(*http.Transport).Protocols.SetHTTP1(true)
	for name, httpClient := range map[string]*http.Client{"h2": p.client(true), "h2 or http/1.1": either} {
		c, err := client.New(server.url, client.Options{HTTPClient: httpClient, Attempts: 1})
		if err != nil {
			t.Fatal(err)
		}
		if pong, err := c.Ping.Ping(t.Context(), &pingv2.PingRequest{}); err != nil || pong.GetResponse() != "pong" {
			t.Errorf("%s: it answers %v, %v, want Response 'pong'", name, pong, err)
		}
		_, err = c.Repos.GetRepo(t.Context(), &registryv2.GetRepoRequest{Uid: "nope"})
		var refused *connect.Error
		if !errors.As(err, &refused) || refused.Code() != connect.CodeUnauthenticated || len(refused.Details()) == 0 {
			t.Errorf("%s: without a token: %v, want Code %v", name, err, connect.CodeUnauthenticated)
		}
	}
}

func TestACertificateIsReloadedWithoutARestart(t *testing.T) {
	t.Parallel()
	p := newPair(t, "first")
	server := start(t, storetest.SQLite(t), "--tls-cert", p.certFile, "--tls-key", p.keyFile)
	open := p.client(false)
	if _, name := p.ask(open, server.url+"/livez"); name != "first" {
		t.Fatalf("got %s, want first", name)
	}
	p.renew("second one") // The name has another length, because both files may have the same time.
	if _, name := p.ask(p.client(false), server.url+"/livez"); name != "second one" {
		t.Errorf("a new connection gets %s, want second one", name)
	}
	if _, name := p.ask(open, server.url+"/livez"); name != "first" {
		t.Errorf("the connection that was open was dropped for %s, want first", name)
	}

	reloaded := func() int {
		return strings.Count(server.stderr.String(), `"msg":"the TLS certificate was reloaded","expires":"20`)
	}
	server.await(func() bool { return reloaded() == 1 })

	p.put(p.keyFile, []byte("nonsense"))
	for range 2 {
		if _, name := p.ask(p.client(false), server.url+"/livez"); name != "second one" {
			t.Errorf("with a faulty key: %s, want second one", name)
		}
	}
	if n := strings.Count(server.stderr.String(), "certificate reload failed"); n != 1 || strings.Contains(server.stderr.String(), "nonsense") {
		t.Errorf("%d lines tell of it, want 1:\n%s", n, server.stderr)
	}
	if err := os.Remove(p.certFile); err != nil {
		t.Fatal(err)
	}
	if _, name := p.ask(p.client(false), server.url+"/livez"); name != "second one" {
		t.Errorf("without a file: %s, want second one", name)
	}
	p.renew("the third")
	if _, name := p.ask(p.client(true), server.url+"/livez"); name != "the third" {
		t.Errorf("good again: %s, want the third", name)
	}
	server.await(func() bool { return reloaded() == 2 })
}

func TestAnInvalidCertificateIsAConfigurationError(t *testing.T) {
	t.Parallel()
	p, q := newPair(t, "p"), newPair(t, "q")
	for name, c := range map[string]struct{ args, flag string }{
		"no key":           {"--tls-cert " + p.certFile, "tls-key"},
		"no certificate":   {"--tls-key " + p.keyFile, "tls-cert"},
		"no such file":     {"--tls-cert /nowhere --tls-key " + p.keyFile, "tls-cert"},
		"another's key":    {"--tls-cert " + p.certFile + " --tls-key " + q.keyFile, "tls-cert"},
		"files that swap":  {"--tls-cert " + p.keyFile + " --tls-key " + p.certFile, "tls-cert"},
		"no files at all":  {"--tls-cert /nowhere --tls-key /nowhere", "tls-cert"},
		"a folder as file": {"--tls-cert / --tls-key " + p.keyFile, "tls-cert"},
	} {
		_, _, err := atrium(t, nil, append([]string{"serve", "--log-level", "loud"}, strings.Fields(c.args)...)...)
		if exitCode(err) != 2 || !strings.Contains(err.Error(), "--"+c.flag+" (") || !strings.Contains(err.Error(), "--log-level (") {
			t.Errorf("%s: %v, want an error with '--log-level ('", name, err)
		}
	}
}

func TestAFailedHandshakeIsNotLoggedAsAnError(t *testing.T) {
	t.Parallel()
	p := newPair(t, "first")
	server := start(t, storetest.SQLite(t), "--tls-cert", p.certFile, "--tls-key", p.keyFile)
	answer, err := http.Get("http" + strings.TrimPrefix(server.url, "https") + "/livez")
	if err == nil {
		defer answer.Body.Close()
	}
	if err != nil || answer.StatusCode != http.StatusBadRequest {
		t.Errorf("clear text gets %v, %v, want StatusCode 400", answer, err)
	}
	if strings.Contains(server.stderr.String(), `"level":"ERROR"`) {
		t.Errorf("logs:\n%s", server.stderr)
	}
}
