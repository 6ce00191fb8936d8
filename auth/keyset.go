package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform"
)

const (
	// keysFresh is how long fetched keys serve without a look at the issuer.
	keysFresh = 10 * time.Minute
	// keysKept is how long they serve while the issuer is away.
	keysKept = 24 * time.Hour
	// fetchPause is the least time between two fetches from one issuer,
	// whatever kids tokens name and however fetches end.
	fetchPause = 30 * time.Second

	minRSABits, maxRSABits = 2048, 8192
)

// A publicKey verifies exactly one algorithm.
type publicKey struct {
	kid string
	alg jose.SignatureAlgorithm
	key crypto.PublicKey
}

// usable gives what jwk verifies; false for every kind of key that Atrium
// does not accept, private and symmetric ones among them.
func usable(jwk jose.JSONWebKey) (publicKey, bool) {
	p := publicKey{kid: jwk.KeyID, key: jwk.Key}
	switch key := jwk.Key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits < minRSABits || bits > maxRSABits {
			return p, false
		}
		p.alg = jose.RS256
	case *ecdsa.PublicKey:
		if key.Curve != elliptic.P256() {
			return p, false
		}
		p.alg = jose.ES256
	default:
		return p, false
	}
	algorithmFits := jwk.Algorithm == "" || jwk.Algorithm == string(p.alg)
	useFits := jwk.Use == "" || jwk.Use == "sig"
	return p, algorithmFits && useFits
}

// find gives the key that t names. Without a kid that is the only one.
func find(keys []publicKey, t *token) (crypto.PublicKey, bool) {
	if t.kid == "" && len(keys) > 1 {
		return nil, false
	}
	for _, k := range keys {
		if k.alg == t.alg && (k.kid == t.kid || t.kid == "") {
			return k.key, true
		}
	}
	return nil, false
}

// A keySet holds the keys of one issuer. It is safe for concurrent use.
type keySet struct {
	fetch func(context.Context) ([]publicKey, error)

	mu       sync.Mutex
	keys     []publicKey
	fetched  time.Time // when keys were; zero before
	tried    time.Time // when the last fetch began
	err      error     // how the last fetch ended
	underWay *fetching // nil: none is
}

// A fetching is a fetch under way.
type fetching struct {
	done chan struct{} // closed when it has ended
	late chan struct{} // closed when who has older keys need not wait any more
}

// patience is how long a request with an older key waits for the issuer.
const patience = 300 * time.Millisecond

func newKeySet(fetch func(context.Context) ([]publicKey, error)) *keySet {
	return &keySet{fetch: fetch}
}

// An awayError is why an issuer could not be asked.
type awayError struct{ error }

// held answers from what has been fetched. It answers false where a fetch is
// due first, or under way.
func (s *keySet) held(t *token, now time.Time) (key crypto.PublicKey, answered bool, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, found := find(s.keys, t)
	age := now.Sub(s.fetched)
	switch {
	case found && age < keysFresh:
		return key, true, nil
	case s.underWay != nil, now.Sub(s.tried) >= fetchPause:
		return nil, false, nil
	case found && age < keysKept:
		return key, true, nil
	case s.err != nil:
		away := platform.Unavailable("the token's issuer cannot be asked for its keys", awayError{s.err})
		away.RetryAfter = max(time.Second, s.tried.Add(fetchPause).Sub(now))
		return nil, true, away
	default:
		return nil, true, platform.Unauthenticated("the token is signed with a key that its issuer does not have")
	}
}

// older gives the key that t names while it may serve, however long ago it was
// fetched.
func (s *keySet) older(t *token, now time.Time) (crypto.PublicKey, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	key, found := find(s.keys, t)
	return key, found && now.Sub(s.fetched) < keysKept
}

// refreshed fetches the keys, unless someone else just has, and answers from
// them. While an issuer hangs, an older key serves, and the fetch goes on in
// the background.
func (s *keySet) refreshed(ctx context.Context, t *token, clock func() time.Time) (crypto.PublicKey, error) {
	now := clock()
	if key, answered, err := s.held(t, now); answered {
		return key, err
	}
	under := s.fetching(ctx, now)
	older, found := s.older(t, now)
	late := under.late
	if !found {
		late = nil
	}
	select {
	case <-under.done:
	case <-late:
		return older, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	key, answered, err := s.held(t, now)
	if !answered { // the next fetch has begun already
		return nil, platform.Unavailable("the token's issuer is being asked for its keys", nil)
	}
	return key, err
}

// fetching gives the fetch under way, and begins one where there is none.
func (s *keySet) fetching(ctx context.Context, now time.Time) *fetching {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.underWay != nil {
		return s.underWay
	}
	under := &fetching{make(chan struct{}), make(chan struct{})}
	s.underWay, s.tried = under, now
	late := time.AfterFunc(patience, func() { close(under.late) })
	go func() {
		// Others wait for this answer, so it outlives the request that asks.
		keys, err := s.fetch(context.WithoutCancel(ctx))
		late.Stop()
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.underWay, s.err = nil, err; err == nil {
			s.keys, s.fetched = keys, now
		}
		close(under.done)
	}()
	return under
}
