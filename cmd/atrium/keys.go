package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"atrium/platform"
	"atrium/store"
)

// keyFlags name the key that the database is encrypted with.
type keyFlags struct {
	EncryptionKey string `placeholder:"KEY" help:"Key of secrets at rest: 32 bytes in hex or base64. Without it the database keeps one."`

	key []byte
}

func (k *keyFlags) check(f *faults) {
	k.key = encryptionKey(f, "encryption-key", k.EncryptionKey)
}

type rotateKeysCommand struct {
	databaseFlags
	keyFlags
}

func (c *rotateKeysCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyFlags.check(f)
}

func (c *rotateKeysCommand) run(ctx context.Context, p program) error {
	db, err := c.openExisting(ctx, platform.Options{EncryptionKey: c.key})
	if err != nil {
		return err
	}
	defer db.close()
	if err := db.RotateKeys(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, "new page tokens are sealed with a new key; those given out stay good")
	return err
}

type changeEncryptionKeyCommand struct {
	databaseFlags
	keyFlags
	NewEncryptionKey string `placeholder:"KEY" help:"Key that replaces it, in the same form. Required."`
	Discard          bool   `help:"Remove what the former key does not decrypt, where that key is lost."`

	newKey []byte
}

func (c *changeEncryptionKeyCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyFlags.check(f)
	f.required("new-encryption-key", c.NewEncryptionKey)
	c.newKey = encryptionKey(f, "new-encryption-key", c.NewEncryptionKey)
	if c.key != nil && slices.Equal(c.key, c.newKey) {
		f.add("new-encryption-key", "must differ from --encryption-key")
	}
}

// Help tells what the flags cannot.
func (c *changeEncryptionKeyCommand) Help() string {
	return `Encrypts everything secret in the database with another key, all of it or nothing. Without --encryption-key it replaces
the key that the database keeps itself.

It may run beside servers, which must then be started again with the new key. Until then /readyz answers 503, they store no
secret, and deliveries of events wait.

With --discard, subscriptions whose secret was removed get no events until the secret is rotated, and identity providers
need their client secret again.`
}

func (c *changeEncryptionKeyCommand) run(ctx context.Context, p program) error {
	if err := c.exists(); err != nil {
		return err
	}
	s, err := store.Open(ctx, c.DatabaseURL, store.Options{})
	if err != nil {
		return err
	}
	change := platform.KeyChange{Old: c.key, New: c.newKey, Discard: c.Discard, Now: platform.At(time.Now())}
	discarded, err := platform.ChangeEncryptionKey(ctx, s, change)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if discarded > 0 {
		_, err = fmt.Fprintf(p.stdout, "%d secrets and keys that could not be decrypted are removed\n", discarded)
	}
	_, said := fmt.Fprintln(p.stdout, "the database is encrypted with the new key: start every server again with it as --encryption-key")
	return errors.Join(err, said)
}
