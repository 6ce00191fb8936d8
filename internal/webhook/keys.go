package webhook

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

	"atrium/platform/core"
)

// DiscoveryPath and KeySetPath are the paths under the public URL of the service
// where receivers find the keys.
const (
	DiscoveryPath = "/.well-known/openid-configuration"
	KeySetPath    = "/.well-known/jwks.json"
)

// A KeyReader returns the signing keys (ECDSA P-256 in PKCS #8 DER form), oldest
// first. The newest key signs; all are published.
type KeyReader func(context.Context) ([]core.Key, error)

// privateKeys reads the keys. The id of each is its RFC 7638 thumbprint.
func (read KeyReader) privateKeys(ctx context.Context) ([]jose.JSONWebKey, error) {
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
		return nil, errors.New("signing keys: none are stored")
	}
	return keys, nil
}

// parseKey parses a stored key and names it by its thumbprint.
func parseKey(material []byte) (jose.JSONWebKey, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(material)
	if err != nil {
		return jose.JSONWebKey{}, errors.New("the key is not in PKCS #8 form")
	}
	key, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || key.Curve != elliptic.P256() {
		return jose.JSONWebKey{}, errors.New("the key is not an ECDSA P-256 key")
	}
	jwk := jose.JSONWebKey{Key: key, Algorithm: string(jose.ES256), Use: "sig"}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return jose.JSONWebKey{}, err
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	return jwk, nil
}

// Discovery serves the OpenID Connect discovery document at DiscoveryPath. issuer
// is the public URL of the service, without a slash at its end.
func Discovery(issuer string) http.Handler {
	document, _ := json.Marshal(map[string]any{ // cannot fail: strings only
		"issuer":                                issuer,
		"jwks_uri":                              issuer + KeySetPath,
		"id_token_signing_alg_values_supported": []jose.SignatureAlgorithm{jose.ES256},
		"response_types_supported":              []string{"id_token"},
		"subject_types_supported":               []string{"public"},
	})
	return allowGet(func(w http.ResponseWriter, _ *http.Request) { writeDocument(w, document) })
}

// PublicKeys reads the keys and returns the public half of each as a JWKS. It includes the
// keys that no longer sign, because their tokens must still verify.
func (read KeyReader) PublicKeys(ctx context.Context) ([]byte, error) {
	keys, err := read.privateKeys(ctx)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		keys[i] = k.Public()
	}
	return json.Marshal(jose.JSONWebKeySet{Keys: keys})
}

// KeySet serves a JWKS, as PublicKeys returns it, at KeySetPath. writeError answers the
// request when the keys cannot be read.
func KeySet(read func(context.Context) ([]byte, error), writeError func(http.ResponseWriter, *http.Request, error)) http.Handler {
	return allowGet(func(w http.ResponseWriter, r *http.Request) {
		document, err := read(r.Context())
		if err != nil {
			writeError(w, r, err)
			return
		}
		writeDocument(w, document)
	})
}

// writeDocument lets receivers cache the document for five minutes. A receiver
// that meets an unknown key must fetch it again.
func writeDocument(w http.ResponseWriter, document []byte) {
	w.Header().Set("Content-Type", "application/json")
	w.Header().Set("Cache-Control", "public, max-age=300")
	_, _ = w.Write(document)
}

func allowGet(serve http.HandlerFunc) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			w.Header().Set("Allow", "GET, HEAD")
			http.Error(w, "This path supports GET and HEAD only.", http.StatusMethodNotAllowed)
			return
		}
		serve(w, r)
	})
}
