// Package postgres is the engine for PostgreSQL: many replicas and much data.
// It must not know any kind: statements come from package sqlstore.
package postgres

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/pressly/goose/v3/lock"

	"atrium/platform"
	"atrium/store/sqlstore"
)

var dialect = sqlstore.Dialect{
	Placeholder: "$",
	InKeys:      func(n string, _ bool) string { return "= ANY(" + n + ")" },
	// This is a join, because PostgreSQL would filter by the array only after it
	// has read all rows that the first columns of the index find.
	InValues: func(n string, ofBytes bool) string { return "IN (SELECT unnest(" + n + arrayType(ofBytes) + "))" },
	Parents: func(arg func(any) string, columns ...sqlstore.ParentColumn) string {
		lists, names := make([]string, len(columns)), make([]string, len(columns))
		for i, c := range columns {
			var list any = c.Texts
			if c.Texts == nil {
				list = c.Bytes
			}
			lists[i], names[i] = arg(list)+arrayType(c.Texts == nil), c.Name
		}
		return "unnest(" + strings.Join(lists, ", ") + ") WITH ORDINALITY p(" + strings.Join(names, ", ") + ", i)"
	},
	PerParent: func(parents, table, columns, page string) string {
		return parents + " CROSS JOIN LATERAL (SELECT " + columns + " FROM " + table + " t WHERE " + page + ") t"
	},
	Elements: func(column string) string {
		return "jsonb_array_elements_text(CAST(CASE " + column + " WHEN '' THEN '[]' ELSE " + column + " END AS jsonb)) AS e(value)"
	},
	KeepRow:          " FOR NO KEY UPDATE OF t", // what an update takes
	NoEarlierWriters: noEarlierWriters,
	BindTime:         func(t platform.Time) any { return sqlstore.StoredTime(t) },
	Intervals: func(column, origin, seconds string) string {
		return "CAST(FLOOR(EXTRACT(EPOCH FROM " + column + " - CAST(" + origin + " AS timestamptz)) / " + seconds + ") AS bigint)"
	},
	NextTransaction: "pg_snapshot_xmax(pg_current_snapshot())::text::bigint",
	Slots:           16, // a total reads them all, from as many pages in the worst case
	Pipelines:       true,
	Triggers:        true,
	TableExists:     "SELECT 1 WHERE to_regclass(?) IS NOT NULL",
	DDL: strings.NewReplacer("{postgres}", "", "{sqlite}", "-- ", "{text}", `text COLLATE "C"`, "{time}", "timestamptz", "{bytes}", "bytea", "{uid}", "bytea",
		"{xact}", "bigint NOT NULL DEFAULT pg_current_xact_id()::text::bigint", "{serial}", "bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY"),
}

func arrayType(ofBytes bool) string {
	if ofBytes {
		return "::bytea[]"
	}
	return "::text[]"
}

// Options are the settings of the pool.
type Options struct {
	MaxConnections int32 // where the URL has no pool_max_conns; 0: four times the cores
	QueryMode      string
}

// Engine is a PostgreSQL database.
type Engine struct {
	conn
	pool            *pgxpool.Pool
	responseTimeout time.Duration // maximum time without a response; 0: no limit
}

var _ sqlstore.Engine = (*Engine)(nil)

// Time limits of statements. A request has its own deadline in addition.
const (
	statementTimeout = "4s"
	lockTimeout      = "2s"
	idleTimeout      = "15s" // of an idle transaction, which delays the feed of events
	connectTimeout   = 5 * time.Second
)

// Open connects to a database.
func Open(ctx context.Context, url string, o Options) (*Engine, error) {
	config, err := poolConfig(url, o.MaxConnections)
	if err != nil {
		return nil, err
	}
	if config.ConnConfig.DefaultQueryExecMode, err = queryMode(o.QueryMode); err != nil {
		return nil, err
	}
	config.ConnConfig.ConnectTimeout = connectTimeout
	patience := answerTimeout
	if _, given := config.ConnConfig.RuntimeParams["statement_timeout"]; given {
		patience = 0 // the operator has chosen a limit
	}
	for name, value := range map[string]string{
		"statement_timeout": statementTimeout, "lock_timeout": lockTimeout, "idle_in_transaction_session_timeout": idleTimeout, "timezone": "UTC",
	} {
		if _, given := config.ConnConfig.RuntimeParams[name]; !given {
			config.ConnConfig.RuntimeParams[name] = value
		}
	}
	pool, err := pgxpool.NewWithConfig(ctx, config)
	if err != nil {
		return nil, err
	}
	prepares := config.ConnConfig.DefaultQueryExecMode == pgx.QueryExecModeCacheStatement
	e := &Engine{conn{pool, prepares}, pool, patience}
	if err := e.Ping(ctx); err != nil {
		pool.Close()
		return nil, err
	}
	return e, nil
}

