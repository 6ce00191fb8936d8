package auth

import (
	"bytes"
	"crypto"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
)

const (
	// maxToken is the largest accepted token, in bytes.
	maxToken = 16 << 10
	// maxDepth limits the nesting of JSON; real tokens need three or four levels.
	maxDepth = 16
)

// A token is a JWT with a valid form. Its signature may not be verified.
type token struct {
	raw    string
	alg    jose.SignatureAlgorithm
	kid    string // "" if the header has none
	claims map[string]any
}

// parse parses a token in the compact form. It is stricter than the libraries, so
// that two readers cannot read the same bytes as two different tokens. Its errors
// contain nothing of the token and may be shown.
func parse(raw string) (*token, error) {
	if len(raw) > maxToken {
		return nil, errors.New("the token is larger than 16 KiB")
	}
	segments := strings.Split(raw, ".")
	if len(segments) != 3 {
		return nil, errors.New(explainSegments(len(segments)))
	}
	var decoded [3][]byte
	for i, segment := range segments {
		var err error
		if decoded[i], err = decodeSegment(segment); err != nil {
			return nil, err
		}
	}
	header, err := decodeObject(decoded[0])
	if err != nil {
		return nil, fmt.Errorf("the token's header %w", err)
	}
	claims, err := decodeObject(decoded[1])
	if err != nil {
		return nil, fmt.Errorf("the token's payload %w", err)
	}
	t := &token{raw: raw, claims: claims}
	if err := t.readHeader(header); err != nil {
		return nil, err
	}
	return t, nil
}

// explainSegments says what a token with count segments is. Providers give tokens that only they
// can read to whoever does not say for which service a token is needed.
func explainSegments(count int) string {
	const advice = "; ask the issuer for a signed JWT for this service, which most issuers give if the request names it (audience, resource or a scope of it), or send an ID token"
	if count == 5 {
		return "the token is not a signed JWT of three segments, but encrypted (JWE)" + advice
	}
	return "the token is not a signed JWT of three segments, but opaque" + advice
}

// readHeader reads the algorithm and the id of the key. It ignores members that
// contain keys or point to them (jku, jwk, x5u, x5c).
func (t *token) readHeader(header map[string]any) error {
	// Both change the meaning of a signature, and no issuer needs them.
	for _, name := range []string{"crit", "b64"} {
		if _, ok := header[name]; ok {
			return fmt.Errorf("the token's header must not have %q", name)
		}
	}
	if typ, ok := header["typ"]; ok && !isBearerType(typ) {
		return errors.New("the token's typ must be JWT or at+jwt, or be left out: tokens of other types, such as those that an issuer makes for itself, are not for signing in; ask the issuer for a token for this service")
	}
	alg, _ := header["alg"].(string)
	if t.alg = jose.SignatureAlgorithm(alg); !slices.Contains(algorithms, t.alg) {
		return errors.New("the token's alg must be RS256, RS384, RS512, PS256, PS384, PS512, ES256, ES384, ES512 or EdDSA")
	}
	if kid, ok := header["kid"]; ok {
		if t.kid, ok = kid.(string); !ok || t.kid == "" {
			return errors.New("the token's kid must be a string that is not empty")
		}
	}
	return nil
}

// isBearerType reports whether a token whose header has typ may stand for its bearer.
// Issuers sign other statements with the same keys, such as logout+jwt, secevent+jwt and
// dpop+jwt, and a type that is not known must not be taken for a bearer's (RFC 8725,
// section 3.11). JOSE is what SPIFFE allows besides JWT.
func isBearerType(typ any) bool {
	text, _ := typ.(string)
	switch strings.TrimPrefix(strings.ToLower(text), "application/") {
	case "jwt", "at+jwt", "jose":
		return true
	default:
		return false
	}
}

// verify returns the first of keys that verifies the signature. The algorithm of the
// keys must be t.alg.
func (t *token) verify(keys []crypto.PublicKey) (crypto.PublicKey, error) {
	if len(keys) == 0 {
		return nil, errors.New("there is no key for the token")
	}
	signed, err := jose.ParseSignedCompact(t.raw, []jose.SignatureAlgorithm{t.alg})
	if err != nil {
		return nil, errors.New("the token is not a signed JWT")
	}
	for _, key := range keys {
		if _, err := signed.Verify(key); err == nil {
			return key, nil
		}
	}
	return nil, errors.New("the token's signature is wrong")
}

// decodeSegment reads base64url without padding, line breaks or unused bits that are
// set, so that every segment has exactly one valid encoding.
func decodeSegment(s string) ([]byte, error) {
	const message = "the token's segments must be base64url without padding"
	// encoding/base64 skips line breaks even when it is strict.
	if s == "" || strings.ContainsAny(s, "\r\n") {
		return nil, errors.New(message)
	}
	b, err := base64.RawURLEncoding.Strict().DecodeString(s)
	if err != nil {
		return nil, errors.New(message)
	}
	return b, nil
}

// decodeObject reads one JSON object. It refuses repeated members. Numbers stay
// json.Number, because as a float64 an id above 2^53 could become the id of another
// identity. A text that programs read differently is nil, and a member with such a name
// is left out.
func decodeObject(data []byte) (map[string]any, error) {
	if !utf8.Valid(data) || !json.Valid(data) {
		return nil, errors.New("is not JSON")
	}
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	v, err := decodeValue(d, 0)
	if err != nil {
		return nil, err
	}
	object, ok := v.(map[string]any)
	if !ok {
		return nil, errors.New("is not a JSON object")
	}
	return object, nil
}

// decodeValue reads the next value.
func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("is nested too deeply")
	}
	t, err := d.Token()
	if err != nil {
		return nil, hideDecodeError(err)
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return decodeMembers(d, depth)
		}
		return decodeElements(d, depth)
	case string:
		if isAmbiguous(t) {
			return nil, nil
		}
		return t, nil
	default:
		return t, nil
	}
}

// decodeMembers reads an object after its opening brace.
func decodeMembers(d *json.Decoder, depth int) (map[string]any, error) {
	object := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, hideDecodeError(err)
		}
		name, _ := t.(string) // json.Valid has checked it
		if _, ok := object[name]; ok {
			return nil, errors.New("has the same member twice")
		}
		value, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		if !isAmbiguous(name) {
			object[name] = value
		}
	}
	_, err := d.Token() // the closing brace
	return object, hideDecodeError(err)
}

// decodeElements reads an array after its opening bracket.
func decodeElements(d *json.Decoder, depth int) ([]any, error) {
	elements := []any{}
	for d.More() {
		v, err := decodeValue(d, depth+1)
		if err != nil {
			return nil, err
		}
		elements = append(elements, v)
	}
	_, err := d.Token() // the closing bracket
	return elements, hideDecodeError(err)
}

// isAmbiguous reports whether programs may read s differently. encoding/json turns each
// unpaired surrogate into U+FFFD, which makes two subjects equal, and databases cut or
// refuse a text at NUL. Such a text says nothing, so a claim that is needed must not have
// it, and another claim counts as absent.
func isAmbiguous(s string) bool { return strings.ContainsAny(s, "\x00\uFFFD") }

// hideDecodeError replaces the error of the decoder, which quotes its input.
func hideDecodeError(err error) error {
	if err == nil {
		return nil
	}
	return errors.New("is not JSON")
}
