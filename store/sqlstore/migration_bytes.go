package sqlstore

import (
	"context"
	"database/sql"
	"fmt"
	"regexp"
	"slices"
	"strings"

	"github.com/pressly/goose/v3"
)

// A rebuild is migration 10. It copies the rows of tables into new tables, in which
// UIDs are bytes, and replaces the old tables by them. Until then the new tables
// have names with a prefix.
type rebuild struct {
	tables  []movedTable // tables, each after those that it refers to
	indexes []string     // statements that create the indexes once the rows are copied
}

// A movedTable is a table in the file of migration 10.
type movedTable struct {
	name    string
	ddl     string
	columns []string
	uids    []string // the columns that hold UIDs
	key     []string // columns of the primary key
}

// indexesFollow separates the tables of the file from their indexes.
const indexesFollow = "-- +indexes"

var (
	tablePattern   = regexp.MustCompile(`(?s)CREATE TABLE (\w+) \(\n(.*?)\n\);`)
	columnPattern  = regexp.MustCompile(`(?m)^    ([a-z_0-9]+) (\S+)`)
	singleKey      = regexp.MustCompile(`(?m)^    (\w+) .*PRIMARY KEY`)
	severalKeys    = regexp.MustCompile(`(?m)^    PRIMARY KEY \((.*)\)`)
	commentPattern = regexp.MustCompile(`(?m)^--.*\n`)
)

// parseRebuild parses a file, adapted to a dialect.
func parseRebuild(file string, dialect *Dialect) rebuild {
	var r rebuild
	tables, indexes, _ := strings.Cut(file, indexesFollow)
	for _, found := range tablePattern.FindAllStringSubmatch(tables, -1) {
		t := movedTable{name: found[1], ddl: dialect.DDL.Replace(found[0])}
		for _, column := range columnPattern.FindAllStringSubmatch(found[2], -1) {
			t.columns = append(t.columns, column[1])
			if column[2] == "{uid}" || column[2] == "{uid}," {
				t.uids = append(t.uids, column[1])
			}
		}
		if key := severalKeys.FindStringSubmatch(found[2]); key != nil {
			t.key = strings.Split(key[1], ", ")
		} else {
			t.key = singleKey.FindStringSubmatch(found[2])[1:]
		}
		r.tables = append(r.tables, t)
	}
	r.indexes = splitStatements(dialect.DDL.Replace(indexes))
	return r
}

// newPrefix is the prefix of the names of new tables and indexes until they replace
// the old ones.
const newPrefix = "new_"

// addPrefix adds the prefix to the names of the tables and indexes in a statement.
func (r rebuild) addPrefix(statement string) string {
	for _, t := range r.tables {
		for _, before := range []string{"CREATE TABLE ", "ALTER TABLE ", "REFERENCES ", " ON "} {
			statement = strings.ReplaceAll(statement, before+t.name+" ", before+newPrefix+t.name+" ")
		}
	}
	return strings.Replace(statement, "INDEX ", "INDEX "+newPrefix, 1)
}

// listValues lists the values of a row for the columns of the new table.
func (t movedTable) listValues(row string, packed func(column string) string) string {
	values := make([]string, len(t.columns))
	for i, column := range t.columns {
		values[i] = t.value(row, column, packed)
	}
	return strings.Join(values, ", ")
}

func (t movedTable) value(row, column string, packed func(column string) string) string {
	if value := row + "." + column; slices.Contains(t.uids, column) {
		return packed(value)
	}
	return row + "." + column
}

func (t movedTable) insert() string {
	return "INSERT INTO " + newPrefix + t.name + " (" + strings.Join(t.columns, ", ") + ") "
}

// packUIDs is migration 10. It runs concurrently with servers if the dialect
// supports it, and otherwise in one transaction.
func packUIDs(file string, dialect *Dialect) *goose.GoFunc {
	r := parseRebuild(file, dialect)
	if dialect.Triggers {
		return &goose.GoFunc{RunDB: r.runConcurrently}
	}
	return &goose.GoFunc{RunTx: r.runInTransaction}
}

// runInTransaction rebuilds the tables of SQLite.
func (r rebuild) runInTransaction(ctx context.Context, tx *sql.Tx) error {
	unhex := func(column string) string { return "unhex(" + column + ", '/')" }
	var run []string
	for _, t := range r.tables {
		run = append(run, r.addPrefix(t.ddl), t.insert()+"SELECT "+t.listValues("t", unhex)+" FROM "+t.name+" t ORDER BY t."+strings.Join(t.key, ", t."))
	}
	for _, t := range slices.Backward(r.tables) { // no remaining table refers to a dropped one
		run = append(run, "DROP TABLE "+t.name)
	}
	for _, t := range r.tables {
		run = append(run, "ALTER TABLE "+newPrefix+t.name+" RENAME TO "+t.name)
	}
	for _, statement := range append(run, r.indexes...) {
		if _, err := tx.ExecContext(ctx, statement); err != nil {
			return fmt.Errorf("%s: %w", statement, err)
		}
	}
	return nil
}
