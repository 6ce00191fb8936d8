package auth

import (
	"bytes"
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"crypto/sha256"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// testKeys are generated once, because RSA keys take long.
var testKeys = sync.OnceValue(func() (keys struct {
	rsa, otherRSA *rsa.PrivateKey
	ec, otherEC   *ecdsa.PrivateKey
}) {
	keys.rsa, _ = rsa.GenerateKey(rand.Reader, 2048)
	keys.otherRSA, _ = rsa.GenerateKey(rand.Reader, 2048)
	keys.ec, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	keys.otherEC, _ = ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	return keys
})

// A testClock stands still until advance is called.
type testClock struct{ nanos atomic.Int64 }

func newTestClock() *testClock {
	c := &testClock{}
	c.nanos.Store(time.Date(2026, 3, 27, 13, 55, 0, 0, time.UTC).UnixNano())
	return c
}

func (c *testClock) now() time.Time          { return time.Unix(0, c.nanos.Load()).UTC() }
func (c *testClock) advance(d time.Duration) { c.nanos.Add(int64(d)) }

// A testDirectory knows some issuers and authenticates every subject.
type testDirectory struct {
	mu     sync.Mutex
	known  map[string]bool
	asked  []string
	claims []iam.Claims
	static []iam.IdentityKeys
	err    error
	nobody bool // If nobody is true, no identity matches.
}

func (d *testDirectory) StaticKeys(context.Context, string, string) ([]iam.IdentityKeys, error) {
	return d.static, nil
}

func (d *testDirectory) KnowsIssuer(_ context.Context, issuer string) (bool, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.asked = append(d.asked, issuer)
	return d.known[issuer], d.err
}

func (d *testDirectory) Authenticate(_ context.Context, c iam.Claims) (*core.Actor, error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.claims = append(d.claims, c)
	if d.nobody {
		return &core.Actor{}, nil
	}
	return &core.Actor{Identities: []core.UID{"somebody"}}, nil
}

func (d *testDirectory) Presume(ctx context.Context, _ iam.Claims, last *core.Actor) context.Context {
	return core.WithActor(ctx, last)
}

func (d *testDirectory) setKnown(issuer string, known bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.known[issuer] = known
}

func (d *testDirectory) last() iam.Claims {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.claims[len(d.claims)-1]
}

// A testIssuer is an OpenID Connect issuer on a TLS server of its own.
type testIssuer struct {
	*httptest.Server
	discoveries, keyGets atomic.Int32

	mu       sync.Mutex
	issuer   string // The discovery document names this issuer; "" means the URL.
	keysURL  string // "" means the path of this issuer.
	keys     []jose.JSONWebKey
	override http.Handler // If it is set, it answers every request.
}

// startIssuer starts an issuer with an RSA key `r` and an EC key `e`.
func startIssuer(t testing.TB, useTLS bool) *testIssuer {
	t.Helper()
	i := &testIssuer{keys: []jose.JSONWebKey{
		{Key: testKeys().rsa.Public(), KeyID: "r", Algorithm: "RS256", Use: "sig"},
		{Key: testKeys().ec.Public(), KeyID: "e"},
	}}
	i.Server = httptest.NewUnstartedServer(i)
	i.Config.ErrorLog = slog.NewLogLogger(slog.DiscardHandler, 0)
	if useTLS {
		i.StartTLS()
	} else {
		i.Start()
	}
	t.Cleanup(i.Close)
	return i
}

func (i *testIssuer) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	i.mu.Lock()
	override, issuer, keysURL, keys := i.override, i.issuer, i.keysURL, i.keys
	i.mu.Unlock()
	switch r.URL.Path {
	case "/.well-known/openid-configuration":
		i.discoveries.Add(1)
	case "/keys":
		i.keyGets.Add(1)
	}
	switch {
	case override != nil:
		override.ServeHTTP(w, r)
	case r.URL.Path == "/.well-known/openid-configuration":
		if issuer == "" {
			issuer = i.URL
		}
		if keysURL == "" {
			keysURL = i.URL + "/keys"
		}
		_ = json.NewEncoder(w).Encode(map[string]string{"issuer": issuer, "jwks_uri": keysURL})
	case r.URL.Path == "/keys":
		_ = json.NewEncoder(w).Encode(jose.JSONWebKeySet{Keys: keys})
	default:
		http.NotFound(w, r)
	}
}

