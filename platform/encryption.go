package platform

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"strconv"
)

// The secrets of resources and the keys that replicas share are encrypted with
// one key, which is Options.EncryptionKey or is kept in the store. A known text is
// encrypted too: a process that cannot decrypt it has the wrong key.

// Purposes of keys in the store.
const (
	tokenKeys       = "page-token"
	webhookKeys     = "webhook"
	developmentKeys = "development-issuer" // keys for demonstrations only, which are not encrypted
	ownKeys         = "secrets"            // keys that encrypt the others if there is no --encryption-key
	checkKeys       = "encryption-check"
)

// sealedKeys are the purposes whose keys are encrypted.
var sealedKeys = []string{tokenKeys, webhookKeys}

const (
	checkContent = "atrium"
	// encryptionLock makes writers of encrypted data wait while the encryption
	// key is changed.
	encryptionLock UID = "encryption"
)

// An encryption encrypts texts for the store. The owner of a text is part of the
// encryption: decrypting needs the same owner.
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

// check returns the encrypted known text, which shows that a store is encrypted
// with e.
func (e *encryption) check(now Time) Key {
	return e.sealKey(Key{ID: 1, Purpose: checkKeys, Material: []byte(checkContent), CreateTime: now})
}

// matches reports whether a store is encrypted with e. present is false if the
// store has no check yet.
func (e *encryption) matches(ctx context.Context, r Reader) (present, same bool, err error) {
	checks, err := r.Keys(ctx, checkKeys)
	if err != nil || len(checks) == 0 {
		return false, false, err
	}
	_, err = e.openKey(checks[0])
	return true, err == nil, nil
}

// openEncryption loads the encryption key, or creates one if there is none. A lock serialises
// replicas that start at the same time.
func (p *Platform) openEncryption(ctx context.Context) error {
	if p.options.NoSecrets {
		return nil
	}
	if p.options.EncryptionKey == nil {
		p.options.Logger.Warn("secrets are encrypted with a key kept in the database; set --encryption-key to keep it elsewhere")
	}
	return p.store.Write(ctx, func(tx Tx) (err error) {
		if err = tx.Lock(ctx, encryptionLock); err == nil {
			p.secrets, err = p.establishEncryption(ctx, tx)
		}
		return err
	})
}

// establishEncryption returns the encryption of a store if its key is that of the
// options. A new store has no check yet and gets one.
func (p *Platform) establishEncryption(ctx context.Context, tx Tx) (*encryption, error) {
	material := p.options.EncryptionKey
	own, err := tx.Keys(ctx, ownKeys)
	if err != nil {
		return nil, err
	}
	if material == nil && len(own) == 0 {
		if checks, err := tx.Keys(ctx, checkKeys); err != nil || len(checks) > 0 {
			return nil, errors.Join(err, wrongKey("the database was encrypted with an --encryption-key, but none is given; start with that key"))
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
		return nil, wrongKey("the database has its own encryption key, which differs from --encryption-key; start without --encryption-key, or run `atrium change-encryption-key` first")
	case present && !same:
		return nil, wrongKey("the database was encrypted with another --encryption-key; start with that key, or run `atrium change-encryption-key` with both keys")
	case present:
		return e, nil
	}
	return e, tx.PutKey(ctx, e.check(p.now()))
}

func wrongKey(description string) error {
	e := failedPrecondition("ENCRYPTION_KEY", "--encryption-key", description)
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

// checkEncryption fails if the store is no longer encrypted with the key of this
// process. In a transaction that holds encryptionLock, the result stays valid.
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

// lockEncryption prevents changes of the encryption key until tx ends. It must be
// called before encrypted data is stored.
func (p *Platform) lockEncryption(ctx context.Context, tx Tx) error {
	if err := tx.LockShared(ctx, encryptionLock); err != nil {
		return err
	}
	return p.checkEncryption(ctx, tx)
}

var errNoSecrets = errors.New("this command has no encryption key")

// encryptSecret encrypts a secret of a resource for the store.
func (p *Platform) encryptSecret(secret string, owner UID) ([]byte, error) {
	if p.secrets == nil {
		return nil, errNoSecrets
	}
	return p.secrets.seal([]byte(secret), string(owner)), nil
}

// decryptSecret decrypts the result of encryptSecret for the same owner.
func (p *Platform) decryptSecret(hidden []byte, owner UID) (string, error) {
	if p.secrets == nil {
		return "", errNoSecrets
	}
	secret, err := p.secrets.open(hidden, string(owner))
	if err != nil {
		return "", fmt.Errorf("a secret of %s cannot be decrypted: %w", owner, err)
	}
	return string(secret), nil
}
