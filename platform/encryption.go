package platform

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"strconv"
)

// Secrets of resources and the keys that replicas share are encrypted in the
// store with one key, which is Options.EncryptionKey or kept in the store. A
// text of which everybody knows the content is encrypted too: whoever cannot
// read it has another key.

// Purposes of keys in the store.
const (
	tokenKeys       = "page-token"
	webhookKeys     = "webhook"
	developmentKeys = "development-issuer" // is for demonstrations only, and stays readable
	ownKeys         = "secrets"            // encrypt the others, where there is no --encryption-key
	checkKeys       = "encryption-check"
)

// sealedKeys are the purposes whose keys are encrypted.
var sealedKeys = []string{tokenKeys, webhookKeys}

const (
	checkContent = "atrium"
	// encryptionLock makes whoever stores what is encrypted wait for a change
	// of the encryption key.
	encryptionLock UID = "encryption"
)

// An encryption encrypts for storage. Owner says whose a text is, and must be
// the same when it is read.
type encryption struct{ aead cipher.AEAD }

func newEncryption(material []byte) (*encryption, error) {
	block, err := aes.NewCipher(material)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &encryption{aead}, err
}

func (e *encryption) seal(plain []byte, owner string) []byte {
	return e.aead.Seal(nil, nil, plain, []byte(owner))
}

func (e *encryption) open(sealed []byte, owner string) ([]byte, error) {
	return e.aead.Open(nil, nil, sealed, []byte(owner))
}

// sealKey encrypts the material of a key.
func (e *encryption) sealKey(k Key) Key {
	k.Material, k.Sealed = e.seal(k.Material, k.owner()), true
	return k
}

// openKey decrypts the material of a key that is encrypted.
func (e *encryption) openKey(k Key) (Key, error) {
	if !k.Sealed {
		return k, nil
	}
	material, err := e.open(k.Material, k.owner())
	k.Material, k.Sealed = material, false
	return k, err
}

func (k Key) owner() string { return k.Purpose + "/" + strconv.Itoa(k.ID) }

// check is what tells whether a store is encrypted with e.
func (e *encryption) check(now Time) Key {
	return e.sealKey(Key{ID: 1, Purpose: checkKeys, Material: []byte(checkContent), CreateTime: now})
}

// matches compares e with the check of a store; present is false where the
// store has none.
func (e *encryption) matches(ctx context.Context, r Reader) (present, same bool, err error) {
	checks, err := r.Keys(ctx, checkKeys)
	if err != nil || len(checks) == 0 {
		return false, false, err
	}
	_, err = e.openKey(checks[0])
	return true, err == nil, nil
}

// openEncryption finds the encryption key, and makes one where there is none.
// What an older program has left readable is encrypted. Replicas that start at
// once do so one after the other.
func (p *Platform) openEncryption(ctx context.Context) error {
	if p.options.NoSecrets {
		return nil
	}
	if p.options.EncryptionKey == nil {
		p.options.Logger.Warn("secrets are encrypted with a key kept in the database; set --encryption-key to keep it elsewhere")
	}
	return p.store.Write(ctx, func(tx Tx) (err error) {
		if err = tx.Lock(ctx, encryptionLock); err == nil {
			p.secrets, err = p.adopt(ctx, tx)
		}
		return err
	})
}

// adopt gives the encryption of a store, where it is that of the options, and
// brings the store to it where it has never been checked.
func (p *Platform) adopt(ctx context.Context, tx Tx) (*encryption, error) {
	material := p.options.EncryptionKey
	own, err := tx.Keys(ctx, ownKeys)
	if err != nil {
		return nil, err
	}
	if material == nil && len(own) == 0 {
		if checks, err := tx.Keys(ctx, checkKeys); err != nil || len(checks) > 0 {
			return nil, errors.Join(err, wrongKey("the database was encrypted with an --encryption-key, and none is given: start with that one"))
		}
		made, err := newAESKey()
		if err != nil {
			return nil, err
		}
		own = []Key{{ID: 1, Purpose: ownKeys, Material: made, CreateTime: p.now()}}
		if err := tx.PutKey(ctx, own[0]); err != nil {
			return nil, err
		}
	}
	if material == nil {
		material = own[len(own)-1].Material
	}
	e, err := newEncryption(material)
	if err != nil {
		return nil, err
	}
	present, same, err := e.matches(ctx, tx)
	switch {
	case err != nil:
		return nil, err
	case present && !same && len(own) > 0:
		return nil, wrongKey("the database keeps its own encryption key, which is not --encryption-key: start without it, or run `atrium change-encryption-key` first")
	case present && !same:
		return nil, wrongKey("the database was encrypted with another --encryption-key: start with that one, or run `atrium change-encryption-key` with both")
	case present:
		return e, resealKeys(ctx, tx, e)
	}
	return e, p.firstCheck(ctx, tx, e, own)
}

