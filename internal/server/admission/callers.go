package admission

import (
	"hash/maphash"
	"sync"
	"time"

	"atrium/internal/lru"
	"atrium/platform/core"
)

// callers keep the caller of the last request with each token. They decide only who waits,
// never what anybody may do.
type callers struct {
	seed maphash.Seed // hides the hashes of tokens, so that nobody can search for equal ones

	lock  sync.Mutex
	known *lru.Cache[tokenHash, *caller]
}

// A tokenHash identifies a token, which is a secret and is not kept.
type tokenHash uint64

type caller struct {
	key     Key
	actor   *core.Actor // its identities, and the issuer and the subject of its token
	expires time.Time
}

// maxCallers limits the tokens whose callers are known.
const maxCallers = 1 << 14

func newCallers() *callers {
	return &callers{seed: maphash.MakeSeed(), known: lru.New[tokenHash, *caller](maxCallers, nil)}
}

func (c *callers) hash(token string) tokenHash { return tokenHash(maphash.String(c.seed, token)) }

// find returns the caller of the last request with a token, or one with an empty key.
func (c *callers) find(token tokenHash, now time.Time) caller {
	c.lock.Lock()
	defer c.lock.Unlock()
	last, found := c.known.Get(token)
	if !found || now.After(last.expires) {
		return caller{}
	}
	return *last
}

// remember keeps the caller of a request.
func (c *callers) remember(token tokenHash, key Key, of *core.Actor) {
	c.lock.Lock()
	defer c.lock.Unlock()
	actor := &core.Actor{Issuer: of.Issuer, Subject: of.Subject, Identities: of.Identities}
	c.known.Add(token, &caller{key, actor, of.Expires})
}

// forget forgets the caller of a token that is no longer valid.
func (c *callers) forget(token tokenHash) {
	c.lock.Lock()
	defer c.lock.Unlock()
	c.known.Remove(token)
}

// keyOf returns the key of a caller. The first organization stands for a caller of several.
func keyOf(a *core.Actor) Key {
	key := Key{Caller: a.Key()}
	for i, uid := range a.Identities {
		if root := string(uid.Root()); i == 0 || root < key.Organization {
			key.Organization = root
		}
	}
	return key
}
