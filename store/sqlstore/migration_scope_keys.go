package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

// A scopeKeys is migration 32. It adds keys of scopes to the rows of large kinds.
type scopeKeys struct {
	add     string   // statements that add the columns
	indexes []string // statements that create the indexes of the columns
	drop    []string // statements that remove what the columns replace
}

// keyedTables are the tables of migration 32.
var keyedTables = []string{"identity", "role_binding", "repo", "tag", "advisory"}

// dropFollows separates the indexes of the file from what is removed.
const dropFollows = "-- +drop"

// addScopeKeys is migration 32. It runs concurrently with servers if the dialect
// supports it, and otherwise in one transaction.
func addScopeKeys(file string, dialect *Dialect) *goose.GoFunc {
	text := dialect.DDL.Replace(file)
	add, rest, _ := strings.Cut(text, indexesFollow)
	indexes, drop, _ := strings.Cut(rest, dropFollows)
	k := scopeKeys{add, splitStatements(indexes), splitStatements(drop)}
	if dialect.Triggers {
		return &goose.GoFunc{RunDB: k.runConcurrently}
	}
	return &goose.GoFunc{RunTx: k.runInTransaction}
}

// splitStatements returns the statements of a text, without comments.
func splitStatements(text string) []string {
	var all []string
	for _, statement := range strings.Split(commentPattern.ReplaceAllString(text, ""), ";") {
		if statement = strings.TrimSpace(statement); statement != "" {
			all = append(all, statement)
		}
	}
	return all
}

// runConcurrently changes PostgreSQL while servers of the previous version run. A trigger
// fills the columns of the rows that they write. Only the first and the last step block
// them, for a moment. After the last step they return errors until they are replaced by
// this version.
//
// It is not a single transaction. If it is interrupted, the next run resumes it.
func (k scopeKeys) runConcurrently(ctx context.Context, db *sql.DB) error {
	conn, err := db.Conn(ctx)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	b := concurrentRebuild{conn: conn}
	columns, err := b.texts(ctx, "SELECT column_name FROM information_schema.columns WHERE table_schema = current_schema() AND table_name = 'tag'")
	if err != nil {
		return err
	}
	if !slices.Contains(columns, "rest") {
		if err := b.transact(ctx, k.add); err != nil {
			return err
		}
	} else if !slices.Contains(columns, "g2") {
		return nil // the last step had been done, but was not recorded
	}
	for _, table := range keyedTables {
		if err := b.fillKeys(ctx, table); err != nil {
			return err
		}
	}
	for _, statement := range k.indexes {
		name := strings.Fields(statement)[2]
		if err := b.exec(ctx, "DROP INDEX CONCURRENTLY IF EXISTS "+name, strings.Replace(statement, "INDEX ", "INDEX CONCURRENTLY ", 1)); err != nil {
			return err
		}
	}
	for _, table := range keyedTables {
		if err := b.exec(ctx, "VACUUM (ANALYZE) "+table); err != nil {
			return err
		}
	}
	return b.transact(ctx, append([]string{"LOCK TABLE " + strings.Join(keyedTables, ", ") + " IN ACCESS EXCLUSIVE MODE"}, k.drop...)...)
}

// fillKeys lets the trigger fill the columns of the existing rows, in batches.
func (b concurrentRebuild) fillKeys(ctx context.Context, table string) error {
	batch := fmt.Sprintf("WITH batch AS (SELECT uid FROM %[1]s WHERE uid > $1 ORDER BY uid LIMIT %[2]d), filled AS (UPDATE %[1]s t SET rest = NULL FROM batch b WHERE t.uid = b.uid AND t.rest IS NULL)"+
		" SELECT uid FROM batch ORDER BY uid DESC LIMIT 1", table, batchRows)
	for after := []byte{}; ; {
		var last []byte
		err := b.retry(ctx, func() error {
			rows, err := b.conn.QueryContext(ctx, batch, after)
			if err != nil {
				return err
			}
			defer func() { _ = rows.Close() }()
			for rows.Next() {
				if err := rows.Scan(&last); err != nil {
					return err
				}
			}
			return rows.Err()
		})
		if err != nil {
			return fmt.Errorf("fill the keys of %s: %w", table, err)
		}
		if last == nil {
			return nil
		}
		after = last
	}
}

// runInTransaction changes SQLite.
func (k scopeKeys) runInTransaction(ctx context.Context, tx *sql.Tx) error {
	if err := execAll(ctx, tx, []string{k.add}); err != nil {
		return err
	}
	for _, table := range keyedTables {
		if err := fillKeysInTransaction(ctx, tx, table); err != nil {
			return fmt.Errorf("fill the keys of %s: %w", table, err)
		}
	}
	return execAll(ctx, tx, append(slices.Clone(k.indexes), k.drop...))
}

// fillKeysInTransaction fills the columns of the rows of a table, without a trigger.
func fillKeysInTransaction(ctx context.Context, tx *sql.Tx, table string) error {
	update, err := tx.PrepareContext(ctx, "UPDATE "+table+" SET root_key = ?, parent_key = ?, g2_key = ?, g3_key = ?, rest = ?, local = ? WHERE uid = ?")
	if err != nil {
		return err
	}
	defer func() { _ = update.Close() }()
	for after, full := []byte{}, true; full; {
		rows, err := readAncestry(ctx, tx, table, after)
		if err != nil {
			return err
		}
		for _, row := range rows {
			if _, err := update.ExecContext(ctx, row.keys()...); err != nil {
				return err
			}
			after = row.uid
		}
		full = len(rows) == batchRows
	}
	return nil
}

// An ancestry is what the keys of a row are computed from.
type ancestry struct{ uid, root, parent []byte }

// keys returns the values of the columns, and the UID.
func (a ancestry) keys() []any {
	values := []any{hashScope(a.root, keyLength), hashScope(a.parent, parentKeyLength), nil, nil, a.uid[rootLength:], a.uid[len(a.uid)-segmentLength:], a.uid}
	for i, length := range []int{rootLength + segmentLength, rootLength + 2*segmentLength} {
		if len(a.parent) >= length {
			values[2+i] = hashScope(a.parent[:length], keyLength)
		}
	}
	return values
}

// readAncestry reads the next batch of rows after a UID.
func readAncestry(ctx context.Context, tx *sql.Tx, table string, after []byte) (found []ancestry, err error) {
	rows, err := tx.QueryContext(ctx, "SELECT uid, root, parent FROM "+table+" WHERE uid > ? ORDER BY uid LIMIT ?", after, batchRows)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var row ancestry
		if err := rows.Scan(&row.uid, &row.root, &row.parent); err != nil {
			return nil, err
		}
		found = append(found, row)
	}
	return found, rows.Err()
}