// poolConfig reads a URL. The size of the pool is pool_max_conns of the URL
// where that is given.
func poolConfig(url string, maxConnections int32) (*pgxpool.Config, error) {
	config, err := pgxpool.ParseConfig(url)
	if err != nil {
		return nil, errors.New("the PostgreSQL URL is malformed; use postgres://USER:PASSWORD@HOST:PORT/DATABASE") // pgx's error would show the password
	}
	plain, err := pgx.ParseConfig(url) // in which the settings of a pool are like any other parameter
	if err != nil {
		return nil, errors.New("the PostgreSQL URL is malformed; use postgres://USER:PASSWORD@HOST:PORT/DATABASE")
	}
	if _, given := plain.RuntimeParams["pool_max_conns"]; given {
		return config, nil
	}
	if config.MaxConns = maxConnections; config.MaxConns == 0 {
		config.MaxConns = int32(4 * max(2, runtime.NumCPU())) //nolint:gosec // a machine has few cores
	}
	return config, nil
}

func queryMode(name string) (pgx.QueryExecMode, error) {
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeCacheDescribe, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec} {
		if name == "" || strings.ReplaceAll(name, "_", " ") == mode.String() {
			return mode, nil
		}
	}
	return 0, fmt.Errorf("query mode %q is not one of cache_statement, cache_describe, describe_exec, exec", name)
}

// Dialect returns the SQL dialect of PostgreSQL.
func (e *Engine) Dialect() *sqlstore.Dialect { return &dialect }

// maxTries limits how often a transaction is run again after a conflict.
const maxTries = 5

// Connections is how many statements can run at the same time.
func (e *Engine) Connections() int { return int(e.pool.Config().MaxConns) }

// Write runs unit in a transaction.
func (e *Engine) Write(ctx context.Context, unit func(sqlstore.TxConn) error) error {
	for try := 1; ; try++ {
		err := translate(e.transact(ctx, unit))
		if !errors.Is(err, errConflict) {
			return err
		}
		if try == maxTries {
			return &platform.Error{Code: platform.CodeAborted, Reason: "ABORTED", Message: "Aborted: too many concurrent requests change the same data; try again", RetryAfter: time.Second}
		}
		select {
		case <-time.After(time.Duration(try*try) * 5 * time.Millisecond):
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// Ping reports whether the server answers.
func (e *Engine) Ping(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, connectTimeout)
	defer cancel()
	if err := e.pool.Ping(ctx); err != nil {
		return platform.Unavailable("the database does not answer", explainError(&e.pool.Config().ConnConfig.Config, err))
	}
	return nil
}

// Pool describes the use of the connections.
func (e *Engine) Pool() sqlstore.PoolState {
	stat := e.pool.Stat()
	return sqlstore.PoolState{
		Used: int(stat.AcquiredConns()), Idle: int(stat.IdleConns()), Max: int(stat.MaxConns()),
		Waits: stat.EmptyAcquireCount(), Waited: stat.EmptyAcquireWaitTime(),
	}
}

// Close ends every connection.
func (e *Engine) Close() error {
	e.pool.Close()
	return nil
}

// Migrator returns a handle for migrations. A lock excludes other replicas.
func (e *Engine) Migrator(context.Context) (*sqlstore.Migrator, error) {
	// Probed often: a replica that starts must not wait long for another
	// that had nothing to do.
	locker, err := lock.NewPostgresSessionLocker(lock.WithLockTimeout(1, 300))
	if err != nil {
		return nil, err
	}
	config := e.pool.Config().ConnConfig.Copy()
	config.RuntimeParams["statement_timeout"] = "0" // creating an index can take long
	return sqlstore.NewMigrator(stdlib.OpenDB(*config), &dialect, goose.DialectPostgres, 1, goose.WithSessionLocker(locker))
}
