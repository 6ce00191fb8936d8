package auth

import (
	"context"
	"encoding/json"
	"slices"

	"atrium/platform"
)

// findStaticIdentities lists the identities whose own keys verify t. It is called
// before the issuer is asked, because the issuer need not exist if identities bring
// its keys.
func (v *Verifier) findStaticIdentities(ctx context.Context, t *token, c platform.Claims) ([]platform.UID, error) {
	identities, err := v.directory.StaticKeys(ctx, c.Issuer, c.Subject)
	if err != nil {
		return nil, err
	}
	var verified []platform.UID
	for _, identity := range identities {
		if key, found := findKey(staticKeys(identity.JWKS, t), t); found && t.verify(key) == nil {
			verified = append(verified, identity.Identity)
		}
	}
	return verified, nil
}

// maxStaticKeys is how many keys of an identity that have the id in a token are read.
const maxStaticKeys = 4

// staticKeys reads the keys of an identity that t can name. Keys that cannot be read
// verify nothing. To read a key takes time, and anybody can send tokens that name an
// identity, so no other keys are read.
func staticKeys(document []byte, t *token) []publicKey {
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
	} else if len(named) > maxStaticKeys {
		return nil // t names the only key
	}
	return parseKeys(named[:min(len(named), maxStaticKeys)])
}
