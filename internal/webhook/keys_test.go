package webhook

import (
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/sha256"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"testing"

	"atrium/platform/core"
)

// ask requests a document.
func (s *service) ask(t *testing.T, method, path string) (*http.Response, string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, s.URL+path, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	body, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response, string(body)
}

func TestTheDocumentsAreReadAndNothingElse(t *testing.T) {
	t.Parallel()
	s := newService(t, http.DefaultClient)
	for _, path := range []string{DiscoveryPath, KeySetPath} {
		for method, want := range map[string]int{http.MethodGet: 200, http.MethodHead: 200, http.MethodPost: 405, http.MethodDelete: 405} {
			response, body := s.ask(t, method, path)
			if response.StatusCode != want {
				t.Errorf("%s %s: %d, want %d", method, path, response.StatusCode, want)
			}
			if want != 200 {
				continue
			}
			if kind, kept := response.Header.Get("Content-Type"), response.Header.Get("Cache-Control"); kind != "application/json" || kept != "public, max-age=300" {
				t.Errorf("%s %s: %s, want application/json, %s, want public, max-age=300", method, path, kind, kept)
			}
			if (body == "") != (method == http.MethodHead) {
				t.Errorf("%s %s: the body is %q", method, path, body)
			}
		}
	}
}

func TestTheKeySetHoldsEveryKeyAndNoPrivateHalf(t *testing.T) {
	t.Parallel()
	s := newService(t, http.DefaultClient)
	s.keys = append(s.keys, newKey(t, 2))
	_, body := s.ask(t, http.MethodGet, KeySetPath)
	var set struct{ Keys []map[string]any }
	if err := json.Unmarshal([]byte(body), &set); err != nil {
		t.Fatal(err)
	}
	if len(set.Keys) != 2 || set.Keys[0]["kid"] == set.Keys[1]["kid"] {
		t.Fatalf("the keys are %s, want 2 keys", body)
	}
	for _, k := range set.Keys {
		if k["d"] != nil {
			t.Error("a private key is published")
		}
		if k["alg"] != "ES256" || k["use"] != "sig" || k["crv"] != "P-256" {
			t.Errorf("a key is %v, want alg 'ES256', use 'sig' and crv 'P-256'", k)
		}
	}
}

func TestAKeyIsNamedByItsThumbprint(t *testing.T) {
	t.Parallel()
	s := newService(t, http.DefaultClient)
	_, body := s.ask(t, http.MethodGet, KeySetPath)
	var set struct {
		Keys []struct{ Kid, X, Y string }
	}
	if err := json.Unmarshal([]byte(body), &set); err != nil {
		t.Fatal(err)
	}
	k := set.Keys[0]
	hash := sha256.Sum256([]byte(`{"crv":"P-256","kty":"EC","x":"` + k.X + `","y":"` + k.Y + `"}`)) // RFC 7638 defines this form.
	if want := base64.RawURLEncoding.EncodeToString(hash[:]); k.Kid != want {
		t.Errorf("the key's name is %s, want %s", k.Kid, want)
	}
}

func TestWithoutValidKeysThereIsNoKeySet(t *testing.T) {
	t.Parallel()
	for name, spoil := range map[string]func(*service){
		"the store is unavailable": func(s *service) { s.err = errors.New("unavailable") },
		"no key":                   func(s *service) { s.keys = nil },
		"no PKCS #8":               func(s *service) { s.keys[0].Material = []byte("x") },
		"another curve":            func(s *service) { s.keys = append(s.keys, otherCurve(t)) },
	} {
		s := newService(t, http.DefaultClient)
		spoil(s)
		if response, _ := s.ask(t, http.MethodGet, KeySetPath); response.StatusCode != http.StatusServiceUnavailable {
			t.Errorf("%s: status %d, want 503", name, response.StatusCode)
		}
	}
}

func otherCurve(t *testing.T) core.Key {
	t.Helper()
	key, err := ecdsa.GenerateKey(elliptic.P384(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	material, err := x509.MarshalPKCS8PrivateKey(key)
	if err != nil {
		t.Fatal(err)
	}
	return core.Key{ID: 2, Material: material}
}
