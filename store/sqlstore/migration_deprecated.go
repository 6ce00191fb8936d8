package sqlstore

import (
	"context"
	"database/sql"

	"atrium/platform"
)

// countDeprecated is the second half of migration 35. It counts the deprecated tags.
func countDeprecated(ctx context.Context, tx *sql.Tx, dialect *Dialect) error {
	rows, err := tx.QueryContext(ctx, "SELECT uid FROM tag WHERE is_deprecated")
	if err != nil {
		return err
	}
	defer func() { _ = rows.Close() }()
	counted := deltas{}
	for rows.Next() {
		var key []byte
		if err := rows.Scan(&key); err != nil {
			return err
		}
		uid, _ := platform.UnpackUID(key)
		counted.count(deprecatedTags, uid, false, 0, 1)
	}
	if err := rows.Err(); err != nil {
		return err
	}
	return insertCounters(ctx, tx, dialect, counted)
}
