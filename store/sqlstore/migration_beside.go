package sqlstore

import (
	"context"
	"database/sql"
	"errors"
	"fmt"
	"slices"
	"strings"
	"time"
)

// runConcurrently rebuilds the tables of PostgreSQL while servers of the previous
// version continue to use the old tables. A trigger on each old table copies their
// writes into the new table. Only the last step, which renames the tables, blocks
// these servers. After it they return errors until they are replaced by this
// version.
//
// It is not a single transaction. If it is interrupted, it starts from the beginning.
func (r rebuild) runConcurrently(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	b := concurrentRebuild{r, conn}
	types, err := b.texts(ctx, "SELECT data_type FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'grp' AND column_name = 'uid'")
	if err != nil || slices.Contains(types, "bytea") {
		return err // the last step had been done, but was not recorded
	}
	for _, step := range []func(context.Context) error{b.begin, b.copyRows, b.finishTables, b.replaceTables} {
		if err := step(ctx); err != nil {
			return err
		}
	}
	return nil
}

// A concurrentRebuild is a rebuild through one connection.
type concurrentRebuild struct {
	rebuild
	conn *sql.Conn
}

func (b concurrentRebuild) exec(ctx context.Context, statements ...string) error {
	return execAll(ctx, b.conn, statements)
}

func execAll(ctx context.Context, to interface {
	ExecContext(ctx context.Context, query string, args ...any) (sql.Result, error)
}, statements []string) error {
	for _, statement := range statements {
		if _, err := to.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}

// texts reads one column.
func (b concurrentRebuild) texts(ctx context.Context, query string) (found []string, err error) {
	rows, err := b.conn.QueryContext(ctx, query)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var text string
		if err := rows.Scan(&text); err != nil {
			return nil, err
		}
		found = append(found, text)
	}
	return found, rows.Err()
}

// lockWait limits how long a step waits for a lock, because servers wait behind it.
// lockTries limits the attempts of a step.
const (
	lockWait  = "SET LOCAL lock_timeout = '1s'"
	lockTries = 100
)

// transact runs statements in one transaction, and tries again after a lock timeout
// or a deadlock.
func (b concurrentRebuild) transact(ctx context.Context, statements ...string) error {
	return b.retry(ctx, func() error { return b.transactOnce(ctx, statements) })
}

