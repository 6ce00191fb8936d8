package sqlstore

import (
	"context"
	"database/sql"
)

// noteFixTimes is migration 17. It stores when the existing advisories were fixed.
func noteFixTimes(ctx context.Context, tx *sql.Tx, dialect *Dialect) error {
	update := withPlaceholders(dialect, "UPDATE advisory SET fix_time = ? WHERE uid = ?")
	for after := []byte{}; ; {
		some, err := readAdvisoriesAfter(ctx, tx, dialect, after)
		if err != nil {
			return err
		}
		for _, a := range some {
			after = a.key
			fixed := a.FixTime()
			if fixed.IsZero() {
				continue
			}
			if _, err := tx.ExecContext(ctx, update, dialect.BindTime(fixed), a.key); err != nil {
				return err
			}
		}
		if len(some) < advisoriesAtOnce {
			return nil
		}
	}
}
