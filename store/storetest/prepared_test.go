package storetest_test

import (
	"errors"
	"fmt"
	"testing"

	"atrium/store/postgres"
	"atrium/store/sqlstore/dbconn"
	"atrium/store/storetest"
)

// A preparedReader reads through one connection, so that every statement is prepared there
// after its first run.
type preparedReader struct {
	*world
	t      *testing.T
	engine *postgres.Engine
}

func newPreparedReader(t *testing.T) *preparedReader {
	t.Helper()
	w := &world{t: t, url: storetest.Postgres(t)}
	engine, err := postgres.Open(t.Context(), w.url, postgres.Options{MaxConnections: 1})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = engine.Close() })
	return &preparedReader{w, t, engine}
}

// selectText returns a statement that reads one text from each row.
func selectText(found *[]string, query string, args ...any) *dbconn.Statement {
	return &dbconn.Statement{SQL: query, Args: args, Row: func(scan func(...any) error) error {
		var text string
		err := scan(&text)
		*found = append(*found, text)
		return err
	}}
}

// A migration beside a running server changes the result of a prepared statement. The
// statement is prepared again, also after other statements of the same round trip have
// returned rows.
func TestAStatementIsPreparedAgainAfterAMigration(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, before, after string }{
		{"alone", "", ""},
		{"after a statement with rows", "SELECT 'proof'", ""},
		{"before a statement with rows", "", "SELECT 'proof'"},
		{"between statements with rows", "SELECT 'proof'", "SELECT 'more'"},
		{"after a statement that is planned once", "SELECT 'proof' UNION ALL SELECT 'again'", "SELECT 'more'"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newPreparedReader(t)
			r.exec(r.openDirect(), "CREATE TABLE thing (name varchar(40))")
			r.exec(r.openDirect(), "INSERT INTO thing VALUES ('a'), ('b')")
			run := func() string {
				t.Helper()
				var before, things, after []string
				var statements []*dbconn.Statement
				if c.before != "" {
					statements = append(statements, selectText(&before, c.before))
				}
				statements = append(statements, selectText(&things, "SELECT name FROM thing ORDER BY name"))
				if c.after != "" {
					statements = append(statements, selectText(&after, c.after))
				}
				if err := r.engine.Run(t.Context(), statements...); err != nil {
					t.Fatal(err)
				}
				for i, s := range statements {
					if !s.Done {
						t.Errorf("statement %d is not done", i)
					}
				}
				return fmt.Sprint(before, things, after)
			}
			want := run()
			for _, migration := range []string{
				"ALTER TABLE thing ALTER COLUMN name TYPE text",
				"ALTER TABLE thing ALTER COLUMN name TYPE varchar(50)",
				"DEALLOCATE ALL", // A pooler gives another server to the connection.
			} {
				if migration == "DEALLOCATE ALL" {
					if err := r.engine.Run(t.Context(), &dbconn.Statement{SQL: migration}); err != nil {
						t.Fatal(err)
					}
				} else {
					r.exec(r.openDirect(), migration)
				}
				for range 2 {
					if got := run(); got != want {
						t.Errorf("after %s it reads %s, want %s", migration, got, want)
					}
				}
			}
		})
	}
}

// Equal statements in one round trip are prepared once, and each is answered.
func TestEqualStatementsInOneRoundTripAreAnsweredEach(t *testing.T) {
	t.Parallel()
	r := newPreparedReader(t)
	for range 2 { // They are prepared in the first run.
		found := make([][]string, 3)
		statements := []*dbconn.Statement{
			selectText(&found[0], "SELECT $1::text", "first"), selectText(&found[1], "SELECT $1::text", "second"), selectText(&found[2], "SELECT 'third'"),
		}
		if err := r.engine.Run(t.Context(), statements...); err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(found); got != "[[first] [second] [third]]" {
			t.Errorf("they are answered with %s, want [[first] [second] [third]]", got)
		}
	}
	var prepared []string
	if err := r.engine.Run(t.Context(), selectText(&prepared, "SELECT statement FROM pg_prepared_statements WHERE statement = 'SELECT $1::text'")); err != nil {
		t.Fatal(err)
	}
	if len(prepared) != 1 {
		t.Errorf("it is prepared %d times, want once", len(prepared))
	}
}

// The first argument of a new connection is an empty key, as for the built-in roles, whose
// root is "". It must not become NULL.
func TestAnEmptyKeyIsNotNull(t *testing.T) {
	t.Parallel()
	r := newPreparedReader(t)
	var found []string
	if err := r.engine.Run(t.Context(), selectText(&found, "SELECT 'found' WHERE $1::bytea = ''::bytea", []byte{})); err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 {
		t.Errorf("%d rows are found by an empty key, want 1", len(found))
	}
}

// The statement at which a round trip fails is marked, also if it runs before others that
// were sent before it. A later round trip forgets the mark.
func TestTheStatementThatFailsIsMarked(t *testing.T) {
	t.Parallel()
	errRow := errors.New("a row that nobody can read")
	for _, c := range []struct {
		name   string
		broken dbconn.Statement
	}{
		{"it takes too long", dbconn.Statement{SQL: "SELECT pg_sleep(60)"}},
		{"its first row fails", dbconn.Statement{SQL: "SELECT 1/$1::bigint", Args: []any{int64(0)}}},
		{"its second row fails", dbconn.Statement{SQL: "SELECT 1/(2 - n) FROM generate_series(1, 2) n"}},
		{"its row is refused", dbconn.Statement{SQL: "SELECT 1", Row: func(func(...any) error) error { return errRow }}},
		{"it cannot be prepared", dbconn.Statement{SQL: "SELECT name FROM missing"}},
		{"its argument has no type", dbconn.Statement{SQL: "SELECT $1::text", Args: []any{errRow}}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			r := newPreparedReader(t)
			limit := &dbconn.Statement{SQL: "SELECT set_config('statement_timeout', '100ms', true)", Plan: dbconn.PlanOnce}
			needed := &dbconn.Statement{SQL: "SELECT 'as needed'"}
			broken := &c.broken
			broken.Plan = dbconn.PlanOnce
			if err := r.engine.Run(t.Context(), limit, needed, broken); err == nil {
				t.Fatal("it does not fail")
			}
			if limit.Failed || needed.Failed || needed.Done || !broken.Failed || broken.Done {
				t.Errorf("failed are %t, %t, %t, want only the last; the last two are done: %t, %t, want neither", limit.Failed, needed.Failed, broken.Failed, needed.Done, broken.Done)
			}
			broken.SQL, broken.Args = "SELECT 'repaired'", nil
			other := &dbconn.Statement{SQL: "SELECT 1/$1::int8", Args: []any{int64(0)}, Plan: dbconn.PlanOnce}
			if err := r.engine.Run(t.Context(), other, broken); err == nil || !other.Failed || broken.Failed {
				t.Errorf("then another one fails before it with %v; failed are %t, %t, want only the first", err, other.Failed, broken.Failed)
			}
		})
	}
}