// retry tries again after a lock timeout or a deadlock.
func (b concurrentRebuild) retry(ctx context.Context, step func() error) error {
	for try := 1; ; try++ {
		err := step()
		var state interface{ SQLState() string }
		if err == nil || try == lockTries || !errors.As(err, &state) || state.SQLState() != "55P03" && state.SQLState() != "40P01" {
			return err
		}
		select {
		case <-time.After(min(time.Duration(try)*50*time.Millisecond, time.Second)):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (b concurrentRebuild) transactOnce(ctx context.Context, statements []string) error {
	tx, err := b.conn.BeginTx(ctx, nil)
	if err != nil {
		return err
	}
	if err := execAll(ctx, tx, append([]string{lockWait}, statements...)); err != nil {
		return errors.Join(err, tx.Rollback())
	}
	return tx.Commit()
}

// decodeUID returns the PostgreSQL expression that converts the text of a UID into
// bytes.
func decodeUID(column string) string { return "decode(replace(" + column + ", '/', ''), 'hex')" }

// dropTriggers removes the triggers of all tables, with their functions.
func (b concurrentRebuild) dropTriggers() []string {
	drops := make([]string, len(b.tables))
	for i, t := range b.tables {
		drops[i] = "DROP FUNCTION IF EXISTS move_" + t.name + "() CASCADE"
	}
	return drops
}

// begin makes the new tables.
func (b concurrentRebuild) begin(ctx context.Context) error {
	if err := b.transact(ctx, b.dropTriggers()...); err != nil {
		return err
	}
	run := []string{"DROP TABLE IF EXISTS " + newPrefix + strings.Join(b.names(), ", "+newPrefix) + " CASCADE"}
	for _, t := range b.tables {
		run = append(run, b.addPrefix(t.ddl))
	}
	return b.exec(ctx, run...)
}

func (b concurrentRebuild) names() []string {
	names := make([]string, len(b.tables))
	for i, t := range b.tables {
		names[i] = t.name
	}
	return names
}

// copyRows copies the tables, each after those that it refers to. Groups refer to
// groups, so they are copied in one transaction with their trigger. This blocks
// changes of groups.
func (b concurrentRebuild) copyRows(ctx context.Context) error {
	for _, t := range b.tables {
		if t.name == "grp" {
			if err := b.transact(ctx, append(t.createTrigger(), t.insert()+"SELECT "+t.listValues("t", decodeUID)+" FROM grp t ORDER BY t.uid")...); err != nil {
				return err
			}
			continue
		}
		if err := b.transact(ctx, t.createTrigger()...); err != nil {
			return err
		}
		if err := b.copyBatches(ctx, t); err != nil {
			return err
		}
	}
	return nil
}

// createTrigger returns the statements for the trigger that copies the writes of
// servers.
func (t movedTable) createTrigger() []string {
	same, sets := make([]string, len(t.key)), make([]string, len(t.columns))
	for i, column := range t.key {
		same[i] = column + " = " + t.value("OLD", column, decodeUID)
	}
	for i, column := range t.columns {
		sets[i] = column + " = excluded." + column
	}
	name := "move_" + t.name
	return []string{
		"CREATE FUNCTION " + name + "() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN" +
			" IF TG_OP = 'DELETE' THEN DELETE FROM " + newPrefix + t.name + " WHERE " + strings.Join(same, " AND ") + "; RETURN NULL; END IF; " +
			t.insert() + "VALUES (" + t.listValues("NEW", decodeUID) + ") ON CONFLICT (" + strings.Join(t.key, ", ") + ") DO UPDATE SET " + strings.Join(sets, ", ") +
			"; RETURN NULL; END $$",
		"CREATE TRIGGER " + name + " AFTER INSERT OR UPDATE OR DELETE ON " + t.name + " FOR EACH ROW EXECUTE FUNCTION " + name + "()",
	}
}

// batchRows is the number of rows that are copied at once. Servers that change one
// of them wait.
const batchRows = 5000

// copyBatches copies the rows in the order of their keys. It locks them, so that no
// row is changed between being read and being copied.
func (b concurrentRebuild) copyBatches(ctx context.Context, t movedTable) error {
	marks, last := make([]string, len(t.key)), make([]any, len(t.key))
	for i := range t.key {
		marks[i], last[i] = fmt.Sprintf("$%d", i+1), ""
	}
	key := strings.Join(t.key, ", ")
	batch := fmt.Sprintf("WITH batch AS (SELECT * FROM %s WHERE (%s) > (%s) ORDER BY %s LIMIT %d FOR SHARE), moved AS (%sSELECT %s FROM batch t ON CONFLICT (%s) DO NOTHING) SELECT %s FROM batch ORDER BY %s LIMIT 1",
		t.name, key, strings.Join(marks, ", "), key, batchRows, t.insert(), t.listValues("t", decodeUID), key, key, strings.Join(t.key, " DESC, ")+" DESC")
	for {
		next := make([]string, len(t.key))
		to := make([]any, len(t.key))
		for i := range next {
			to[i] = &next[i]
		}
		switch err := b.conn.QueryRowContext(ctx, batch, last...).Scan(to...); {
		case errors.Is(err, sql.ErrNoRows):
			return nil
		case err != nil:
			return fmt.Errorf("copy the rows of %s: %w", t.name, err)
		}
		for i := range next {
			last[i] = next[i]
		}
	}
}

// finishTables makes the indexes and the statistics.
func (b concurrentRebuild) finishTables(ctx context.Context) error {
	var run []string
	for _, statement := range b.indexes {
		run = append(run, strings.Replace(b.addPrefix(statement), "INDEX ", "INDEX CONCURRENTLY ", 1))
	}
	for _, t := range b.tables {
		run = append(run, "VACUUM (ANALYZE) "+newPrefix+t.name)
	}
	return b.exec(ctx, run...)
}

// replaceTables replaces the old tables by the new ones, with the same privileges.
func (b concurrentRebuild) replaceTables(ctx context.Context) error {
	old := strings.Join(b.names(), ", ")
	grants, err := b.texts(ctx, `SELECT format('GRANT %s ON `+newPrefix+`%s TO %s', a.privilege_type, c.relname, CASE a.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(a.grantee)) END)
		FROM pg_class c, aclexplode(c.relacl) a WHERE c.relnamespace = current_schema()::regnamespace AND c.relname IN ('`+strings.Join(b.names(), "', '")+"')")
	if err != nil {
		return err
	}
	run := append([]string{"LOCK TABLE " + old + " IN ACCESS EXCLUSIVE MODE"}, b.dropTriggers()...)
	run = append(append(run, grants...), "DROP TABLE "+old)
	for _, name := range b.names() {
		run = append(run, "ALTER TABLE "+newPrefix+name+" RENAME TO "+name)
	}
	return b.transact(ctx, append(run, `DO $$ DECLARE r record; BEGIN
		FOR r IN SELECT relname AS name FROM pg_class WHERE relnamespace = current_schema()::regnamespace AND relkind = 'i' AND starts_with(relname, '`+newPrefix+`') LOOP
			EXECUTE format('ALTER INDEX %I RENAME TO %I', r.name, substr(r.name, `+fmt.Sprint(len(newPrefix)+1)+`));
		END LOOP;
		FOR r IN SELECT conname AS name, conrelid::regclass AS owner FROM pg_constraint WHERE connamespace = current_schema()::regnamespace AND starts_with(conname, '`+newPrefix+`') LOOP
			EXECUTE format('ALTER TABLE %s RENAME CONSTRAINT %I TO %I', r.owner, r.name, substr(r.name, `+fmt.Sprint(len(newPrefix)+1)+`));
		END LOOP;
	END $$`)...)
}
