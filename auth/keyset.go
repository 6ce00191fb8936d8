package auth

import (
	"context"
	"crypto"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rsa"
	"sync"
	"sync/atomic"
	"time"

	"github.com/go-jose/go-jose/v4"

	"atrium/platform"
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
)

// A publicKey verifies signatures of one algorithm.
type publicKey struct {
	kid string
	alg jose.SignatureAlgorithm
	key crypto.PublicKey
}

// toPublicKey converts jwk. It reports false for every kind of key that Atrium does
// not accept, such as private and symmetric keys.
func toPublicKey(jwk jose.JSONWebKey) (publicKey, bool) {
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
	if len(jwk.KeyID) > maxKeyIDBytes {
		return p, false
	}
	algorithmMatches := jwk.Algorithm == "" || jwk.Algorithm == string(p.alg)
	useMatches := jwk.Use == "" || jwk.Use == "sig"
	return p, algorithmMatches && useMatches
}

// findKey finds the key that t names. A token without a kid names the only key.
func findKey(keys []publicKey, t *token) (crypto.PublicKey, bool) {
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
func (s *keySet) findCached(t *token, now time.Time) (key crypto.PublicKey, answered bool, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	key, found := findKey(s.keys, t)
	age := now.Sub(s.fetched)
	switch {
	case found && age < freshTime:
		return key, true, nil
	case s.running != nil, now.Sub(s.tried) >= fetchPause:
		return nil, false, nil
	case found && age < staleTime:
		return key, true, nil
	case s.err != nil:
		unavailable := platform.Unavailable("the token's issuer cannot be asked for its keys", issuerUnavailableError{s.err})
		unavailable.RetryAfter = max(time.Second, s.tried.Add(fetchPause).Sub(now))
		return nil, true, unavailable
	default:
		return nil, true, platform.Unauthenticated("the token is signed with a key that its issuer does not have")
	}
}

// findStale returns the key that t names if it was fetched within staleTime.
func (s *keySet) findStale(t *token, now time.Time) (crypto.PublicKey, bool) {
	s.lock.Lock()
	defer s.lock.Unlock()
	key, found := findKey(s.keys, t)
	return key, found && now.Sub(s.fetched) < staleTime
}

// refresh returns the key that t names from newly fetched keys. Concurrent requests
// share one fetch. If the issuer does not answer within staleWait, refresh uses a
// stale key, and the fetch continues in the background.
func (s *keySet) refresh(ctx context.Context, t *token, clock func() time.Time) (crypto.PublicKey, error) {
	now := clock()
	if key, answered, err := s.findCached(t, now); answered {
		return key, err
	}
	running := s.startFetch(ctx, now)
	defer running.waiting.Add(-1)
	stale, found := s.findStale(t, now)
	switch isFull := running.waiting.Add(1) > maxWaiting; {
	case isFull && found:
		return stale, nil
	case isFull:
		return nil, askedError()
	}
	slow := running.slow
	if !found {
		slow = nil
	}
	isLate := false
	resume := gateFrom(ctx).Wait()
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
	key, answered, err := s.findCached(t, now)
	if !answered { // the next fetch has begun already
		return nil, askedError()
	}
	return key, err
}

func askedError() error {
	return platform.Unavailable("the token's issuer is being asked for its keys; try again in a second", nil)
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
