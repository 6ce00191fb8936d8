package auth

import (
	"crypto/sha256"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
	"atrium/platform/iam"
)

func (f *fixture) isRemembered(token string) bool {
	_, known := f.verifier.verified.find(sha256.Sum256([]byte(token)))
	return known
}

func TestAVerifiedTokenIsCached(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	token := f.token(map[string]any{"email": "ada@example.com", "groups": []string{"a", "b"}})
	f.accept(token)
	first := f.directory.last()
	if !f.isRemembered(token) {
		t.Fatal("the token was not cached")
	}
	f.accept(token)
	again := f.directory.last()
	if len(f.directory.claims) != 2 {
		t.Errorf("the directory was asked who it is %d times for 2 requests, want 2", len(f.directory.claims))
	}
	if again.Issuer != first.Issuer || again.Subject != first.Subject || again.Email != first.Email || !again.Expires.Equal(first.Expires) ||
		!again.ServiceAudience || !slices.Equal(again.Audience, first.Audience) || len(again.Values) != len(first.Values) {
		t.Errorf("the second time it claims %+v, the first time %+v", again, first)
	}
}

func TestACachedTokenEndsWithTheKeyOfItsIssuer(t *testing.T) {
	t.Parallel()
	for name, change := range map[string]func(*testIssuer){
		"taken away":   func(i *testIssuer) { i.keys = i.keys[:1] },
		"another's":    func(i *testIssuer) { i.keys[1].Key = testKeys().otherEC.Public() },
		"all are gone": func(i *testIssuer) { i.keys = []jose.JSONWebKey{} },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			f := setUp(t)
			token := f.token(nil)
			f.accept(token)
			f.issuer.set(func() { change(f.issuer) })
			f.accept(token) // Keys are used for ten minutes.
			f.clock.advance(freshTime)
			_ = f.verify(sign(testKeys().rsa, rsaHeader, f.claims(nil))) // This token makes the verifier fetch the keys again.
			if f.verify(token) == nil {
				t.Error("a token counts whose key the issuer does not have any more")
			}
			if f.isRemembered(token) {
				t.Error("it is still cached")
			}
		})
	}
}

func TestACachedTokenEndsWithItsIssuer(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	token := f.token(nil)
	f.accept(token)
	f.directory.setKnown(f.issuer.URL, false)
	f.clock.advance(freshTime)
	f.refuse(token, core.CodeUnauthenticated, "issuer is unknown")
}

func TestTheTimesOfACachedTokenAreChecked(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	token := f.token(map[string]any{"exp": f.clock.now().Add(5 * time.Minute).Unix()})
	f.accept(token)
	f.clock.advance(5*time.Minute + leeway - time.Second)
	f.accept(token)
	f.clock.advance(time.Second)
	f.refuse(token, core.CodeUnauthenticated, "expired")
	if f.isRemembered(token) {
		t.Error("a token that has ended is still cached")
	}
	// If the clock was set back, the token is valid only in the future.
	f.clock.advance(-10 * time.Minute)
	later := f.token(map[string]any{"nbf": f.clock.now().Unix()})
	f.accept(later)
	f.clock.advance(-2 * time.Minute)
	f.refuse(later, core.CodeUnauthenticated, "lies in the future")
}

func TestATokenIsCachedForOneAudience(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	other := setUp(t, func(o *Options) {
		o.Directory, o.Audience, o.Guard = f.directory, []string{"another"}, NewGuard([]string{f.issuer.Listener.Addr().String()})
	})
	other.trust(f.issuer.Certificate())
	token := f.token(nil)
	f.accept(token)
	other.accept(token)
	if f.directory.last().ServiceAudience {
		t.Error("a token for one service was made for another")
	}
}

func TestTokensVerifiedByStaticKeysAreNotCached(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.directory.static = []iam.IdentityKeys{{Identity: "robot", JWKS: jwks(t, jose.JSONWebKey{Key: testKeys().otherEC.Public(), KeyID: "mine"})}}
	token := sign(testKeys().otherEC, `{"alg":"ES256","kid":"mine"}`, f.claims(nil))
	f.accept(token)
	f.directory.static = nil
	f.refuse(token, core.CodeUnauthenticated, "a key that its issuer does not have")
}

func TestAnInvalidTokenIsNotCached(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	token := sign(testKeys().otherEC, `{"alg":"ES256","kid":"new"}`, f.claims(nil))
	f.refuse(token, core.CodeUnauthenticated, "a key that its issuer does not have")
	f.issuer.set(func() { f.issuer.keys[1] = jose.JSONWebKey{Key: testKeys().otherEC.Public(), KeyID: "new"} })
	f.clock.advance(fetchPause)
	f.accept(token)
}

func TestTheCacheOfTokensIsLimited(t *testing.T) {
	t.Parallel()
	large := map[string]any{"list": slices.Repeat([]any{map[string]any{"a": "b"}}, 1000)}
	for name, claims := range map[string]map[string]any{"number": {"sub": "ada"}, "bytes": large} {
		cached := newVerifiedTokens()
		key := testKeys().ec.Public()
		for i := range maxVerified + 100 {
			cached.add(sha256.Sum256([]byte{byte(i), byte(i >> 8)}), &token{raw: strings.Repeat("x", 700), claims: claims}, iam.Claims{}, key)
		}
		n, size := cached.used.Len(), 0
		for t := range cached.used.Values() {
			size += t.bytes
		}
		if size != cached.bytes || size > maxVerifiedBytes || n > maxVerified || n == 0 {
			t.Errorf("%s: %d tokens, %d bytes, of which %d are counted", name, n, size, cached.bytes)
		}
	}
}

// BenchmarkVerify compares a token that was verified before with one that was not.
func BenchmarkVerify(b *testing.B) {
	for name, isCached := range map[string]bool{"cached": true, "new": false} {
		b.Run(name, func(b *testing.B) {
			f := setUp(b)
			token := f.token(nil)
			f.accept(token)
			b.ReportAllocs()
			for b.Loop() {
				f.accept(token)
				if !isCached {
					f.verifier.verified.remove(sha256.Sum256([]byte(token)))
				}
			}
		})
	}
}
