package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"strings"

	"github.com/pressly/goose/v3"
)

// indexEventTypes is migration 36. Making an index blocks writes to its table. Therefore each
// partition of PostgreSQL gets its indexes in a transaction of its own. The file then makes the
// indexes of the whole table. They consist of those that the partitions have already.
func indexEventTypes(file string, dialect *Dialect) *goose.GoFunc {
	text := dialect.DDL.Replace(file)
	if !dialect.Partitions {
		return &goose.GoFunc{RunTx: func(ctx context.Context, tx *sql.Tx) error {
			_, err := tx.ExecContext(ctx, text)
			return err
		}}
	}
	return &goose.GoFunc{RunDB: func(ctx context.Context, db *sql.DB) error {
		conn, err := db.Conn(ctx)
		if err != nil {
			return err
		}
		defer func() { _ = conn.Close() }()
		b := concurrentRebuild{conn: conn}
		partitions, err := b.texts(ctx, "SELECT inhrelid::regclass::text FROM pg_inherits WHERE inhparent = 'event'::regclass ORDER BY 1")
		if err != nil {
			return err
		}
		for _, name := range partitions {
			own := strings.NewReplacer(" event_log", " "+name, " ON event ", " ON "+name+" ").Replace(text)
			if err := b.transact(ctx, own); err != nil && !isMissingTable(err) {
				return err
			}
		}
		return b.transact(ctx, text)
	}}
}

// isMissingTable reports whether err says that a table does not exist, such as a partition that
// a server has dropped because its events are old.
func isMissingTable(err error) bool {
	var state interface{ SQLState() string }
	return errors.As(err, &state) && state.SQLState() == "42P01"
}
