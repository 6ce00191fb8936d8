package sqlstore

import (
	"context"

	"atrium/platform"
)

// Keys gives the keys of a purpose, the oldest first.
func (s tables) Keys(ctx context.Context, purpose string) ([]platform.Key, error) {
	var keys []platform.Key
	q := s.dialect.statement().add("SELECT id, material, create_time FROM shared_key WHERE purpose = ? ORDER BY id", purpose)
	err := s.conn.Run(ctx, q.done(func(scan func(...any) error) error {
		k := platform.Key{Purpose: purpose}
		var id int64
		err := scan(&id, &k.Material, timeColumn{&k.CreateTime})
		k.ID = int(id)
		keys = append(keys, k)
		return err
	}))
	return keys, err
}

// EnsureKey adds a key unless another replica was faster.
func (s *Store) EnsureKey(ctx context.Context, k platform.Key) error {
	return s.engine.Write(ctx, func(tx TxConn) error {
		return tx.Run(ctx, s.dialect.statement().add("INSERT INTO shared_key (purpose, id, material, create_time) VALUES (?, ?, ?, ?) ON CONFLICT (purpose, id) DO NOTHING",
			k.Purpose, int64(k.ID), k.Material, k.CreateTime).done(nil))
	})
}
