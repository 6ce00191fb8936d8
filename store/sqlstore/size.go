package sqlstore

import "context"

// Size returns the size of the database in bytes.
func (s tables) Size(ctx context.Context) (bytes int64, err error) {
	q := newStatement(s.dialect).add("SELECT " + s.dialect.Size)
	err = s.conn.Run(ctx, q.build(func(scan func(...any) error) error { return scan(&bytes) }))
	return bytes, err
}
