// Package idempotency stores the answers to creations with idempotency keys.
package idempotency

import (
	"context"

	"atrium/platform/core"
	"atrium/store/sqlstore/table"
)

// Queries implements core.IdempotencyQueries.
type Queries struct{}

// ClaimKey stores a key without an answer, forgets keys whose time is over, and returns what is stored under the key. The insert waits
// for another transaction with the same key, whose answer the select then finds.
func (Queries) ClaimKey(ctx context.Context, in core.Tx, k core.KeyedAnswer) (stored core.KeyedAnswer, err error) {
	tx := table.SourceOf(in)
	stored = k
	err = tx.Conn.Run(ctx,
		table.NewStatement(tx.Dialect).Add("DELETE FROM idempotency_key WHERE expire_time < ?", k.CreateTime).Build(nil),
		table.NewStatement(tx.Dialect).Add("INSERT INTO idempotency_key (id, fingerprint, answer, expire_time) VALUES (?, ?, '', ?) ON CONFLICT DO NOTHING",
			k.ID[:], k.Fingerprint[:], k.ExpireTime).Build(nil),
		table.NewStatement(tx.Dialect).Add("SELECT fingerprint, answer FROM idempotency_key WHERE id = ?", k.ID[:]).Build(func(scan func(...any) error) error {
			var fingerprint []byte
			var answer string
			err := scan(&fingerprint, &answer)
			copy(stored.Fingerprint[:], fingerprint)
			stored.Answer = []byte(answer)
			return err
		}))
	return stored, err
}

// PutAnswer stores the answer under a claimed key.
func (Queries) PutAnswer(ctx context.Context, in core.Tx, k core.KeyedAnswer) error {
	tx := table.SourceOf(in)
	return tx.Conn.Run(ctx, table.NewStatement(tx.Dialect).Add("UPDATE idempotency_key SET answer = ? WHERE id = ?", string(k.Answer), k.ID[:]).Build(nil))
}
