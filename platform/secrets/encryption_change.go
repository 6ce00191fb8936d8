package secrets

import (
	"context"
	"fmt"
	"slices"

	"atrium/platform/core"
)

// reseal encrypts with e all keys and secrets that e does not decrypt, using the
// former encryptions to decrypt them. It returns how many none of them decrypts;
// if discard is set, it removes these.
func reseal(ctx context.Context, t Queries, tx core.Tx, e *Encryption, former []*Encryption, discard bool) (unread int, err error) {
	for _, purpose := range sealedKeys {
		keys, err := t.Keys(ctx, tx, purpose)
		if err != nil {
			return 0, err
		}
		for _, k := range keys {
			n, err := resealKey(ctx, t, tx, k, e, former, discard)
			if err != nil {
				return 0, err
			}
			unread += n
		}
	}
	secrets, err := t.Secrets(ctx, tx)
	if err != nil {
		return 0, err
	}
	var changed []core.StoredSecret
	for _, s := range secrets {
		if _, err := e.open(s.Encrypted, string(s.Owner)); err == nil {
			continue
		}
		plain, ok := openAny(former, s.Encrypted, string(s.Owner))
		switch {
		case ok:
			s.Encrypted = e.Seal(plain, string(s.Owner))
			changed = append(changed, s)
		default:
			unread++
			s.Encrypted = []byte{}
			if discard {
				changed = append(changed, s)
			}
		}
	}
	return unread, t.PutSecrets(ctx, tx, changed)
}

// resealKey encrypts one key with e, as reseal does.
func resealKey(ctx context.Context, t Queries, tx core.Tx, k core.Key, e *Encryption, former []*Encryption, discard bool) (unread int, err error) {
	if !k.Sealed {
		return 0, t.PutKey(ctx, tx, e.sealKey(k))
	}
	if e.opens(k) {
		return 0, nil
	}
	plain, ok := openAny(former, k.Material, ownerOf(k))
	switch {
	case ok:
		k.Material = plain
		return 0, t.PutKey(ctx, tx, e.sealKey(k))
	case discard:
		return 1, t.DeleteKey(ctx, tx, k.Purpose, k.ID)
	default:
		return 1, nil
	}
}

func openAny(all []*Encryption, sealed []byte, owner string) ([]byte, bool) {
	for _, e := range all {
		if plain, err := e.open(sealed, owner); err == nil {
			return plain, true
		}
	}
	return nil, false
}

// A KeyChange describes a change of the encryption key of a store.
type KeyChange struct {
	Old     []byte // the old key; nil means the one that the store keeps
	New     []byte
	Discard bool // whether secrets that the old key does not decrypt are removed
	Now     core.Time
}

// ChangeEncryptionKey encrypts all secrets of a store with a new key, in one
// transaction. It returns how many were discarded. Running servers that have the new key as
// Options.NextEncryptionKey go on. The others must be restarted with the new key: until then they are
// not ready and store no secrets.
func ChangeEncryptionKey(ctx context.Context, store core.Store, tables Queries, c KeyChange) (discarded int, err error) {
	err = store.Write(ctx, func(tx core.Tx) error {
		tx.Lock(encryptionLock)
		discarded, err = c.apply(ctx, tables, tx)
		return err
	})
	return discarded, err
}

func (c KeyChange) apply(ctx context.Context, t Queries, tx core.Tx) (discarded int, err error) {
	own, err := t.Keys(ctx, tx, ownKeys)
	if err != nil {
		return 0, err
	}
	next, err := newEncryption(c.New)
	if err != nil {
		return 0, err
	}
	former := slices.Clone(own)
	if c.Old != nil {
		former = append(former, core.Key{Material: c.Old})
	}
	opened, err := encryptions(former)
	if err != nil {
		return 0, err
	}
	current, present, err := findCurrent(ctx, t, tx, append(opened, next))
	if err != nil {
		return 0, err
	}
	if present && current == nil && !c.Discard {
		return 0, wrongKey("the database was encrypted with another key than --encryption-key; if that key is lost, use --discard to remove the secrets that cannot be decrypted")
	}
	unread, err := reseal(ctx, t, tx, next, opened, c.Discard)
	if err != nil {
		return 0, err
	}
	if unread > 0 && !c.Discard {
		return 0, wrongKey(fmt.Sprintf("%d secrets are encrypted with neither key; use --discard to remove them", unread))
	}
	if err := deleteKeys(ctx, t, tx, own); err != nil {
		return 0, err
	}
	return unread, t.PutKey(ctx, tx, next.check(c.Now))
}
