package auth

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/go-jose/go-jose/v4"
)

const (
	// maxToken is the largest token looked at, in bytes.
	maxToken = 16 << 10
	// maxDepth bounds the nesting of JSON; real tokens need three or four.
	maxDepth = 16
)

// A token is a JWT that has the right form. Nothing in it is verified.
type token struct {
	raw    string
	alg    jose.SignatureAlgorithm
	kid    string // "" where the header has none
	claims map[string]any
}

// parse reads a token in the compact form. It is stricter than the libraries:
// two readers must not be able to see two different tokens in the same bytes.
// Its errors hold nothing of the token and may be shown.
func parse(raw string) (*token, error) {
	if len(raw) > maxToken {
		return nil, errors.New("the token is larger than 16 KiB")
	}
	segments := strings.Split(raw, ".")
	if len(segments) != 3 {
		return nil, errors.New("the token is not a signed JWT of three segments")
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

// readHeader takes the algorithm and the key's name. Members that point at
// keys or carry them (jku, jwk, x5u, x5c) are not even read.
func (t *token) readHeader(header map[string]any) error {
	// Both change what a signature means, and no issuer needs them.
	for _, name := range []string{"crit", "b64"} {
		if _, ok := header[name]; ok {
			return fmt.Errorf("the token's header must not have %q", name)
		}
	}
	switch header["alg"] {
	case "RS256":
		t.alg = jose.RS256
	case "ES256":
		t.alg = jose.ES256
	default:
		return errors.New("the token must be signed with RS256 or ES256")
	}
	if kid, ok := header["kid"]; ok {
		if t.kid, ok = kid.(string); !ok || t.kid == "" {
			return errors.New("the token's kid must be a string that is not empty")
		}
	}
	return nil
}

// verify checks the signature under key, which must be one for t.alg.
func (t *token) verify(key any) error {
	signed, err := jose.ParseSignedCompact(t.raw, []jose.SignatureAlgorithm{t.alg})
	if err != nil {
		return errors.New("the token is not a signed JWT")
	}
	if _, err := signed.Verify(key); err != nil {
		return errors.New("the token's signature is wrong")
	}
	return nil
}

// decodeSegment reads base64url without padding, line breaks or stray bits,
// so that every segment has exactly one spelling.
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

// decodeObject reads one JSON object in which no object repeats a member and
// every string is what its bytes say. Numbers stay json.Number, because an id
// above 2^53 would become another's as a float64.
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

func decodeValue(d *json.Decoder, depth int) (any, error) {
	if depth > maxDepth {
		return nil, errors.New("is nested too deeply")
	}
	t, err := d.Token()
	if err != nil {
		return nil, notJSON(err)
	}
	switch t := t.(type) {
	case json.Delim:
		if t == '{' {
			return decodeMembers(d, depth)
		}
		return decodeElements(d, depth)
	case string:
		return plain(t)
	default:
		return t, nil
	}
}

func decodeMembers(d *json.Decoder, depth int) (map[string]any, error) {
	object := map[string]any{}
	for d.More() {
		t, err := d.Token()
		if err != nil {
			return nil, notJSON(err)
		}
		name, _ := t.(string) // json.Valid has seen to it
		if _, err := plain(name); err != nil {
			return nil, err
		}
		if _, ok := object[name]; ok {
			return nil, errors.New("has the same member twice")
		}
		if object[name], err = decodeValue(d, depth+1); err != nil {
			return nil, err
		}
	}
	_, err := d.Token() // the closing brace
	return object, notJSON(err)
}

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
	return elements, notJSON(err)
}

// plain refuses text that others read differently: encoding/json turns each
// lone surrogate into U+FFFD, which makes two subjects one, and databases end
// or refuse a text at NUL.
func plain(s string) (string, error) {
	if strings.ContainsAny(s, "\x00\uFFFD") {
		return "", errors.New("has text with an invalid character")
	}
	return s, nil
}

// notJSON hides the decoder's error, which quotes its input.
func notJSON(err error) error {
	if err == nil {
		return nil
	}
	return errors.New("is not JSON")
}
