package auth

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"testing"
	"time"

	"atrium/platform/core"
)

func newDevelopmentIssuer(t *testing.T, clock *testClock) *Issuer {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	der, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	issuer, err := NewDevelopmentIssuer(der, clock.now)
	if err != nil {
		t.Fatal(err)
	}
	return issuer
}

func mint(t *testing.T, i *Issuer, extra map[string]any) string {
	t.Helper()
	token, err := i.Mint("ada", "atrium", time.Hour, extra)
	if err != nil {
		t.Fatal(err)
	}
	return token
}

func TestDevelopmentTokensAreAcceptedInDevelopmentModeOnly(t *testing.T) {
	t.Parallel()
	development := newDevelopmentIssuer(t, newTestClock())
	token := mint(t, development, map[string]any{"name": "Ada", "email": "ada@example.com", "email_verified": true})

	f := setUp(t, func(o *Options) { o.Development = development })
	f.accept(token)
	c := f.directory.last()
	if c.Issuer != DevelopmentIssuer || c.Subject != "ada" || c.Name != "Ada" || c.Email != "ada@example.com" || !c.EmailVerified {
		t.Errorf("got %+v, want Issuer %v, Subject 'ada', Name 'Ada' and Email 'ada@example.com'", c, DevelopmentIssuer)
	}
	if !c.ServiceAudience || !c.Expires.Equal(f.clock.now().Add(time.Hour)) {
		t.Errorf("got %+v", c)
	}
	if len(f.directory.asked) != 0 {
		t.Error("the development issuer was looked up")
	}

	f = setUp(t)
	f.directory.setKnown(DevelopmentIssuer, true)
	f.refuse(token, core.CodeUnauthenticated, "issuer is unknown")
}

func TestTheDevelopmentIssuerHasNoOtherKey(t *testing.T) {
	t.Parallel()
	clock := newTestClock()
	f := setUp(t, func(o *Options) { o.Development = newDevelopmentIssuer(t, clock) })
	f.directory.setKnown(DevelopmentIssuer, true)
	f.refuse(mint(t, newDevelopmentIssuer(t, clock), nil), core.CodeUnauthenticated, "development key of this database")
	f.refuse(f.token(map[string]any{"iss": DevelopmentIssuer}), core.CodeUnauthenticated, "development key of this database")
	kid := f.verifier.development.public.kid
	f.refuse(sign(testKeys().ec, `{"alg":"ES256","kid":"`+kid+`"}`, f.claims(map[string]any{"iss": DevelopmentIssuer})), core.CodeUnauthenticated, "signature is wrong")
}

func TestTheDevelopmentKeySignsForKnownIssuers(t *testing.T) {
	t.Parallel()
	development := newDevelopmentIssuer(t, newTestClock())
	f := setUp(t, func(o *Options) { o.Development = development })
	f.directory.setKnown("https://never.asked.invalid", true)
	f.accept(mint(t, development, map[string]any{"iss": "https://never.asked.invalid"}))
	f.refuse(mint(t, development, map[string]any{"iss": "https://nobody.names.invalid"}), core.CodeUnauthenticated, "issuer is unknown")
	f.accept(f.token(nil)) // Tokens of real issuers are still accepted.

	f = setUp(t)
	f.refuse(mint(t, development, map[string]any{"iss": f.issuer.URL}), core.CodeUnauthenticated, "a key that its issuer does not have")
}

func TestMintRefusesALifeThatNoVerifierAccepts(t *testing.T) {
	t.Parallel()
	issuer := newDevelopmentIssuer(t, newTestClock())
	for _, ttl := range []time.Duration{-time.Hour, 0, 24*time.Hour + time.Second} {
		if _, err := issuer.Mint("ada", "atrium", ttl, nil); err == nil {
			t.Errorf("minted for %v", ttl)
		}
	}
	if _, err := issuer.Mint("ada", "atrium", time.Hour, map[string]any{"x": func() {}}); err == nil {
		t.Error("minted a claim that is no JSON")
	}
}

func TestADevelopmentKeyMustBeP256(t *testing.T) {
	t.Parallel()
	p384, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	for _, key := range []any{p384, testKeys().rsa} {
		der, err := x509.MarshalPKCS8PrivateKey(key)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := NewDevelopmentIssuer(der, nil); err == nil {
			t.Errorf("%T was taken", key)
		}
	}
	if _, err := NewDevelopmentIssuer([]byte("x"), nil); err == nil {
		t.Error("a text was taken")
	}
}
