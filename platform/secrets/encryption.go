package platform

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
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

// opens reports whether a key is encrypted with e.
func (e *encryption) opens(k Key) bool {
	_, err := e.open(k.Material, k.owner())
	return err == nil
}

func (k Key) owner() string { return k.Purpose + "/" + strconv.Itoa(k.ID) }

// check returns the encrypted known text, which shows that a store is encrypted
// with e.
func (e *encryption) check(now Time) Key {
	return e.sealKey(Key{ID: 1, Purpose: checkKeys, Material: []byte(checkContent), CreateTime: now})
}

// findCurrent returns which of all a store is encrypted with, or nil if it is none of them. present is
// false if the store has no check yet.
func findCurrent(ctx context.Context, t KeyQueries, on Conn, all []*encryption) (current *encryption, present bool, err error) {
	checks, err := t.Keys(ctx, on, checkKeys)
	if err != nil || len(checks) == 0 {
		return nil, false, err
	}
	for _, e := range all {
		if e.opens(checks[0]) {
			return e, true, nil
		}
	}
	return nil, true, nil
}

// Secrets encrypts the secrets of resources and the keys that replicas share.
type Secrets struct {
	*Core
	tables  KeyQueries
	options SecretOptions
	known   []*encryption // those that this process knows, of which the store has one; nil if SecretOptions.NoSecrets is set
}

// SecretOptions are the settings of the encryption.
type SecretOptions struct {
	EncryptionKey     []byte // AES-256 key that encrypts secrets in the store; nil means a key in the database
	NextEncryptionKey []byte // the key to which ChangeEncryptionKey changes the store while this process runs; nil means none
	NoSecrets         bool   // keys are neither read nor created, and page tokens are valid only in this process
}

// newSecrets loads the encryption keys.
func newSecrets(ctx context.Context, core *Core, tables KeyQueries, options SecretOptions) (*Secrets, error) {
	p := &Secrets{Core: core, tables: tables, options: options}
	return p, p.openEncryption(ctx)
}

// openEncryption loads the encryption keys, or creates one if there is none. A lock serialises
// replicas that start at the same time.
func (p *Secrets) openEncryption(ctx context.Context) error {
	if p.options.NoSecrets {
		return nil
	}
	err := p.store.Write(ctx, func(tx Tx) (err error) {
		tx.Lock(encryptionLock)
		p.known, err = p.establishEncryptions(ctx, tx)
		return err
	})
	if err == nil && p.options.EncryptionKey == nil && p.options.NextEncryptionKey == nil {
		p.logger.Warn("secrets are encrypted with a key kept in the database; set --encryption-key to keep it elsewhere")
	}
	return err
}

// establishEncryptions returns the encryptions that this process knows. It fails unless the store has one of
// them. A new store has no check yet and gets that of the first.
func (p *Secrets) establishEncryptions(ctx context.Context, tx Tx) ([]*encryption, error) {
	own, err := p.tables.Keys(ctx, tx, ownKeys)
	if err != nil {
		return nil, err
	}
	keys, err := p.encryptionKeys(ctx, tx, own)
	if err != nil {
		return nil, err
	}
	known, err := encryptions(keys)
	if err != nil {
		return nil, err
	}
	current, present, err := findCurrent(ctx, p.tables, tx, known)
	switch {
	case err != nil || current != nil:
		return known, err
	case !present:
		return known, p.tables.PutKey(ctx, tx, known[0].check(p.now()))
	case len(own) > 0:
		return nil, wrongKey("the database has its own encryption key, which differs from --encryption-key; start without --encryption-key, or run `atrium change-encryption-key` first")
	case len(known) == 0:
		return nil, wrongKey("the database was encrypted with an --encryption-key, but none is given; start with that key")
	default:
		return nil, wrongKey("the database was encrypted with another --encryption-key; start with that key, or run `atrium change-encryption-key` with both keys")
	}
}

// encryptionKeys returns the keys of the options. In place of --encryption-key it returns the store's own key, which
// a new store gets.
func (p *Secrets) encryptionKeys(ctx context.Context, tx Tx, own []Key) ([]Key, error) {
	keys := own
	if p.options.EncryptionKey != nil {
		keys = []Key{{Material: p.options.EncryptionKey}}
	}
	if len(keys) == 0 {
		made, err := p.makeOwnKey(ctx, tx)
		if err != nil {
			return nil, err
		}
		keys = made
	}
	if p.options.NextEncryptionKey != nil {
		keys = append(slices.Clip(keys), Key{Material: p.options.NextEncryptionKey})
	}
	return keys, nil
}

// makeOwnKey gives a new store a key of its own. It does nothing to a store that has been encrypted.
func (p *Secrets) makeOwnKey(ctx context.Context, tx Tx) ([]Key, error) {
	if checks, err := p.tables.Keys(ctx, tx, checkKeys); err != nil || len(checks) > 0 {
		return nil, err
	}
	made, err := newAESKey()
	if err != nil {
		return nil, err
	}
	key := Key{ID: 1, Purpose: ownKeys, Material: made, CreateTime: p.now()}
	return []Key{key}, p.tables.PutKey(ctx, tx, key)
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

func deleteKeys(ctx context.Context, t KeyQueries, tx Tx, keys []Key) error {
	for _, k := range keys {
		if err := t.DeleteKey(ctx, tx, k.Purpose, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// currentEncryption returns the encryption of the store, which is one of those that this process
// knows. In a transaction that holds encryptionLock, the result stays valid.
func (p *Secrets) currentEncryption(ctx context.Context, r Conn) (*encryption, error) {
	current, _, err := findCurrent(ctx, p.tables, r, p.known)
	if err == nil && current == nil {
		err = Unavailable("the encryption key of the database was changed: restart this server with the new one", nil)
	}
	return current, err
}

// checkEncryption fails if this process no longer knows the key with which the store is encrypted.
func (p *Secrets) checkEncryption(ctx context.Context, r Conn) error {
	if p.known == nil {
		return nil
	}
	_, err := p.currentEncryption(ctx, r)
	return err
}

var errNoSecrets = errors.New("this command has no encryption key")

// encryptSecret encrypts a secret of a resource that tx stores. The encryption key does not change until
// tx ends.
func (p *Secrets) encryptSecret(ctx context.Context, tx Tx, secret string, owner UID) ([]byte, error) {
	current, err := p.lockEncryption(ctx, tx)
	if err != nil {
		return nil, err
	}
	return current.seal([]byte(secret), string(owner)), nil
}

// lockEncryption returns the encryption of the store, which does not change until tx ends.
func (p *Secrets) lockEncryption(ctx context.Context, tx Tx) (*encryption, error) {
	if p.known == nil {
		return nil, errNoSecrets
	}
	tx.LockShared(encryptionLock)
	return p.currentEncryption(ctx, tx)
}

// decryptSecret decrypts the result of encryptSecret for the same owner.
func (p *Secrets) decryptSecret(hidden []byte, owner UID) (string, error) {
	if p.known == nil {
		return "", errNoSecrets
	}
	secret, ok := openAny(p.known, hidden, string(owner))
	if !ok {
		return "", fmt.Errorf("a secret of %s cannot be decrypted", owner)
	}
	return string(secret), nil
}
