package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/x509"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/go-jose/go-jose/v4"
)

// DevelopmentIssuer is the iss claim of the development issuer. Its keys are never
// fetched, and it is trusted only if Options.Development is set.
const DevelopmentIssuer = "https://issuer.dev.atrium.invalid"

// An Issuer mints tokens for local use. With its key, anyone can act as anybody on
// a server in development mode. Other servers do not accept its tokens.
type Issuer struct {
	signer jose.Signer
	public publicKey
	now    func() time.Time
}

// NewDevelopmentIssuer returns an Issuer that signs with key, an ECDSA P-256 key in
// PKCS #8 DER form. A nil clock means time.Now.
func NewDevelopmentIssuer(key []byte, clock func() time.Time) (*Issuer, error) {
	parsed, err := x509.ParsePKCS8PrivateKey(key)
	if err != nil {
		return nil, fmt.Errorf("development issuer: parse key: %w", err)
	}
	private, ok := parsed.(*ecdsa.PrivateKey)
	if !ok || private.Curve != elliptic.P256() {
		return nil, errors.New("development issuer: the key must be an ECDSA P-256 key")
	}
	jwk := jose.JSONWebKey{Key: private, Algorithm: string(jose.ES256)}
	thumbprint, err := jwk.Thumbprint(crypto.SHA256)
	if err != nil {
		return nil, fmt.Errorf("development issuer: name key: %w", err)
	}
	jwk.KeyID = base64.RawURLEncoding.EncodeToString(thumbprint)
	options := (&jose.SignerOptions{}).WithType("JWT")
	signer, err := jose.NewSigner(jose.SigningKey{Algorithm: jose.ES256, Key: jwk}, options)
	if err != nil {
		return nil, fmt.Errorf("development issuer: make signer: %w", err)
	}
	if clock == nil {
		clock = time.Now
	}
	public := publicKey{kid: jwk.KeyID, algorithms: algorithmsOf(private.Public()), key: private.Public()}
	return &Issuer{signer: signer, public: public, now: clock}, nil
}

// isSignerOf reports whether t names the development key. A nil Issuer, for a
// server that is not in development mode, has signed nothing.
func (i *Issuer) isSignerOf(t *token) bool {
	return i != nil && t.kid == i.public.kid && slices.Contains(i.public.algorithms, t.alg)
}

// Mint returns a signed token for subject and audience that is valid for ttl, at
// most 24 hours. The extra claims replace those that Mint sets. With another iss,
// the token stands for a bearer of that issuer; a server in development mode
// accepts it if it knows the issuer.
func (i *Issuer) Mint(subject, audience string, ttl time.Duration, extra map[string]any) (string, error) {
	if ttl <= 0 || ttl > maxLifetime {
		return "", errors.New("mint token: the time to live must be more than 0 and at most 24h")
	}
	now := i.now()
	claims := map[string]any{
		"iss": DevelopmentIssuer,
		"sub": subject,
		"aud": audience,
		"iat": now.Unix(),
		"exp": now.Add(ttl).Unix(),
	}
	maps.Copy(claims, extra)
	payload, err := json.Marshal(claims)
	if err != nil {
		return "", fmt.Errorf("mint token: encode claims: %w", err)
	}
	signed, err := i.signer.Sign(payload)
	if err != nil {
		return "", fmt.Errorf("mint token: sign: %w", err)
	}
	return signed.CompactSerialize()
}
