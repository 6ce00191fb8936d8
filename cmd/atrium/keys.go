package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"atrium/platform"
	"atrium/platform/core"
	"atrium/platform/secrets"
	"atrium/store"
)

// keyFlags set the encryption key of the database.
type keyFlags struct {
	EncryptionKey string `secret:"" placeholder:"KEY" help:"Key that encrypts secrets in the database: 32 bytes in hex or base64. Without it, a key in the database is used."`

	key []byte
}

func (k *keyFlags) check(f *faults) {
	k.key = encryptionKey(f, "encryption-key", k.EncryptionKey)
}

// keyChangeFlags set the encryption key of the database and the one that replaces it.
type keyChangeFlags struct {
	keyFlags
	NewEncryptionKey string `secret:"" placeholder:"KEY" help:"Key that atrium admin change-encryption-key puts in place of --encryption-key, in the same form. Servers that have both keys keep running during the change."`

	newKey []byte
}

func (k *keyChangeFlags) check(f *faults) {
	k.keyFlags.check(f)
	k.newKey = encryptionKey(f, "new-encryption-key", k.NewEncryptionKey)
	if k.key != nil && slices.Equal(k.key, k.newKey) {
		f.add("new-encryption-key", "must differ from --encryption-key")
	}
}

type rotateKeysCommand struct {
	databaseFlags
	keyChangeFlags
}

func (c *rotateKeysCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyChangeFlags.check(f)
}

func (c *rotateKeysCommand) run(ctx context.Context, p program) error {
	db, err := c.openExisting(ctx, platform.Options{EncryptionKey: c.key, NextEncryptionKey: c.newKey})
	if err != nil {
		return err
	}
	defer db.close()
	if err := db.RotateKeys(ctx); err != nil {
		return err
	}
	_, err = fmt.Fprintln(p.stdout, "running servers seal new page tokens with the new key within 10 minutes; existing ones stay valid")
	return err
}

type changeEncryptionKeyCommand struct {
	databaseFlags
	keyChangeFlags
	Discard bool `help:"Remove the secrets that --encryption-key cannot decrypt, because their key is lost."`
}

func (c *changeEncryptionKeyCommand) check(f *faults) {
	c.databaseFlags.check(f)
	c.keyChangeFlags.check(f)
	f.require("new-encryption-key", c.NewEncryptionKey)
}

// Help returns the detailed help.
func (c *changeEncryptionKeyCommand) Help() string {
	return `Encrypts all secrets in the database with --new-encryption-key, in one transaction. Without --encryption-key it replaces the
key that is stored in the database.

The command may run while servers use the database. Servers that have both keys keep running. Restart the others with the
new key as --encryption-key afterwards: until then, /readyz answers 503, they store no secrets, and deliveries of events wait.

With --discard, a subscription whose secret was removed gets no events until its secret is rotated, and the client secret
of an identity provider must be set again.`
}

func (c *changeEncryptionKeyCommand) run(ctx context.Context, p program) error {
	if err := c.exists(); err != nil {
		return err
	}
	s, err := store.Open(ctx, c.DatabaseURL, store.Options{})
	if err != nil {
		return err
	}
	change := secrets.KeyChange{Old: c.key, New: c.newKey, Discard: c.Discard, Now: core.At(time.Now())}
	discarded, err := secrets.ChangeEncryptionKey(ctx, s, s.Tables().Secrets, change)
	if err := errors.Join(err, s.Close()); err != nil {
		return err
	}
	if discarded > 0 {
		_, err = fmt.Fprintf(p.stdout, "removed %d secrets and keys that could not be decrypted\n", discarded)
	}
	_, said := fmt.Fprintln(p.stdout, "the database is encrypted with the new key; restart every server with it as --encryption-key, and without --new-encryption-key")
	return errors.Join(err, said)
}
