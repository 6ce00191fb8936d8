package auth

import (
	"crypto/rand"
	"encoding/json"
	"slices"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
	"atrium/platform/iam"
)

// jwks encodes a key set as an identity stores it.
func jwks(t *testing.T, keys ...jose.JSONWebKey) json.RawMessage {
	t.Helper()
	b, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestATokenIsVerifiedByTheKeysThatAnIdentityBrings(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	own := jose.JSONWebKey{Key: testKeys().otherEC.Public(), KeyID: "mine"}
	f.directory.static = []iam.IdentityKeys{
		{Identity: "unreadable", JWKS: json.RawMessage("x")},
		{Identity: "another", JWKS: jwks(t, jose.JSONWebKey{Key: testKeys().otherRSA.Public(), KeyID: "mine"})},
		{Identity: "robot", JWKS: jwks(t, own)},
		{Identity: "twin", JWKS: jwks(t, own)},
	}
	for _, issuer := range []string{"https://nowhere.example.com", f.issuer.URL} { // The first issuer cannot be reached, and the second one can.
		signed := sign(testKeys().otherEC, `{"alg":"ES256","kid":"mine"}`, f.claims(map[string]any{"iss": issuer}))
		f.accept(signed)
		if got := f.directory.last(); !slices.Equal(got.StaticIdentities, []core.UID{"robot", "twin"}) {
			t.Errorf("%s: it is a token of %v", issuer, got.StaticIdentities)
		}
	}
	if len(f.directory.asked) > 0 || f.issuer.discoveries.Load() > 0 {
		t.Errorf("issuers were looked at: %v", f.directory.asked)
	}
	// A token that the issuer itself signed does not use a static key.
	f.accept(f.token(nil))
	if got := f.directory.last(); len(got.StaticIdentities) > 0 {
		t.Errorf("a token of the issuer is one of %v", got.StaticIdentities)
	}
	f.refuse(sign(testKeys().ec, `{"alg":"ES256","kid":"mine"}`, f.claims(map[string]any{"iss": "https://nowhere.example.com"})), core.CodeUnauthenticated, "unknown")
}

// Two keys of an identity can have one id while its machine changes from one to the other.
func TestAllStaticKeysOfOneIDAreTried(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.directory.static = []iam.IdentityKeys{{Identity: "robot", JWKS: jwks(t,
		jose.JSONWebKey{Key: testKeys().otherRSA.Public(), KeyID: "mine"},
		jose.JSONWebKey{Key: testKeys().rsa.Public(), KeyID: "mine"},
	)}}
	for _, key := range []any{testKeys().rsa, testKeys().otherRSA} {
		for _, header := range []string{`{"alg":"RS256","kid":"mine"}`, `{"alg":"RS256"}`} {
			f.accept(sign(key, header, f.claims(map[string]any{"iss": "https://nowhere.example.com"})))
		}
	}
}

// The attack is an identity with as many keys as fit, and forged tokens that name it. To read all
// these keys would take some milliseconds for each token and identity.
func TestOnlyKeysThatATokenNamesAreRead(t *testing.T) {
	t.Parallel()
	var many []jose.JSONWebKey
	for n := range maxKeys {
		many = append(many, jose.JSONWebKey{Key: testKeys().otherEC.Public(), KeyID: string(rune('A' + n%26))})
	}
	set := jwks(t, many...)
	for _, c := range []struct {
		kid  string
		want int
	}{{"A", maxNamedKeys}, {"unknown", 0}, {"", maxNamedKeys}} {
		if got := len(readStaticKeys(set, &token{kid: c.kid})); got != c.want {
			t.Errorf("for the kid %q, %d keys are read, want %d", c.kid, got, c.want)
		}
	}
	one := jwks(t, many[0])
	for _, kid := range []string{"A", ""} {
		if len(readStaticKeys(one, &token{kid: kid})) != 1 {
			t.Errorf("the only key is not read for the kid %q", kid)
		}
	}
}

// The attack is forged tokens from the address of a machine, of others and of the machine itself.
func TestAGoodTokenNeverPaysForForgedOnes(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	own := jose.JSONWebKey{Key: testKeys().otherEC.Public(), KeyID: "mine"}
	f.directory.static = []iam.IdentityKeys{{Identity: "robot", JWKS: jwks(t, own)}}
	ctx := WithThrottle(t.Context(), newTestThrottle(2))
	token := func(key any, kid, subject string) string {
		return sign(key, `{"alg":"ES256","kid":"`+kid+`"}`, f.claims(map[string]any{"iss": "https://nowhere.example.com", "sub": subject, "jti": rand.Text()}))
	}
	send := func(token string) core.Code {
		_, err := f.verifier.Verify(ctx, token)
		return core.AsError(err).Code
	}
	for n := range 5 {
		for _, forged := range []string{token(testKeys().ec, "mine", "eve"), token(testKeys().ec, "other", "mallory"), "x"} {
			if got, limited := send(forged), n >= 2 && forged != "x"; (got == core.CodeResourceExhausted) != limited || got != core.CodeResourceExhausted && got != core.CodeUnauthenticated {
				t.Errorf("forged token %d: %v", n, got)
			}
		}
	}
	accept := func(name string) {
		t.Helper()
		if _, err := f.verifier.Verify(ctx, token(testKeys().otherEC, "mine", "robot")); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	accept("the first token of the machine")
	for range 5 {
		send(token(testKeys().ec, "mine", "robot"))
		send(token(testKeys().ec, "other", "robot"))
	}
	if got := send(token(testKeys().ec, "mine", "robot")); got != core.CodeResourceExhausted {
		t.Errorf("a forged token of the machine: %v, want %v", got, core.CodeResourceExhausted)
	}
	accept("the next token of the machine")
	f.directory.static = nil // the key was withdrawn
	if got := send(token(testKeys().otherEC, "mine", "robot")); got != core.CodeUnauthenticated {
		t.Errorf("a token of a key that was withdrawn: %v, want %v", got, core.CodeUnauthenticated)
	}
}
