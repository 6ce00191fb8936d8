// Package secret stores the keys that servers share, and rewrites the secrets that are encrypted with them.
package secret

import (
	"context"

	"atrium/platform/core"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/sqlstore/table"
)

// Queries implements secrets.Tables.
type Queries struct{}

// Keys returns the keys of a purpose, the oldest first.
func (Queries) Keys(ctx context.Context, on core.Conn, purpose string) ([]core.Key, error) {
	s := table.SourceOf(on)
	var keys []core.Key
	q := table.NewStatement(s.Dialect).Add("SELECT id, material, sealed, create_time FROM shared_key WHERE purpose = ? ORDER BY id", purpose)
	err := s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
		k := core.Key{Purpose: purpose}
		var id int64
		err := scan(&id, &k.Material, &k.Sealed, table.TimeOf(&k.CreateTime))
		k.ID = int(id)
		keys = append(keys, k)
		return err
	}))
	return keys, err
}

// PutKey adds or replaces a key.
func (Queries) PutKey(ctx context.Context, in core.Tx, k core.Key) error {
	tx := table.SourceOf(in)
	q := table.NewStatement(tx.Dialect).Add("INSERT INTO shared_key (purpose, id, material, sealed, create_time) VALUES (?, ?, ?, ?, ?)",
		k.Purpose, int64(k.ID), k.Material, k.Sealed, k.CreateTime)
	q.Add(" ON CONFLICT (purpose, id) DO UPDATE SET material = excluded.material, sealed = excluded.sealed")
	return tx.Conn.Run(ctx, q.Build(nil))
}

// DeleteKey removes a key if it exists.
func (Queries) DeleteKey(ctx context.Context, in core.Tx, purpose string, id int) error {
	tx := table.SourceOf(in)
	q := table.NewStatement(tx.Dialect).Add("DELETE FROM shared_key WHERE purpose = ? AND id = ?", purpose, int64(id))
	return tx.Conn.Run(ctx, q.Build(nil))
}

// A secretColumn holds an encrypted secret of each row of a table, or nothing.
type secretColumn struct{ table, column string }

var secretColumns = []secretColumn{{"subscription", "secret"}, {"subscription", "old_secret"}, {"identity_provider", "client_secret"}, {"source", "password"}}

// Secrets reads every encrypted secret.
func (Queries) Secrets(ctx context.Context, in core.Tx) ([]core.StoredSecret, error) {
	tx := table.SourceOf(in)
	var found []core.StoredSecret
	for place, c := range secretColumns {
		q := table.NewStatement(tx.Dialect).Add("SELECT uid, " + c.column + " FROM " + c.table + " WHERE length(" + c.column + ") > 0")
		err := tx.Conn.Run(ctx, q.Build(func(scan func(...any) error) error {
			s := core.StoredSecret{Place: place}
			err := scan(table.UIDOf(&s.Owner), &s.Encrypted)
			found = append(found, s)
			return err
		}))
		if err != nil {
			return nil, err
		}
	}
	return found, nil
}

// PutSecrets replaces secrets that Secrets has read.
func (Queries) PutSecrets(ctx context.Context, in core.Tx, secrets []core.StoredSecret) error {
	tx := table.SourceOf(in)
	run := make([]*dbconn.Statement, len(secrets))
	for i, s := range secrets {
		c := secretColumns[s.Place]
		run[i] = table.NewStatement(tx.Dialect).Add("UPDATE "+c.table+" SET "+c.column+" = ? WHERE uid = ?", s.Encrypted, s.Owner).Build(nil)
	}
	if len(run) == 0 {
		return nil
	}
	return tx.Conn.Run(ctx, run...)
}
