package auth

import (
	"crypto"
	"crypto/sha256"
	"encoding/json"
	"sync"

	"github.com/hashicorp/golang-lru/v2/simplelru"

	"atrium/platform"
)

// Bounds of what is remembered of tokens. The one not used for longest goes first.
const (
	maxVerified      = 4096
	maxVerifiedBytes = 16 << 20
)

// A verifiedToken is a token whose signature was right under key, a key of its
// issuer.
type verifiedToken struct {
	*token
	claims platform.Claims // Expires is of the first request
	key    crypto.PublicKey
	bytes  int
}

// verifiedTokens remembers tokens by the hash of all their bytes, so that the
// signature of a token is verified once and not on every request. Whoever
// finds one must still check its times, and that its issuer holds its key. A
// token that was refused is not remembered, nor one that keys of identities
// verified: those are in the database, which is asked each time.
type verifiedTokens struct {
	mu    sync.Mutex
	bytes int
	used  *simplelru.LRU[[sha256.Size]byte, *verifiedToken]
}

func newVerifiedTokens() *verifiedTokens {
	v := &verifiedTokens{}
	v.used, _ = simplelru.NewLRU(maxVerified, func(_ [sha256.Size]byte, t *verifiedToken) { v.bytes -= t.bytes }) // the size is above 0
	return v
}

func (v *verifiedTokens) find(hash [sha256.Size]byte) (*verifiedToken, bool) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.used.Get(hash)
}

func (v *verifiedTokens) add(hash [sha256.Size]byte, t *token, claims platform.Claims, key crypto.PublicKey) {
	// The token itself is a secret, and is not kept.
	without := &token{alg: t.alg, kid: t.kid, claims: t.claims}
	known := &verifiedToken{token: without, claims: claims, key: key, bytes: verifiedBytes + sizeOf(t.claims)}
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used.Remove(hash) // an older one with another key, whose bytes are counted
	v.bytes += known.bytes
	v.used.Add(hash, known)
	for v.bytes > maxVerifiedBytes {
		v.used.RemoveOldest()
	}
}

func (v *verifiedTokens) remove(hash [sha256.Size]byte) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.used.Remove(hash)
}

// What a token takes in memory beside its claims, and what parts of claims do.
const (
	verifiedBytes = 512
	valueBytes    = 40
	objectBytes   = 320 // a map has room for eight members
)

// sizeOf is about what a claim takes in memory.
func sizeOf(claim any) int {
	n := valueBytes
	switch claim := claim.(type) {
	case string:
		n += len(claim)
	case json.Number:
		n += len(claim)
	case []any:
		for _, element := range claim {
			n += sizeOf(element)
		}
	case map[string]any:
		n += objectBytes
		for name, value := range claim {
			n += valueBytes + len(name) + sizeOf(value)
		}
	}
	return n
}

// sameKey reports whether two public keys are one.
func sameKey(a, b crypto.PublicKey) bool {
	comparable, ok := a.(interface{ Equal(crypto.PublicKey) bool })
	return ok && comparable.Equal(b)
}
