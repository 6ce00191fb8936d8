package storetest_test

import (
	"strings"
	"testing"

	"atrium/store/postgres"
	"atrium/store/sqlstore"
	"atrium/store/storetest"
)

// PostgreSQL compiles a statement for 30 ms if it expects much work. In a large database it
// expects that of many reads that take less than one.
func TestPostgreSQLCompilesNoStatement(t *testing.T) {
	t.Parallel()
	url := storetest.Postgres(t) + "&jit_above_cost=0"
	if !compiles(t, url+"&jit=on") {
		t.Skip("this server cannot compile statements")
	}
	if compiles(t, url) {
		t.Error("the server compiles a statement")
	}
}

// compiles reports whether the server compiles a statement of a connection of the store.
func compiles(t *testing.T, url string) bool {
	t.Helper()
	engine, err := postgres.Open(t.Context(), url, postgres.Options{MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = engine.Close() }()
	var plan strings.Builder
	explain := &sqlstore.Statement{SQL: "EXPLAIN (ANALYZE, FORMAT JSON) SELECT count(*) FROM generate_series(1, 10) n WHERE n > 3", Row: func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		plan.WriteString(text)
		return err
	}}
	if err := engine.Run(t.Context(), explain); err != nil {
		t.Fatal(err)
	}
	return strings.Contains(plan.String(), `"JIT"`)
}