// firstCheck brings a store without a check to its encryption. An older program
// may have used the store's own keys and another one after each other.
func (p *Platform) firstCheck(ctx context.Context, tx Tx, e *encryption, own []Key) error {
	former, err := encryptions(own)
	if err != nil {
		return err
	}
	unread, err := reseal(ctx, tx, e, former, false)
	if err != nil {
		return err
	}
	if unread > 0 {
		return wrongKey(fmt.Sprintf("%d secrets in the database were encrypted with another key: start with that one, or run `atrium change-encryption-key` with both", unread))
	}
	if p.options.EncryptionKey != nil {
		if err := deleteKeys(ctx, tx, own); err != nil {
			return err
		}
	}
	return tx.PutKey(ctx, e.check(p.now()))
}

func wrongKey(description string) error {
	e := blocked("ENCRYPTION_KEY", "--encryption-key", description)
	e.Reason = "ENCRYPTION_KEY_MISMATCH"
	return e
}

func encryptions(keys []Key) ([]*encryption, error) {
	all := make([]*encryption, len(keys))
	for i, k := range keys {
		var err error
		if all[i], err = newEncryption(k.Material); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func deleteKeys(ctx context.Context, tx Tx, keys []Key) error {
	for _, k := range keys {
		if err := tx.DeleteKey(ctx, k.Purpose, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// resealKeys encrypts the keys that are still readable.
func resealKeys(ctx context.Context, tx Tx, e *encryption) error {
	for _, purpose := range sealedKeys {
		keys, err := tx.Keys(ctx, purpose)
		if err != nil {
			return err
		}
		for _, k := range keys {
			if k.Sealed {
				continue
			}
			if err := tx.PutKey(ctx, e.sealKey(k)); err != nil {
				return err
			}
		}
	}
	return nil
}

// checkEncryption reports whether the store is still encrypted with the key of
// this process. In a transaction that shares encryptionLock, it stays so.
func (p *Platform) checkEncryption(ctx context.Context, r Reader) error {
	if p.secrets == nil {
		return nil
	}
	_, same, err := p.secrets.matches(ctx, r)
	if err == nil && !same {
		err = Unavailable("the encryption key of the database was changed: restart this server with the new one", nil)
	}
	return err
}

// holdEncryption keeps the encryption key from changing until tx ends. It must
// be called before anything encrypted is stored.
func (p *Platform) holdEncryption(ctx context.Context, tx Tx) error {
	if err := tx.LockShared(ctx, encryptionLock); err != nil {
		return err
	}
	return p.checkEncryption(ctx, tx)
}

var errNoSecrets = errors.New("this command has no encryption key")

// hide encrypts a secret for storage; owner says whose it is, and must be the
// same when it is read.
func (p *Platform) hide(secret string, owner UID) ([]byte, error) {
	if p.secrets == nil {
		return nil, errNoSecrets
	}
	return p.secrets.seal([]byte(secret), string(owner)), nil
}

// reveal decrypts what hide has encrypted.
func (p *Platform) reveal(hidden []byte, owner UID) (string, error) {
	if p.secrets == nil {
		return "", errNoSecrets
	}
	secret, err := p.secrets.open(hidden, string(owner))
	if err != nil {
		return "", fmt.Errorf("a secret of %s cannot be decrypted: %w", owner, err)
	}
	return string(secret), nil
}
