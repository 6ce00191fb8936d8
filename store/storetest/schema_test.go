package storetest_test

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"atrium/platform"
	"atrium/store"
	"atrium/store/storetest"
)

// describeNewestSchema returns the newest schema, as messages name it.
func describeNewestSchema(t *testing.T, url string) string {
	t.Helper()
	states := must[[]store.MigrationState](t)(store.Migrations(t.Context(), url))
	return fmt.Sprintf("schema %05d", states[len(states)-1].Version)
}

// expectSchemaError expects an error that names both schemas and says what to do.
func expectSchemaError(t *testing.T, err error, parts ...string) {
	t.Helper()
	if !errors.Is(err, &platform.Error{Code: platform.CodeFailedPrecondition, Reason: "SCHEMA_MISMATCH"}) {
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
		says := []string{"schema 70001", describeNewestSchema(t, w.url), "run a newer atrium"}
		w.exec(w.openDirect(), "INSERT INTO goose_db_version (version_id, is_applied) VALUES (70001, true)")
		_, err := store.Open(t.Context(), w.url, store.Options{})
		expectSchemaError(t, err, says...)
		expectSchemaError(t, store.Migrate(t.Context(), w.url), says...)
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
			known := describeNewestSchema(t, w.url)
			w.exec(w.openDirect(), "UPDATE goose_db_version SET is_applied = false WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
			_, err := store.Open(t.Context(), w.url, store.Options{})
			expectSchemaError(t, err, known, "run `atrium migrate up`")
		})
	})
	t.Run("empty", func(t *testing.T) {
		t.Parallel()
		for engine, empty := range emptyDatabases {
			t.Run(engine, func(t *testing.T) {
				t.Parallel()
				_, err := store.Open(t.Context(), empty(t), store.Options{})
				expectSchemaError(t, err, "schema 00000", "run `atrium migrate up`")
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
