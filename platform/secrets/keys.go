package platform

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
)

// KeyQueries read and write keys in other ways than a Table does.
type KeyQueries interface {
	// Keys reads the keys of a purpose as they are stored, oldest first.
	Keys(ctx context.Context, on Conn, purpose string) ([]Key, error)

	// PutKey adds or replaces a key; DeleteKey removes one, if it is there.
	PutKey(ctx context.Context, tx Tx, k Key) error

	DeleteKey(ctx context.Context, tx Tx, purpose string, id int) error

	// Secrets reads all encrypted secrets of resources. PutSecrets replaces them;
	// it removes a secret without content.
	Secrets(ctx context.Context, tx Tx) ([]StoredSecret, error)

	PutSecrets(ctx context.Context, tx Tx, secrets []StoredSecret) error
}

// keys reads and decrypts the keys of a purpose, oldest first.
func (p *Secrets) keys(ctx context.Context, r Conn, purpose string) ([]Key, error) {
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
		material, ok := openAny(p.known, k.Material, k.owner())
		if !ok {
			return nil, cmp.Or(p.checkEncryption(ctx, r), fmt.Errorf("key %s cannot be decrypted", k.owner()))
		}
		keys[i].Material, keys[i].Sealed = material, false
	}
	return keys, nil
}

// ensureKeys returns the keys of a purpose. It creates one if there are none.
func (p *Secrets) ensureKeys(ctx context.Context, purpose string, newKey func() ([]byte, error)) ([]Key, error) {
	keys, err := p.keys(ctx, p.store, purpose)
	if err != nil || len(keys) > 0 {
		return keys, err
	}
	return p.changeKeys(ctx, purpose, newKey, func(keys []Key) (bool, error) { return len(keys) == 0, nil })
}

// changeKeys adds a key of a purpose if wanted returns true, and returns all keys
// of the purpose. A lock serialises replicas.
func (p *Secrets) changeKeys(ctx context.Context, purpose string, newKey func() ([]byte, error), wanted func([]Key) (bool, error)) (keys []Key, err error) {
	if p.known == nil {
		return nil, errNoSecrets
	}
	material, err := newKey()
	if err != nil {
		return nil, err
	}
	err = p.store.Write(ctx, func(tx Tx) error {
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
		made := Key{ID: 1, Purpose: purpose, Material: material, CreateTime: p.now()}
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

// newSigningKey makes an ECDSA key on P-256 in PKCS #8.
func newSigningKey() ([]byte, error) {
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
	var keys []Key
	var err error
	if p.options.NoSecrets {
		keys, err = p.tables.Keys(ctx, p.store, developmentKeys)
	} else {
		keys, err = p.ensureKeys(ctx, developmentKeys, newSigningKey)
	}
	if err != nil || len(keys) == 0 {
		return nil, err
	}
	return keys[len(keys)-1].Material, nil
}

// pageTokenKeys reads the keys of page tokens.
func (p *Secrets) pageTokenKeys(ctx context.Context) ([]Key, error) {
	if !p.options.NoSecrets {
		return p.ensureKeys(ctx, tokenKeys, newAESKey)
	}
	material, err := newAESKey()
	return []Key{{ID: 1, Purpose: tokenKeys, Material: material}}, err
}

// rotate adds a key that seals new page tokens. Existing tokens stay valid.
func (p *Secrets) rotate(ctx context.Context) error {
	_, err := p.changeKeys(ctx, tokenKeys, newAESKey, func(keys []Key) (bool, error) {
		if len(keys) > 0 && keys[len(keys)-1].ID == 255 { // the id is one byte of a token
			return false, errors.New("the 255 page token keys are used up")
		}
		return true, nil
	})
	return err
}
