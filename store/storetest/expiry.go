package storetest

import (
	"context"
	"database/sql"
	"strings"

	_ "github.com/jackc/pgx/v5/stdlib" // This is the driver for plain SQL.
)

// ExpireBindings lets all role bindings expire that have an expiry time. It changes nothing else, as if
// only time had passed: no trigger notices it, and no process does.
func ExpireBindings(ctx context.Context, url string) (err error) {
	path, onSQLite := strings.CutPrefix(url, "sqlite:")
	driver, name := "pgx", Direct(url)
	if onSQLite {
		driver, name = "sqlite", "file:"+path+"?_pragma=busy_timeout(60000)&_txlock=immediate"
	}
	db, err := sql.Open(driver, name)
	if err != nil {
		return err
	}
	defer func() { _ = db.Close() }()
	tx, err := db.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	defer func() { _ = tx.Rollback() }()
	const trigger = "role_binding_authority_update"
	disable, enable, past := "ALTER TABLE role_binding DISABLE TRIGGER "+trigger, "ALTER TABLE role_binding ENABLE TRIGGER "+trigger, "'2001-01-01T00:00:00Z'"
	if onSQLite {
		if err := tx.QueryRowContext(ctx, "SELECT sql FROM sqlite_master WHERE name = '"+trigger+"'").Scan(&enable); err != nil {
			return err
		}
		disable, past = "DROP TRIGGER "+trigger, "978307200000"
	}
	for _, statement := range []string{disable, "UPDATE role_binding SET expire_time = " + past + " WHERE expire_time IS NOT NULL", enable} {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return err
		}
	}
	return tx.Commit()
}
