package secrets

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"errors"
	"fmt"
	"slices"
	"strconv"

	"atrium/platform/core"
)

// The secrets of resources and the keys that replicas share are encrypted with
// one key, which is Options.EncryptionKey or is kept in the store. A known text is
// encrypted too: a process that cannot decrypt it has the wrong key.

// Purposes of keys in the store.
const (
	tokenKeys       = "page-token"
	WebhookKeys     = "webhook"
	developmentKeys = "development-issuer" // keys for demonstrations only, which are not encrypted
	ownKeys         = "secrets"            // keys that encrypt the others if there is no --encryption-key
	checkKeys       = "encryption-check"
)

// sealedKeys are the purposes whose keys are encrypted.
var sealedKeys = []string{tokenKeys, WebhookKeys}

const (
	checkContent = "atrium"
	// encryptionLock makes writers of encrypted data wait while the encryption
	// key is changed.
	encryptionLock core.UID = "encryption"
)

// An Encryption encrypts texts for the store. The owner of a text is part of the
// encryption: decrypting needs the same owner.
type Encryption struct{ aead cipher.AEAD }

func newEncryption(material []byte) (*Encryption, error) {
	block, err := aes.NewCipher(material)
	if err != nil {
		return nil, err
	}
	aead, err := cipher.NewGCMWithRandomNonce(block)
	return &Encryption{aead}, err
}

// Seal encrypts a text of an owner.
func (e *Encryption) Seal(plain []byte, owner string) []byte {
	return e.aead.Seal(nil, nil, plain, []byte(owner))
}

func (e *Encryption) open(sealed []byte, owner string) ([]byte, error) {
	return e.aead.Open(nil, nil, sealed, []byte(owner))
}

// sealKey encrypts the material of a key.
func (e *Encryption) sealKey(k core.Key) core.Key {
	k.Material, k.Sealed = e.Seal(k.Material, ownerOf(k)), true
	return k
}

// opens reports whether a key is encrypted with e.
func (e *Encryption) opens(k core.Key) bool {
	_, err := e.open(k.Material, ownerOf(k))
	return err == nil
}

func ownerOf(k core.Key) string { return k.Purpose + "/" + strconv.Itoa(k.ID) }

// check returns the encrypted known text, which shows that a store is encrypted
// with e.
func (e *Encryption) check(now core.Time) core.Key {
	return e.sealKey(core.Key{ID: 1, Purpose: checkKeys, Material: []byte(checkContent), CreateTime: now})
}

// findCurrent returns which of all a store is encrypted with, or nil if it is none of them. present is
// false if the store has no check yet.
func findCurrent(ctx context.Context, t Queries, on core.Conn, all []*Encryption) (current *Encryption, present bool, err error) {
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
	*core.Core
	tables  Queries
	options Options
	known   []*Encryption // those that this process knows, of which the store has one; nil if Options.NoSecrets is set
}

// Options are the settings of the encryption.
type Options struct {
	EncryptionKey     []byte // AES-256 key that encrypts secrets in the store; nil means a key in the database
	NextEncryptionKey []byte // the key to which ChangeEncryptionKey changes the store while this process runs; nil means none
	NoSecrets         bool   // keys are neither read nor created, and page tokens are valid only in this process
}

// New loads the encryption keys.
func New(ctx context.Context, core *core.Core, tables Queries, options Options) (*Secrets, error) {
	p := &Secrets{Core: core, tables: tables, options: options}
	return p, p.openEncryption(ctx)
}

// openEncryption loads the encryption keys, or creates one if there is none. A lock serializes
// replicas that start at the same time.
func (p *Secrets) openEncryption(ctx context.Context) error {
	if p.options.NoSecrets {
		return nil
	}
	err := p.Store.Write(ctx, func(tx core.Tx) (err error) {
		tx.Lock(encryptionLock)
		p.known, err = p.establishEncryptions(ctx, tx)
		return err
	})
	if err == nil && p.options.EncryptionKey == nil && p.options.NextEncryptionKey == nil {
		p.Logger.Warn("secrets are encrypted with a key kept in the database; set --encryption-key to keep it elsewhere")
	}
	return err
}

