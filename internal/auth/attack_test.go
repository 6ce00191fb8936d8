package auth

import (
	"crypto/ecdsa"
	"crypto/hmac"
	"crypto/sha256"
	"crypto/x509"
	"encoding/json"
	"fmt"
	"math"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
)

const (
	ecHeader  = `{"alg":"ES256","kid":"e"}`
	rsaHeader = `{"alg":"RS256","kid":"r"}`
)

func TestAValidTokenIsAccepted(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	now := f.clock.now().Unix()
	for name, token := range map[string]string{
		"ES256":                  f.token(nil),
		"RS256":                  sign(testKeys().rsa, rsaHeader, f.claims(nil)),
		"among other members":    sign(testKeys().ec, `{"typ":"JWT","alg":"ES256","kid":"e","x5t":"AA"}`, f.claims(map[string]any{"a": map[string]any{"b": []any{1.5, nil, true}}})),
		"audience in a list":     f.token(map[string]any{"aud": []string{"other", "https://atrium.test"}}),
		"expired 59 s ago":       f.token(map[string]any{"exp": now - 59}),
		"expires in 24 h 1 min":  f.token(map[string]any{"exp": now + 24*3600 + 60}),
		"begins in a minute":     f.token(map[string]any{"nbf": now + 60, "iat": now + 60}),
		"says not when it began": f.token(map[string]any{"iat": nil}),
		"times with fractions":   f.token(map[string]any{"exp": float64(now) + 3600.17, "nbf": float64(now) - 0.5, "iat": json.Number(fmt.Sprint(now, ".0"))}),
		"expired 59.9 s ago":     f.token(map[string]any{"exp": float64(now) - 59.9}),
		"times with an exponent": f.token(map[string]any{"exp": json.Number(fmt.Sprintf("%d.%09dE9", now/1e9, now%1e9+60)), "iat": json.Number("1.7e+9")}),
		"began in the year 1":    f.token(map[string]any{"nbf": -62135596800}),
		"no kid":                 sign(testKeys().ec, `{"alg":"ES256"}`, f.claims(nil)),
		"typ at+jwt":             sign(testKeys().ec, `{"typ":"at+jwt","alg":"ES256","kid":"e"}`, f.claims(nil)),
		"typ in capitals":        sign(testKeys().ec, `{"typ":"application/AT+JWT","alg":"ES256","kid":"e"}`, f.claims(nil)),
		"typ application/jwt":    sign(testKeys().ec, `{"typ":"application/jwt","alg":"ES256","kid":"e"}`, f.claims(nil)),
		"typ of SPIFFE":          sign(testKeys().ec, `{"typ":"JOSE","alg":"ES256","kid":"e"}`, f.claims(nil)),
	} {
		t.Run(name, func(t *testing.T) {
			if err := f.verify(token); err != nil {
				t.Fatalf("refused: %v", err)
			}
			if !f.directory.last().ServiceAudience {
				t.Error("ServiceAudience is not set")
			}
		})
	}
}

// A text that programs read differently in a claim that nobody needs does not keep its
// bearer out, but no rule can match it.
func TestAnOddCharacterInAnUnrelatedClaimIsNoFault(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	payload := f.claims(nil)
	odd := `,"name":"a\u0000","email":"\ud800@example.com","groups":["a\ufffd","b"],"x":{"y":"\udc00"},"n\ud800":1,"n\ud801":2}`
	f.accept(sign(testKeys().ec, `{"alg":"ES256","kid":"e","x\ud800":1,"y":"\u0000"}`, payload[:len(payload)-1]+odd))
	c := f.directory.last()
	want := map[string]any{"name": nil, "email": nil, "groups": []any{nil, "b"}, "x": map[string]any{"y": nil}}
	for _, name := range []string{"iss", "sub", "aud", "iat", "exp"} {
		want[name] = c.Values[name]
	}
	if !reflect.DeepEqual(c.Values, want) || c.Name != "" || c.Email != "" || c.Subject != "ada" {
		t.Errorf("got %v, want %v", c, want)
	}
}

