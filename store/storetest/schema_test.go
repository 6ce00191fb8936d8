package storetest_test

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"atrium/platform/core"
	"atrium/store"
	"atrium/store/storetest"
)

// readNewestSchema returns the number of the newest schema, as messages have it.
func readNewestSchema(t *testing.T, url string) string {
	t.Helper()
	states := must[[]store.MigrationState](t)(store.Migrations(t.Context(), url))
	return fmt.Sprintf("%05d", states[len(states)-1].Version)
}

// expectSchemaError expects an error that names both schemas and says what to do.
func expectSchemaError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, &core.Error{Code: core.CodeFailedPrecondition, Reason: "SCHEMA_MISMATCH"}) {
		t.Fatalf("got %v, want a SCHEMA_MISMATCH", err)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("%q does not say %q", err, part)
		}
	}
}

func TestADatabaseOfANewerProgramIsRejected(t *testing.T) {
	onEachEngine(t, func(t *testing.T, w *world) {
		if err := w.p.Ready(t.Context()); err != nil {
			t.Fatal(err)
		}
		says := []string{"schema 70001", "schemas up to " + readNewestSchema(t, w.url), "a newer atrium has migrated the database, run that one", "a build before 0.1.0"}
		w.exec(w.openDirect(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (70001, true)")
		_, err := store.Open(t.Context(), w.url, store.Options{})
		expectSchemaError(t, err, says...)
		expectSchemaError(t, store.Migrate(t.Context(), w.url, nil), says...)
		// A running process is no longer ready.
		expectSchemaError(t, w.p.Ready(t.Context()), says...)
		states, err := store.Migrations(t.Context(), w.url)
		expectSchemaError(t, err, says...)
		if len(states) == 0 {
			t.Error("the migrations that are known are not listed")
		}
	})
}

func TestADatabaseOfAnOlderProgramIsRejectedUntilItIsMigrated(t *testing.T) {
	t.Parallel()
	t.Run("old", func(t *testing.T) {
		onEachEngine(t, func(t *testing.T, w *world) {
			known := readNewestSchema(t, w.url)
			w.exec(w.openDirect(), "UPDATE goose_db_version SET is_applied = false WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
			_, err := store.Open(t.Context(), w.url, store.Options{})
			expectSchemaError(t, err, "needs schema "+known, "run `atrium admin migrate up`")
		})
	})
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		for engine, empty := range emptyDatabases {
			t.Run(engine, func(t *testing.T) {
				t.Parallel()
				_, err := store.Open(t.Context(), empty(t), store.Options{})
				expectSchemaError(t, err, "schema 00000", "run `atrium admin migrate up`")
			})
		}
	})
}

// emptyDatabases has, for each engine, a function that creates a database without a
// schema.
var emptyDatabases = map[string]func(testing.TB) string{
	"sqlite":   emptySQLite,
	"postgres": storetest.EmptyPostgres,
}

// describeSchema lists the columns and the indexes of a database, and which columns can be NULL, in a form that is the same for
// both engines. It leaves out the tables of libraries, the partitions, and the indexes that only
// one engine needs: those of searches, and those that belong to constraints.
func (w *world) describeSchema() (lines []string) {
	columns, indexes := `SELECT c.relname, a.attname, CASE WHEN a.attnotnull THEN '' ELSE ' NULL' END FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
		WHERE c.relnamespace = current_schema()::regnamespace AND c.relkind IN ('r', 'p') AND NOT c.relispartition AND c.relname NOT IN ('event_partition', 'delivery_partition')`,
		// Some indexes cannot be those of a table with partitions, so each partition has its own.
		`SELECT regexp_replace(i.relname, '^(event_past|delivery_active)_', split_part(i.relname, '_', 1) || '_'), pg_get_indexdef(i.oid)
		FROM pg_index x JOIN pg_class i ON i.oid = x.indexrelid JOIN pg_class c ON c.oid = x.indrelid
		WHERE c.relnamespace = current_schema()::regnamespace AND (NOT c.relispartition OR c.relname IN ('event_past', 'delivery_active'))
			AND i.relname NOT LIKE '%\_search' AND NOT i.relispartition AND NOT EXISTS (SELECT 1 FROM pg_constraint k WHERE k.conindid = i.oid)`
	if w.onSQLite() {
		columns = `SELECT m.name, c.name, CASE WHEN c."notnull" OR c.pk THEN '' ELSE ' NULL' END FROM sqlite_master m JOIN pragma_table_info(m.name) c WHERE m.type = 'table' AND m.name NOT LIKE 'search\_%' ESCAPE '\' AND m.name NOT LIKE 'sqlite\_%' ESCAPE '\'`
		indexes = `SELECT m.name, m.sql FROM sqlite_master m WHERE m.type = 'index' AND m.sql <> ''`
	}
	for _, row := range w.query(w.openDirect(), columns) {
		lines = append(lines, "column "+row[0]+"."+row[1]+row[2])
	}
	definition := regexp.MustCompile(`^CREATE (UNIQUE )?INDEX .*? ON .*?\((.*?)\)( WHERE .*)?$`)
	for _, row := range w.query(w.openDirect(), indexes) {
		found := definition.FindStringSubmatch(row[1])
		lines = append(lines, fmt.Sprintf("%sindex %s (%s) of some rows: %v", found[1], row[0], found[2], found[3] != ""))
	}
	lines = slices.DeleteFunc(lines, func(line string) bool { return strings.Contains(line, " river_") || strings.Contains(line, " goose_") })
	slices.Sort(lines)
	return lines
}

// TestBothEnginesHaveTheSameSchema compares the files of the schema.
func TestBothEnginesHaveTheSameSchema(t *testing.T) {
	t.Parallel()
	postgres, sqlite := newWorld(t, storetest.Postgres(t)).describeSchema(), newWorld(t, storetest.SQLite(t)).describeSchema()
	if len(postgres) < 300 {
		t.Fatalf("the schema has %d columns and indexes", len(postgres))
	}
	for _, line := range postgres {
		if !slices.Contains(sqlite, line) {
			t.Errorf("only PostgreSQL has: %s", line)
		}
	}
	for _, line := range sqlite {
		if !slices.Contains(postgres, line) {
			t.Errorf("only SQLite has: %s", line)
		}
	}
}
