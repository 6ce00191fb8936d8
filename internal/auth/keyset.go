package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/ed25519"
	"crypto/elliptic"
	"crypto/rsa"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform/core"
)

const (
	// freshTime is how long fetched keys are used before they are fetched again.
	freshTime = 10 * time.Minute
	// staleTime is how long they are used while the issuer is unavailable.
	staleTime = 24 * time.Hour
	// fetchPause is the shortest time between two fetches from one issuer, also
	// if tokens name unknown keys or the last fetch failed.
	fetchPause = 30 * time.Second

	minRSABits, maxRSABits = 2048, 8192

	// These limit the memory of cached key sets, and the time to read one: anybody can
	// have an issuer, and a document is large enough for thousands of keys.
	maxKeys       = 100
	maxKeyIDBytes = 256
	// maxNamedKeys limits how many keys are tried for one token. An issuer that changes its
	// keys may have two with one id.
	maxNamedKeys = 4
)

// rsaAlgorithms are the algorithms of an RSA key, and algorithms are all with which a token
// may be signed. An elliptic curve has one of its own.
var (
	rsaAlgorithms = []jose.SignatureAlgorithm{jose.RS256, jose.RS384, jose.RS512, jose.PS256, jose.PS384, jose.PS512}
	algorithms    = append(slices.Clone(rsaAlgorithms), jose.ES256, jose.ES384, jose.ES512, jose.EdDSA)
)

// A publicKey verifies signatures of its algorithms.
type publicKey struct {
	kid        string
	algorithms []jose.SignatureAlgorithm
	key        crypto.PublicKey
}

// toPublicKey converts jwk. It reports false for every kind of key that Atrium does
// not accept, such as private and symmetric keys.
func toPublicKey(jwk jose.JSONWebKey) (publicKey, bool) {
	p := publicKey{kid: jwk.KeyID, key: jwk.Key, algorithms: algorithmsOf(jwk.Key)}
	if jwk.Algorithm != "" {
		p.algorithms = slices.DeleteFunc(slices.Clone(p.algorithms), func(alg jose.SignatureAlgorithm) bool { return string(alg) != jwk.Algorithm })
	}
	useMatches := jwk.Use == "" || jwk.Use == "sig"
	return p, len(p.algorithms) > 0 && useMatches && len(jwk.KeyID) <= maxKeyIDBytes
}

// algorithmsOf returns the algorithms whose signatures key can verify. There are none for
// a key that Atrium does not accept.
func algorithmsOf(key crypto.PublicKey) []jose.SignatureAlgorithm {
	switch key := key.(type) {
	case *rsa.PublicKey:
		if bits := key.N.BitLen(); bits >= minRSABits && bits <= maxRSABits {
			return rsaAlgorithms
		}
	case *ecdsa.PublicKey:
		switch key.Curve {
		case elliptic.P256():
			return []jose.SignatureAlgorithm{jose.ES256}
		case elliptic.P384():
			return []jose.SignatureAlgorithm{jose.ES384}
		case elliptic.P521():
			return []jose.SignatureAlgorithm{jose.ES512}
		}
	case ed25519.PublicKey:
		return []jose.SignatureAlgorithm{jose.EdDSA}
	}
	return nil
}

// findKeys finds the keys that t names, at most maxNamedKeys: those with its algorithm and
// kid, or with its algorithm if it has no kid.
func findKeys(keys []publicKey, t *token) []crypto.PublicKey {
	var named []crypto.PublicKey
	for _, k := range keys {
		if len(named) < maxNamedKeys && slices.Contains(k.algorithms, t.alg) && (k.kid == t.kid || t.kid == "") {
			named = append(named, k.key)
		}
	}
	return named
}

// A keySet caches the keys of one issuer. It is safe for concurrent use.
type keySet struct {
	fetchKeys func(context.Context) ([]publicKey, error)
	staleWait time.Duration

	lock    sync.Mutex
	keys    []publicKey
	fetched time.Time // time at which the last successful fetch began; zero if none has succeeded
	tried   time.Time // time at which the last fetch began
	err     error     // the error of the last fetch
	running *fetch    // nil if no fetch is running
}

