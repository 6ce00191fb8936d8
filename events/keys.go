package events

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform"
)

// Where receivers look for the keys, under the public URL of the service.
const (
	DiscoveryPath = "/.well-known/openid-configuration"
	KeySetPath    = "/.well-known/jwks.json"
)

// A KeyReader gives the signing keys (ECDSA P-256 in PKCS #8 DER form), the
// oldest first: the newest signs, and all are published.
type KeyReader func(context.Context) ([]platform.Key, error)

// private reads the keys with the names that receivers know them by, which are
// their RFC 7638 thumbprints.
func (read KeyReader) private(ctx context.Context) ([]jose.JSONWebKey, error) {
	stored, err := read(ctx)
	if err != nil {
		return nil, fmt.Errorf("signing keys: %w", err)
	}
	keys := make([]jose.JSONWebKey, len(stored))
	for i, k := range stored {
		if keys[i], err = parseKey(k.Material); err != nil {
			return nil, fmt.Errorf("signing key %d: %w", k.ID, err)
		}
	}
	if len(keys) == 0 {
		return nil, errors.New("signing keys: there is none")
	}
	return keys, nil
}

func parseKey(material []byte) (jose.JSONWebKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(material)
	if err != nil {
		return jose.JSONWebKey{}, errors.New("it is not in PKCS #8 form")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return jose.JSONWebKey{}, errors.New("it is not an ECDSA P-256 key")
	}
	jwk := jose.JSONWebKey{Key: key, Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return jwk, nil
}

// Discovery answers, at DiscoveryPath, where the keys of issuer are. It is the
// public URL of the service, without a slash at its end.
func Discovery(issuer string) http.Handler {
	document, _ := json.Marshal(map[string]any{ // of texts: it cannot fail
		"issuer":                                issuer,
		"jwks_uri":                              issuer + KeySetPath,
		"id_token_signing_alg_values_supported": []jose.SignatureAlgorithm{jose.ES256},
		"response_types_supported":              []string{"id_token"},
		"subject_types_supported":               []string{"public"},
	})
	return readOnly(func(w http.ResponseWriter, _ *http.Request) { publish(w, document) })
}

// KeySet answers, at KeySetPath, the public half of every key, so that tokens
// of a key that signs no more still verify. Refuse answers an error.
func KeySet(read KeyReader, refuse func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return readOnly(func(w http.ResponseWriter, r *http.Request) {
		keys, err := read.private(r.Context())
		if err != nil {
			refuse(w, r, err)
			return
		}
		for i, k := range keys {
			keys[i] = k.Public()
		}
		document, err := json.Marshal(jose.JSONWebKeySet{Keys: keys})
		if err != nil {
			refuse(w, r, err)
			return
		}
		publish(w, document)
	})
}

// publish answers a document that changes with the keys only. Whoever meets a
// key that is not in their copy asks again.
func publish(w http.ResponseWriter, document []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(document)
}

func readOnly(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "Only GET is answered here.", http.StatusMethodNotAllowed)
			return
		}
		serve(w, r)
	})
}
