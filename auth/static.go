package auth

import (
	"context"

	"atrium/platform"
)

// staticIdentities lists the identities whose own keys verify t. It is asked
// before an issuer is, which need not exist where identities bring its keys.
func (v *Verifier) staticIdentities(ctx context.Context, t *token, c platform.Claims) ([]platform.UID, error) {
	brought, err := v.directory.StaticKeys(ctx, c.Issuer, c.Subject)
	if err != nil {
		return nil, err
	}
	var verified []platform.UID
	for _, b := range brought {
		keys, err := parseKeySet(b.JWKS)
		if err != nil {
			continue // one that cannot be read verifies nothing
		}
		if key, found := find(keys, t); found && t.verify(key) == nil {
			verified = append(verified, b.Identity)
		}
	}
	return verified, nil
}
