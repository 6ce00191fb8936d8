package sqlstore

import (
	"context"

	"atrium/store/sqlstore/table"
)

// Size returns the size of the database in bytes.
func (s tables) Size(ctx context.Context) (bytes int64, err error) {
	q := table.NewStatement(s.Dialect).Add("SELECT " + s.Dialect.Size)
	err = s.Conn.Run(ctx, q.Build(func(scan func(...any) error) error { return scan(&bytes) }))
	return bytes, err
}