// set changes the issuer under its lock.
func (i *testIssuer) set(change func()) {
	i.mu.Lock()
	defer i.mu.Unlock()
	change()
}

// A fixture is a Verifier with one registered issuer.
type fixture struct {
	testing.TB
	verifier  *Verifier
	directory *testDirectory
	clock     *testClock
	issuer    *testIssuer
	log       *bytes.Buffer
}

func setUp(t testing.TB, change ...func(*Options)) *fixture {
	t.Helper()
	issuer := startIssuer(t, true)
	f := &fixture{TB: t, clock: newTestClock(), issuer: issuer, log: &bytes.Buffer{}}
	f.directory = &testDirectory{known: map[string]bool{issuer.URL: true}}
	options := Options{
		Directory: f.directory,
		Audience:  []string{"https://atrium.test", "atrium"},
		Guard:     NewGuard([]string{issuer.Listener.Addr().String()}),
		Clock:     f.clock.now,
		Logger:    slog.New(slog.NewJSONHandler(f.log, nil)),
	}
	for _, c := range change {
		c(&options)
	}
	f.verifier = New(options)
	f.verifier.issuers.staleWait = time.Minute // a busy machine may need long to answer
	f.trust(issuer.Certificate())
	return f
}

// trust makes the verifier accept the certificate of a test server.
func (f *fixture) trust(certificate *x509.Certificate) {
	roots := x509.NewCertPool()
	roots.AddCert(certificate)
	transport, ok := f.verifier.issuers.fetcher.client.Transport.(guardedTransport)
	if !ok {
		f.Fatal("the issuers' client is not guarded")
	}
	transport.base.TLSClientConfig = &tls.Config{RootCAs: roots}
}

func (f *fixture) verify(token string) error {
	_, err := f.verifier.Verify(f.Context(), token)
	return err
}

func (f *fixture) accept(token string) {
	f.Helper()
	if err := f.verify(token); err != nil {
		f.Fatalf("refused: %v", err)
	}
}

// refuse expects an error of this code whose message contains message.
func (f *fixture) refuse(token string, code core.Code, message string) {
	f.Helper()
	err := f.verify(token)
	var e *core.Error
	if !errors.As(err, &e) || e.Code != code || !strings.Contains(e.Message, message) {
		f.Fatalf("got %v, want %v with %q", err, code, message)
	}
}

// claims returns valid claims with changes; nil removes a claim.
func (f *fixture) claims(changes map[string]any) string {
	now := f.clock.now().Unix()
	claims := map[string]any{"iss": f.issuer.URL, "sub": "ada", "aud": "atrium", "iat": now, "exp": now + 3600}
	maps.Copy(claims, changes)
	maps.DeleteFunc(claims, func(_ string, v any) bool { return v == nil })
	b, err := json.Marshal(claims)
	if err != nil {
		f.Fatal(err)
	}
	return string(b)
}

// token signs valid claims with changes, with the EC key of the issuer.
func (f *fixture) token(changes map[string]any) string {
	return sign(testKeys().ec, `{"alg":"ES256","kid":"e"}`, f.claims(changes))
}

// sign makes a JWT of exactly these texts. A []byte key signs with HS256; a nil key
// leaves the signature empty.
func sign(key any, header, payload string) string {
	input := encode(header) + "." + encode(payload)
	return input + "." + encode(signature(key, input))
}

func signature(key any, input string) string {
	digest := sha256.Sum256([]byte(input))
	switch key := key.(type) {
	case *rsa.PrivateKey:
		s, err := rsa.SignPKCS1v15(nil, key, crypto.SHA256, digest[:])
		if err != nil {
			panic(err)
		}
		return string(s)
	case *ecdsa.PrivateKey:
		r, s, err := ecdsa.Sign(rand.Reader, key, digest[:])
		if err != nil {
			panic(err)
		}
		return string(append(r.FillBytes(make([]byte, 32)), s.FillBytes(make([]byte, 32))...))
	case nil:
		return ""
	default:
		panic(fmt.Sprintf("no signature with %T", key))
	}
}

func encode(s string) string { return base64.RawURLEncoding.EncodeToString([]byte(s)) }