// establishEncryptions returns the encryptions that this process knows. It fails unless the store has one of
// them. A new store has no check yet and gets that of the first.
func (p *Secrets) establishEncryptions(ctx context.Context, tx core.Tx) ([]*Encryption, error) {
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
		return known, p.tables.PutKey(ctx, tx, known[0].check(p.Now()))
	case len(own) > 0:
		return nil, wrongKey("the database has its own encryption key, which differs from --encryption-key; start without --encryption-key, or run `atrium admin change-encryption-key` first")
	case len(known) == 0:
		return nil, wrongKey("the database was encrypted with an --encryption-key, but none is given; start with that key")
	default:
		return nil, wrongKey("the database was encrypted with another --encryption-key; start with that key, or run `atrium admin change-encryption-key` with both keys")
	}
}

// encryptionKeys returns the keys of the options. In place of --encryption-key it returns the store's own key, which
// a new store gets.
func (p *Secrets) encryptionKeys(ctx context.Context, tx core.Tx, own []core.Key) ([]core.Key, error) {
	keys := own
	if p.options.EncryptionKey != nil {
		keys = []core.Key{{Material: p.options.EncryptionKey}}
	}
	if len(keys) == 0 {
		made, err := p.makeOwnKey(ctx, tx)
		if err != nil {
			return nil, err
		}
		keys = made
	}
	if p.options.NextEncryptionKey != nil {
		keys = append(slices.Clip(keys), core.Key{Material: p.options.NextEncryptionKey})
	}
	return keys, nil
}

// makeOwnKey gives a new store a key of its own. It does nothing to a store that has been encrypted.
func (p *Secrets) makeOwnKey(ctx context.Context, tx core.Tx) ([]core.Key, error) {
	if checks, err := p.tables.Keys(ctx, tx, checkKeys); err != nil || len(checks) > 0 {
		return nil, err
	}
	made, err := newAESKey()
	if err != nil {
		return nil, err
	}
	key := core.Key{ID: 1, Purpose: ownKeys, Material: made, CreateTime: p.Now()}
	return []core.Key{key}, p.tables.PutKey(ctx, tx, key)
}

func wrongKey(description string) error {
	e := core.FailedPrecondition("ENCRYPTION_KEY", "--encryption-key", description)
	e.Reason = "ENCRYPTION_KEY_MISMATCH"
	return e
}

func encryptions(keys []core.Key) ([]*Encryption, error) {
	all := make([]*Encryption, len(keys))
	for i, k := range keys {
		var err error
		if all[i], err = newEncryption(k.Material); err != nil {
			return nil, err
		}
	}
	return all, nil
}

func deleteKeys(ctx context.Context, t Queries, tx core.Tx, keys []core.Key) error {
	for _, k := range keys {
		if err := t.DeleteKey(ctx, tx, k.Purpose, k.ID); err != nil {
			return err
		}
	}
	return nil
}

// currentEncryption returns the encryption of the store, which is one of those that this process
// knows. In a transaction that holds encryptionLock, the result stays valid.
func (p *Secrets) currentEncryption(ctx context.Context, r core.Conn) (*Encryption, error) {
	current, _, err := findCurrent(ctx, p.tables, r, p.known)
	if err == nil && current == nil {
		err = core.Unavailable("the encryption key of the database was changed: restart this server with the new one", nil)
	}
	return current, err
}

// CheckEncryption fails if this process no longer knows the key with which the store is encrypted.
func (p *Secrets) CheckEncryption(ctx context.Context, r core.Conn) error {
	if p.known == nil {
		return nil
	}
	_, err := p.currentEncryption(ctx, r)
	return err
}

var errNoSecrets = errors.New("this command has no encryption key")

// EncryptSecret encrypts a secret of a resource that tx stores. The encryption key does not change until
// tx ends.
func (p *Secrets) EncryptSecret(ctx context.Context, tx core.Tx, secret string, owner core.UID) ([]byte, error) {
	current, err := p.LockEncryption(ctx, tx)
	if err != nil {
		return nil, err
	}
	return current.Seal([]byte(secret), string(owner)), nil
}

// LockEncryption returns the encryption of the store, which does not change until tx ends.
func (p *Secrets) LockEncryption(ctx context.Context, tx core.Tx) (*Encryption, error) {
	if p.known == nil {
		return nil, errNoSecrets
	}
	tx.LockShared(encryptionLock)
	return p.currentEncryption(ctx, tx)
}

// DecryptSecret decrypts the result of EncryptSecret for the same owner.
func (p *Secrets) DecryptSecret(hidden []byte, owner core.UID) (string, error) {
	if p.known == nil {
		return "", errNoSecrets
	}
	secret, ok := openAny(p.known, hidden, string(owner))
	if !ok {
		return "", fmt.Errorf("a secret of %s cannot be decrypted", owner)
	}
	return string(secret), nil
}
