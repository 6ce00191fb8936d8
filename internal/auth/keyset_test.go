package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/rsa"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
)

func TestKeysAreUsedForTenMinutes(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	f.clock.advance(10*time.Minute - time.Second)
	f.accept(f.token(nil))
	if n := f.issuer.keyGets.Load(); n != 1 {
		t.Fatalf("%d fetches within ten minutes, want 1", n)
	}
	if n := len(f.directory.asked); n != 1 {
		t.Errorf("the directory was asked %d times for one fetch, want 1", n)
	}
	f.clock.advance(time.Second)
	f.accept(f.token(nil))
	if n := f.issuer.keyGets.Load(); n != 2 {
		t.Fatalf("%d fetches after ten minutes, want 2", n)
	}
}

func TestAWithdrawnKeyEndsAfterTenMinutes(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	f.issuer.set(func() { f.issuer.keys = []jose.JSONWebKey{} })
	f.clock.advance(10 * time.Minute)
	f.refuse(f.token(nil), core.CodeUnauthenticated, "a key that its issuer does not have")
}

func TestANewKeyIsFetchedImmediately(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	f.clock.advance(30 * time.Second)
	f.issuer.set(func() { f.issuer.keys[1] = jose.JSONWebKey{Key: testKeys().otherEC.Public(), KeyID: "new"} })
	f.accept(sign(testKeys().otherEC, `{"alg":"ES256","kid":"new"}`, f.claims(nil)))
}

func TestUnknownKidsCostOneFetchInThirtySeconds(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	hammer := func() {
		var wg sync.WaitGroup
		for i := range 40 {
			wg.Go(func() {
				header := fmt.Sprintf(`{"alg":"ES256","kid":"guess-%d"}`, i)
				if err := f.verify(sign(testKeys().ec, header, f.claims(nil))); !errors.Is(err, &core.Error{Code: core.CodeUnauthenticated}) {
					t.Errorf("got %v", err)
				}
			})
		}
		wg.Wait()
	}
	for _, c := range []struct {
		later time.Duration
		want  int32
	}{{0, 1}, {29 * time.Second, 1}, {time.Second, 2}, {time.Second, 2}, {30 * time.Second, 3}} {
		f.clock.advance(c.later)
		hammer()
		if n := f.issuer.keyGets.Load(); n != c.want {
			t.Fatalf("%d fetches, want %d", n, c.want)
		}
	}
	f.accept(f.token(nil))
}

func TestManyFirstRequestsFetchOnce(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	token := f.token(nil)
	var wg sync.WaitGroup
	for range 40 {
		wg.Go(func() {
			if err := f.verify(token); err != nil {
				t.Error(err)
			}
		})
	}
	wg.Wait()
	if d, k := f.issuer.discoveries.Load(), f.issuer.keyGets.Load(); d != 1 || k != 1 {
		t.Errorf("%d discoveries and %d fetches, want one of each", d, k)
	}
}

func TestKeysAreUsedForADayWhileTheIssuerIsUnavailable(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	f.issuer.set(func() { f.issuer.override = http.NotFoundHandler() })
	f.clock.advance(24*time.Hour - time.Second)
	f.accept(f.token(nil))
	f.refuse(sign(testKeys().ec, `{"alg":"ES256","kid":"x"}`, f.claims(nil)), core.CodeUnavailable, "cannot be fetched")
	f.clock.advance(time.Second)
	f.refuse(f.token(nil), core.CodeUnavailable, "cannot be fetched")
	if n := f.issuer.discoveries.Load(); n != 2 {
		t.Errorf("%d discoveries, want 2: an issuer that is away has its pause too", n)
	}
	f.issuer.set(func() { f.issuer.override = nil })
	f.clock.advance(30 * time.Second)
	f.accept(f.token(nil))
}

func TestAForgottenIssuerIsNotFetchedAgain(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	f.directory.setKnown(f.issuer.URL, false)
	f.clock.advance(10 * time.Minute)
	f.refuse(f.token(nil), core.CodeUnauthenticated, "issuer is unknown")
	if n := f.issuer.discoveries.Load(); n != 1 {
		t.Errorf("%d discoveries, want 1", n)
	}
	if n := len(f.verifier.issuers.sets); n != 0 {
		t.Errorf("%d key sets held, want 0", n)
	}
}

