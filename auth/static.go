package auth

import (
	"context"

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
		keys, err := parseKeySet(identity.JWKS)
		if err != nil {
			continue // keys that cannot be read verify nothing
		}
		if key, found := findKey(keys, t); found && t.verify(key) == nil {
			verified = append(verified, identity.Identity)
		}
	}
	return verified, nil
}
