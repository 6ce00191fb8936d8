package webhook

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
)

const (
	tokenLifetime = 5 * time.Minute
	// signerLifetime is how long a replica may continue to sign with a key after
	// a newer one was stored. The older key stays published.
	signerLifetime = time.Minute
)

// An issuer signs the tokens of deliveries.
type issuer struct {
	url      string
	now      func() time.Time
	readKeys KeyReader

	lock       sync.Mutex
	signer     jose.Signer
	signerTime time.Time // time at which the key of signer was read
}

// claims lists the claims of a token, in the order in which they are written.
type claims struct {
	Issuer   string  `json:"iss"`
	Subject  string  `json:"sub"`
	Audience string  `json:"aud"`
	Issued   int64   `json:"iat"`
	Expires  int64   `json:"exp"`
	ID       string  `json:"jti"`
	Webhook  webhook `json:"webhook"`
}

// webhook is the claim that binds a token to the data it is sent with. Existing
// receivers read the digest from this object and refuse a delivery without it.
type webhook struct {
	Digest string `json:"digest"`
}

// token returns a token by which data is sent for a subscription of group.
func (i *issuer) token(ctx context.Context, group core.UID, data []byte) (string, error) {
	signer, err := i.newestSigner(ctx)
	if err != nil {
		return "", err
	}
	now, digest := i.now(), sha256.Sum256(data)
	payload, err := json.Marshal(claims{
		Issuer: i.url, Subject: "webhook:" + string(group), Audience: audience,
		Issued: now.Unix(), Expires: now.Add(tokenLifetime).Unix(), ID: rand.Text(),
		Webhook: webhook{Digest: "sha256:" + hex.EncodeToString(digest[:])},
	})
	if err != nil {
		return "", err
	}
	signed, err := signer.Sign(payload)
	if err != nil {
		return "", err
	}
	return signed.CompactSerialize()
}

// newestSigner returns the signer of the newest key, at most signerLifetime old.
func (i *issuer) newestSigner(ctx context.Context) (jose.Signer, error) {
	i.lock.Lock()
	defer i.lock.Unlock()
	if i.signer != nil && i.now().Sub(i.signerTime) < signerLifetime {
		return i.signer, nil
	}
	keys, err := i.readKeys.privateKeys(ctx)
	if err != nil {
		return nil, err
	}
	newest := jose.SigningKey{Algorithm: jose.ES256, Key: keys[len(keys)-1]}
	signer, err := jose.NewSigner(newest, (&jose.SignerOptions{}).WithType("JWT"))
	if err != nil {
		return nil, err
	}
	i.signer, i.signerTime = signer, i.now()
	return signer, nil
}