func TestAnIssuerTrustedBySettingNeedsNoIdentity(t *testing.T) {
	t.Parallel()
	f := setUp(t, func(o *Options) {
		for host := range o.Guard.exempt {
			o.Issuers = append(o.Issuers, "https://"+host)
		}
		o.Directory = &testDirectory{}
	})
	f.accept(f.token(nil))
}

func TestTheDirectorysErrorIsNotABadToken(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.directory.err = core.Unavailable("the store is away", nil)
	f.refuse(f.token(nil), core.CodeUnavailable, "the store is away")
}

func TestARequestThatWaitsForKeysCanBeCancelled(t *testing.T) {
	t.Parallel()
	entered, release := make(chan struct{}), make(chan struct{})
	set := newKeySet(defaultStaleWait, func(context.Context) ([]publicKey, error) {
		close(entered)
		<-release
		return nil, nil
	})
	clock := newTestClock()
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = set.refresh(t.Context(), &token{}, clock.now) })
	<-entered
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := set.refresh(ctx, &token{}, clock.now); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v, want context.Canceled", err)
	}
	close(release)
	wg.Wait()
}

func TestAFetchOutlivesItsRequest(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithCancel(t.Context())
	set := newKeySet(defaultStaleWait, func(ctx context.Context) ([]publicKey, error) {
		cancel()
		return []publicKey{{algorithms: []jose.SignatureAlgorithm{jose.ES256}, key: testKeys().ec.Public()}}, ctx.Err()
	})
	clock := newTestClock()
	_, _ = set.refresh(ctx, &token{alg: jose.ES256}, clock.now)
	if _, err := set.refresh(t.Context(), &token{alg: jose.ES256}, clock.now); err != nil {
		t.Errorf("got %v", err)
	}
}

func TestAStaleKeyIsUsedWhileItsIssuerHangs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		release, hangs := make(chan struct{}), false
		set := newKeySet(defaultStaleWait, func(context.Context) ([]publicKey, error) {
			if hangs {
				<-release
			}
			return []publicKey{{algorithms: []jose.SignatureAlgorithm{jose.ES256}, key: testKeys().ec.Public()}}, nil
		})
		find := func() (took time.Duration) {
			begun := time.Now()
			if key, err := set.refresh(t.Context(), &token{alg: jose.ES256}, time.Now); key == nil || err != nil {
				t.Errorf("got %v and %v, want the key", key, err)
			}
			return time.Since(begun)
		}
		find()
		hangs = true
		time.Sleep(freshTime)
		if first, second := find(), find(); first != defaultStaleWait || second != 0 {
			t.Errorf("good tokens waited %s and %s for their issuer, want %s and 0s", first, second, defaultStaleWait)
		}
		close(release)
		synctest.Wait()
	})
}

func TestRetryAfterIsTheTimeUntilTheNextFetch(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.issuer.set(func() { f.issuer.override = http.NotFoundHandler() })
	for _, want := range []time.Duration{30 * time.Second, 20 * time.Second} {
		var e *core.Error
		if err := f.verify(f.token(nil)); !errors.As(err, &e) || e.Code != core.CodeUnavailable || e.RetryAfter != want {
			t.Errorf("got %v, to be tried after %v, want %s", err, e, want)
		}
		f.clock.advance(10 * time.Second)
	}
	if !strings.Contains(f.log.String(), "404") {
		t.Errorf("the log does not say why: %s", f.log)
	}
}

func TestAnIssuerOfPlainHTTPIsNamedAsSuch(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.directory.setKnown("http://plain.example.com", true)
	f.refuse(f.token(map[string]any{"iss": "http://plain.example.com"}), core.CodeUnauthenticated, "must be https")
}

func TestATokenForAnotherAudienceIsNotAuthenticated(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.directory.nobody = true
	f.refuse(f.token(map[string]any{"aud": "elsewhere"}), core.CodeUnauthenticated, `"https://atrium.test" "atrium"`)
	f.accept(f.token(nil))
}

// A testThrottle allows a number of invalid tokens of each claimant.
type testThrottle struct {
	allowed int
	failed  map[Claimant]int
}

func newTestThrottle(allowed int) *testThrottle { return &testThrottle{allowed, map[Claimant]int{}} }

func (t *testThrottle) Admit(of Claimant, isKnown func() bool) error {
	if t.failed[of] >= t.allowed && !isKnown() {
		return &core.Error{Code: core.CodeResourceExhausted}
	}
	return nil
}

func (t *testThrottle) Failed(of Claimant, err error) error { t.failed[of]++; return err }

func (t *testThrottle) Wait() func() error { return func() error { return nil } }