// Every token breaks exactly one rule. Otherwise it would be accepted.
func TestATokenThatBreaksOneRuleIsRejected(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil)) // This fetches the keys.
	now := f.clock.now().Unix()
	ec, payload := testKeys().ec, f.claims(nil)
	changed := func(name string, value any) string { return f.token(map[string]any{name: value}) }
	spliced := func(members string) string { return sign(ec, ecHeader, payload[:len(payload)-1]+","+members+"}") }
	good := f.token(nil)
	first, rest, _ := strings.Cut(good, ".")
	second, third, _ := strings.Cut(rest, ".")

	for _, c := range []struct{ name, token, message string }{
		{"algorithm none", sign(nil, `{"alg":"none","kid":"e"}`, payload) + encode("x"), "alg must be"},
		{"algorithm None", sign(ec, `{"alg":"None","kid":"e"}`, payload), "alg must be"},
		{"algorithm in small letters", sign(ec, `{"alg":"es256","kid":"e"}`, payload), "alg must be"},
		{"no algorithm", sign(ec, `{"kid":"e"}`, payload), "alg must be"},
		{"HS256 with the public key as secret", hmacWithPublicKey(t, payload), "alg must be"},
		{"RS512 for a key of RS256", sign(testKeys().rsa, `{"alg":"RS512","kid":"r"}`, payload), "a key that its issuer does not have"},
		{"ES384 named for a key of P-256", sign(ec, `{"alg":"ES384","kid":"e"}`, payload), "a key that its issuer does not have"},
		{"EdDSA named for an EC key", sign(ec, `{"alg":"EdDSA","kid":"e"}`, payload), "a key that its issuer does not have"},

		{"a logout token", sign(ec, `{"typ":"logout+jwt","alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"a security event", sign(ec, `{"typ":"secevent+jwt","alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"a proof of possession", sign(ec, `{"typ":"dpop+jwt","alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"a request object", sign(ec, `{"typ":"application/oauth-authz-req+jwt","alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"a type that nobody knows", sign(ec, `{"typ":"x+jwt","alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"a type of another tree", sign(ec, `{"typ":"text/jwt","alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"a type that is null", sign(ec, `{"typ":null,"alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"an empty type", sign(ec, `{"typ":"","alg":"ES256","kid":"e"}`, payload), "typ must be"},
		{"a logout token without a type", spliced(`"events":{"http://schemas.openid.net/event/backchannel-logout":{}}`), "is a security event token"},
		{"ES256 named for an RSA key", sign(ec, `{"alg":"ES256","kid":"r"}`, payload), "a key that its issuer does not have"},
		{"RS256 named for an EC key", sign(testKeys().rsa, `{"alg":"RS256","kid":"e"}`, payload), "a key that its issuer does not have"},
		{"signed with another key under a known kid", sign(testKeys().otherRSA, rsaHeader, payload), "signature is wrong"},
		{"signed with another curve point under a known kid", sign(testKeys().otherEC, ecHeader, payload), "signature is wrong"},
		{"unknown kid", sign(ec, `{"alg":"ES256","kid":"x"}`, payload), "a key that its issuer does not have"},
		{"no kid, and no key of the algorithm", sign(ec, `{"alg":"ES384"}`, payload), "a key that its issuer does not have"},
		{"kid is a number", sign(ec, `{"alg":"ES256","kid":1}`, payload), "kid must be"},
		{"kid is empty", sign(ec, `{"alg":"ES256","kid":""}`, payload), "kid must be"},
		{"payload of another token", first + "." + encode(f.claims(map[string]any{"sub": "eve"})) + "." + third, "signature is wrong"},
		{"signature cut off", first + "." + second + "." + third[:len(third)-2], "signature is wrong"},
		{"signature in DER", signDER(t, ec, payload), "signature is wrong"},

		{"critical header", sign(ec, `{"alg":"ES256","kid":"e","crit":["exp"],"exp":1}`, payload), `must not have "crit"`},
		{"payload not encoded", sign(ec, `{"alg":"ES256","kid":"e","b64":false}`, payload), `must not have "b64"`},

		{"issuer twice", spliced(fmt.Sprintf(`"iss":%q`, f.issuer.URL)), "same member twice"},
		{"issuer twice, once escaped", spliced(fmt.Sprintf(`"\u0069ss":%q`, f.issuer.URL)), "same member twice"},
		{"member twice in depth", spliced(`"a":[{"b":{"c":1,"c":1}}]`), "same member twice"},
		{"algorithm twice", sign(ec, `{"alg":"ES256","alg":"ES256","kid":"e"}`, payload), "same member twice"},
		{"JSON after the payload", sign(ec, ecHeader, payload+"{}"), "is not JSON"},
		{"payload is a list", sign(ec, ecHeader, "["+payload+"]"), "is not a JSON object"},
		{"payload is no UTF-8", sign(ec, ecHeader, strings.Replace(payload, "ada", "ad\xff", 1)), "is not JSON"},
		{"lone surrogate in the subject", sign(ec, ecHeader, strings.Replace(payload, "ada", `ad\ud800`, 1)), "sub must be"},
		{"replacement character in the subject", changed("sub", "ad\uFFFD"), "sub must be"},
		{"NUL in the subject", changed("sub", "ada\x00"), "sub must be"},
		{"NUL in the issuer", changed("iss", f.issuer.URL+"\x00"), "iss must be"},
		{"NUL in an audience", changed("aud", []string{"atrium", "atrium\x00"}), "aud must be"},
		{"NUL in the kid", sign(ec, `{"alg":"ES256","kid":"e\u0000"}`, payload), "kid must be"},
		{"nested 20 deep", spliced(`"a":` + strings.Repeat("[", 20) + strings.Repeat("]", 20)), "nested too deeply"},

		{"padded base64", first + "=." + second + "." + third, "base64url without padding"},
		{"standard base64", strings.Replace(encode(`{"alg":"ES256","kid":"e","?":"???"}`), "_", "/", 1) + "." + rest, "base64url without padding"},
		{"stray bits at the end", good[:len(good)-1] + setUnusedBits(good[len(good)-1]), "base64url without padding"},
		{"line break", first + ".\n" + rest, "base64url without padding"},
		{"two segments", first + "." + second, "three segments"},
		{"four segments", good + ".", "three segments"},
		{"no signature", first + "." + second + ".", "base64url without padding"},
		{"JSON serialization", `{"payload":"` + second + `","protected":"` + first + `","signature":"` + third + `"}`, "three segments"},
		{"empty", "", "three segments"},
		{"larger than 16 KiB", changed("pad", strings.Repeat("x", 16<<10)), "16 KiB"},

		{"no issuer", changed("iss", nil), "iss must be"},
		{"issuer with a trailing slash", changed("iss", f.issuer.URL+"/"), "issuer is unknown"},
		{"issuer in capitals", changed("iss", strings.ToUpper(f.issuer.URL)), "issuer is unknown"},
		{"issuer nobody names", changed("iss", "https://issuer.example"), "issuer is unknown"},
		{"development issuer", changed("iss", DevelopmentIssuer), "issuer is unknown"},
		{"no subject", changed("sub", nil), "sub must be"},
		{"empty subject", changed("sub", ""), "sub must be"},
		{"numeric subject", changed("sub", 1), "sub must be"},
		{"no audience", changed("aud", nil), "aud must be"},
		{"empty list of audiences", changed("aud", []string{}), "aud must be"},
		{"a number among the audiences", changed("aud", []any{"atrium", 1}), "aud must be"},

		{"no expiry", changed("exp", nil), "no exp"},
		{"nbf null", spliced(`"nbf":null`), "nbf must be a number"},
		{"expired a minute ago", changed("exp", now-60), "has expired"},
		{"expires in 25 h", changed("exp", now+25*3600), "within 24 hours"},
		{"expires 1 s after the most", changed("exp", now+24*3600+61), "within 24 hours"},
		{"expired a fraction of a second and a minute ago", changed("exp", float64(now)-60.5), "has expired"},
		{"expires a fraction after the most", changed("exp", float64(now)+24*3600+60.5), "within 24 hours"},
		{"expiry of long ago, with an exponent", changed("exp", json.Number("1E9")), "has expired"},
		{"expiry in a string", changed("exp", fmt.Sprint(now+3600)), "exp must be a number"},
		{"expiry before 1970", changed("exp", -1.5), "has expired"},
		{"expiry beyond an int64", changed("exp", json.Number("92233720368547758080")), "exp must be a number"},
		{"expiry beyond a float64", changed("exp", json.Number("1e400")), "exp must be a number"},
		{"expiry after the year 9999", changed("exp", json.Number("253402300800")), "exp must be a number"},
		{"nbf before the year 1", changed("nbf", json.Number("-1e300")), "nbf must be a number"},
		{"largest uint64", changed("exp", uint64(math.MaxUint64)), "exp must be a number"},
		{"not valid yet", changed("nbf", now+61), "nbf lies in the future"},
		{"issued in the future", changed("iat", now+61), "iat lies in the future"},
		{"not valid for another fraction of a second", changed("nbf", float64(now)+60.5), "nbf lies in the future"},
		{"nbf in a string", changed("nbf", "0"), "nbf must be a number"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := *f
			f.TB = t
			before := len(f.directory.claims)
			f.refuse(c.token, core.CodeUnauthenticated, c.message)
			if len(f.directory.claims) != before {
				t.Error("the directory was asked to authenticate")
			}
		})
	}
}

func TestKeysThatATokenBringsAreNeverUsed(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.accept(f.token(nil))
	var asked atomic.Int32
	attacker := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked.Add(1) }))
	t.Cleanup(attacker.Close)
	own, err := json.Marshal(jose.JSONWebKey{Key: testKeys().otherEC.Public(), KeyID: "e"})
	if err != nil {
		t.Fatal(err)
	}
	members := map[string]string{
		"jku": `"` + attacker.URL + `"`,
		"x5u": `"` + attacker.URL + `"`,
		"jwk": string(own),
		"x5c": `[]`,
	}
	for name, value := range members {
		header := fmt.Sprintf(`{"alg":"ES256","kid":"e",%q:%s}`, name, value)
		f.refuse(sign(testKeys().otherEC, header, f.claims(nil)), core.CodeUnauthenticated, "signature is wrong")
		f.accept(sign(testKeys().ec, header, f.claims(nil)))
	}
	if asked.Load() != 0 {
		t.Error("an address in a token was asked")
	}
}

func TestKeysOfAnUnknownIssuerAreNeverFetched(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.directory.setKnown(f.issuer.URL, false)
	f.refuse(f.token(nil), core.CodeUnauthenticated, "issuer is unknown")
	if f.issuer.discoveries.Load() != 0 {
		t.Error("the issuer was asked")
	}
}

func TestAnInvalidTokenCostsNoLookup(t *testing.T) {
	t.Parallel()
	f := setUp(t)
	f.refuse(f.token(map[string]any{"exp": 1}), core.CodeUnauthenticated, "has expired")
	if len(f.directory.asked) != 0 || f.issuer.discoveries.Load() != 0 {
		t.Error("the directory or the issuer was asked")
	}
}

func hmacWithPublicKey(t *testing.T, payload string) string {
	t.Helper()
	public, err := x509.MarshalPKIXPublicKey(testKeys().ec.Public())
	if err != nil {
		t.Fatal(err)
	}
	input := encode(`{"alg":"HS256","kid":"e"}`) + "." + encode(payload)
	mac := hmac.New(sha256.New, public)
	mac.Write([]byte(input))
	return input + "." + encode(string(mac.Sum(nil)))
}

// signDER returns a valid signature in the form that OpenSSL writes, which is not the
// form of a JWS.
func signDER(t *testing.T, key *ecdsa.PrivateKey, payload string) string {
	t.Helper()
	input := encode(ecHeader) + "." + encode(payload)
	digest := sha256.Sum256([]byte(input))
	der, err := ecdsa.SignASN1(nil, key, digest[:])
	if err != nil {
		t.Fatal(err)
	}
	return input + "." + encode(string(der))
}

// setUnusedBits sets the bits of the last character that encode nothing: 64 bytes
// leave four of them.
func setUnusedBits(last byte) string {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
	return string(alphabet[strings.IndexByte(alphabet, last)|1])
}
