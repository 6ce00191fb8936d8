package auth

import (
	"crypto"
	"crypto/ecdsa"
	"crypto/sha256"
	"encoding/json"
	"sync"
	"sync/atomic"

	"atrium/internal/lru"
	"atrium/platform/core"
	"atrium/platform/iam"
)

// Limits of the cache. The least recently used token is dropped first.
const (
	maxVerified      = 4096
	maxVerifiedBytes = 16 << 20
)

// A verifiedToken is a token whose signature was verified with key, a key of its
// issuer.
type verifiedToken struct {
	*token
	claims iam.Claims // Expires was computed when the token was verified
	key    crypto.PublicKey
	bytes  int

	// bearer is the caller of the last request with the token. The next request
	// presumes the same caller.
	bearer atomic.Pointer[core.Actor]
}

// verifiedTokens caches tokens by the hash of all their bytes, so that the signature
// of a token is not verified again on every request. The caller of find must still
// check the times of the token, and that its issuer still has the key. Tokens that
// were refused are not cached. Neither are tokens that static keys of identities
// verified, because the database is asked for those keys each time.
type verifiedTokens struct {
	lock  sync.Mutex
	bytes int
	used  *lru.Cache[[sha256.Size]byte, *verifiedToken]
}

func newVerifiedTokens() *verifiedTokens {
	v := &verifiedTokens{}
	v.used = lru.New(maxVerified, func(_ [sha256.Size]byte, t *verifiedToken) { v.bytes -= t.bytes })
	return v
}

func (v *verifiedTokens) find(hash [sha256.Size]byte) (*verifiedToken, bool) {
	v.lock.Lock()
	defer v.lock.Unlock()
	return v.used.Get(hash)
}

// add caches a token that key has verified.
func (v *verifiedTokens) add(hash [sha256.Size]byte, t *token, claims iam.Claims, key crypto.PublicKey) {
	// The token itself is a secret and is not stored.
	withoutRaw := &token{alg: t.alg, kid: t.kid, claims: t.claims}
	entry := &verifiedToken{token: withoutRaw, claims: claims, key: key, bytes: verifiedBytes + estimateSize(t.claims)}
	v.lock.Lock()
	defer v.lock.Unlock()
	v.used.Remove(hash) // removes an entry with an older key from the count of bytes
	v.bytes += entry.bytes
	v.used.Add(hash, entry)
	for v.bytes > maxVerifiedBytes {
		v.used.RemoveOldest()
	}
}

// keepBearer keeps the bearer of a token for the next request with it. Tokens that
// match nobody are looked up again each time.
func (v *verifiedTokens) keepBearer(hash [sha256.Size]byte, bearer *core.Actor) {
	if len(bearer.Identities) == 0 {
		return
	}
	v.lock.Lock()
	defer v.lock.Unlock()
	t, found := v.used.Peek(hash)
	if !found {
		return
	}
	size := iam.SizeOf(bearer)
	if last := t.bearer.Swap(bearer); last != nil {
		size -= iam.SizeOf(last)
	}
	t.bytes += size
	v.bytes += size
	for v.bytes > maxVerifiedBytes {
		v.used.RemoveOldest()
	}
}

func (v *verifiedTokens) remove(hash [sha256.Size]byte) {
	v.lock.Lock()
	defer v.lock.Unlock()
	v.used.Remove(hash)
}

// Estimated bytes of memory of a token without its claims, and of parts of claims.
const (
	verifiedBytes = 512
	valueBytes    = 40
	objectBytes   = 320 // a map has room for eight members
)

// estimateSize estimates the bytes of memory of a claim.
func estimateSize(claim any) int {
	n := valueBytes
	switch claim := claim.(type) {
	case string:
		n += len(claim)
	case json.Number:
		n += len(claim)
	case []any:
		for _, element := range claim {
			n += estimateSize(element)
		}
	case map[string]any:
		n += objectBytes
		for name, value := range claim {
			n += valueBytes + len(name) + estimateSize(value)
		}
	}
	return n
}

// equalKeys reports whether two public keys are equal.
func equalKeys(a, b crypto.PublicKey) bool {
	if one, ok := a.(*ecdsa.PublicKey); ok && b == crypto.PublicKey(one) { // the same pointer
		return true
	}
	comparable, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && comparable.Equal(b)
}