func TestForgedTokensAreLimitedBeforeADatabaseQuery(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	f.directory.setKnown("https://away.invalid", true)
	throttle := newTestThrottle(2)
	ctx := WithThrottle(t.Context(), throttle)
	forged := f.token(map[string]any{"iss": "https://away.invalid"})
	for range 2 {
		if _, err := f.verifier.Verify(ctx, forged); !errors.Is(err, &core.Error{Code: core.CodeUnavailable}) {
			t.Errorf("got %v", err)
		}
	}
	asked := len(f.directory.asked)
	if _, err := f.verifier.Verify(ctx, forged); !errors.Is(err, &core.Error{Code: core.CodeResourceExhausted}) || len(f.directory.asked) != asked {
		t.Errorf("beyond the limit: %v, and the directory was asked %d times", err, len(f.directory.asked)-asked)
	}
	if _, err := f.verifier.Verify(ctx, f.token(nil)); err != nil {
		t.Errorf("a good token is kept out: %v", err)
	}
	f.clock.advance(10 * time.Minute)
	if _, err := f.verifier.Verify(ctx, f.token(nil)); err != nil {
		t.Errorf("a good token is kept out when the keys are to be fetched again: %v", err)
	}
}

func TestTheNumberOfKeySetsIsLimited(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	i := &issuers{now: clock.now, sets: map[string]*usedKeySet{}}
	name := func(n int) string { return fmt.Sprintf("https://issuer%d.example", n) }
	for n := range maxKeySets {
		clock.advance(time.Second)
		i.add(name(n))
	}
	clock.advance(time.Second)
	i.lookup(name(0))
	i.add(name(maxKeySets))
	if len(i.sets) != maxKeySets || i.lookup(name(0)) == nil || i.lookup(name(1)) != nil {
		t.Error("not the key set that was unused for longest went")
	}
}

func TestOnlyKeysOfKnownAlgorithmsAreUsed(t *testing.T) {
	t.Parallel()
	p224, err := ecdsa.GenerateKey(elliptic.P224(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	small, err := rsa.GenerateKey(rand.Reader, 1024)
	if err != nil {
		t.Fatal(err)
	}
	public := testKeys().ec.Public()
	for _, c := range []struct {
		name string
		key  jose.JSONWebKey
		want bool
	}{
		{"P-256", jose.JSONWebKey{Key: public}, true},
		{"P-256 for ES256", jose.JSONWebKey{Key: public, Algorithm: "ES256", Use: "sig"}, true},
		{"P-256 said to be for RS256", jose.JSONWebKey{Key: public, Algorithm: "RS256"}, false},
		{"P-256 for encryption", jose.JSONWebKey{Key: public, Use: "enc"}, false},
		{"P-224", jose.JSONWebKey{Key: p224.Public()}, false},
		{"P-256 said to be for ES384", jose.JSONWebKey{Key: public, Algorithm: "ES384"}, false},
		{"RSA for RS512", jose.JSONWebKey{Key: testKeys().rsa.Public(), Algorithm: "RS512"}, true},
		{"RSA for encryption", jose.JSONWebKey{Key: testKeys().rsa.Public(), Algorithm: "RSA-OAEP"}, false},
		{"RSA of 1024 bits", jose.JSONWebKey{Key: small.Public()}, false},
		{"private", jose.JSONWebKey{Key: testKeys().ec}, false},
		{"with the longest id", jose.JSONWebKey{Key: public, KeyID: strings.Repeat("k", maxKeyIDBytes)}, true},
		{"with an id that is too long", jose.JSONWebKey{Key: public, KeyID: strings.Repeat("k", maxKeyIDBytes+1)}, false},
		{"symmetric", jose.JSONWebKey{Key: []byte(strings.Repeat("k", 32))}, false},
	} {
		if _, ok := toPublicKey(c.key); ok != c.want {
			t.Errorf("%s: got %v, want %v", c.name, ok, c.want)
		}
	}
}

// signWith signs valid claims with a key that the issuer offers as offered.
func (f *fixture) signWith(key crypto.Signer, alg jose.SignatureAlgorithm, kid string) string {
	f.Helper()
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: alg, Key: jose.JSONWebKey{Key: key, KeyID: kid}}, nil)
	if err != nil {
		f.Fatal(err)
	}
	signed, err := signer.Sign([]byte(f.claims(nil)))
	if err != nil {
		f.Fatal(err)
	}
	token, err := signed.CompactSerialize()
	if err != nil {
		f.Fatal(err)
	}
	return token
}

