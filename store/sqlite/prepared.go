package sqlite

import (
	"context"
	"database/sql"
	"database/sql/driver"

	"modernc.org/sqlite"

	"atrium/internal/lru"
)

// To parse and to plan a statement takes SQLite longer than to run most of them. So each connection keeps the statements
// prepared that it has used last. SQLite itself prepares one again when the schema or the statistics have changed. This needs
// what package dbconn ensures: all rows of a statement are read before the next one runs in the same connection.

// maxPrepared is the number of statements that a connection keeps prepared. Each takes some kilobytes.
const maxPrepared = 100

// connectPreparing is connect for connections that keep statements prepared.
func connectPreparing(path, more string) (*sql.DB, error) {
	base, err := sqlite.NewConnector(dataSource(path, more))
	if err != nil {
		return nil, err
	}
	return sql.OpenDB(preparingConnector{base}), nil
}

type preparingConnector struct{ driver.Connector }

// Connect opens a connection.
func (c preparingConnector) Connect(ctx context.Context) (driver.Conn, error) {
	opened, err := c.Connector.Connect(ctx)
	if err != nil {
		return nil, err
	}
	conn := &preparingConn{driverConn: opened.(driverConn)} //nolint:forcetypeassert // the driver documents these interfaces
	conn.statements = lru.New(maxPrepared, func(_ string, s driverStatement) { _ = s.Close() })
	return conn, nil
}

// driverConn lists what database/sql uses of a connection.
type driverConn interface {
	driver.Conn
	driver.ConnBeginTx
	driver.ConnPrepareContext
	driver.Pinger
	driver.SessionResetter
	driver.Validator
}

type driverStatement interface {
	driver.Stmt
	driver.StmtExecContext
	driver.StmtQueryContext
}

// A preparingConn is a connection with the statements that it has prepared, by their SQL.
type preparingConn struct {
	driverConn
	statements *lru.Cache[string, driverStatement]
}

func (c *preparingConn) prepare(ctx context.Context, query string) (driverStatement, error) {
	if s, isPrepared := c.statements.Get(query); isPrepared {
		return s, nil
	}
	prepared, err := c.PrepareContext(ctx, query)
	if err != nil {
		return nil, err
	}
	s := prepared.(driverStatement) //nolint:forcetypeassert // the driver documents these interfaces
	c.statements.Add(query, s)
	return s, nil
}

// QueryContext runs a statement that returns rows.
func (c *preparingConn) QueryContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Rows, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.QueryContext(ctx, args)
}

// ExecContext runs a statement that returns no rows.
func (c *preparingConn) ExecContext(ctx context.Context, query string, args []driver.NamedValue) (driver.Result, error) {
	s, err := c.prepare(ctx, query)
	if err != nil {
		return nil, err
	}
	return s.ExecContext(ctx, args)
}

// Close ends the statements and the connection.
func (c *preparingConn) Close() error {
	c.statements.Clear()
	return c.driverConn.Close()
}
