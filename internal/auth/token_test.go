package auth

import (
	"encoding/json"
	"maps"
	"reflect"
	"strings"
	"testing"

	"github.com/go-jose/go-jose/v4"
)

// withoutAmbiguous returns v with nil for each ambiguous text, and without members with such
// names.
func withoutAmbiguous(v any) any {
	switch v := v.(type) {
	case string:
		if isAmbiguous(v) {
			return nil
		}
	case []any:
		for i := range v {
			v[i] = withoutAmbiguous(v[i])
		}
	case map[string]any:
		maps.DeleteFunc(v, func(name string, _ any) bool { return isAmbiguous(name) })
		for name := range v {
			v[name] = withoutAmbiguous(v[name])
		}
	}
	return v
}

// If parse accepts a token, the signature library and encoding/json must read the
// same one, and its segments must have no other valid encoding.
func FuzzParse(f *testing.F) {
	payload := `{"iss":"https://a.example","aud":["x"],"exp":1800000000,"n":{"a":[1.5,null,"\u00e9"]}}`
	sealed := encode("signature")
	for _, header := range []string{ecHeader, rsaHeader, `{"alg":"none"}`, `{"alg":"ES256","jwk":{}}`, `{"alg":"ES256","alg":"RS256"}`, `[]`} {
		f.Add(encode(header) + "." + encode(payload) + "." + sealed)
	}
	f.Add(encode(ecHeader) + "." + encode(`{"iss":1,"\u0069ss":2}`) + "." + sealed)
	f.Add(encode(ecHeader) + "=." + encode(payload) + "." + sealed)
	f.Add(encode(ecHeader) + "." + encode(strings.Repeat(`{"a":`, 40)) + "." + sealed)
	f.Add("..")

	f.Fuzz(func(t *testing.T, raw string) {
		got, err := parse(raw)
		if err != nil {
			if strings.Contains(err.Error(), raw) && len(raw) > 40 {
				t.Fatal("the error shows the token")
			}
			return
		}
		var segments [3]string
		for i, segment := range strings.Split(raw, ".") {
			b, err := decodeSegment(segment)
			if err != nil {
				t.Fatal(err)
			}
			if segments[i] = string(b); encode(segments[i]) != segment {
				t.Fatalf("segment %q has another spelling", segment)
			}
		}
		d := json.NewDecoder(strings.NewReader(segments[1]))
		d.UseNumber()
		var want map[string]any
		if err := d.Decode(&want); err != nil || !reflect.DeepEqual(got.claims, withoutAmbiguous(want)) {
			t.Fatalf("claims %v, want %v (%v)", got.claims, want, err)
		}
		signed, err := jose.ParseSignedCompact(raw, algorithms)
		if err != nil {
			return // The library rejects more, such as an embedded key that is invalid.
		}
		header := signed.Signatures[0].Protected
		if header.Algorithm != string(got.alg) || header.KeyID != got.kid || string(signed.UnsafePayloadWithoutVerification()) != segments[1] {
			t.Fatalf("two readings of %q, want Algorithm %v and KeyID %v", raw, got.alg, got.kid)
		}
	})
}