// A fetch is a running fetch of keys.
type fetch struct {
	done    chan struct{} // closed when the fetch has ended
	slow    chan struct{} // closed after staleWait
	waiting atomic.Int32  // number of requests that wait for it
}

// maxWaiting limits the requests that wait for one issuer, because anybody can send tokens
// of an issuer that does not answer.
const maxWaiting = 1000

// defaultStaleWait is how long a request that could use a stale key waits for the issuer.
const defaultStaleWait = 300 * time.Millisecond

func newKeySet(staleWait time.Duration, fetchKeys func(context.Context) ([]publicKey, error)) *keySet {
	return &keySet{staleWait: staleWait, fetchKeys: fetchKeys}
}

// An issuerUnavailableError says why the keys of an issuer could not be fetched.
type issuerUnavailableError struct{ error }

// findCached answers from the cached keys. It reports answered as false if a fetch is
// due or running.
func (s *keySet) findCached(t *token, now time.Time) (keys []crypto.PublicKey, answered bool, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	keys = findKeys(s.keys, t)
	age := now.Sub(s.fetched)
	switch {
	case len(keys) > 0 && age < freshTime:
		return keys, true, nil
	case s.running != nil, now.Sub(s.tried) >= fetchPause:
		return nil, false, nil
	case len(keys) > 0 && age < staleTime:
		return keys, true, nil
	case s.err != nil:
		unavailable := core.Unavailable("the keys of the token's issuer cannot be fetched", issuerUnavailableError{s.err})
		unavailable.RetryAfter = max(time.Second, s.tried.Add(fetchPause).Sub(now))
		return nil, true, unavailable
	default:
		return nil, true, core.Unauthenticated("the token is signed with a key that its issuer does not have")
	}
}

// findStale returns the keys that t names if they were fetched within staleTime.
func (s *keySet) findStale(t *token, now time.Time) []crypto.PublicKey {
	s.lock.Lock()
	defer s.lock.Unlock()
	if now.Sub(s.fetched) >= staleTime {
		return nil
	}
	return findKeys(s.keys, t)
}

// refresh returns the keys that t names from newly fetched keys. Concurrent requests
// share one fetch. If the issuer does not answer within staleWait, refresh uses
// stale keys, and the fetch continues in the background.
func (s *keySet) refresh(ctx context.Context, t *token, clock func() time.Time) ([]crypto.PublicKey, error) {
	now := clock()
	if keys, answered, err := s.findCached(t, now); answered {
		return keys, err
	}
	running := s.startFetch(ctx, now)
	defer running.waiting.Add(-1)
	stale := s.findStale(t, now)
	switch isFull := running.waiting.Add(1) > maxWaiting; {
	case isFull && len(stale) > 0:
		return stale, nil
	case isFull:
		return nil, askedError()
	}
	slow := running.slow
	if len(stale) == 0 {
		slow = nil
	}
	isLate := false
	resume := throttleFrom(ctx).Wait()
	select {
	case <-running.done:
	case <-slow:
		isLate = true
	case <-ctx.Done():
	}
	if err := resume(); err != nil {
		return nil, err
	}
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err()
	case isLate:
		return stale, nil
	}
	keys, answered, err := s.findCached(t, now)
	if !answered { // the next fetch has begun already
		return nil, askedError()
	}
	return keys, err
}

func askedError() error {
	return core.Unavailable("the keys of the token's issuer are being fetched; try again in a second", nil)
}

// startFetch returns the running fetch, and starts one if there is none.
func (s *keySet) startFetch(ctx context.Context, now time.Time) *fetch {
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.running != nil {
		return s.running
	}
	running := &fetch{done: make(chan struct{}), slow: make(chan struct{})}
	s.running, s.tried = running, now
	timer := time.AfterFunc(s.staleWait, func() { close(running.slow) })
	go func() {
		// Other requests wait for this fetch, so it does not end with its request.
		keys, err := s.fetchKeys(context.WithoutCancel(ctx))
		timer.Stop()
		s.lock.Lock()
		defer s.lock.Unlock()
		if s.running, s.err = nil, err; err == nil {
			s.keys, s.fetched = keys, now
		}
		close(running.done)
	}()
	return running
}
