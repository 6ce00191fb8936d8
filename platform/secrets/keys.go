package secrets

import (
	"cmp"
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/x509"
	"errors"
	"fmt"
	"slices"

	"atrium/platform/core"
)

// Queries read and write keys in other ways than a Table does.
type Queries interface {
	// Keys reads the keys of a purpose as they are stored, oldest first.
	Keys(ctx context.Context, on core.Conn, purpose string) ([]core.Key, error)

	// PutKey adds or replaces a key; DeleteKey removes one, if it is there.
	PutKey(ctx context.Context, tx core.Tx, k core.Key) error

	DeleteKey(ctx context.Context, tx core.Tx, purpose string, id int) error

	// Secrets reads all encrypted secrets of resources. PutSecrets replaces them;
	// it removes a secret without content.
	Secrets(ctx context.Context, tx core.Tx) ([]core.StoredSecret, error)

	PutSecrets(ctx context.Context, tx core.Tx, secrets []core.StoredSecret) error
}

// keys reads and decrypts the keys of a purpose, oldest first.
func (p *Secrets) keys(ctx context.Context, r core.Conn, purpose string) ([]core.Key, error) {
	if p.known == nil {
		return nil, errNoSecrets
	}
	keys, err := p.tables.Keys(ctx, r, purpose)
	if err != nil {
		return nil, err
	}
	for i, k := range keys {
		if !k.Sealed {
			continue
		}
		material, ok := openAny(p.known, k.Material, ownerOf(k))
		if !ok {
			return nil, cmp.Or(p.CheckEncryption(ctx, r), fmt.Errorf("key %s cannot be decrypted", ownerOf(k)))
		}
		keys[i].Material, keys[i].Sealed = material, false
	}
	return keys, nil
}

// EnsureKeys returns the keys of a purpose. It creates one if there are none.
func (p *Secrets) EnsureKeys(ctx context.Context, purpose string, newKey func() ([]byte, error)) ([]core.Key, error) {
	keys, err := p.keys(ctx, p.Store, purpose)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	return p.changeKeys(ctx, purpose, newKey, func(keys []core.Key) (bool, error) { return len(keys) == 0, nil })
}

// changeKeys adds a key of a purpose if wanted returns true, and returns all keys
// of the purpose. A lock serializes replicas.
func (p *Secrets) changeKeys(ctx context.Context, purpose string, newKey func() ([]byte, error), wanted func([]core.Key) (bool, error)) (keys []core.Key, err error) {
	if p.known == nil {
		return nil, errNoSecrets
	}
	material, err := newKey()
	if err != nil {
		return nil, err
	}
	ctx = core.WithConditions(ctx, nil) // the keys are of all callers
	err = p.Store.Write(ctx, func(tx core.Tx) error {
		tx.Lock(encryptionLock)
		current, err := p.currentEncryption(ctx, tx)
		if err != nil {
			return err
		}
		if keys, err = p.keys(ctx, tx, purpose); err != nil {
			return err
		}
		if add, err := wanted(keys); err != nil || !add {
			return err
		}
		made := core.Key{ID: 1, Purpose: purpose, Material: material, CreateTime: p.Now()}
		if len(keys) > 0 {
			made.ID = keys[len(keys)-1].ID + 1
		}
		keys = append(keys, made)
		if slices.Contains(sealedKeys, purpose) {
			made = current.sealKey(made)
		}
		return p.tables.PutKey(ctx, tx, made)
	})
	return keys, err
}

func newAESKey() ([]byte, error) {
	b := make([]byte, 32)
	_, err := rand.Read(b)
	return b, err
}

// NewSigningKey makes an ECDSA key on P-256 in PKCS #8.
func NewSigningKey() ([]byte, error) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		return nil, err
	}
	return x509.MarshalPKCS8PrivateKey(key)
}

// DevelopmentKey returns the PKCS #8 key that signs development tokens. It is
// stored unencrypted in the database. Only a server in development mode creates
// it; others get nil if there is none.
func (p *Secrets) DevelopmentKey(ctx context.Context) ([]byte, error) {
	var keys []core.Key
	var err error
	if p.options.NoSecrets {
		keys, err = p.tables.Keys(ctx, p.Store, developmentKeys)
	} else {
		keys, err = p.EnsureKeys(ctx, developmentKeys, NewSigningKey)
	}
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return keys[len(keys)-1].Material, nil
}

// PageTokenKeys reads the keys of page tokens.
func (p *Secrets) PageTokenKeys(ctx context.Context) ([]core.Key, error) {
	if !p.options.NoSecrets {
		return p.EnsureKeys(ctx, tokenKeys, newAESKey)
	}
	material, err := newAESKey()
	return []core.Key{{ID: 1, Purpose: tokenKeys, Material: material}}, err
}

// Rotate adds a key that seals new page tokens. Existing tokens stay valid.
func (p *Secrets) Rotate(ctx context.Context) error {
	_, err := p.changeKeys(ctx, tokenKeys, newAESKey, func(keys []core.Key) (bool, error) {
		if len(keys) > 0 && keys[len(keys)-1].ID == 255 { // the id is one byte of a token
			return false, errors.New("the 255 page token keys are used up")
		}
		return true, nil
	})
	return err
}
