package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"
	"fmt"
	"path/filepath"
	"testing"

	"modernc.org/sqlite"
)

// A countingConnector counts how often each statement is prepared, and how many are open.
type countingConnector struct {
	driver.Connector
	prepared map[string]int
	open     int
}

func (c *countingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	return &countingConn{opened.(driverConn), c}, nil
}

type countingConn struct {
	driverConn
	by *countingConnector
}

func (c *countingConn) PrepareContext(ctx context.Context, query string) (driver.Stmt, error) {
	c.by.prepared[query]++
	s, err := c.driverConn.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	c.by.open++
	return &countedStatement{s.(driverStatement), c.by}, nil
}

type countedStatement struct {
	driverStatement
	by *countingConnector
}

func (s *countedStatement) Close() error {
	s.by.open--
	return s.driverStatement.Close()
}

func TestAConnectionKeepsStatementsPrepared(t *testing.T) {
	t.Parallel()
	base, err := sqlite.NewConnector(dataSource(filepath.Join(t.TempDir(), "a.db"), ""))
	if err != nil {
		t.Fatal(err)
	}
	counted := &countingConnector{Connector: base, prepared: map[string]int{}}
	db := sql.OpenDB(preparingConnector{counted})
	db.SetMaxOpenConns(1)
	exec := func(statement string, args ...any) {
		t.Helper()
		if _, err := db.ExecContext(t.Context(), statement, args...); err != nil {
			t.Fatal(statement, err)
		}
	}
	const read = "SELECT coalesce(sum(n), 0) FROM t WHERE n > ?"
	expectSum := func(above, want int) {
		t.Helper()
		got := 0
		if err := db.QueryRowContext(t.Context(), read, above).Scan(&got); err != nil || got != want {
			t.Fatalf("the sum above %d is %d (%v), want %d", above, got, err, want)
		}
	}
	exec("CREATE TABLE t (n INTEGER UNIQUE)")
	for n := range 5 {
		exec("INSERT INTO t VALUES (?)", n)
		expectSum(1, n*(n+1)/2-min(n, 1))
	}
	if _, err := db.ExecContext(t.Context(), "INSERT INTO t VALUES (?)", 4); err == nil {
		t.Error("a row was inserted twice")
	}
	exec("INSERT INTO t VALUES (?)", 5) // after an error of the same statement
	expectSum(1, 14)
	exec("ALTER TABLE t ADD COLUMN other TEXT") // SQLite prepares the statements again
	expectSum(2, 12)
	for _, statement := range []string{read, "INSERT INTO t VALUES (?)"} {
		if n := counted.prepared[statement]; n != 1 {
			t.Errorf("%q was prepared %d times, want 1", statement, n)
		}
	}
	for i := range 2 * maxPrepared {
		exec(fmt.Sprintf("UPDATE t SET other = 'x' WHERE n = %d", i))
	}
	expectSum(3, 9)
	if n := counted.prepared[read]; n != 2 || counted.open != maxPrepared {
		t.Errorf("after other statements it was prepared %d times, want 2; %d statements are open, want %d", n, counted.open, maxPrepared)
	}
	if err := db.Close(); err != nil || counted.open != 0 {
		t.Errorf("%d statements are open after the end (%v), want 0", counted.open, err)
	}
}