func TestEveryAlgorithmVerifies(t *testing.T) {
	t.Parallel()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	p521, err := ecdsa.GenerateKey(elliptic.P521(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	_, edwards, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	keys := map[jose.SignatureAlgorithm]crypto.Signer{jose.ES256: testKeys().ec, jose.ES384: p384, jose.ES512: p521, jose.EdDSA: edwards}
	f := setUp(t)
	f.issuer.keys = []jose.JSONWebKey{{Key: testKeys().rsa.Public(), KeyID: "k"}} // It serves all algorithms of RSA.
	for _, key := range keys {
		f.issuer.keys = append(f.issuer.keys, jose.JSONWebKey{Key: key.Public(), KeyID: "k"})
	}
	for _, alg := range algorithms {
		key, ok := keys[alg]
		if !ok {
			key = testKeys().rsa
		}
		token := f.signWith(key, alg, "k")
		f.accept(token)
		f.accept(token) // It was cached with its key.
		_, rest, _ := strings.Cut(token, ".")
		if err := f.verify(encode("{}") + "." + rest); err == nil || !strings.Contains(err.Error(), string(alg)) {
			t.Errorf("the error for a token without an algorithm does not list %s: %v", alg, err)
		}
	}
}

func TestAllKeysOfOneIDAreTried(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.issuer.keys = []jose.JSONWebKey{{Key: testKeys().rsa.Public(), KeyID: "k"}, {Key: testKeys().otherRSA.Public(), KeyID: "k"}, {Key: testKeys().ec.Public(), KeyID: "k"}}
	for _, header := range []string{`{"alg":"RS256","kid":"k"}`, `{"alg":"RS256"}`} {
		for _, key := range []any{testKeys().otherRSA, testKeys().rsa} {
			token := sign(key, header, f.claims(nil))
			f.accept(token)
			f.accept(token) // It was cached with its key.
		}
	}
	f.refuse(sign(testKeys().otherEC, `{"alg":"ES256","kid":"k"}`, f.claims(nil)), core.CodeUnauthenticated, "signature is wrong")
}

// The attack is an issuer with many keys of one id, which takes the time of the server for each
// token of it.
func TestFewKeysAreTriedForOneToken(t *testing.T) {
	t.Parallel()
	many := slices.Repeat([]publicKey{{kid: "k", algorithms: rsaAlgorithms}}, maxKeys)
	if n := len(findKeys(many, &token{kid: "k", alg: jose.PS512})); n != maxNamedKeys {
		t.Errorf("%d keys are tried, want %d", n, maxNamedKeys)
	}
}

func TestOtherMembersOfAKeyAreNoFault(t *testing.T) {
	t.Parallel()
	key, err := json.Marshal(jose.JSONWebKey{Key: testKeys().ec.Public(), KeyID: "e"})
	if err != nil {
		t.Fatal(err)
	}
	for members, want := range map[string]int{
		`"x5c":["not base64!"],"x5t":"zz","x5t#S256":1,"x5u":"%"`: 1,
		`"key_ops":["sign","verify"],"ext":true`:                  1,
		`"key_ops":["encrypt"]`:                                   0,
		`"key_ops":"verify"`:                                      0,
		`"kty":"AKP"`:                                             0,
	} {
		set := `{"keys":[null,"x",{"kid":5},` + string(key[:len(key)-1]) + "," + members + `}]}`
		if keys, err := parseKeySet([]byte(set)); err != nil || len(keys) != want {
			t.Errorf("with %s: %d keys and %v, want %d", members, len(keys), err, want)
		}
	}
}

// The attack is many tokens of an issuer that does not answer.
func TestTheRequestsThatWaitForAnIssuerAreLimited(t *testing.T) {
	t.Parallel()
	release := make(chan struct{})
	set := newKeySet(time.Hour, func(context.Context) ([]publicKey, error) { <-release; return nil, nil })
	clock := newTestClock()
	running := set.startFetch(t.Context(), clock.now())
	running.waiting.Store(maxWaiting)
	if _, err := set.refresh(t.Context(), &token{}, clock.now); !errors.Is(err, &core.Error{Code: core.CodeUnavailable}) || running.waiting.Load() != maxWaiting {
		t.Errorf("one request more: %v, and %d wait, want UNAVAILABLE and %d", err, running.waiting.Load(), maxWaiting)
	}
	close(release)
	<-running.done
}
