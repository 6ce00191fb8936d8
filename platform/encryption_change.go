package platform

import (
	"context"
	"fmt"
	"slices"
)

// reseal encrypts everything with e that is not yet, and of which one of former
// knows the content. It tells how much it could not read, which it removes
// where discard is set.
func reseal(ctx context.Context, tx Tx, e *encryption, former []*encryption, discard bool) (unread int, err error) {
	for _, purpose := range sealedKeys {
		keys, err := tx.Keys(ctx, purpose)
		if err != nil {
			return 0, err
		}
		for _, k := range keys {
			n, err := resealKey(ctx, tx, k, e, former, discard)
			if err != nil {
				return 0, err
			}
			unread += n
		}
	}
	secrets, err := tx.Secrets(ctx)
	if err != nil {
		return 0, err
	}
	var changed []StoredSecret
	for _, s := range secrets {
		if _, err := e.open(s.Hidden, string(s.Owner)); err == nil {
			continue
		}
		plain, ok := openAny(former, s.Hidden, string(s.Owner))
		switch {
		case ok:
			s.Hidden = e.seal(plain, string(s.Owner))
			changed = append(changed, s)
		default:
			unread++
			s.Hidden = []byte{}
			if discard {
				changed = append(changed, s)
			}
		}
	}
	return unread, tx.PutSecrets(ctx, changed)
}

func resealKey(ctx context.Context, tx Tx, k Key, e *encryption, former []*encryption, discard bool) (unread int, err error) {
	if !k.Sealed {
		return 0, tx.PutKey(ctx, e.sealKey(k))
	}
	if _, err := e.openKey(k); err == nil {
		return 0, nil
	}
	plain, ok := openAny(former, k.Material, k.owner())
	switch {
	case ok:
		k.Material = plain
		return 0, tx.PutKey(ctx, e.sealKey(k))
	case discard:
		return 1, tx.DeleteKey(ctx, k.Purpose, k.ID)
	default:
		return 1, nil
	}
}

func openAny(all []*encryption, sealed []byte, owner string) ([]byte, bool) {
	for _, e := range all {
		if plain, err := e.open(sealed, owner); err == nil {
			return plain, true
		}
	}
	return nil, false
}

// A KeyChange says how the encryption key of a store is to change.
type KeyChange struct {
	Old     []byte // nil: the one that is kept in the store
	New     []byte
	Discard bool // remove what the old key does not decrypt
	Now     Time
}

// ChangeEncryptionKey encrypts everything in a store anew, all of it or nothing.
// It tells how much was discarded. Servers that run must be started with the
// new key: until then they are not ready, and store no secret.
func ChangeEncryptionKey(ctx context.Context, store Store, c KeyChange) (discarded int, err error) {
	err = store.Write(ctx, func(tx Tx) error {
		if err := tx.Lock(ctx, encryptionLock); err != nil {
			return err
		}
		discarded, err = c.apply(ctx, tx)
		return err
	})
	return discarded, err
}

func (c KeyChange) apply(ctx context.Context, tx Tx) (discarded int, err error) {
	own, err := tx.Keys(ctx, ownKeys)
	if err != nil {
		return 0, err
	}
	next, err := newEncryption(c.New)
	if err != nil {
		return 0, err
	}
	former := slices.Clone(own)
	if c.Old != nil {
		former = append(former, Key{Material: c.Old})
	}
	opened, err := encryptions(former)
	if err != nil {
		return 0, err
	}
	known, err := c.knows(ctx, tx, append(opened, next))
	if err != nil {
		return 0, err
	}
	if !known && !c.Discard {
		return 0, wrongKey("the database was encrypted with another key than --encryption-key names; if that key is lost, --discard removes what nobody can read any more")
	}
	unread, err := reseal(ctx, tx, next, opened, c.Discard)
	if err != nil {
		return 0, err
	}
	if unread > 0 && !c.Discard {
		return 0, wrongKey(fmt.Sprintf("%d secrets are encrypted with neither key: --discard removes them", unread))
	}
	if err := deleteKeys(ctx, tx, own); err != nil {
		return 0, err
	}
	return unread, tx.PutKey(ctx, next.check(c.Now))
}

// knows reports whether a store is encrypted with one of keys, or has never
// been checked.
func (KeyChange) knows(ctx context.Context, tx Tx, keys []*encryption) (bool, error) {
	for _, e := range keys {
		if present, same, err := e.matches(ctx, tx); err != nil || same || !present {
			return err == nil, err
		}
	}
	return false, nil
}
