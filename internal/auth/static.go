package auth

import (
	"context"
	"crypto"
	"encoding/json"
	"slices"

	"github.com/go-jose/go-jose/v4"

	"atrium/internal/lru"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// findStaticIdentities lists the identities whose own keys verify t. It is called
// before the issuer is asked, because the issuer need not exist if identities bring
// its keys.
func (v *Verifier) findStaticIdentities(ctx context.Context, t *token, c iam.Claims) ([]core.UID, error) {
	identities, err := v.directory.StaticKeys(ctx, c.Issuer, c.Subject)
	if err != nil {
		return nil, err
	}
	var verified []core.UID
	for _, identity := range identities {
		if key, err := t.verify(findKeys(readStaticKeys(identity.JWKS, t), t)); err == nil {
			verified = append(verified, identity.Identity)
			v.static.Add(staticKeyOf(t, c), key)
		}
	}
	return verified, nil
}

// staticKeys caches the static keys that have verified tokens, to recognize further tokens of
// the same claimants. The database still decides whether these keys are valid.
type staticKeys = *lru.Shared[staticKey, crypto.PublicKey]

// A staticKey is how a token names a static key.
type staticKey struct {
	claimant Claimant
	alg      jose.SignatureAlgorithm
	kid      string
}

func staticKeyOf(t *token, c iam.Claims) staticKey {
	return staticKey{claimantOf(c), t.alg, t.kid}
}

// maxCachedStatic is how many static keys are cached. Beyond it, the least recently used one is
// dropped.
const maxCachedStatic = 4096

func newStaticKeys() staticKeys {
	return lru.NewShared[staticKey, crypto.PublicKey](maxCachedStatic)
}

// readStaticKeys reads the keys of an identity that t can name, at most maxNamedKeys. Keys
// that cannot be read verify nothing. To read a key takes time, and anybody can send
// tokens that name an identity, so no other keys are read.
func readStaticKeys(document []byte, t *token) []publicKey {
	named, err := splitKeySet(document)
	if err != nil {
		return nil
	}
	if t.kid != "" {
		named = slices.DeleteFunc(named, func(raw json.RawMessage) bool {
			var key struct {
				ID string `json:"kid"`
			}
			return json.Unmarshal(raw, &key) != nil || key.ID != t.kid
		})
	}
	return parseKeys(named[:min(len(named), maxNamedKeys)])
}
