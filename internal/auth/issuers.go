package auth

import (
	"context"
	"crypto"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"time"

	"atrium/platform/core"
)

// maxKeySets is how many key sets are cached. Beyond it, the least recently used
// one is dropped.
const maxKeySets = 1024

// issuers decides which issuers are asked for their keys, and caches the keys.
type issuers struct {
	directory Directory
	trusted   []string // issuers that are trusted by a setting
	fetcher   fetcher
	now       func() time.Time
	logger    *slog.Logger
	staleWait time.Duration

	lock sync.Mutex
	sets map[string]*usedKeySet
}

// A usedKeySet is a keySet with the time of its last use.
type usedKeySet struct {
	*keySet
	used time.Time
}

// cachedKeys returns the keys of issuer that t names, if they are cached and fresh.
func (i *issuers) cachedKeys(issuer string, t *token) (keys []crypto.PublicKey, isCached bool) {
	set := i.lookup(issuer)
	if set == nil {
		return nil, false
	}
	keys, answered, err := set.findCached(t, i.now())
	return keys, answered && err == nil
}

// keys returns the keys of issuer that t names. It fetches the keys if necessary, but
// only from an issuer that is known.
func (i *issuers) keys(ctx context.Context, issuer string, t *token) ([]crypto.PublicKey, error) {
	if set := i.lookup(issuer); set != nil {
		if keys, answered, err := set.findCached(t, i.now()); answered {
			return keys, err
		}
	}
	if err := i.checkKnown(ctx, issuer); err != nil {
		return nil, err
	}
	if err := i.fetcher.guard.CheckIssuer(issuer); err != nil {
		i.logger.WarnContext(ctx, "could not fetch the keys of an issuer", "issuer", issuer, "error", err)
		return nil, core.Unauthenticated("the token's issuer must be https; the operator can allow plain http for its host and port with --private-issuer")
	}
	return i.add(issuer).refresh(ctx, t, i.now)
}

// staleKeys returns the keys of issuer that t names, if they are cached and may be used
// while the issuer is unavailable. They need not be fresh.
func (i *issuers) staleKeys(issuer string, t *token) []crypto.PublicKey {
	set := i.lookup(issuer)
	if set == nil {
		return nil
	}
	return set.findStale(t, i.now())
}

// checkKnown refuses an issuer that neither a setting nor the directory names.
func (i *issuers) checkKnown(ctx context.Context, issuer string) error {
	if slices.Contains(i.trusted, issuer) {
		return nil
	}
	known, err := i.directory.KnowsIssuer(ctx, issuer)
	if err != nil {
		return fmt.Errorf("look up issuer: %w", err)
	}
	if !known {
		i.forget(issuer)
		return core.Unauthenticated("the token's issuer is unknown")
	}
	return nil
}

// lookup returns the cached key set of issuer, or nil, and records its use.
func (i *issuers) lookup(issuer string) *keySet {
	i.lock.Lock()
	defer i.lock.Unlock()
	set, ok := i.sets[issuer]
	if !ok {
		return nil
	}
	set.used = i.now()
	return set.keySet
}

// add returns the key set of issuer. If there is none, it caches one without keys.
func (i *issuers) add(issuer string) *keySet {
	i.lock.Lock()
	defer i.lock.Unlock()
	if set, ok := i.sets[issuer]; ok {
		return set.keySet
	}
	if len(i.sets) >= maxKeySets {
		i.dropOldest()
	}
	set := newKeySet(i.staleWait, func(ctx context.Context) ([]publicKey, error) {
		keys, err := i.fetcher.fetch(ctx, issuer)
		if err != nil {
			i.logger.WarnContext(ctx, "could not fetch the keys of an issuer", "issuer", issuer, "error", err)
		}
		return keys, err
	})
	i.sets[issuer] = &usedKeySet{keySet: set, used: i.now()}
	return set
}

func (i *issuers) forget(issuer string) {
	i.lock.Lock()
	defer i.lock.Unlock()
	delete(i.sets, issuer)
}

// dropOldest drops the least recently used key set.
func (i *issuers) dropOldest() {
	var oldest string
	for issuer, set := range i.sets {
		if oldest == "" || set.used.Before(i.sets[oldest].used) {
			oldest = issuer
		}
	}
	delete(i.sets, oldest)
}
