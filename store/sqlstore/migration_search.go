package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"atrium/platform"
)

// textsAtOnce is how many rows the migration of search texts holds at once.
const textsAtOnce = 1000

// fillSearchTexts is migration 14. It computes the search texts of the existing rows.
func fillSearchTexts(ctx context.Context, tx *sql.Tx, dialect *Dialect) error {
	for _, t := range []struct{ table, columns string }{
		{"grp", "name, description, ''"}, {"identity", "name, description, email || '\n' || email_unverified"}, {"role", "name, description, ''"}, {"repo", "name, description, aliases"},
	} {
		read := withPlaceholders(dialect, "SELECT uid, "+t.columns+" FROM "+t.table+" WHERE uid > ? ORDER BY uid LIMIT ?")
		for after, full := []byte{}, true; full; {
			texts, err := readSearchTexts(ctx, tx, read, t.table, after)
			if err != nil {
				return fmt.Errorf("read the texts of %s: %w", t.table, err)
			}
			if err := writeSearchTexts(ctx, tx, dialect, t.table, texts); err != nil {
				return fmt.Errorf("write the search texts of %s: %w", t.table, err)
			}
			if full = len(texts) == textsAtOnce; full {
				after = texts[len(texts)-1].key
			}
		}
	}
	return nil
}

// A keyedText is the search text of a row, with the row's primary key.
type keyedText struct {
	key     []byte
	content string
}

// writeSearchTexts writes texts, with one statement if the engine accepts arrays.
func writeSearchTexts(ctx context.Context, tx *sql.Tx, dialect *Dialect, table string, texts []keyedText) error {
	keys, contents := make([][]byte, len(texts)), make([]string, len(texts))
	for i, text := range texts {
		keys[i], contents[i] = text.key, text.content
	}
	if !dialect.Trigrams {
		_, err := tx.ExecContext(ctx, "UPDATE "+table+" t SET search = v.content FROM unnest($1::bytea[], $2::text[]) v(uid, content) WHERE t.uid = v.uid", keys, contents)
		return err
	}
	for i := range keys {
		if _, err := tx.ExecContext(ctx, "UPDATE "+table+" SET search = ? WHERE uid = ?", contents[i], keys[i]); err != nil {
			return err
		}
	}
	return nil
}

// readSearchTexts reads the next batch of rows after a key, and computes their texts.
func readSearchTexts(ctx context.Context, tx *sql.Tx, read, table string, after []byte) (texts []keyedText, err error) {
	rows, err := tx.QueryContext(ctx, read, after, textsAtOnce)
	if err != nil {
		return nil, err
	}
	defer func() { _ = rows.Close() }()
	for rows.Next() {
		var key []byte
		var name, description, more string
		if err := rows.Scan(&key, &name, &description, &more); err != nil {
			return nil, err
		}
		found := []string{name, description}
		switch table {
		case "identity":
			found = append(found, strings.Split(more, "\n")...)
		case "repo":
			var aliases []string
			if err := (jsonColumn{&aliases}).ScanBytes([]byte(more)); err != nil {
				return nil, err
			}
			found = append(found, aliases...)
		}
		texts = append(texts, keyedText{key, platform.SearchText(found...)})
	}
	return texts, rows.Err()
}
